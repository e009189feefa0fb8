/* SPDX-License-Identifier: Apache-2.0 */
/* coretap report: all that is known of captures, as one page of HTML. A report is collected while a session
 * decodes a capture: `steps` and `decoded` of its options hand on what they get.
 *
 *     ct_report_new(ctx, programs, NULL, &report);
 *     ct_session_run(session, capture, capture->buffers, capture->buffer_count);
 *     ct_cover_views_new(cover, programs, NULL, &page.cover);
 *     page.losses = ct_session_seen(session)->losses;
 *     ct_report_write(report, &page, write, user);
 *     ct_report_free(report);
 */
#ifndef CORETAP_REPORT_H
#define CORETAP_REPORT_H

#include "coretap/base.h"
#include "coretap/decode.h"
#include "coretap/format.h"
#include "coretap/losses.h"
#include "coretap/programs.h"
#include "coretap/stacks.h"
#include "coretap/steps.h"
#include "coretap/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ct_report_options {
    size_t size;   /* sizeof(struct ct_report_options) */
    uint64_t from; /* the timeline begins so many cycles after the begin of a stream (instructions, where the
                      trace has no cycle counts) … */
    uint64_t to;   /* … and ends before this; 0: with the stream */
};

struct ct_report;

/* Makes a report that knows nothing yet. `programs` are those of the session and have to stay as long as the
 * report; a capture has to stay until it is ended. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_report_new(struct ct_ctx *ctx, struct ct_programs *programs,
                         const struct ct_report_options *options, struct ct_report **out);
CT_API void ct_report_free(struct ct_report *report);

/* Takes steps, in order. CT_ERR_ARG, CT_ERR_NOMEM, those of ct_program_symbols. */
CT_API int ct_report_steps(struct ct_report *report, const struct ct_stream *stream,
                           const struct ct_step_batch *batch);

/* Takes what is known of the streams of a buffer, all of whose steps were given. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_report_decoded(struct ct_report *report, const struct ct_buffer *buffer,
                             const struct ct_chain *chain);

/* Ends a capture, whose path is `name`; `kind` is that of struct ct_capture. Another capture of the same
 * programs (ct_programs_next_capture) may follow: functions, stacks and their times add up by program and
 * address in the file. A report of one capture does without. CT_ERR_ARG, also where one trace has cycle
 * counts and another none, CT_ERR_NOMEM, those of ct_program_symbols. */
CT_API int ct_report_end(struct ct_report *report, const char *name, const char *kind);

/* Returns how often a stack began anew (ct_stacks_renewed). */
CT_API uint64_t ct_report_renewed(const struct ct_report *report);

/* What a capture or a saved result tells. */
enum ct_report_tells {
    CT_REPORT_COVERAGE = 1, /* coverage */
    CT_REPORT_TIMES = 2,    /* times of functions, and edges */
    CT_REPORT_STACKS = 4,   /* stacks, and functions by what they took */
    CT_REPORT_STREAMS = 8,  /* streams and the timeline: a capture */
};

/* A capture, or a saved result in the place of one. */
struct ct_report_input {
    const char *name;        /* its path */
    const char *kind;        /* what it is */
    struct ct_losses losses; /* of all that it is of */
    uint32_t tells;          /* enum ct_report_tells, together */
    uint32_t pad;            /* 0 */
};

/* What stands on the page beside what was collected. What is not there has a sentence in its place. */
struct ct_report_write_options {
    size_t size;                        /* sizeof(struct ct_report_write_options) */
    const char *capture;                /* path of one that was not ended, for the heading; NULL: "capture" */
    const char *kind;                   /* what it is (struct ct_capture); NULL: "trace" */
    struct ct_losses losses;            /* of the streams, and between frames (struct ct_seen) */
    const struct ct_cover_views *cover; /* of the same programs; NULL: there is no coverage */
    const struct ct_wcet_view *wcet;    /* the longest path of a function; NULL: there is none, because … */
    const char *no_wcet;                /* … of this; NULL: nobody asked */
    /* Where there are saved results: what the page is made of, and the sums over all of it, which take the
     * place of functions, stacks and edges that were collected. With input_count 0 there are none. */
    const struct ct_report_input *inputs;
    size_t input_count;
    struct ct_stack_sums *stacks; /* NULL: nothing tells them */
    struct ct_timing_sums *times; /* NULL: the same */
};

/* Writes the page; nothing can be taken afterwards. CT_ERR_ARG, CT_ERR_NOMEM when something is missing in the
 * page, those of ct_program_symbols, what `write` returned. */
CT_API int ct_report_write(struct ct_report *report, const struct ct_report_write_options *options,
                           ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
