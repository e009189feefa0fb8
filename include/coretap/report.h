/* SPDX-License-Identifier: Apache-2.0 */
/* coretap report: everything about captures on one HTML page. A report is collected while a session decodes a
 * capture: `steps` and `decoded` of the session's options pass on what they get.
 *
 *     struct ct_report_write_options page = {.size = sizeof page};
 *     ct_report_new(ctx, programs, NULL, &report);
 *     ct_session_run(session, capture, capture->buffers, capture->buffer_count);
 *     ct_cover_views_new(cover, programs, NULL, &views);
 *     page.cover = views;
 *     page.losses = ct_session_seen(session)->losses;
 *     ct_report_write(report, &page, write, user);
 *     ct_report_free(report); */
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
    uint64_t from; /* start of the timeline, in cycles since a stream began (instructions, if the trace has no
                      cycle counts) */
    uint64_t to;   /* end of the timeline, not included, in the unit of `from`; 0: that of the stream */
    uint8_t
        several; /* 1: of captures that are ended (ct_report_end), and of saved results; 0: of one capture */
    uint8_t raw_names; /* 1: with `several`, names in sums are not demangled */
    uint8_t together;  /* 1: with `several`, captures are of one system, with their timestamps on one axis */
    uint8_t pad[5];    /* 0 */
};

struct ct_report;

/* Makes an empty report. `programs` are those of the session and must stay valid as long as the report; a
 * capture must stay valid until it is ended. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_report_new(struct ct_ctx *ctx, struct ct_programs *programs,
                         const struct ct_report_options *options, struct ct_report **out);
CT_API void ct_report_free(struct ct_report *report);

/* Takes steps, in order. CT_ERR_ARG, CT_ERR_NOMEM, those of ct_program_symbols. */
CT_API int ct_report_steps(struct ct_report *report, const struct ct_stream *stream,
                           const struct ct_step_batch *batch);

/* Takes the streams of a buffer, after all their steps were given. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_report_decoded(struct ct_report *report, const struct ct_buffer *buffer,
                             const struct ct_chain *chain);

/* Takes events of a source of software trace, in order. Named ones (named_event.h) have a section of the
 * page. CT_ERR_ARG, also with options.several; CT_ERR_NOMEM. Other errors say, once, that names of events
 * cannot be used; more events may be given. */
CT_API int ct_report_events(struct ct_report *report, const struct ct_event_origin *origin,
                            const struct ct_timed_event *events, size_t count);

/* Ends one of several captures, whose path is `name`; `kind` is that of struct ct_capture. Another one of the
 * same programs (ct_programs_next_capture) may follow: stacks, functions, edges and their times are added up
 * by program and address in the file. CT_ERR_ARG, also without options.several and when only one of two
 * traces has cycle counts, CT_ERR_NOMEM, those of ct_program_symbols. */
CT_API int ct_report_end(struct ct_report *report, const char *name, const char *kind);

/* Returns the sums over the captures that were ended. Saved results can be merged into them before the page
 * is written. They belong to the report. NULL without options.several. */
CT_API struct ct_stack_sums *ct_report_stacks(const struct ct_report *report);
CT_API struct ct_timing_sums *ct_report_times(const struct ct_report *report);

/* Returns how often a stack was started again (ct_stacks_renewed). */
CT_API uint64_t ct_report_renewed(const struct ct_report *report);

/* The contents of a capture or a saved result. */
enum ct_report_tells {
    CT_REPORT_COVERAGE = 1, /* coverage */
    CT_REPORT_TIMES = 2,    /* times of functions, and counts of edges */
    CT_REPORT_STACKS = 4,   /* stacks, and functions by their cost */
    CT_REPORT_STREAMS = 8,  /* streams and the timeline: a capture */
};

/* A capture, or a saved result instead of one. */
struct ct_report_input {
    const char *name;        /* its path */
    const char *kind;        /* its kind */
    struct ct_losses losses; /* of the capture, or of all captures in the result */
    uint32_t tells;          /* enum ct_report_tells, as a bit mask */
    uint32_t pad;            /* 0 */
};

/* The further contents of the page. What is missing has no section. */
struct ct_report_write_options {
    size_t size;                          /* sizeof(struct ct_report_write_options) */
    const char *capture;                  /* path of the only one, for the heading; NULL: "capture" */
    const char *kind;                     /* its kind (struct ct_capture); NULL: "trace" */
    struct ct_losses losses;              /* of the streams, and between frames (struct ct_seen) */
    const struct ct_cover_views *cover;   /* of the same programs; NULL: no coverage */
    const struct ct_wcet_view *wcet;      /* the longest path of a function; NULL: none */
    const char *no_wcet;                  /* why there is no longest path; NULL: none was requested */
    const struct ct_report_input *inputs; /* with options.several: what the page is made from */
    size_t input_count;
};

/* Writes the page; nothing can be added afterwards. May be called again, for example after an error of
 * `write` or with other options; `capture` and `kind` stay those of the first call. CT_ERR_ARG, CT_ERR_NOMEM
 * when the page is incomplete, those of ct_program_symbols, what `write` returned. */
CT_API int ct_report_write(struct ct_report *report, const struct ct_report_write_options *options,
                           ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
