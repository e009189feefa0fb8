/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a program's longest path, while it is made. */
#ifndef CT_ANALYSIS_WCET_MODEL_H
#define CT_ANALYSIS_WCET_MODEL_H

#include "analysis/wcet.h"

struct ct_wcet_vertex {
    uint32_t block;        /* the first */
    uint32_t end;          /* the last */
    uint32_t first, count; /* its columns, which are its ways out */
    uint64_t n;            /* instructions */
};

struct ct_wcet_column {
    uint32_t vertex;
    uint32_t edge;     /* of the control flow graph */
    uint32_t to;       /* the block that it leads to, or CT_CFG_NONE: out of what is modelled */
    uint32_t next_end; /* the next column whose vertex ends with the same block, or CT_CFG_NONE */
    uint32_t next_in;  /* the next column that leads to the same block, or CT_CFG_NONE */
    uint64_t cycles;   /* with those of the call */
    uint64_t call;     /* the most cycles that a measured call, for which there is no model, took */
    uint64_t runs;     /* how many were measured; 0: it makes no such call */
    bool seen;
    bool shared;
    uint8_t pad[2];
};

/* A vertex that a block is in. */
struct ct_wcet_cover {
    uint32_t vertex;
    uint32_t next;
};

/* A row for something observed: how often a loop goes round in all while `within` lasts, which is a loop
 * around it or (CT_CFG_NONE) a run of the entry. Without a loop: runs of function `within` for each call from
 * outside of its recursion. */
struct ct_wcet_total {
    uint64_t most;
    uint32_t row;
    uint32_t loop;
    uint32_t within;
    bool per_run; /* of a function: for a run of the entry */
    uint8_t pad[3];
};

struct ct_wcet_model {
    struct ct_wcet *w;
    const struct ct_wcet_options *options;
    const struct ct_cfg_function *functions;
    const struct ct_cfg_block *blocks;
    const struct ct_cfg_edge *edges;
    const struct ct_cfg_loop *loops;
    size_t function_count, block_count, edge_count;
    uint32_t *vertex_of; /* by block: the vertex that begins there, or CT_CFG_NONE */
    uint32_t *ends;      /* by block: the first column of a vertex that ends there */
    uint32_t *in;        /* by block: the first column that leads there */
    uint32_t *covers;    /* by block: its first entry in cover_list */
    struct ct_wcet_vertex *vertices;
    size_t vertex_count, vertex_room;
    struct ct_wcet_column *columns; /* with the numbers that they have in the integer linear program */
    size_t column_count, column_room;
    struct ct_wcet_cover *cover_list;
    size_t cover_count, cover_room;
    uint32_t *heads;     /* by loop: its first head */
    uint32_t *next_head; /* by block: the next head of the same loop, or CT_CFG_NONE */
    uint32_t *entered;   /* by loop: the column of how often it is entered, or CT_CFG_NONE */
    uint32_t *rounds;    /* by loop: the column of how often its heads run, or CT_CFG_NONE */
    uint8_t *uncalled;   /* by function: 1 when it calls itself and is left out because it never ran */
    struct ct_wcet_total *totals;
    size_t total_count, total_room;
    uint64_t rate_cycles, rate_insns;
    struct ct_ilp ilp;
};

int ct_wcet_model_init(struct ct_wcet_model *model, struct ct_wcet *wcet,
                       const struct ct_wcet_options *options);
void ct_wcet_model_free(struct ct_wcet_model *model);
int ct_wcet_model_columns(struct ct_wcet_model *model);

/* Returns the block that runs behind one that does not end with a branch; else CT_CFG_NONE. */
uint32_t ct_wcet_model_behind(const struct ct_wcet_model *model, uint32_t block);
int ct_wcet_model_rows(struct ct_wcet_model *model);

/* Adds to the last row how often an edge is traversed, times `factor`. CT_ERR_NOMEM. */
int ct_wcet_model_add(struct ct_wcet_model *model, uint32_t edge, int64_t factor);

/* ---- wcet_returns.c ---- */

/* Refuses an entry from which no path leads to its return, once there are columns. CT_ERR_NOT_FOUND,
 * CT_ERR_NOMEM. */
int ct_wcet_model_check_returns(const struct ct_wcet_model *model);

/* ---- wcet_advice.c ---- */

/* Refuses a model that the solver did not solve in `seconds`, with what makes it smaller. CT_ERR_LIMIT. */
int ct_wcet_model_refuse(const struct ct_wcet_model *model, unsigned seconds);

/* ---- wcet_model_bounds.c ---- */

/* Tells whether a way is none because it leads to a loop or a recursion that never ran and that nobody
 * bounds, and notes what is left out so. */
bool ct_wcet_model_leaves_out(struct ct_wcet_model *model, const struct ct_cfg_edge *edge);

/* Tells whether the entry begins with a head of the loop, which is then entered by no way. */
bool ct_wcet_model_starts_at(const struct ct_wcet_model *model, uint32_t loop);

/* Refuses an entry that calls itself when nothing says how often, before rows are made. CT_ERR_NOT_FOUND. */
int ct_wcet_model_check_depth(const struct ct_wcet_model *model);

/* Adds the rows of loops, of loops inside of loops, and of recursion, in this order. CT_ERR_NOT_FOUND:
 * nothing bounds one of them; CT_ERR_NOMEM. */
int ct_wcet_model_loops(struct ct_wcet_model *model);
int ct_wcet_model_nests(struct ct_wcet_model *model);
int ct_wcet_model_depths(struct ct_wcet_model *model);

#endif
