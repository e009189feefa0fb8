/* SPDX-License-Identifier: Apache-2.0 */
/* What a report holds of the current capture and of earlier ones. */
#pragma once

#include "base/names.h"
#include "coretap/report.h"
#include "format/report_kept.h"
#include "format/report_named.h"
#include "format/report_page.h"
#include "format/slices.h"

/* What is collected of one stream while its buffer is decoded. */
struct ct_report_open {
    struct ct_timing *timing; /* NULL before the first step */
    struct ct_report_clock clock;
    uint32_t lane; /* lane of the stream in the stacks */
};

/* The times of the runs of a function in a stream. */
struct ct_report_runs {
    uint64_t addr;
    struct ct_dist inclusive, self;
};

/* What is collected of a capture until it ends. */
struct ct_report_collected {
    /* places of the programs, in which functions of the stacks are looked up */
    const struct ct_program_place *places;
    struct ct_stacks *stacks; /* NULL before the first step */
    struct ct_slices slices;
    bool cycles;                     /* the first stream has cycle counts */
    struct ct_report_open open[128]; /* by trace ID, for the current buffer */
    uint32_t lanes;                  /* streams with steps so far */
    uint32_t *stream_of;             /* by lane: index of its stream */
    struct ct_report_runs *runs;
    size_t run_count, run_room;
    struct ct_report_function *functions; /* functions on a stack, by their number there */
    size_t function_count;
};

struct ct_report {
    struct ct_ctx *ctx;
    struct ct_programs *programs;
    bool over;  /* the report was written, and takes nothing more */
    int result; /* result of writing */
    bool several, together;
    struct ct_report_collected now;
    bool has_now; /* a capture has begun and not ended */
    /* for several captures */
    struct ct_stack_sums *stacks;
    struct ct_timing_sums *times;
    struct ct_report_kept kept; /* threads */
    struct ct_names names;      /* names of the functions in slices */
    /* over all captures */
    struct ct_arena arena;              /* for strings */
    struct ct_report_capture *captures; /* captures that have ended */
    size_t capture_count;
    const char *program;  /* path of the program that ran */
    bool programs_differ; /* captures have different programs */
    bool has_steps;
    bool cycles; /* times are cycles, in all captures or in none */
    uint64_t renewed;
    struct ct_slices slices;          /* for several captures; functions are numbers of `names` */
    struct ct_report_stream *streams; /* of buffers that have ended */
    size_t stream_count;
    struct ct_report_edge *edges; /* for the only capture */
    size_t edge_count;
    uint64_t edges_left_out;
    struct ct_report_named named; /* for the only capture */
};

/* message for calls after the page was written */
#define CT_REPORT_WRITTEN "the page was written"

/* Finds the place of an address. The programs own its strings. The errors of ct_program_symbols. */
int ct_report_find_place(struct ct_report *report, uint64_t addr, struct ct_report_place *place);

/* Makes the stacks of the capture. */
int ct_report_make_stacks(struct ct_report *report);

/* Takes the executions of functions that ended since the last call. CT_ERR_NOMEM. */
int ct_report_take_slices(struct ct_report *report);

/* Frees the measurements of the streams of a buffer. */
void ct_report_close_streams(struct ct_report *report);
