/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the emitter: emit.c does streams, emit_ir.c the functions in them, emit_tables.c
 * what a program says beside its code. */
#ifndef CT_MONITOR_EMIT_H
#define CT_MONITOR_EMIT_H

#include "monitor/program.h"

/* Whether a stream has an event in the program under construction. */
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

struct ct_mon_emit {
    struct ct_mon_elab *e;
    struct ct_mon_program *p;
    const struct ct_mon_param *params;
    const struct ct_mon_fn *fn; /* NULL: in a stream */
    uint32_t *memo_of;          /* by ir id: 1 + place in memos, or 0 */
    struct ct_mon_memo *memos;
    size_t nmemos, memos_cap;
    uint32_t temp, temp_max; /* next temporary */
    uint32_t *const_cell;    /* by ir id: 1 + constant, or 0 */
    size_t nids;
    /* per node id */
    uint32_t *cell, *prev;
    enum ct_mon_presence *presence;
};

uint32_t ct_mon_emit_insn(struct ct_mon_emit *m, uint32_t op, uint32_t d, uint32_t a, uint32_t b);
uint32_t ct_mon_emit_constant(struct ct_mon_emit *m, struct ct_mon_cell value);
static inline uint32_t emit_here(const struct ct_mon_emit *m)
{
    return (uint32_t)m->p->ncode;
}

/* Jumps to one place that is not emitted yet. */
struct ct_mon_label {
    uint32_t *at; /* instructions */
    size_t n, cap;
};
void ct_mon_emit_jump(struct ct_mon_emit *m, struct ct_mon_label *l, uint32_t op, uint32_t a);
void ct_mon_emit_land(struct ct_mon_emit *m, struct ct_mon_label *l);

/* Emits the computation of a value. Result: the cell that holds it, which is `want` unless that is
 * NO_CELL. */
uint32_t ct_mon_emit_value(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t want);
/* Emits a lift's function, whose result becomes an event in d. Where it has none the code jumps to skip. */
enum ct_mon_presence ct_mon_emit_event(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t d,
                                       struct ct_mon_label *skip);
void ct_mon_emit_begin_kernel(struct ct_mon_emit *m, const struct ct_mon_param *params);
void ct_mon_emit_functions(struct ct_mon_emit *m);

/* Makes the tables of inputs, outputs, timers and machines; machines and timers get the numbers that they
 * have in these. */
void ct_mon_emit_tables(struct ct_mon_emit *m, const struct ct_mon_order *order);
/* Finds how much work a program may take at most from each instruction on. */
void ct_mon_emit_costs(const struct ct_mon_emit *m);

#endif
