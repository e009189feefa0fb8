/* SPDX-License-Identifier: Apache-2.0 */
/* The report: everything known of a capture, as one page. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "coretap/losses.h"
#include "coretap/report.h"
#include "coretap/stacks.h"
#include "coretap/timing.h"
#include "format/cover.h"
#include "format/report_clock.h"
#include "format/report_named.h"
#include "format/slices.h"
#include "format/wcet_view.h"

/* A place in the source. `file` is NULL when unknown. */
struct ct_report_place {
    const char *function;
    uint64_t offset; /* from the beginning of the function */
    const char *file;
    uint32_t line;
    uint64_t addr;
};

struct ct_report_capture {
    const char *name, *kind; /* its path, and the kind of result */
};

/* A trace ID of a buffer. */
struct ct_report_stream {
    size_t capture;
    const char *buffer, *name, *core, *protocol;
    const struct ct_buffer *source; /* description of the buffer, with names of contexts; NULL: unknown */
    uint8_t id;
    uint64_t bytes, instructions;
    struct ct_losses losses;
    struct ct_timing_totals times;
    struct ct_report_clock clock; /* for the times of its slices */
};

/* A function over all streams. */
struct ct_report_function {
    uint32_t number; /* number in the stacks */
    struct ct_report_place place;
    const char *module;             /* path of its program; NULL: unknown */
    uint64_t in_file;               /* address in the file of the module */
    uint64_t insns, cycles;         /* executed in the function itself */
    uint64_t all_insns, all_cycles; /* executed in it and in everything that it called */
    uint64_t calls;
    struct ct_dist inclusive, self; /* of its complete runs */
};

/* An edge that execution took. */
struct ct_report_edge {
    size_t stream;
    struct ct_report_place from, to;
    const char *way; /* "call", "taken", … */
    uint64_t count;
    struct ct_dist cycles;
};

/* most threads on cores that can be selected, those with the most time */
#define CT_REPORT_THREADS 64

/* The time of a thread on a core. */
struct ct_report_thread {
    size_t stream;
    uint32_t context;              /* context ID; 0: unknown */
    uint64_t weight;               /* in cycles or instructions */
    struct ct_stack_place *places; /* its tree of stacks */
    size_t place_count;
};

struct ct_report_threads {
    struct ct_report_thread *threads; /* sorted by stream and context */
    size_t count;
    size_t left_out;               /* threads that cannot be selected */
    struct ct_stack_place *places; /* tree of all threads */
    size_t place_count;
};

struct ct_report_page {
    const struct ct_report_capture *captures; /* at least one */
    size_t capture_count;
    const char *program;     /* path of the program that ran; NULL when there are several */
    bool cycles;             /* times are cycles, else instructions */
    struct ct_losses losses; /* of the streams and between frames */
    const struct ct_report_stream *streams;
    size_t stream_count;
    const struct ct_report_function *functions; /* all functions that ran, those with the most time first */
    size_t function_count;
    size_t ran_count;                   /* number of functions in the stacks */
    const struct ct_report_edge *edges; /* those with the most time first */
    size_t edge_count;
    uint64_t edges_left_out;
    const struct ct_stack_place *places; /* tree of the stacks, with functions by number */
    size_t place_count;
    const struct ct_report_threads *threads; /* the threads of the tree; NULL: not distinguished */
    const struct ct_slices *slices;          /* finished; lanes are streams, functions those of the stacks */
    const char **slice_names;                /* not NULL: functions of slices are indices into these names */
    size_t slice_name_count;
    bool together;                        /* timestamps of all streams are of one clock */
    bool slice_cycles;                    /* times of slices are cycles, else instructions */
    const struct ct_report_input *inputs; /* NULL when the page has no saved results */
    size_t input_count;
    uint64_t all_cycles; /* cycles of the sums over inputs */
    const struct ct_cover_views *cover;
    const struct ct_wcet_view *wcet;     /* the longest path, or NULL */
    const struct ct_report_named *named; /* named events; NULL: none */
    const char *no_wcet;                 /* why there is no longest path; NULL when not asked for */
};

/* Writes the page. CT_ERR_NOMEM: it is incomplete. */
int ct_report_html(FILE *out, const struct ct_report_page *report);

/* Write the sections of the page. */
int ct_report_time(FILE *out, const struct ct_report_page *report);
int ct_report_modules(FILE *out, const struct ct_report_page *report);
int ct_report_timing(FILE *out, const struct ct_report_page *report);
int ct_report_timeline(FILE *out, const struct ct_report_page *report);
int ct_report_named_html(FILE *out, const struct ct_report_page *report);

/* Writes the data of functions.js, for the end of the page. CT_ERR_NOMEM. */
int ct_report_functions(FILE *out, const struct ct_report_page *report);

/* Notes which inputs have no data for a section about `tells`. Returns false, after such a note, when none
 * has. */
bool ct_report_told(FILE *out, const struct ct_report_page *report, uint32_t tells);

/* Adds up the times of all places, with and without the places below. Of a recursion only the outermost place
 * counts. index_of[f] is the index in `functions` of function f. CT_ERR_NOMEM. */
int ct_report_add_up(const struct ct_stack_place *places, size_t count, const uint32_t *index_of,
                     struct ct_report_function *functions);

/* Returns how execution left an edge's instructions: "call", "taken", … */
const char *ct_report_way(const struct ct_timing_edge *edge);

/* Chooses the edges with the most time: by cycles if `cycles`, else by executions. Returns their *used
 * indices, to be freed by the caller, and adds to *left_out how many more ran. Returns NULL when out of
 * memory, with *used 0. */
size_t *ct_report_choose_edges(const struct ct_timing_edge *all, size_t count, bool cycles, size_t *used,
                               uint64_t *left_out);

/* Return the names of functions for charts, in the order of the report; and an array that maps the number of
 * a function in the stacks to its index there. Returns NULL when out of memory. */
const char **ct_report_names(const struct ct_report_page *report);
uint32_t *ct_report_ranks(const struct ct_report_page *report);

/* room for a stream's name */
#define CT_REPORT_STREAM_NAME 96

/* Returns the core of a stream, or what else identifies it; in a page of several captures together with the
 * name of its capture. It may lie in `text`, which has `size` bytes. */
const char *ct_report_stream_name(const struct ct_report_page *report, const struct ct_report_stream *stream,
                                  char *text, size_t size);

/* room for the name of a thread */
#define CT_REPORT_THREAD_NAME 128

/* Returns the name of the thread with a context ID on the core of a stream, in `text`. NULL when the trace
 * has no context IDs. */
const char *ct_report_thread_name(const struct ct_report_page *report, size_t stream, uint32_t context,
                                  char text[CT_REPORT_THREAD_NAME]);

/* Collects the times of each thread on each core. `stream_of` maps lanes of the stacks, which must have
 * owners, to streams. `cycles`: measures cycles. The caller frees *out even after an error. CT_ERR_NOMEM. */
int ct_report_threads_make(const struct ct_stacks *stacks, const uint32_t *stream_of, bool cycles,
                           struct ct_report_threads *out);
void ct_report_threads_free(struct ct_report_threads *threads);

/* Return the time of a function in the report's unit, alone and with everything that it called; the time of
 * all functions; and the unit. */
uint64_t ct_report_self(const struct ct_report_page *report, const struct ct_report_function *function);
uint64_t ct_report_inclusive(const struct ct_report_page *report, const struct ct_report_function *function);
uint64_t ct_report_all(const struct ct_report_page *report);
const char *ct_report_unit(const struct ct_report_page *report);
