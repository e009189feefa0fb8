/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of WCET share: measurements (wcet_costs.c), counts of loops (wcet_loops.c), the user's
 * statements (wcet_bounds.c), and the model (wcet_model.c). */
#pragma once

#include <stdbool.h>

#include "analysis/ilp.h"
#include "coretap/wcet.h"
#include "base/addr_map.h"

/* A measured path: from `start` through `last` to `next`. All paths with the same start form a list. */
struct ct_wcet_way {
    uint64_t start, last, end, next;
    struct ct_dist cycles;
    uint64_t count;
    uint64_t shared;
    uint64_t uncounted; /* traversals in runs whose loops were not counted */
    uint32_t n;
    uint32_t chain; /* index of the next path with this start, or CT_CFG_NONE */
    uint8_t exec;
    uint8_t kind; /* enum ct_edge_kind */
    uint8_t pad[6];
};

/* The time of a whole vertex. */
struct ct_wcet_cost {
    uint64_t cycles;
    bool seen;
    bool shared;
};

/* Runs of a function. For a recursive one, `count` and `max` are those of the outermost runs, and `all`
 * includes the inner ones. */
struct ct_wcet_runs {
    uint64_t entry, count, max, begun;
    struct ct_wcet_call {
        uint64_t cycles; /* of the longest run */
        uint64_t runs;   /* runs measured as a whole */
    } all;
};

/* The longest measured run of the code in other programs to which a branch at `last` leads. */
struct ct_wcet_out {
    uint64_t last;
    struct ct_wcet_call call;
};

/* A term of a constraint: the count of the block at an address, or of an edge, times a factor. */
struct ct_wcet_term {
    int64_t factor;
    uint32_t block; /* CT_CFG_NONE when the term is an edge */
    uint32_t edge;
};

/* The most runs of a recursive function for each call from outside of the recursion. */
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
#define CT_WCET_LEVELS  16 /* most nested exceptions */

/* Counts of the loops in one thread, or in an exception on top of it. */
struct ct_wcet_counts {
    uint64_t *rounds;  /* by loop; all arrays are in this block of memory */
    uint64_t *entries; /* by loop: how often it was entered; in a recursive function: the call from outside to
                          which `rounds` belongs */
    uint64_t *sums;    /* by nest: rounds of the inner loop since the outer one was last entered */
    uint64_t *stamps;  /* by nest: the entry of the outer loop to which `sums` belongs */
    uint64_t *run_sums, *run_stamps; /* by loop: the same for runs of the entry */
    uint64_t *calls;                 /* by strongly connected piece of the call graph: calls from outside */
    /* by function: runs since the last such call, and the call to which these belong */
    uint64_t *depths, *depth_stamps;
    uint64_t *run_calls, *run_call_stamps; /* by recursive function: the same for runs of the entry */
    uint64_t run;
    uint32_t caller; /* the block that called the entry */
    bool runs;
};

struct ct_wcet_level {
    uint64_t resumes_at; /* return address of the exception */
    struct ct_wcet_counts counts;
};

struct ct_wcet_thread {
    uint32_t ctxt, vmid;
    uint32_t number; /* of a thread of the M profile (CT_MARK_ELEM of a RETURN), or 0 */
    uint32_t level;  /* exceptions on top of the thread */
    struct ct_wcet_level levels[CT_WCET_LEVELS];
};

/* The effect of a step on the counts. */
enum ct_wcet_act_kind {
    CT_WCET_NOTHING,
    CT_WCET_ENTERS,     /* enters a loop from outside */
    CT_WCET_ROUND,      /* the head of a loop runs */
    CT_WCET_NEST,       /* the same, for the surrounding loops and the run of the entry */
    CT_WCET_DEEP_ROUND, /* the head of a loop in a recursive function runs */
    CT_WCET_CALLED,     /* calls a recursive function from within its piece of the call graph */
    CT_WCET_CALLED_IN,  /* the same from outside of the piece */
    CT_WCET_RUN_BEGINS, /* begins a run of the entry, called from a block */
    CT_WCET_RUN_JUMPED, /* the same by a jump, so the end cannot be seen */
    CT_WCET_RUN_ENDS,   /* ends the run of the entry that this block called */
    CT_WCET_ERET,       /* may leave an exception */
    CT_WCET_JUMPS,      /* leaves an exception only if it leads to its return address */
};

/* One effect of a step on the counts, on a loop, a function or a block. */
struct ct_wcet_act {
    enum ct_wcet_act_kind kind;
    uint32_t what;
};

/* The addresses at which an edge of the program graph begins and ends. */
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
    bool arrives;                  /* the next step may be at the return address of an exception */
    bool after_eret;
    uint64_t next; /* address to which the last step led */
    uint64_t
        chained; /* what the handler that has just returned had interrupted, for one that is tail-chained */
    bool shares; /* there were more threads than counters, so some share one */
    struct ct_wcet_act *acts; /* the effects of edges, one list behind the other */
    size_t act_count, act_room;
    size_t edge_count;   /* edges of the program graph whose effects are known */
    uint32_t *first_act; /* by edge: its first effect; the first one of the next edge ends the list */
    struct ct_wcet_passed *passed; /* by edge: where it begins and ends */
    size_t first_room, passed_room;
};

struct ct_wcet {
    struct ct_ctx *ctx;
    struct ct_cfg *cfg;
    const struct ct_lines *lines;
    struct ct_wcet_way *ways;
    size_t way_count, way_room;
    struct ct_addr_map way_at; /* maps a start to its first path */
    struct ct_wcet_runs *runs;
    size_t run_count, run_room;
    struct ct_addr_map run_at; /* maps an entry to its runs */
    struct ct_wcet_out *outs;
    size_t out_count, out_room;
    struct ct_addr_map out_at; /* maps the address of a branch to its entry in `outs` */
    struct ct_wcet_loop *loops;
    size_t loop_count;
    uint8_t *uncounted; /* by block: 1 when it ran in runs with uncounted loops; NULL without such runs */
    struct ct_program_identity identity; /* of the program; not known without a name */
    struct ct_programs *programs;        /* of the capture, or NULL */
    /* State of counting. */
    struct ct_wcet_stream **streams; /* streams that have not ended */
    size_t stream_count, stream_room;
    struct ct_wcet_stream *at; /* the current stream */
    bool no_runs;              /* runs of the entry cannot be told apart */
    uint8_t *recursive;        /* by function: 1 when it may call itself */
    uint32_t *piece;           /* by function: its strongly connected piece of the call graph */
    uint32_t entry;       /* the function whose runs are told apart while loops are counted, or CT_CFG_NONE */
    uint32_t entry_block; /* the first block of that function */
    uint32_t *nest_first; /* by loop: index of its totals in the surrounding loops, from the inside out */
    uint64_t *nest_most;
    uint64_t *run_most;       /* by loop: its largest total in a run of the entry */
    uint64_t *depth_most;     /* by recursive function: the most runs for a call from outside */
    uint64_t *run_calls_most; /* the same for a run of the entry */
    /* The user's statements. */
    struct ct_wcet_rule *rules;
    size_t rule_count;
    struct ct_wcet_term *terms;
    size_t term_count;
    struct ct_wcet_depth *depths;
    size_t depth_count;
    uint8_t *measured; /* by function: 1 when its longest run replaces a call of it; NULL: no function */
    /* The result. */
    struct ct_wcet_step *path;
    struct ct_wcet_assumed *assumed;
    size_t assumed_room;
};

/* Returns how often the block or edge of a term was observed. */
uint64_t ct_wcet_times_run(const struct ct_wcet *wcet, const struct ct_wcet_term *term);

/* Returns the most cycles of a run from `start` through the instruction at `last` and on by `edge`. When
 * exceptions cut all such runs, adds up the largest times of their pieces. */
struct ct_wcet_cost ct_wcet_cost_of(const struct ct_wcet *wcet, uint64_t start, uint64_t last,
                                    const struct ct_cfg_edge *edge, double quantile);

/* Returns the runs of the function with this entry, or NULL when none was measured. */
const struct ct_wcet_runs *ct_wcet_runs_of(const struct ct_wcet *wcet, uint64_t entry);

/* Returns the measured calls and jumps from an instruction into other programs. `runs` is 0 when there are
 * none. */
struct ct_wcet_call ct_wcet_call_out(const struct ct_wcet *wcet, uint64_t last);

/* Finds the blocks that ran while loops were not counted. CT_ERR_NOMEM. */
int ct_wcet_find_uncounted(struct ct_wcet *wcet);

/* Finds the path with the most cycles for each instruction. */
void ct_wcet_rate(const struct ct_wcet *wcet, double quantile, uint64_t *cycles, uint64_t *insns);

/* Finds the functions that may call themselves, and their pieces of the call graph. CT_ERR_NOMEM. */
int ct_wcet_find_recursion(struct ct_wcet *wcet);

/* Returns whether an edge leads into a loop from outside. */
bool ct_wcet_enters(const struct ct_wcet *wcet, const struct ct_cfg_edge *edge, uint32_t loop);

/* Frees the streams that have not ended. */
void ct_wcet_free_streams(struct ct_wcet *wcet);

/* Makes the records of the loops and finds recursive functions, once. CT_ERR_NOMEM. */
int ct_wcet_make_loops(struct ct_wcet *wcet);

/* Returns whether a loop ran more often for one entry than a bound allows. In a recursive function the
 * observed number includes entries of inner runs, so nothing contradicts a bound. */
bool ct_wcet_exceeds(const struct ct_wcet *wcet, uint32_t loop, uint64_t bound);

/* Finds the source lines of the loops, and where they are left. CT_ERR_NOMEM. */
int ct_wcet_find_lines(struct ct_wcet *wcet);

/* What a line of the source says about loops. */
struct ct_wcet_comment {
    uint64_t bound; /* 0: nothing */
    bool is_alone;  /* the line begins with the comment, so the bound is also for the next line */
};

/* Reads the bounds in the comments of a source text. Sets (*bounds)[i - 1] to that of line i. The caller
 * frees the array even after an error. CT_ERR_NOMEM. */
int ct_wcet_comment_bounds(const char *text, size_t size, struct ct_wcet_comment **bounds, uint32_t *count);

/* ---- wcet_nests.c ---- */

/* Makes the totals of nested loops. CT_ERR_NOMEM. */
int ct_wcet_make_nests(struct ct_wcet *wcet);

/* Return the effect of an edge of the control flow graph that leads to a block: on runs of the entry, and on
 * the depth of recursions. */
enum ct_wcet_act_kind ct_wcet_run_act(const struct ct_wcet *wcet, const struct ct_cfg_edge *edge);
enum ct_wcet_act_kind ct_wcet_depth_act(const struct ct_wcet *wcet, const struct ct_cfg_edge *edge,
                                        const struct ct_cfg_block *blocks);

/* Count one of those effects, and that the head of a loop runs. */
void ct_wcet_count_call(struct ct_wcet *wcet, struct ct_wcet_act act);
void ct_wcet_count_nest(struct ct_wcet *wcet, uint32_t loop, const struct ct_cfg_loop *loops);

/* Counts a round of a loop in a recursive function, since the last call from outside. */
void ct_wcet_count_deep_round(struct ct_wcet *wcet, uint32_t loop, const struct ct_cfg_loop *loops);

/* ---- wcet_threads.c ---- */

/* Follow threads and exceptions. Each of these may change wcet->at->counts. CT_ERR_NOMEM. */
int ct_wcet_switch_thread(struct ct_wcet *wcet, uint32_t ctxt, uint32_t vmid, uint32_t number);
int ct_wcet_on_mark(struct ct_wcet *wcet, const struct ct_step_mark *mark);
int ct_wcet_step_begins(struct ct_wcet *wcet, uint64_t addr);
int ct_wcet_step_leaves(struct ct_wcet *wcet, enum ct_wcet_act_kind leaving, uint64_t next);
void ct_wcet_free_threads(struct ct_wcet_stream *stream);
