/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of WCET: what was measured (wcet_costs.c), how often loops went round (wcet_loops.c), what the user
 * says (wcet_bounds.c), and the model (wcet_model.c). */
#ifndef CT_ANALYSIS_WCET_H
#define CT_ANALYSIS_WCET_H

#include <stdbool.h>

#include "analysis/ilp.h"
#include "coretap/wcet.h"
#include "base/addr_map.h"

/* One measured way: from `start` to `last`, then to `next`. Ways of one start are a chain. */
struct ct_wcet_way {
    uint64_t start, last, end, next;
    struct ct_dist cycles;
    uint64_t count;
    uint64_t shared;
    uint64_t uncounted; /* traversals in runs whose loops were not counted */
    uint32_t n;
    uint32_t chain; /* the next one, or CT_CFG_NONE */
    uint8_t exec;
    uint8_t kind; /* enum ct_edge_kind */
    uint8_t pad[6];
};

/* What a whole vertex takes. */
struct ct_wcet_cost {
    uint64_t cycles;
    bool seen;
    bool shared;
};

/* Runs of a function: whole ones, the longest, and all that began, inside of others of it too. */
struct ct_wcet_runs {
    uint64_t entry, count, max, begun;
};

/* A term of a constraint: the block at an address or an edge, times a factor. */
struct ct_wcet_term {
    int64_t factor;
    uint32_t block; /* CT_CFG_NONE: an edge */
    uint32_t edge;
};

/* A function that calls itself runs at most so often for each call from outside. */
struct ct_wcet_depth {
    uint32_t function;
    uint32_t pad;
    uint64_t runs;
};

struct ct_wcet_rule {
    uint32_t first, count; /* terms */
    int64_t right;
    uint8_t sense; /* enum ct_ilp_sense */
    uint8_t pad[7];
};

#define CT_WCET_THREADS 64
#define CT_WCET_LEVELS  16 /* exceptions inside of one another */

/* Counters of the loops of one thread, or of the exception on top of it. */
struct ct_wcet_counts {
    uint64_t *rounds;                /* by loop; the block of memory that all of these are in */
    uint64_t *entries;               /* by loop: how often it was entered */
    uint64_t *sums;                  /* by nest: rounds since the outer loop was entered … */
    uint64_t *stamps;                /* … which was the time that this says */
    uint64_t *run_sums, *run_stamps; /* by loop: the same in a run of the entry */
    uint64_t *calls;                 /* by piece of the call graph: calls from outside of it */
    uint64_t *depths, *depth_stamps; /* by function: runs since then */
    uint64_t run;
    uint32_t caller; /* block that called the entry */
    bool runs;
};

struct ct_wcet_level {
    uint64_t resumes_at; /* where the exception goes back to */
    struct ct_wcet_counts counts;
};

struct ct_wcet_thread {
    uint32_t ctxt, vmid;
    uint32_t level; /* 0: no exception */
    struct ct_wcet_level levels[CT_WCET_LEVELS];
};

/* How a step may leave an exception. */
enum ct_wcet_leaving {
    CT_WCET_STAYS,
    CT_WCET_ERET,
    CT_WCET_JUMPS, /* when it leads to where the exception resumes */
};

/* What an edge of the program graph passes: traversed[first … end). */
struct ct_wcet_passed {
    uint64_t start, next;
    uint32_t first, end;
    enum ct_wcet_leaving leaving;
};

/* A stream whose loops are counted. */
struct ct_wcet_stream {
    uint32_t lane;
    struct ct_wcet_thread *threads;
    size_t thread_count;
    struct ct_wcet_thread *now;
    struct ct_wcet_counts *counts; /* of the level that it is at */
    bool arrives;                  /* the next step may be where an exception goes back to */
    bool after_eret;
    bool shares;         /* there were more threads than counters */
    uint32_t *traversed; /* edges of the control flow graph, … */
    size_t traversed_count, traversed_room;
    struct ct_wcet_passed *passed; /* … by edge of the program graph */
    size_t passed_count, passed_room;
};

struct ct_wcet {
    struct ct_ctx *ctx;
    struct ct_cfg *cfg;
    const struct ct_lines *lines;
    struct ct_wcet_way *ways;
    size_t way_count, way_room;
    struct ct_addr_map way_at; /* the first way of a start */
    struct ct_wcet_runs *runs;
    size_t run_count, run_room;
    struct ct_wcet_loop *loops;
    size_t loop_count;
    uint8_t *uncounted; /* by block: 1: it ran in runs whose loops were not counted. NULL: there were none */
    struct ct_program_identity identity; /* of the program; without a name: not known */
    struct ct_programs *programs;        /* of the capture, or NULL */
    /* Counting. */
    struct ct_wcet_stream **streams; /* that are not over */
    size_t stream_count, stream_room;
    struct ct_wcet_stream *at; /* the one that counts */
    bool no_runs;              /* runs of the entry cannot be told apart */
    uint8_t *recursive;        /* by function */
    uint32_t *piece;           /* by function: those that call each other have the same */
    uint32_t entry;       /* function whose runs are told apart while loops are counted, or CT_CFG_NONE … */
    uint32_t entry_block; /* … and its first block */
    uint32_t *nest_first; /* by loop: its totals in the loops around it, from the inside out */
    uint64_t *nest_most;
    uint64_t *run_most;   /* by loop: its total in a run of the entry */
    uint64_t *depth_most; /* by function that calls itself: runs for a call from outside */
    /* The user's. */
    struct ct_wcet_rule *rules;
    size_t rule_count;
    struct ct_wcet_term *terms;
    size_t term_count;
    struct ct_wcet_depth *depths;
    size_t depth_count;
    /* The result. */
    struct ct_wcet_step *path;
    struct ct_wcet_assumed *assumed;
    size_t assumed_room;
};

/* How often the block or edge of the term was observed. */
uint64_t ct_wcet_times_run(const struct ct_wcet *wcet, const struct ct_wcet_term *term);

/* Makes room for one more element of a list. CT_ERR_NOMEM. */
int ct_wcet_room(struct ct_wcet *wcet, void **at, size_t count, size_t *room, size_t size);

/* What a run from `start` through the instruction at `last`, and from there on as `edge` says, takes at most;
 * also in pieces, when exceptions cut it. */
struct ct_wcet_cost ct_wcet_cost_of(const struct ct_wcet *wcet, uint64_t start, uint64_t last,
                                    const struct ct_cfg_edge *edge, double quantile);

/* Finds the blocks that ran where loops were not counted. CT_ERR_NOMEM. */
int ct_wcet_find_uncounted(struct ct_wcet *wcet);

/* The most cycles for an instruction that any way took. */
void ct_wcet_rate(const struct ct_wcet *wcet, double quantile, uint64_t *cycles, uint64_t *insns);

/* Whether a program is the one whose control flow it is. */
bool ct_wcet_is_program(const struct ct_wcet *wcet, const struct ct_program_identity *program);

/* Finds the functions that may call themselves, and each other. CT_ERR_NOMEM. */
int ct_wcet_find_recursion(struct ct_wcet *wcet);

/* Whether the edge leads into the loop from outside of it. */
bool ct_wcet_enters(const struct ct_wcet *wcet, const struct ct_cfg_edge *edge, uint32_t loop);

/* Frees those that are not over. */
void ct_wcet_free_streams(struct ct_wcet *wcet);

/* Makes loops' records, once. CT_ERR_NOMEM. */
int ct_wcet_make_loops(struct ct_wcet *wcet);

/* Bounds in comments of a source text: of line i (from 1) (*bounds)[i - 1], 0 without one, to be freed
 * whatever the result is. CT_ERR_NOMEM. */
int ct_wcet_comment_bounds(const char *text, size_t size, uint64_t **bounds, uint32_t *count);

/* ---- wcet_nests.c ---- */

/* CT_ERR_NOMEM. */
int ct_wcet_make_nests(struct ct_wcet *wcet);

/* An edge is traversed; the head of a loop runs. */
void ct_wcet_count_run(struct ct_wcet *wcet, const struct ct_cfg_edge *edge);
void ct_wcet_count_depth(struct ct_wcet *wcet, const struct ct_cfg_edge *edge,
                         const struct ct_cfg_block *blocks);
void ct_wcet_count_nest(struct ct_wcet *wcet, uint32_t loop, const struct ct_cfg_loop *loops);

/* ---- wcet_threads.c ---- */

/* Each may change wcet->at->counts. CT_ERR_NOMEM. */
int ct_wcet_switch_thread(struct ct_wcet *wcet, uint32_t ctxt, uint32_t vmid);
int ct_wcet_on_mark(struct ct_wcet *wcet, const struct ct_step_mark *mark);
int ct_wcet_step_begins(struct ct_wcet *wcet, uint64_t addr);
int ct_wcet_step_leaves(struct ct_wcet *wcet, enum ct_wcet_leaving leaving, uint64_t next);
void ct_wcet_free_threads(struct ct_wcet_stream *stream);

#endif
