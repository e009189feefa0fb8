/* SPDX-License-Identifier: Apache-2.0 */
/* coretap empty: why a result is empty. An empty result is right only when nothing ran. Otherwise a user
 * needs the reason and what to do about it.
 *
 *     struct ct_ran ran = {0}; // also in the options of the session: .ran = &ran
 *     struct ct_empty why;
 *     char text[CT_EMPTY_WORDS];
 *     const struct ct_cover_views *views; // of the coverage (cover.h)
 *     const struct ct_empty_options options = {.size = sizeof options,
 *                                              .result = "the coverage is",
 *                                              .seen = ct_session_seen(session),
 *                                              .sieved = ct_session_sieved(session),
 *                                              .ran = &ran,
 *                                              .views = views};
 *     ct_empty_find(ctx, &options, &why);
 *     if (why.reason)
 *         puts(ct_empty_words(text, &why)); */
#ifndef CORETAP_EMPTY_H
#define CORETAP_EMPTY_H

#include "coretap/base.h"
#include "coretap/counts.h"
#include "coretap/cover.h"
#include "coretap/filter.h"
#include "coretap/format.h"
#include "coretap/input.h"
#include "coretap/ran.h"
#include "coretap/session.h"
#include "coretap/timing.h"
#include "coretap/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The reasons. Those up to NOT_REACHED are looked for in this order. */
enum ct_empty_reason {
    CT_EMPTY_NOT,         /* the result is not empty, or nothing that is given explains it */
    CT_EMPTY_NO_TRACE,    /* the capture has no trace: the trace sink was not enabled */
    CT_EMPTY_UNSELECTED,  /* the selected sources have no trace: select others */
    CT_EMPTY_NO_SOURCE,   /* none of the bytes belong to a source: its description lacks trace IDs */
    CT_EMPTY_FILTERED,    /* the filter keeps nothing (struct ct_sieve_seen): choose another part */
    CT_EMPTY_NO_VALUES,   /* the places are values, which only software trace and data trace contain */
    CT_EMPTY_NO_MEMORY,   /* nothing could be followed, because the memory of what ran is missing */
    CT_EMPTY_NOTHING_RAN, /* there is trace, but no instruction in it */
    CT_EMPTY_NO_DEBUG,    /* no program has source lines, of which the format consists */
    CT_EMPTY_NO_PROGRAM,  /* what ran is in no known program: name it with ct_programs_add */
    CT_EMPTY_NO_CONTEXT,  /* what ran in known programs ran in other contexts than the wanted ones */
    CT_EMPTY_NO_LINES,    /* functions that ran have no source lines: see ct_cover_views_options, or name the
                             program with debug information */
    CT_EMPTY_NO_CYCLES,   /* the trace counts no cycles: record with cycle counts */
    CT_EMPTY_NOT_REACHED, /* execution reached none of the places */
    CT_EMPTY_OTHER,       /* a reason of the caller (ct_empty_because) */
    CT_EMPTY_NO_EDGE,     /* no edge was traversed completely: the trace was lost around all of them */
    CT_EMPTY_NO_SAMPLE,   /* no run of branches is without an interruption */
    CT_EMPTY_NO_RUN,      /* no function ran from call to return, or no pair of places from start to end, with
                             cycle counts */
};

/* What a result consists of, where its parts are only counted (struct ct_empty_options). */
enum ct_empty_items {
    CT_EMPTY_ITEMS_NONE,    /* nothing is counted */
    CT_EMPTY_EDGE_EVENTS,   /* traversals of edges (ct_edge_events_count) */
    CT_EMPTY_PERF_SAMPLES,  /* samples of branch stacks (ct_perf_samples_count) */
    CT_EMPTY_LEARNT_BLOCKS, /* executed blocks of the program whose branches are learnt (learn.h) */
    CT_EMPTY_FUNCTION_RUNS, /* functions that ran from call to return */
    CT_EMPTY_SELECTED_RUNS, /* those of them that a name selects */
    CT_EMPTY_INTERVALS,     /* times from one place to another */
    CT_EMPTY_SLICES,        /* functions in a window of time */
    CT_EMPTY_WEIGHTS,       /* cycles, as the weights of stacks */
};

/* Size of each text of a reason, with its NUL. */
#define CT_EMPTY_TEXT 1024

/* Size of the text of ct_empty_words, with its NUL. */
#define CT_EMPTY_WORDS (3 * CT_EMPTY_TEXT + 16)

/* Why a result is empty. */
struct ct_empty {
    uint32_t reason;                 /* enum ct_empty_reason */
    uint32_t pad;                    /* 0 */
    char fact[CT_EMPTY_TEXT];        /* "none of them belongs to a known program" */
    char consequence[CT_EMPTY_TEXT]; /* "the coverage is empty although 12 instructions ran, in a and b" */
    char remedy[CT_EMPTY_TEXT];      /* what to do; options in it are those of the command */
};

/* What is known, and what was asked. Members that are NULL or 0 explain nothing. At most one result is set,
 * after `ran`; for results without an object here it is `items` with their number, `count`. */
struct ct_empty_options {
    size_t size;                         /* sizeof(struct ct_empty_options) */
    const char *result;                  /* what is empty, with its verb; NULL: "the result is" */
    const char *selected;                /* what selected the sources, for example "--id"; NULL: nothing */
    const struct ct_capture *capture;    /* the last one: the names of missing files */
    const struct ct_seen *seen;          /* of the last capture (ct_session_seen) */
    const struct ct_sieve_seen *sieved;  /* of all captures (ct_session_sieved) */
    const struct ct_ran *ran;            /* of all captures (struct ct_session_options) */
    const struct ct_cover_views *views;  /* coverage, which is empty when no instruction in it ran */
    const struct ct_cover *cover;        /* counts of coverage, without views */
    const struct ct_timing_found *times; /* times in cycles */
    const struct ct_watches *watches;    /* watchpoints that had no event */
    const struct ct_counts *counts;      /* sums of watchpoints (ct_watch_counts_new); `watches` may be set,
                                            too */
    const struct ct_profile_written *profile;
    uint8_t profile_format; /* enum ct_profile_format of `profile` */
    uint8_t in_contexts;    /* 1: the coverage is only that of chosen contexts */
    uint8_t needs_lines; /* 1: the format of `views` consists of source lines: lcov, Cobertura, SonarQube */
    uint8_t saved;       /* 1: the result also contains saved files, whose captures are not in `ran` */
    uint8_t pad[4];      /* 0 */
    uint64_t count;      /* of `items`; 0: the result is empty */
    uint8_t items;       /* enum ct_empty_items: what the result consists of, if it is given as a number */
    uint8_t pad2[7];     /* 0 */
};

/* Finds the first reason that applies, after the session ran: before, no capture has any trace.
 * CT_EMPTY_NOT and empty texts when there is none. CT_ERR_ARG. */
CT_API int ct_empty_find(struct ct_ctx *ctx, const struct ct_empty_options *options, struct ct_empty *out);

/* Fills in a reason that the caller knows, with the consequence for `result` of what ran (NULL: unknown).
 * CT_ERR_ARG, also for CT_EMPTY_NOT. */
CT_API int ct_empty_because(struct ct_empty *out, enum ct_empty_reason reason, const struct ct_ran *ran,
                            const char *result, const char *fact, const char *remedy);

/* Writes the reason as one sentence. Returns `text`, which is empty for CT_EMPTY_NOT; NULL for a null
 * pointer. */
CT_API const char *ct_empty_words(char text[CT_EMPTY_WORDS], const struct ct_empty *why);

#ifdef __cplusplus
}
#endif
#endif
