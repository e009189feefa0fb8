/* SPDX-License-Identifier: Apache-2.0 */
/* coretap timing: how long edges, functions, and pairs of watchpoints take. It works online: its memory
 * depends on the program, not on the length of the trace. Here the mean time of each function, over all
 * captures that the session has run on:
 *
 *     ct_timing_sums_new(ctx, NULL, &sums);
 *     ct_session_add(session, ct_timing_sums_analysis(sums));
 *     ct_session_run(session, capture, capture->buffers, capture->buffer_count);
 *     ct_timing_sums_find(sums, &found);
 *     for (size_t i = 0; i < found.function_count; i++)
 *         printf("%s: %.0f cycles\n", found.functions[i].label,
 *                ct_dist_mean(&found.functions[i].inclusive));
 *     ct_timing_sums_free(sums);
 *
 * One stream without a session: pass its batches of steps to ct_timing_add. */
#ifndef CORETAP_TIMING_H
#define CORETAP_TIMING_H

#include "coretap/analysis.h"
#include "coretap/base.h"
#include "coretap/programs.h"
#include "coretap/steps.h"
#include "coretap/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of buckets of a histogram: eight for each power of two, so that none is wider than an eighth of its
 * values. */
#define CT_DIST_BUCKETS 496

/* A distribution of cycles. */
struct ct_dist {
    uint64_t count;
    uint64_t sum;
    uint64_t min, max;   /* 0 when count is 0 */
    uint64_t square_lo;  /* sum of squares: the lower 64 bits */
    uint64_t square_hi;  /* sum of squares: the upper 64 bits */
    uint32_t *histogram; /* counts, each of which stops at its largest value; NULL: count is 0, or none is
                            kept */
    uint32_t buckets;    /* length of `histogram`; buckets beyond it are 0 */
};

/* Returns the bucket of a value, and the smallest value of a bucket. */
CT_API unsigned ct_dist_bucket(uint64_t value);
CT_API uint64_t ct_dist_bucket_start(unsigned bucket);

/* Returns the mean and the standard deviation (of the population: divided by count); 0 when count is 0. */
CT_API double ct_dist_mean(const struct ct_dist *dist);
CT_API double ct_dist_deviation(const struct ct_dist *dist);

/* Returns the smallest value that a fraction `q` (0 to 1) of all values does not exceed. It is rounded up to
 * the end of its bucket but never above max. */
CT_API uint64_t ct_dist_quantile(const struct ct_dist *dist, double q);

/* Adds all of `from` to `into`, which initially is all zero. Sums stop at their largest value. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_dist_merge(struct ct_dist *into, const struct ct_dist *from);

/* Frees the histogram of a sum that ct_dist_merge made. */
CT_API void ct_dist_free(struct ct_dist *dist);

/* Stands for no program in place of its number. */
#define CT_TIMING_NO_PROGRAM UINT32_MAX

/* How an instruction changes control flow. */
enum ct_timing_branch {
    CT_TIMING_BRANCH_UNKNOWN, /* a file does not say it */
    CT_TIMING_BRANCH_NONE,
    CT_TIMING_BRANCH_COND, /* conditional */
    CT_TIMING_BRANCH_JUMP,
    CT_TIMING_BRANCH_CALL,
    CT_TIMING_BRANCH_RETURN, /* also of an exception */
};

/* Times of one edge of the program graph: steps through the instructions of [start, end), and on to
 * `next`. */
struct ct_timing_edge {
    struct ct_dist cycles; /* of steps with cycles */
    uint64_t count;        /* traversals */
    uint64_t shared;       /* traversals whose cycles are a share of a count for several steps */
    uint64_t start, last, end,
        next;              /* as in struct ct_node and struct ct_edge. In sums the load bias is off */
    uint32_t program;      /* in sums: number of the program of [start, end); CT_TIMING_NO_PROGRAM: none */
    uint32_t next_program; /* in sums: number of the program of `next` */
    uint8_t kind;          /* enum ct_edge_kind */
    uint8_t exec;          /* as in struct ct_edge */
    uint8_t flags;         /* enum ct_node_flag */
    uint8_t branch;        /* the instruction at `last`: enum ct_timing_branch */
    uint32_t n;            /* instructions in [start, end); 0 from a file without them */
};

/* The longest run of a function: its beginning and end, in cycles since its stream began, like a window of a
 * filter (CT_POINT_CYCLES). Of equally long runs it is the first by capture, buffer, trace ID and
 * position. */
struct ct_timing_longest {
    uint64_t cycles; /* as inclusive.max; 0: no run took any. Less when a file of version 3 or before was
                        added, which does not have it */
    uint64_t from, to;
    const char *capture; /* under its name in the result; NULL: unknown, and so is the buffer */
    const char *buffer;  /* its name */
    uint8_t id;          /* trace ID */
    uint8_t pad[7];      /* 0 */
};

/* Times of one function. A run of it begins with its call and ends with its return. The time of a run
 * includes only what its own thread executes, outside of exceptions that interrupt it; what others took is
 * counted separately. */
struct ct_timing_function {
    const char *name;  /* of its symbol; CT_SYMBOL_UNKNOWN for code in no program */
    const char *label; /* the name for people, set once it ran: C++ and Rust names are demangled */
    uint64_t addr;
    uint32_t program; /* number in the options, or in the sums; CT_TIMING_NO_PROGRAM: none */
    uint32_t pad;     /* 0 */
    uint64_t cycles;  /* of all its steps, inside of runs or not */
    uint64_t steps;
    uint64_t runs;            /* runs that began */
    uint64_t cut;             /* runs whose end, or whole time, is unknown */
    struct ct_dist inclusive; /* complete runs with everything they called; of a recursion only the
                                 outermost */
    struct ct_dist self;      /* complete runs, without what they called */
    struct ct_dist recursive; /* inclusive time of runs inside of a run of the same function */
    struct ct_dist preempted; /* time that exceptions and other threads took during a run, for runs that had
                                 any */
    struct ct_timing_longest longest; /* of `inclusive` */
};

/* Times from one watchpoint to another, in the same context, from the last hit of the first one. */
struct ct_timing_pair {
    const char *name;
    struct ct_dist direct;    /* nothing happened in between */
    struct ct_dist preempted; /* an exception or a change of context happened in between */
    uint64_t lost;            /* begun, but trace was missing before the end */
    uint64_t restarted;       /* begun again before the end */
};

/* Times of one block of the control flow graph. The cycles of a step are split among its blocks by their
 * bytes; the last one gets the rest. */
struct ct_timing_block {
    uint64_t count; /* how often its last instruction was executed, or skipped by its condition */
    uint64_t sum;
    uint64_t min, max; /* of a traversal with cycles; 0 when there was none */
    uint64_t timed;
};

struct ct_timing_totals {
    uint64_t cycles;   /* all cycles counted: edges and unplaced */
    uint64_t edges;    /* of steps */
    uint64_t unplaced; /* of no step: cancelled instructions, gaps, counts without steps */
    uint64_t steps;
    uint64_t untimed; /* steps without cycles */
    uint64_t gaps;    /* places where trace is missing */
    uint64_t exceptions;
    uint64_t switches; /* changes of the context ID or VMID */
    uint64_t renewed;  /* how often another thread continued without a context ID that says so, see
                          ct_stacks_renewed */
};

struct ct_timing;

struct ct_timing_options {
    size_t size;                             /* sizeof(struct ct_timing_options) */
    const struct ct_program_place *programs; /* whose functions are measured, in any memory. They must stay
                                                valid */
    size_t program_count;
    uint8_t no_histograms;
    const struct ct_stream_origin *origin; /* of the stream, for its longest runs; copied; NULL: unknown */
};

/* Makes an object that measures the times of one stream. Takes 64 bytes to 2 KiB for each edge and function
 * with a histogram, depending on its largest value, and 6 KiB for each function that ran. Follows 64 threads
 * with 1024 nested calls; what exceeds this counts as cut. CT_ERR_NOMEM. */
CT_API int ct_timing_new(struct ct_ctx *ctx, const struct ct_timing_options *options, struct ct_timing **out);
CT_API void ct_timing_free(struct ct_timing *timing);

/* Measures from one watchpoint to another. `from` and `to` are places as for ct_watches_add, in the programs
 * of `watches`, to which they are added. To be called before the first batch. The errors of
 * ct_watches_add. */
CT_API int ct_timing_add_pair(struct ct_timing *timing, struct ct_watches *watches, const char *from,
                              const char *to);

/* Takes the batches of the stream, in order. CT_ERR_NOMEM. */
CT_API int ct_timing_add(struct ct_timing *timing, const struct ct_step_batch *batch);

/* Takes events of `watches` from another source than steps, in order, instead of batches. Only measures
 * pairs. CT_ERR_NOMEM. */
CT_API int ct_timing_feed(struct ct_timing *timing, const struct ct_watch_event *events, size_t count);

/* Returns the times. Borrowed until the next ct_timing_add. Edges are sorted by their number in the graph.
 * Functions are code in no program and those that branches led to, in the order of the programs; some may not
 * have run. NULL when out of memory. */
CT_API const struct ct_timing_edge *ct_timing_edges(const struct ct_timing *timing, size_t *count);
CT_API const struct ct_timing_function *ct_timing_functions(const struct ct_timing *timing, size_t *count);
CT_API const struct ct_timing_pair *ct_timing_pairs(const struct ct_timing *timing, size_t *count);

/* Adds the times of edges to the blocks of a graph, blocks[0 … number of blocks). Addresses of `cfg` are
 * those of the edges minus `shift`. */
CT_API void ct_timing_add_blocks(const struct ct_timing_edge *edges, size_t count, uint64_t shift,
                                 const struct ct_cfg *cfg, struct ct_timing_block *blocks);
CT_API struct ct_timing_totals ct_timing_totals_of(const struct ct_timing *timing);

/* ---- sums ---- */

/* Times over any number of streams and captures: an analysis (analysis.h) whose input is CT_INPUT_STEPS.
 * Functions and edges are identified by the build id of their program and their address in its file, wherever
 * it was loaded. Takes the memory of struct ct_timing for each stream that has not ended, and once more for
 * the sums. */
struct ct_timing_sums;

struct ct_timing_sums_options {
    size_t size; /* sizeof(struct ct_timing_sums_options) */
    uint8_t no_histograms;
    uint8_t raw_names; /* 1: labels of functions are not demangled */
};

/* Makes empty sums; `options` may be NULL. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_timing_sums_new(struct ct_ctx *ctx, const struct ct_timing_sums_options *options,
                              struct ct_timing_sums **out);
CT_API void ct_timing_sums_free(struct ct_timing_sums *sums);

/* Returns the kind of this analysis, and the analysis that `sums` owns. */
CT_API const struct ct_analysis_kind *ct_timing_sums_kind(void);
CT_API struct ct_analysis *ct_timing_sums_analysis(struct ct_timing_sums *sums);

/* Adds the times of an ended stream that the caller has measured. Its steps were along `graph`, in
 * `programs`, which may be NULL. CT_ERR_ARG, CT_ERR_NOMEM, those of ct_program_symbols. */
CT_API int ct_timing_sums_add(struct ct_timing_sums *sums, const struct ct_timing *timing,
                              const struct ct_graph *graph, struct ct_programs *programs);

/* Measures a pair in all streams that begin from now on. The errors of ct_timing_add_pair come with their
 * first batch; here CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_timing_sums_add_pair(struct ct_timing_sums *sums, const char *from, const char *to);

/* Returns the times of a stream that has not ended, by its number (ct_session_lane). NULL: nothing was taken
 * from it. */
CT_API const struct ct_timing *ct_timing_sums_stream(const struct ct_timing_sums *sums, uint32_t lane);

/* The contents of sums, in an order that depends on nothing else: programs by build id and name, functions
 * and edges by program and address, pairs by name. */
struct ct_timing_found {
    const struct ct_timing_function *functions; /* functions that ran */
    size_t function_count;
    const struct ct_timing_edge *edges;
    size_t edge_count;
    const struct ct_timing_pair *pairs;
    size_t pair_count;
    struct ct_timing_totals totals;
    size_t program_count;
};

/* Sorts the times of ended streams and merged parts, and returns them. Lists and numbers of programs stay
 * valid until something is added. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_timing_sums_find(struct ct_timing_sums *sums, struct ct_timing_found *found);

/* Returns a program by its number in the lists, zeros when there is none. */
CT_API struct ct_program_identity ct_timing_sums_program(const struct ct_timing_sums *sums, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
