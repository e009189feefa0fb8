/* SPDX-License-Identifier: Apache-2.0 */
/* The report: all that is known of a capture, as one page. */
#ifndef CT_FORMAT_REPORT_PAGE_H
#define CT_FORMAT_REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "coretap/losses.h"
#include "coretap/report.h"
#include "coretap/stacks.h"
#include "coretap/timing.h"
#include "format/cover.h"
#include "format/slices.h"
#include "format/wcet_view.h"

/* A place of the source; `file` NULL: unknown. */
struct ct_report_place {
    const char *function;
    const char *file;
    uint32_t line;
    uint64_t addr;
};

struct ct_report_capture {
    const char *name, *kind; /* its path, and what it is */
};

/* One trace ID of a buffer. */
struct ct_report_stream {
    size_t capture;
    const char *buffer, *name, *core, *protocol;
    uint8_t id;
    uint64_t bytes, instructions;
    struct ct_losses losses;
    struct ct_timing_totals times;
};

/* One function over all streams. */
struct ct_report_function {
    uint32_t number; /* in the stacks */
    struct ct_report_place place;
    uint64_t insns, cycles;         /* executed in it */
    uint64_t all_insns, all_cycles; /* … and in all that it called */
    uint64_t calls;
    struct ct_dist inclusive, self; /* of whole runs */
};

/* One way that execution went. */
struct ct_report_edge {
    size_t stream;
    struct ct_report_place from, to;
    const char *way; /* "call", "taken", … */
    uint64_t count;
    struct ct_dist cycles;
};

struct ct_report_page {
    const struct ct_report_capture *captures; /* one at least */
    size_t capture_count;
    const char *program;     /* path of the one that ran; NULL: several did */
    bool cycles;             /* time is cycles; else instructions */
    struct ct_losses losses; /* of the streams, and between frames */
    const struct ct_report_stream *streams;
    size_t stream_count;
    const struct ct_report_function *functions; /* those with most time first; all that ran */
    size_t function_count;
    size_t ran_count;                   /* those of them of which stacks tell something */
    const struct ct_report_edge *edges; /* those with most time first */
    size_t edge_count;
    uint64_t edges_left_out;
    const struct ct_stack_place *places; /* the tree of the stacks; functions by their number */
    size_t place_count;
    const struct ct_slices *slices; /* over; lanes are streams, functions those of the stacks … */
    const char **slice_names;       /* … or, when this is not NULL, numbers of these */
    size_t slice_name_count;
    bool slice_cycles;                    /* their time is cycles; else instructions */
    const struct ct_report_input *inputs; /* where there are saved results; else there are none */
    size_t input_count;
    uint64_t all_cycles; /* of the sums over inputs */
    const struct ct_cover_views *cover;
    const struct ct_wcet_view *wcet; /* NULL: there is none, because … */
    const char *no_wcet;             /* … of this; NULL: nobody asked */
};

/* The result is CT_ERR_NOMEM when a part is missing. */
int ct_report_html(FILE *out, const struct ct_report_page *report);

/* Its sections. */
int ct_report_summary(FILE *out, const struct ct_report_page *report);
int ct_report_time(FILE *out, const struct ct_report_page *report);
int ct_report_timing(FILE *out, const struct ct_report_page *report);
int ct_report_timeline(FILE *out, const struct ct_report_page *report);

/* Says which inputs do not tell a section that is about `tells`. False: none of them does, which was said,
 * too. */
bool ct_report_told(FILE *out, const struct ct_report_page *report, uint32_t tells);

/* What all places took, alone and with what is below them; of a recursion the outermost place. `index_of` has
 * the index in `functions` by the number of a function. CT_ERR_NOMEM. */
int ct_report_add_up(const struct ct_stack_place *places, size_t count, const uint32_t *index_of,
                     struct ct_report_function *functions);

/* Says how execution left the instructions of an edge: "call", "taken", … */
const char *ct_report_way(const struct ct_timing_edge *edge);

/* Chooses the edges with most time, by `cycles` or else by how often they were taken: their indexes, *used of
 * them, to be freed. How many more ran is added to *left_out. NULL without memory; then *used is 0. */
size_t *ct_report_choose_edges(const struct ct_timing_edge *all, size_t count, bool cycles, size_t *used,
                               uint64_t *left_out);

/* Puts those with most time first. */
void ct_report_sort(struct ct_report_function *functions, size_t function_count, struct ct_report_edge *edges,
                    size_t edge_count);

/* Names of functions, the first in the report first, for charts; and for each number of a function of the
 * stacks its place among them. NULL without memory. */
const char **ct_report_names(const struct ct_report_page *report);
uint32_t *ct_report_ranks(const struct ct_report_page *report);

/* Room for a stream's name. */
#define CT_REPORT_STREAM_NAME 96

/* The core of a stream, or what else tells it apart; of several captures with the name of its own. In `text`,
 * which has `size` bytes. */
const char *ct_report_stream_name(const struct ct_report_page *report, const struct ct_report_stream *stream,
                                  char *text, size_t size);

/* The name of a capture without its folders, and with its number where another one has it too. */
const char *ct_report_capture_name(const struct ct_report_page *report, size_t capture, char *text,
                                   size_t size);

/* What a function took by the report's unit, alone and with all that it called; and all of the time. */
uint64_t ct_report_self(const struct ct_report_page *report, const struct ct_report_function *function);
uint64_t ct_report_inclusive(const struct ct_report_page *report, const struct ct_report_function *function);
uint64_t ct_report_all(const struct ct_report_page *report);
const char *ct_report_unit(const struct ct_report_page *report);

#endif
