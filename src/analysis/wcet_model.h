/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a program's longest path, while it is being made. */
#pragma once

#include "analysis/wcet.h"

struct ct_wcet_vertex {
    uint32_t block;        /* its first block */
    uint32_t end;          /* its last block */
    uint32_t first, count; /* its columns, that is, its ways out */
    uint64_t n;            /* instructions */
};

struct ct_wcet_column {
    uint32_t vertex;
    uint32_t edge;     /* of the control flow graph */
    uint32_t to;       /* the block it leads to, or CT_CFG_NONE: out of the model */
    uint32_t next_end; /* next column with a vertex that ends with the same block, or CT_CFG_NONE */
    uint32_t next_in;  /* next column that leads to the same block, or CT_CFG_NONE */
    uint64_t cycles;   /* including those of the call */
    uint64_t call;     /* most cycles of a measured call that is not modelled */
    uint64_t runs;     /* number of measured runs of that call; 0: no such call */
    bool seen;
    bool shared;
    uint8_t pad[2];
};

/* A vertex that contains a block. */
struct ct_wcet_cover {
    uint32_t vertex;
    uint32_t next;
};

/* A row for an observation: how often a loop goes round in total during `within`, which is a surrounding loop
 * or (CT_CFG_NONE) a run of the entry. Without a loop: the runs of function `within` for each call from
 * outside of its recursion. */
struct ct_wcet_total {
    uint64_t most;
    uint32_t row;
    uint32_t loop;
    uint32_t within;
    bool per_run; /* of a function: during a run of the entry */
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
    uint32_t *vertex_of; /* by block: the vertex that begins with it, or CT_CFG_NONE */
    uint32_t *ends;      /* by block: first column of a vertex that ends with it */
    uint32_t *in;        /* by block: first column that leads to it */
    uint32_t *covers;    /* by block: its first entry in cover_list */
    struct ct_wcet_vertex *vertices;
    size_t vertex_count, vertex_room;
    struct ct_wcet_column *columns; /* in the order of their numbers in the integer linear program */
    size_t column_count, column_room;
    struct ct_wcet_cover *cover_list;
    size_t cover_count, cover_room;
    uint32_t *heads;     /* by loop: its first head */
    uint32_t *next_head; /* by block: the next head of the same loop, or CT_CFG_NONE */
    uint32_t *entered;   /* by loop: the column that counts its entries, or CT_CFG_NONE */
    uint32_t *rounds;    /* by loop: the column that counts the runs of its heads, or CT_CFG_NONE */
    uint8_t *uncalled;   /* by function: 1 when it is recursive and left out because it never ran */
    struct ct_wcet_total *totals;
    size_t total_count, total_room;
    uint64_t rate_cycles, rate_insns;
    struct ct_ilp ilp;
};

int ct_wcet_model_init(struct ct_wcet_model *model, struct ct_wcet *wcet,
                       const struct ct_wcet_options *options);
void ct_wcet_model_free(struct ct_wcet_model *model);
int ct_wcet_model_columns(struct ct_wcet_model *model);

/* Returns the block that runs behind one without a branch at its end. CT_CFG_NONE for other blocks. */
uint32_t ct_wcet_model_behind(const struct ct_wcet_model *model, uint32_t block);

/* Returns whether an edge leads to code that the graph does not have. */
bool ct_wcet_model_leads_out(const struct ct_cfg_edge *edge);
int ct_wcet_model_rows(struct ct_wcet_model *model);

/* Adds to the last row the number of traversals of an edge, times `factor`. CT_ERR_NOMEM. */
int ct_wcet_model_add(struct ct_wcet_model *model, uint32_t edge, int64_t factor);

/* ---- wcet_returns.c ---- */

/* Refuses an entry from which no path leads to its return. Requires the columns. CT_ERR_NOT_FOUND,
 * CT_ERR_NOMEM. */
int ct_wcet_model_check_returns(const struct ct_wcet_model *model);

/* ---- wcet_advice.c ---- */

/* Refuses a model that the solver did not solve in `seconds`, and names what makes it smaller.
 * CT_ERR_LIMIT. */
int ct_wcet_model_refuse(const struct ct_wcet_model *model, unsigned seconds);

/* ---- wcet_model_bounds.c ---- */

/* Returns whether an edge is left out because it leads to a loop or a recursion that never ran and has no
 * bound. Notes what is left out. */
bool ct_wcet_model_leaves_out(struct ct_wcet_model *model, const struct ct_cfg_edge *edge);

/* Refuses a recursive entry without a bound of its depth. Called before rows are made. CT_ERR_NOT_FOUND. */
int ct_wcet_model_check_depth(const struct ct_wcet_model *model);

/* Add the rows of loops, of nested loops, and of recursion, in this order. CT_ERR_NOT_FOUND: one of them has
 * no bound. CT_ERR_NOMEM. */
int ct_wcet_model_loops(struct ct_wcet_model *model);
int ct_wcet_model_nests(struct ct_wcet_model *model);
int ct_wcet_model_depths(struct ct_wcet_model *model);
