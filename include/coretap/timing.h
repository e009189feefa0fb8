/* SPDX-License-Identifier: Apache-2.0 */
/* coretap timing: how long things take: edges, functions, and the way from one watchpoint to another. Online:
 * what it needs hangs on the program, not on the length of the trace. */
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

/* Buckets of a histogram: eight for each power of two, so none is wider than an eighth of what is in it. */
#define CT_DIST_BUCKETS 496

/* A distribution of cycles. */
struct ct_dist {
    uint64_t count;
    uint64_t sum;
    uint64_t min, max;   /* 0 when count is 0 */
    uint64_t square_lo;  /* sum of squares: the lower 64 bits */
    uint64_t square_hi;  /* sum of squares: the upper 64 bits */
    uint32_t *histogram; /* counts that stay at their largest value; NULL: count is 0, or none is kept */
    uint32_t buckets;    /* how many of them there are, from the first bucket on; those of the others are 0 */
};

/* Returns the bucket of a value, and the smallest value of a bucket. */
CT_API unsigned ct_dist_bucket(uint64_t value);
CT_API uint64_t ct_dist_bucket_start(unsigned bucket);

/* Returns the mean and the standard deviation (of all that there is: divided by count); 0 when count is 0. */
CT_API double ct_dist_mean(const struct ct_dist *dist);
CT_API double ct_dist_deviation(const struct ct_dist *dist);

/* Returns the value that a part `q` (0 to 1) of all is at or below. It is rounded up to the end of its bucket
 * but never above max. */
CT_API uint64_t ct_dist_quantile(const struct ct_dist *dist, double q);

/* Adds all of `from` to `into`, which begins with all zero, up to the largest value of each sum. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_dist_merge(struct ct_dist *into, const struct ct_dist *from);

/* Frees the histogram of a sum that ct_dist_merge made. */
CT_API void ct_dist_free(struct ct_dist *dist);

/* In the place of the number of a program. */
#define CT_TIMING_NO_PROGRAM UINT32_MAX

/* What an instruction is to whoever looks at where execution went behind it. */
enum ct_timing_branch {
    CT_TIMING_BRANCH_UNKNOWN, /* a file does not tell */
    CT_TIMING_BRANCH_NONE,
    CT_TIMING_BRANCH_COND, /* conditional */
    CT_TIMING_BRANCH_JUMP,
    CT_TIMING_BRANCH_CALL,
    CT_TIMING_BRANCH_RETURN, /* also of an exception */
};

/* Of one edge of the program graph: steps through the instructions of [start, end), and on to `next`. */
struct ct_timing_edge {
    struct ct_dist cycles; /* of steps that have some */
    uint64_t count;        /* traversals */
    uint64_t shared;       /* traversals whose cycles are a part of a count for several steps */
    uint64_t start, last, end,
        next;              /* as in struct ct_node and struct ct_edge. In sums the load bias is off */
    uint32_t program;      /* that [start, end) is in, of sums: a number; CT_TIMING_NO_PROGRAM: in none */
    uint32_t next_program; /* the same of `next` */
    uint8_t kind;          /* enum ct_edge_kind */
    uint8_t exec;          /* as in struct ct_edge */
    uint8_t flags;         /* enum ct_node_flag */
    uint8_t branch;        /* the instruction at `last`: enum ct_timing_branch */
    uint32_t n;            /* instructions in [start, end); 0 from a file that does not tell them */
};

/* Of one function. A run of it is told by its call and its return. Time goes by in the run only while its own
 * thread executes outside of exceptions that came in between; what others took is apart. */
/* Where the longest run of a function was: from when to when it lasted, in cycles counted since its stream
 * began, as a window of a filter has them (CT_POINT_CYCLES). Of several that took as long it is the first by
 * capture, buffer, trace ID and position. */
struct ct_timing_longest {
    uint64_t cycles; /* as inclusive.max; 0: no run took any. Less than that when a file of version 3 or
                        before was added, which does not tell */
    uint64_t from, to;
    const char *capture; /* as the result names it; NULL: not known, nor is the buffer */
    const char *buffer;  /* its name */
    uint8_t id;          /* trace ID */
    uint8_t pad[7];      /* 0 */
};

struct ct_timing_function {
    const char *name;  /* of its symbol; CT_SYMBOL_UNKNOWN for code that is in no program */
    const char *label; /* the same for people, once it ran: C++ and Rust names are demangled */
    uint64_t addr;
    uint32_t program; /* number in the options, or of the sums; CT_TIMING_NO_PROGRAM: it is in none */
    uint32_t pad;     /* 0 */
    uint64_t cycles;  /* of all steps in it, in runs or not */
    uint64_t steps;
    uint64_t runs;            /* that began */
    uint64_t cut;             /* runs whose end or whole time is not known */
    struct ct_dist inclusive; /* whole runs with all that they called; of a recursion the outermost one */
    struct ct_dist self;      /* whole runs, without what they called */
    struct ct_dist recursive; /* inclusive, of runs inside of a run of the same function */
    struct ct_dist preempted; /* what exceptions and other threads took while it ran, of runs that had any */
    struct ct_timing_longest longest; /* of `inclusive` */
};

/* From a watchpoint to another: from the last one before it, in the same context. */
struct ct_timing_pair {
    const char *name;
    struct ct_dist direct;    /* nothing came in between */
    struct ct_dist preempted; /* there was an exception or a change of context in between */
    uint64_t lost;            /* begun, and trace was missing before the end */
    uint64_t restarted;       /* begun again before the end */
};

/* Of one block of the control flow graph. The cycles of a step are split among its blocks by their bytes; the
 * last one gets what is left. */
struct ct_timing_block {
    uint64_t count; /* how often its last instruction was executed, or passed by */
    uint64_t sum;
    uint64_t min, max; /* of a traversal with cycles; 0 when there was none */
    uint64_t timed;
};

struct ct_timing_totals {
    uint64_t cycles;   /* all that were counted: edges and unplaced */
    uint64_t edges;    /* of steps */
    uint64_t unplaced; /* of no step: cancelled instructions, gaps, counts with nothing before them */
    uint64_t steps;
    uint64_t untimed; /* steps without cycles */
    uint64_t gaps;    /* pieces of trace that are missing */
    uint64_t exceptions;
    uint64_t switches; /* changes of the context ID or VMID */
    uint64_t renewed; /* how often another thread went on that no context ID told of, see ct_stacks_renewed */
};

struct ct_timing;

struct ct_timing_options {
    size_t size;                             /* sizeof(struct ct_timing_options) */
    const struct ct_program_place *programs; /* whose functions count; in whatever memory they lay.
                                                They have to stay */
    size_t program_count;
    uint8_t no_histograms;
    const struct ct_stream_origin *origin; /* of the stream, for its longest runs; copied; NULL: not known */
};

/* Makes an object that takes the times of one stream. It needs 64 bytes to 2 KiB for each edge and function
 * whose histogram is kept, by its largest value, and 6 KiB for each function that ran; 64 threads with 1024
 * calls inside of one another are followed, what is beyond counts as cut. CT_ERR_NOMEM. */
CT_API int ct_timing_new(struct ct_ctx *ctx, const struct ct_timing_options *options, struct ct_timing **out);
CT_API void ct_timing_free(struct ct_timing *timing);

/* Measures from one watchpoint to another. `from` and `to` are places as ct_watches_add takes them, in the
 * programs of `watches`, to which they are added. All pairs before the first batch. The errors of
 * ct_watches_add. */
CT_API int ct_timing_add_pair(struct ct_timing *timing, struct ct_watches *watches, const char *from,
                              const char *to);

/* Takes the batches of the stream, in order. CT_ERR_NOMEM. */
CT_API int ct_timing_add(struct ct_timing *timing, const struct ct_step_batch *batch);

/* Takes events of `watches` from another source than steps, in order, in the place of batches. It is for
 * pairs alone. CT_ERR_NOMEM. */
CT_API int ct_timing_feed(struct ct_timing *timing, const struct ct_watch_event *events, size_t count);

/* Returns what was found. Borrowed until the next ct_timing_add. Edges by their number in the graph. */
CT_API const struct ct_timing_edge *ct_timing_edges(const struct ct_timing *timing, size_t *count);
CT_API const struct ct_timing_function *ct_timing_functions(const struct ct_timing *timing, size_t *count);
CT_API const struct ct_timing_pair *ct_timing_pairs(const struct ct_timing *timing, size_t *count);

/* Adds what edges say about the blocks of a graph to blocks[0 … number of blocks). Addresses of `cfg` are
 * those of the edges less `shift`. */
CT_API void ct_timing_add_blocks(const struct ct_timing_edge *edges, size_t count, uint64_t shift,
                                 const struct ct_cfg *cfg, struct ct_timing_block *blocks);
CT_API struct ct_timing_totals ct_timing_totals_of(const struct ct_timing *timing);

/* ---- sums ---- */

/* What was measured in any number of streams and captures, added up: an analysis (analysis.h) whose input is
 * CT_INPUT_STEPS. Functions and edges are told apart by the build id of their program and by their address in
 * its file, wherever it lay. Memory is that of struct ct_timing, for each stream that is not over, and once
 * more for the sums. */
struct ct_timing_sums;

struct ct_timing_sums_options {
    size_t size; /* sizeof(struct ct_timing_sums_options) */
    uint8_t no_histograms;
    uint8_t raw_names; /* 1: labels of functions are not demangled */
};

/* `options` may be NULL. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_timing_sums_new(struct ct_ctx *ctx, const struct ct_timing_sums_options *options,
                              struct ct_timing_sums **out);
CT_API void ct_timing_sums_free(struct ct_timing_sums *sums);

/* Returns what the contract of analyses needs: the kind, and the analysis that `sums` is, which it owns. */
CT_API const struct ct_analysis_kind *ct_timing_sums_kind(void);
CT_API struct ct_analysis *ct_timing_sums_analysis(struct ct_timing_sums *sums);

/* Adds the times of a stream that is over, measured by the caller. The steps were along `graph`, in
 * `programs`, which may be NULL. CT_ERR_ARG, CT_ERR_NOMEM, those of ct_program_symbols. */
CT_API int ct_timing_sums_add(struct ct_timing_sums *sums, const struct ct_timing *timing,
                              const struct ct_graph *graph, struct ct_programs *programs);

/* Measures a pair in all streams that begin from then on. The errors of ct_timing_add_pair come with their
 * first batch; here CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_timing_sums_add_pair(struct ct_timing_sums *sums, const char *from, const char *to);

/* Returns the times of a stream that is not over yet, by its number (ct_session_lane). NULL: nothing was
 * taken of it. */
CT_API const struct ct_timing *ct_timing_sums_stream(const struct ct_timing_sums *sums, uint32_t lane);

/* What sums have, in an order that depends on nothing but what they say: programs by build id and name,
 * functions and edges by program and address, pairs by name. */
struct ct_timing_found {
    const struct ct_timing_function *functions; /* that ran */
    size_t function_count;
    const struct ct_timing_edge *edges;
    size_t edge_count;
    const struct ct_timing_pair *pairs;
    size_t pair_count;
    struct ct_timing_totals totals;
    size_t program_count;
};

/* Brings in order what ended streams and merged parts have, and finds it. Lists and numbers of programs are
 * good until something is added. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_timing_sums_find(struct ct_timing_sums *sums, struct ct_timing_found *found);

/* Returns a program by its number in the lists. */
CT_API struct ct_program_identity ct_timing_sums_program(const struct ct_timing_sums *sums, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
