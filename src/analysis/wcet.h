/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of WCET share: what was measured (wcet_costs.c), how often loops went round (wcet_loops.c),
 * what the user says (wcet_bounds.c), and the model (wcet_model.c). */
#ifndef CT_ANALYSIS_WCET_H
#define CT_ANALYSIS_WCET_H

#include <stdbool.h>

#include "analysis/ilp.h"
#include "coretap/wcet.h"
#include "base/addr_map.h"

/* A measured way: from `start` to `last`, then to `next`. Ways with one start are a list. */
struct ct_wcet_way {
    uint64_t start, last, end, next;
    struct ct_dist cycles;
    uint64_t count;
    uint64_t shared;
    uint64_t uncounted; /* traversals in runs whose loops were not counted */
    uint32_t n;
    uint32_t chain; /* index of the next way with this start, or CT_CFG_NONE */
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

/* Runs of a function: how many were whole, the longest, and all that began. Of a recursion `count` and `max`
 * are those of the outermost runs, `all` also those inside of them. */
struct ct_wcet_runs {
    uint64_t entry, count, max, begun;
    struct ct_wcet_call {
        uint64_t cycles; /* of the longest */
        uint64_t runs;   /* that were measured as a whole */
    } all;
};

/* The longest measured run of what a branch at `last` leads to in other programs. */
struct ct_wcet_out {
    uint64_t last;
    struct ct_wcet_call call;
};

/* A term of a constraint: the block at an address or an edge, times a factor. */
struct ct_wcet_term {
    int64_t factor;
    uint32_t block; /* CT_CFG_NONE when the term is an edge */
    uint32_t edge;
};

/* The most runs of a function that calls itself, for each call from outside. */
struct ct_wcet_depth {
    uint32_t function;
    uint32_t pad;
    uint64_t runs;
};

struct ct_wcet_rule {
    uint32_t first, count; /* of its terms */
    int64_t right;
    uint8_t sense; /* enum ct_ilp_sense */
    uint8_t pad[7];
};

#define CT_WCET_THREADS 64
#define CT_WCET_LEVELS  16 /* the most exceptions inside of one another */

/* Counts of the loops in one thread, or in the exception on top of it. */
struct ct_wcet_counts {
    uint64_t *rounds;  /* by loop; the other arrays are in the same block of memory */
    uint64_t *entries; /* by loop: how often it was entered; in a function that calls itself: the
                          call from outside for which `rounds` counts */
    uint64_t *sums;    /* by nest: rounds of the inner loop since the outer one was last
                          entered */
    uint64_t *stamps;  /* by nest: the entry of the outer loop for which `sums` counts */
    uint64_t *run_sums, *run_stamps; /* by loop: the same for runs of the entry */
    uint64_t *calls;                 /* by piece of the call graph: calls from outside of it */
    uint64_t *depths, *depth_stamps; /* by function: runs since the last such call, and the call for which
                                        they count */
    uint64_t *run_calls, *run_call_stamps; /* by function that calls itself: the same for runs of the entry */
    uint64_t run;
    uint32_t caller; /* the block that called the entry */
    bool runs;
};

struct ct_wcet_level {
    uint64_t resumes_at; /* where the exception goes back to */
    struct ct_wcet_counts counts;
};

struct ct_wcet_thread {
    uint32_t ctxt, vmid;
    uint32_t number; /* of the M profile (CT_MARK_ELEM of a RETURN), or 0 */
    uint32_t level;  /* exceptions on top of the thread */
    struct ct_wcet_level levels[CT_WCET_LEVELS];
};

/* What a step does to the counts. */
enum ct_wcet_act_kind {
    CT_WCET_NOTHING,
    CT_WCET_ENTERS,     /* a loop, from outside of it */
    CT_WCET_ROUND,      /* the head of a loop runs */
    CT_WCET_NEST,       /* the same, for the loops around it and the run of the entry */
    CT_WCET_DEEP_ROUND, /* the head of a loop in a function that calls itself runs */
    CT_WCET_CALLED,     /* a function that calls itself, from within its piece of the call graph */
    CT_WCET_CALLED_IN,  /* the same, from outside of the piece */
    CT_WCET_RUN_BEGINS, /* of the entry, called from a block */
    CT_WCET_RUN_JUMPED, /* the same by a jump, so that no end can be seen */
    CT_WCET_RUN_ENDS,   /* that of the entry, when this block called it */
    CT_WCET_ERET,       /* may leave an exception */
    CT_WCET_JUMPS,      /* leaves an exception only if it leads to where the exception resumes */
};

/* One thing that a step does to the counts: with a loop, a function or a block. */
struct ct_wcet_act {
    enum ct_wcet_act_kind kind;
    uint32_t what;
};

/* Where an edge of the program graph begins and leads. */
struct ct_wcet_passed {
    uint64_t start, next;
};

/* A stream whose loops are counted. */
struct ct_wcet_stream {
    uint32_t lane;
    struct ct_wcet_thread *threads;
    size_t thread_count;
    struct ct_wcet_thread *now;
    struct ct_wcet_counts *counts; /* of the current level */
    bool arrives;                  /* the next step may be where an exception goes back to */
    bool after_eret;
    uint64_t next; /* where the last step led */
    uint64_t
        chained; /* what the handler that has just returned had interrupted, for one that is tail-chained */
    bool shares; /* there were more threads than counters, so that some share one */
    struct ct_wcet_act *acts; /* what steps do, one list after the other */
    size_t act_count, act_room;
    size_t edge_count;             /* edges of the program graph whose acts are known */
    uint32_t *first_act;           /* by edge: its first act; the first one of the next edge ends the list */
    struct ct_wcet_passed *passed; /* by edge: where it begins and leads */
    size_t first_room, passed_room;
};

struct ct_wcet {
    struct ct_ctx *ctx;
    struct ct_cfg *cfg;
    const struct ct_lines *lines;
    struct ct_wcet_way *ways;
    size_t way_count, way_room;
    struct ct_addr_map way_at; /* maps a start to its first way */
    struct ct_wcet_runs *runs;
    size_t run_count, run_room;
    struct ct_addr_map run_at; /* maps an entry to its runs */
    struct ct_wcet_out *outs;
    size_t out_count, out_room;
    struct ct_addr_map out_at; /* maps the address of a branch to where it leads */
    struct ct_wcet_loop *loops;
    size_t loop_count;
    uint8_t *uncounted; /* by block: 1 when it ran in runs whose loops were not counted; NULL when there were
                           none */
    struct ct_program_identity identity; /* of the program; unknown without a name */
    struct ct_programs *programs;        /* of the capture, or NULL */
    /* What counting needs. */
    struct ct_wcet_stream **streams; /* streams that are not over */
    size_t stream_count, stream_room;
    struct ct_wcet_stream *at; /* the stream that counts */
    bool no_runs;              /* runs of the entry cannot be told apart */
    uint8_t *recursive;        /* by function */
    uint32_t *piece;           /* by function: functions that call each other have the same number */
    uint32_t entry;       /* the function whose runs are told apart while loops are counted, or CT_CFG_NONE */
    uint32_t entry_block; /* the first block of that function */
    uint32_t *nest_first; /* by loop: index of its totals in the loops around it, from the inside out */
    uint64_t *nest_most;
    uint64_t *run_most;       /* by loop: its largest total in a run of the entry */
    uint64_t *depth_most;     /* by function that calls itself: the most runs for a call from outside */
    uint64_t *run_calls_most; /* the same for a run of the entry */
    /* What the user says. */
    struct ct_wcet_rule *rules;
    size_t rule_count;
    struct ct_wcet_term *terms;
    size_t term_count;
    struct ct_wcet_depth *depths;
    size_t depth_count;
    uint8_t *measured; /* by function: 1 when its longest run stands for a call of it; NULL: of none */
    /* The result. */
    struct ct_wcet_step *path;
    struct ct_wcet_assumed *assumed;
    size_t assumed_room;
};

/* Returns how often the block or edge of a term was observed. */
uint64_t ct_wcet_times_run(const struct ct_wcet *wcet, const struct ct_wcet_term *term);

/* Returns the most cycles that a run takes from `start` through the instruction at `last` and on by `edge`.
 * When exceptions cut such runs, the most of their pieces are added up. */
struct ct_wcet_cost ct_wcet_cost_of(const struct ct_wcet *wcet, uint64_t start, uint64_t last,
                                    const struct ct_cfg_edge *edge, double quantile);

/* Returns the runs of the function with this entry, NULL when none was measured. */
const struct ct_wcet_runs *ct_wcet_runs_of(const struct ct_wcet *wcet, uint64_t entry);

/* Returns what was measured of calls and jumps from an instruction into other programs; `runs` is 0 when
 * nothing was. */
struct ct_wcet_call ct_wcet_call_out(const struct ct_wcet *wcet, uint64_t last);

/* Finds the blocks that ran where loops were not counted. CT_ERR_NOMEM. */
int ct_wcet_find_uncounted(struct ct_wcet *wcet);

/* Finds the most cycles for an instruction that any way took. */
void ct_wcet_rate(const struct ct_wcet *wcet, double quantile, uint64_t *cycles, uint64_t *insns);

/* Finds the functions that may call themselves, and each other. CT_ERR_NOMEM. */
int ct_wcet_find_recursion(struct ct_wcet *wcet);

/* Tells whether an edge leads into a loop from outside of it. */
bool ct_wcet_enters(const struct ct_wcet *wcet, const struct ct_cfg_edge *edge, uint32_t loop);

/* Frees the streams that are not over. */
void ct_wcet_free_streams(struct ct_wcet *wcet);

/* Makes the records of the loops, once. CT_ERR_NOMEM. */
int ct_wcet_make_loops(struct ct_wcet *wcet);

/* Reads the bounds in the comments of a source text: (*bounds)[i - 1] is that of line i, 0 when it has none.
 * The caller frees the array, whatever the result is. CT_ERR_NOMEM. */
int ct_wcet_comment_bounds(const char *text, size_t size, uint64_t **bounds, uint32_t *count);

/* ---- wcet_nests.c ---- */

/* Makes the totals of loops inside of loops. CT_ERR_NOMEM. */
int ct_wcet_make_nests(struct ct_wcet *wcet);

/* Return what an edge of the control flow graph that leads to a block does to runs of the entry, and to the
 * depth of recursions. */
enum ct_wcet_act_kind ct_wcet_run_act(const struct ct_wcet *wcet, const struct ct_cfg_edge *edge);
enum ct_wcet_act_kind ct_wcet_depth_act(const struct ct_wcet *wcet, const struct ct_cfg_edge *edge,
                                        const struct ct_cfg_block *blocks);

/* Does one of those, and counts that the head of a loop runs. */
void ct_wcet_count_call(struct ct_wcet *wcet, struct ct_wcet_act act);
void ct_wcet_count_nest(struct ct_wcet *wcet, uint32_t loop, const struct ct_cfg_loop *loops);

/* Counts a round of a loop in a function that calls itself, since the last call from outside. */
void ct_wcet_count_deep_round(struct ct_wcet *wcet, uint32_t loop, const struct ct_cfg_loop *loops);

/* ---- wcet_threads.c ---- */

/* Each of these may change wcet->at->counts. CT_ERR_NOMEM. */
int ct_wcet_switch_thread(struct ct_wcet *wcet, uint32_t ctxt, uint32_t vmid, uint32_t number);
int ct_wcet_on_mark(struct ct_wcet *wcet, const struct ct_step_mark *mark);
int ct_wcet_step_begins(struct ct_wcet *wcet, uint64_t addr);
int ct_wcet_step_leaves(struct ct_wcet *wcet, enum ct_wcet_act_kind leaving, uint64_t next);
void ct_wcet_free_threads(struct ct_wcet_stream *stream);

#endif
