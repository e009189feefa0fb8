/* SPDX-License-Identifier: Apache-2.0 */
/* coretap export: a capture in the format of another program.
 *
 *     struct ct_perf_export_options options = {.size = sizeof options, .seek = seek};
 *     ct_perf_export(ctx, capture, capture->buffers, capture->buffer_count, &options, write, file);
 */
#ifndef CORETAP_EXPORT_H
#define CORETAP_EXPORT_H

#include "coretap/base.h"
#include "coretap/input.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ct_perf_export_options {
    size_t size;      /* sizeof(struct ct_perf_export_options) */
    const char *name; /* of the process that the trace becomes one of; NULL: as the capture is called */
    /* Says that what `write` gets next, whose user it is called with, belongs at an offset of what it got.
     * Returns 0 or an error, which ends the writing. NULL: perf's pipe format is written, from its first
     * byte to its last. */
    int (*seek)(void *user, uint64_t offset);
    void *user; /* of the following, which may be NULL */
    /* What of the capture perf does not get, in words. */
    void (*note)(void *user, const char *text);
    /* Bytes of trace of a buffer that are written so far. A result other than 0 ends the writing. */
    int (*progress)(void *user, uint64_t bytes);
};

/* Writes buffers of a capture as perf.data. They are those of the capture, or copies of them, and files. All
 * images become mappings of one process, whose threads are the context IDs in the trace; trace that does not
 * lie in memory-aligned frames with an ID of its own for each source is put into such frames, in a temporary
 * file. Sources that perf does not know are left out. CT_ERR_UNSUPPORTED: the capture is perf.data already,
 * its code changed while it ran, or perf knows none of its sources. CT_ERR_LIMIT: there are more sources than
 * trace IDs, or a path is too long for a record. CT_ERR_IO, CT_ERR_ARG, CT_ERR_NOMEM; the errors of the
 * chain, and what `write` and others returned. */
CT_API int ct_perf_export(struct ct_ctx *ctx, const struct ct_capture *capture,
                          const struct ct_buffer *buffers, size_t count,
                          const struct ct_perf_export_options *options, ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
