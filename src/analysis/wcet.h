/* Inside of WCET: what was measured (wcet_costs.c), how often loops went round (wcet_loops.c), what the user says
 * (wcet_bounds.c), and the model (wcet_model.c). */
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

/* Counters of the loops of one thread. */
struct ct_wcet_thread {
    uint32_t ctxt, vmid;
    uint64_t *rounds; /* by loop */
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
    /* Counting. */
    struct ct_wcet_thread *threads;
    size_t thread_count;
    struct ct_wcet_thread *now;
    uint32_t *traversed; /* edges of the control flow graph, … */
    size_t traversed_count, traversed_room;
    uint32_t
        *first; /* … by edge of the program graph: the first one; the last one is where the next begins */
    size_t first_count, first_room;
    uint8_t *recursive; /* by function */
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
};

/* Makes room for one more element of a list. CT_ERR_NOMEM. */
int ct_wcet_room(struct ct_wcet *wcet, void **at, size_t count, size_t *room, size_t size);

/* What a run from `start` through the instruction at `last`, and from there on as `edge` says, takes at most; also in
 * pieces, when exceptions cut it. */
struct ct_wcet_cost ct_wcet_cost_of(const struct ct_wcet *wcet, uint64_t start, uint64_t last,
                                    const struct ct_cfg_edge *edge, double quantile);

/* The most cycles for an instruction that any way took. */
void ct_wcet_rate(const struct ct_wcet *wcet, double quantile, uint64_t *cycles, uint64_t *insns);

/* Marks the functions that may call themselves. CT_ERR_NOMEM. */
int ct_wcet_find_recursion(struct ct_wcet *wcet);

/* Whether the edge leads into the loop from outside of it. */
bool ct_wcet_enters(const struct ct_wcet *wcet, const struct ct_cfg_edge *edge, uint32_t loop);

/* Marks in `reached` (by function) what `from` may call, directly or not; itself only when it may call itself.
 * CT_ERR_NOMEM. */
int ct_wcet_reach(const struct ct_wcet *wcet, uint32_t from, uint8_t *reached);

/* Makes loops' records, once. CT_ERR_NOMEM. */
int ct_wcet_make_loops(struct ct_wcet *wcet);

#endif
