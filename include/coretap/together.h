/* SPDX-License-Identifier: Apache-2.0 */
/* coretap together: captures of one system, recorded at the same time, as one run of specifications. Their
 * sources share the axis of their timestamps (axis.h).
 *
 *     ct_together_new(ctx, &options, &together);
 *     for (size_t i = 0; i < count; i++)
 *         ct_together_add(together, captures[i], captures[i]->buffers, captures[i]->buffer_count, NULL);
 *     rc = ct_together_check(together, &trouble);  // are they one run?
 *     ct_together_describe(together, verifier);    // before specifications are added
 *     ct_verifier_add(verifier, spec, "spec", NULL, 0);
 *     ct_verifier_begin(verifier, on_result, my);
 *     ct_together_run(together, verifier, watches);
 *     ct_verifier_finish(verifier);
 *     ct_together_free(together);
 *
 * The programs of all captures are added to options.programs before specifications are. */
#ifndef CORETAP_TOGETHER_H
#define CORETAP_TOGETHER_H

#include "coretap/axis.h"
#include "coretap/base.h"
#include "coretap/filter.h"
#include "coretap/input.h"
#include "coretap/merge.h"
#include "coretap/programs.h"
#include "coretap/verify.h"
#include "coretap/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ct_together_options {
    size_t size;                  /* sizeof(struct ct_together_options) */
    uint64_t ids[2];              /* as in struct ct_chain_options, for all captures */
    struct ct_programs *programs; /* the programs that ran, for filters of steps; may be NULL */
    void *user;                   /* of the functions below, which may be NULL */
    /* Receives the number of input bytes of a capture, by the order of ct_together_add, that were decoded so
     * far. A result other than 0 ends the run and becomes its result. */
    int (*progress)(void *user, size_t capture, uint64_t bytes);
    /* Called when a specification failed (ct_verifier_next_failure tells which); the others go on. The same
     * result. */
    int (*failed)(void *user);
    uint16_t threads; /* as in struct ct_merge_options */
    uint8_t software; /* 1: sources of software trace belong to the run; 0: only those of cores */
    uint8_t pad[5];   /* 0 */
};

/* Why captures are not one run. */
enum ct_together_trouble {
    CT_TOGETHER_FINE,
    CT_TOGETHER_SAME_CORE,      /* two captures have trace of the same core, like repeated runs */
    CT_TOGETHER_NO_TIMESTAMPS,  /* a source has none, so the order of its events is not known */
    CT_TOGETHER_NO_COMMON_TIME, /* a capture ends before another one begins */
};

/* A source of the run: one with trace. */
struct ct_together_source {
    const struct ct_capture *capture;
    const struct ct_buffer *buffer;
    const struct ct_source *source;
    const char *core; /* that it traces (ct_source_core) */
    uint8_t id;       /* as listed: 0 in a buffer without frames */
    uint8_t protocol; /* as for ct_verifier_protocols */
    uint8_t timed;    /* 1: it has timestamps */
    uint8_t pad[5];   /* 0 */
};

struct ct_together;

/* Makes a run without captures. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_together_new(struct ct_ctx *ctx, const struct ct_together_options *options,
                           struct ct_together **out);
CT_API void ct_together_free(struct ct_together *together);

/* Adds a capture with buffers of it, which are files, and its filter (settled; NULL: everything). They are
 * not owned, and stay valid as long as the run. The errors of ct_merge_new. */
CT_API int ct_together_add(struct ct_together *together, const struct ct_capture *capture,
                           const struct ct_buffer *buffers, size_t count, const struct ct_filter *filter);

/* Returns the sources of the run, in the order of captures, buffers and IDs. They stay valid until a capture
 * is added. */
CT_API const struct ct_together_source *ct_together_sources(const struct ct_together *together,
                                                            size_t *count);

/* Checks that the captures can be one run: no core is in two of them, all sources have timestamps, and each
 * capture overlaps in time with one that begins before it. Otherwise CT_ERR_UNSUPPORTED; *trouble (may be
 * NULL) and the text of the error say why. Also CT_ERR_ARG, and the errors of ct_merge_reaches. */
CT_API int ct_together_check(const struct ct_together *together, enum ct_together_trouble *trouble);

/* Sets the cores and protocols of a verifier. CT_ERR_ARG, the errors of ct_verifier_sources and
 * ct_verifier_protocols. */
CT_API int ct_together_describe(const struct ct_together *together, struct ct_verifier *verifier);

/* Decodes all captures for a verifier whose run has begun, and does not finish it. At most once. The errors
 * of ct_merge_pull and of ct_verify_axis_run, except for specifications that fail; CT_ERR_ARG, also without a
 * capture; what a function of the options returned. */
CT_API int ct_together_run(struct ct_together *together, struct ct_verifier *verifier,
                           struct ct_watches *watches);

/* Returns the axis of the run, which tells how its sources kept up; NULL before it. */
CT_API const struct ct_verify_axis *ct_together_axis(const struct ct_together *together);

/* Returns the decoder of a capture, by its order; NULL: there is none. It tells what was lost
 * (ct_merge_seen). */
CT_API struct ct_merge *ct_together_merge(const struct ct_together *together, size_t capture);

#ifdef __cplusplus
}
#endif
#endif
