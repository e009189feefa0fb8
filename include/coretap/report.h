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
#include "coretap/timeline.h"
#include "coretap/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ct_report_options {
    size_t size;   /* sizeof(struct ct_report_options) */
    uint64_t from; /* the timeline begins so many cycles after the begin of a stream (instructions, where the
                      trace has no cycle counts) … */
    uint64_t to;   /* the timeline ends before this, in the unit of `from`; 0: with the stream */
    uint8_t
        several; /* 1: of captures that are ended (ct_report_end), and of saved results; 0: of one capture */
    uint8_t raw_names; /* 1: with `several`, names of sums are not demangled */
    uint8_t together;  /* 1: with `several`, captures are of one system: their timestamps are one axis */
    uint8_t pad[5];    /* 0 */
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

/* Takes events of a source of software trace, in order: named ones (named_event.h) have a section of the
 * page. CT_ERR_ARG, also with options.several; CT_ERR_NOMEM. Other errors say that names of events cannot be
 * used, once; more events may be given. */
CT_API int ct_report_events(struct ct_report *report, const struct ct_event_origin *origin,
                            const struct ct_timed_event *events, size_t count);

/* Ends a capture of several, whose path is `name`; `kind` is that of struct ct_capture. Another one of the
 * same programs (ct_programs_next_capture) may follow: stacks, functions, edges and their times add up by
 * program and address in the file. CT_ERR_ARG, also without options.several and where one trace has cycle
 * counts and another none, CT_ERR_NOMEM, those of ct_program_symbols. */
CT_API int ct_report_end(struct ct_report *report, const char *name, const char *kind);

/* Returns the sums over the captures that were ended. Saved results can be added to them before the page is
 * written. They belong to the report. NULL without options.several. */
CT_API struct ct_stack_sums *ct_report_stacks(const struct ct_report *report);
CT_API struct ct_timing_sums *ct_report_times(const struct ct_report *report);

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

/* What stands on the page beside what was collected. What is not there has no section. */
struct ct_report_write_options {
    size_t size;                          /* sizeof(struct ct_report_write_options) */
    const char *capture;                  /* path of the only one, for the heading; NULL: "capture" */
    const char *kind;                     /* what it is (struct ct_capture); NULL: "trace" */
    struct ct_losses losses;              /* of the streams, and between frames (struct ct_seen) */
    const struct ct_cover_views *cover;   /* of the same programs; NULL: there is no coverage */
    const struct ct_wcet_view *wcet;      /* the longest path of a function; NULL: there is none */
    const char *no_wcet;                  /* why there is no longest path; NULL: nobody asked for one */
    const struct ct_report_input *inputs; /* of several: what the page is made of */
    size_t input_count;
};

/* Writes the page; nothing can be taken afterwards. CT_ERR_ARG, CT_ERR_NOMEM when something is missing in the
 * page, those of ct_program_symbols, what `write` returned. */
CT_API int ct_report_write(struct ct_report *report, const struct ct_report_write_options *options,
                           ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
