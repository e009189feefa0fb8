/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the emitter's files: emit.c for streams, emit_ir.c for the functions in them, emit_reach.c for
 * the streams of a program, emit_tables.c for the tables beside the code. */
#pragma once

#include "monitor/program.h"

/* Whether a stream has an event in the program being emitted. */
enum ct_mon_presence {
    NEVER,
    MAYBE,
    ALWAYS,
};

struct ct_mon_param {
    uint32_t cell;
    enum ct_mon_presence presence;
    bool option; /* lift: the parameter is the stream's event as an option */
};

struct ct_mon_memo {
    const struct ct_mon_ir *ir;
    uint32_t cell;
};

/* The streams that may have an event in the program being emitted. Streams are numbered by their order; lists
 * have a number + 1, or 0 at the end. */
struct ct_mon_reach {
    uint32_t *streams, *outputs; /* what was found, in order; outputs of one stream have one entry */
    size_t nstreams, noutputs;
    uint32_t *first, *users;   /* by node id: where its users begin; users */
    uint32_t *inputs, *timers; /* lists of their streams */
    uint32_t *next;            /* by stream: the rest of its list */
    uint32_t ticks;            /* list of the streams that have an event at every instant */
    uint32_t *output;          /* by node id: first output + 1, or 0 */
    bool *found;               /* by stream */
};

struct ct_mon_emit {
    struct ct_mon_elab *e;
    struct ct_mon_program *p;
    const struct ct_mon_param *params;
    const struct ct_mon_fn *fn; /* NULL in a stream */
    uint32_t *memo_of;          /* by ir id: index in memos + 1, or 0 */
    struct ct_mon_memo *memos;
    size_t nmemos, memos_cap;
    uint32_t temp, temp_max; /* next temporary */
    uint32_t *const_cell;    /* by ir id: constant + 1, or 0 */
    size_t nids;
    /* by node id */
    uint32_t *cell, *prev;
    enum ct_mon_presence *presence; /* NEVER except while a program with the stream is emitted */
    struct ct_mon_reach reach;
};

uint32_t ct_mon_emit_insn(struct ct_mon_emit *m, uint32_t op, uint32_t d, uint32_t a, uint32_t b);
uint32_t ct_mon_emit_constant(struct ct_mon_emit *m, struct ct_mon_cell value);
static inline uint32_t emit_here(const struct ct_mon_emit *m)
{
    return (uint32_t)m->p->ncode;
}

/* Jumps to one target that is not emitted yet. */
struct ct_mon_label {
    uint32_t *at; /* instructions that jump there */
    size_t n, cap;
};
void ct_mon_emit_jump(struct ct_mon_emit *m, struct ct_mon_label *l, uint32_t op, uint32_t a);
void ct_mon_emit_land(struct ct_mon_emit *m, struct ct_mon_label *l);

/* Emits the computation of a value. Returns the cell that holds it: `want`, unless that is NO_CELL. */
uint32_t ct_mon_emit_value(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t want);
/* Emits a lift's function, whose result becomes an event in d. When it has no result, the code jumps to
 * `skip`. */
enum ct_mon_presence ct_mon_emit_event(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t d,
                                       struct ct_mon_label *skip);
void ct_mon_emit_begin_kernel(struct ct_mon_emit *m, const struct ct_mon_param *params);
void ct_mon_emit_functions(struct ct_mon_emit *m);

/* Makes the tables of inputs, outputs, timers and machines. Numbers machines and timers by their position
 * there. */
void ct_mon_emit_tables(struct ct_mon_emit *m, const struct ct_mon_order *order);
/* Prepares the search for streams. The tables were made. */
void ct_mon_emit_reach_begin(struct ct_mon_emit *m, const struct ct_mon_order *order);
/* Finds all streams. */
void ct_mon_emit_reach_all(struct ct_mon_emit *m, const struct ct_mon_order *order);
/* Finds the streams that depend on those of a list of m->reach, and on events of every instant. All others
 * have no event when no other source has one: without an event to read, a stream has none, except at instant
 * 0. */
void ct_mon_emit_reach_of(struct ct_mon_emit *m, const struct ct_mon_order *order, uint32_t source);
/* Computes the most work that a program may take from each instruction on. */
void ct_mon_emit_costs(const struct ct_mon_emit *m);
