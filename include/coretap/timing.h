/* SPDX-License-Identifier: Apache-2.0 */
/* coretap timing: how long things take: edges, functions, and the way from one watchpoint to another. Online:
 * what it needs hangs on the program, not on the length of the trace. */
#ifndef CORETAP_TIMING_H
#define CORETAP_TIMING_H

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
    uint64_t square_lo;  /* sum of squares: 128 bits, … */
    uint64_t square_hi;  /* … the upper half */
    uint32_t *histogram; /* CT_DIST_BUCKETS counts that stay at their largest value; NULL: count is 0, or none
                            is kept */
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

/* Of one edge of the program graph: steps. */
struct ct_timing_edge {
    struct ct_dist cycles; /* of steps that have some */
    uint64_t count;        /* traversals */
    uint64_t shared;       /* … whose cycles are a part of a count for several steps */
};

/* Of one function. A run of it is told by its call and its return. Time goes by in the run only while its own
 * thread executes outside of exceptions that came in between; what others took is apart. */
struct ct_timing_function {
    const char *name;  /* of its symbol; CT_SYMBOL_UNKNOWN for code that is in no program */
    const char *label; /* the same for people, once it ran: C++ and Rust names are demangled */
    uint64_t addr;
    uint64_t cycles; /* of all steps in it, in runs or not */
    uint64_t steps;
    uint64_t runs;            /* that began */
    uint64_t cut;             /* … and whose end or whole time is not known */
    struct ct_dist inclusive; /* whole runs with all that they called; of a recursion the outermost one */
    struct ct_dist self;      /* whole runs, without what they called */
    struct ct_dist recursive; /* inclusive, of runs inside of a run of the same function */
    struct ct_dist preempted; /* what exceptions and other threads took while it ran, of runs that had any */
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
};

/* Makes an object that takes the times of one stream. It needs 2 KiB for each edge and function whose
 * histogram is kept; 64 threads with 1024 calls inside of one another are followed, what is beyond counts as
 * cut. CT_ERR_NOMEM. */
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

/* Adds what the edges say about the blocks of `cfg` to blocks[0 … number of blocks).
 * `graph` is that of the batches. */
CT_API void ct_timing_add_blocks(const struct ct_timing *timing, const struct ct_graph *graph,
                                 const struct ct_cfg *cfg, struct ct_timing_block *blocks);
CT_API struct ct_timing_totals ct_timing_totals(const struct ct_timing *timing);

#ifdef __cplusplus
}
#endif
#endif
