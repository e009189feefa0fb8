/* SPDX-License-Identifier: Apache-2.0 */
/* coretap export: writes a capture in the format of another program. As perf.data with its trace:
 *
 *     struct ct_perf_export_options options = {.size = sizeof options, .seek = seek};
 *     ct_perf_export(ctx, capture, capture->buffers, capture->buffer_count, &options, write, file);
 *
 * or with samples made from the trace, whose branch stacks look like those of processors with LBR or BRBE:
 *
 *     struct ct_perf_samples_options how = {.size = sizeof how, .seek = seek};
 *     ct_perf_samples_new(ctx, capture, &how, write, file, &samples);
 *     ct_perf_samples_add(samples, lane, stream->source, batch);    // each batch of a session
 *     ct_perf_samples_finish(samples);
 *     ct_perf_samples_free(samples); */
#ifndef CORETAP_EXPORT_H
#define CORETAP_EXPORT_H

#include "coretap/base.h"
#include "coretap/input.h"
#include "coretap/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ct_perf_export_options {
    size_t size;      /* sizeof(struct ct_perf_export_options) */
    const char *name; /* name of the process that the trace is attributed to; NULL: name of the capture */
    /* Moves to an offset of the output: `write` then continues there, with the same `user`. Returns 0 or an
     * error, which ends the writing. NULL: writes perf's pipe format, from the first byte to the last. */
    int (*seek)(void *user, uint64_t offset);
    void *user; /* passed to the functions below, which may be NULL */
    /* Receives, in words, which parts of the capture are not exported. */
    void (*note)(void *user, const char *text);
    /* Receives the number of bytes of trace of a buffer written so far. A result other than 0 ends the
     * writing. */
    int (*progress)(void *user, uint64_t bytes);
};

/* Writes buffers of a capture as perf.data. `buffers` are those of the capture, or copies of them, and have
 * files. All images become mappings of one process, whose threads are the context IDs in the trace. Trace
 * that is not in memory-aligned frames with an ID for each source is put into such frames, in a temporary
 * file. Sources that perf does not support are left out. CT_ERR_UNSUPPORTED: the capture is perf.data
 * already, its code changed while it ran, or perf supports none of its sources. CT_ERR_LIMIT: there are more
 * sources than trace IDs, or a path is too long for a record. CT_ERR_IO, CT_ERR_ARG, CT_ERR_NOMEM; the errors
 * of the chain, and what `write` and others returned. */
CT_API int ct_perf_export(struct ct_ctx *ctx, const struct ct_capture *capture,
                          const struct ct_buffer *buffers, size_t count,
                          const struct ct_perf_export_options *options, ct_write_fn *write, void *user);

/* Entries of a branch stack: the maximum, and the default. */
#define CT_PERF_SAMPLES_ENTRIES_MAX 1024u
#define CT_PERF_SAMPLES_ENTRIES     64u

struct ct_perf_samples_options {
    size_t size;                              /* sizeof(struct ct_perf_samples_options) */
    const char *name;                         /* as in struct ct_perf_export_options */
    int (*seek)(void *user, uint64_t offset); /* as in struct ct_perf_export_options */
    uint32_t
        entries; /* of a branch stack at most: 2 to CT_PERF_SAMPLES_ENTRIES_MAX; 0: CT_PERF_SAMPLES_ENTRIES */
    uint8_t pad[4]; /* 0 */
};

struct ct_perf_samples;

/* Makes perf.data for the samples of a capture (not owned), and writes what comes before them: the header,
 * and processes with mappings. These are those of a recording of perf, else one process as for
 * ct_perf_export. CT_ERR_UNSUPPORTED: the code changed while it ran. CT_ERR_LIMIT: a path is too long for a
 * record. CT_ERR_ARG, CT_ERR_IO, CT_ERR_NOMEM, and what `write` returned. */
CT_API int ct_perf_samples_new(struct ct_ctx *ctx, const struct ct_capture *capture,
                               const struct ct_perf_samples_options *options, ct_write_fn *write, void *user,
                               struct ct_perf_samples **out);
CT_API void ct_perf_samples_free(struct ct_perf_samples *samples);

/* Takes steps of the stream of `source`; `lane` is the number of the stream, as in ct_stacks_add. Each
 * branch, and each run of instructions between two branches, is in one sample. Where no branch of the sample
 * leads to a run, an entry from address 0 does; a run that ends without a branch has an entry to 0. The
 * weight of a sample is the number of instructions that ran. CT_ERR_LIMIT: the lane is not below
 * CT_PERF_SAMPLES_LANES; CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
#define CT_PERF_SAMPLES_LANES (UINT32_C(1) << 20)
CT_API int ct_perf_samples_add(struct ct_perf_samples *samples, uint32_t lane, const struct ct_source *source,
                               const struct ct_step_batch *batch);

/* Writes the remaining samples and the end of the file, after which nothing can be added. The same errors. */
CT_API int ct_perf_samples_finish(struct ct_perf_samples *samples);

/* Returns the number of samples written. */
CT_API uint64_t ct_perf_samples_count(const struct ct_perf_samples *samples);

#ifdef __cplusplus
}
#endif
#endif
