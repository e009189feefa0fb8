/* SPDX-License-Identifier: Apache-2.0 */
/* Value expressions: the functions that lifts apply. A hash-consed graph of operations over parameters. */
#ifndef CT_MONITOR_IR_H
#define CT_MONITOR_IR_H

#include "monitor/op.h"

enum ct_mon_ir_kind {
    IR_CONST,
    IR_PARAM, /* index, of the function at `level` */
    IR_OP,
    IR_IF,  /* args[0] ? args[1] : args[2], only the chosen one */
    IR_AND, /* args[1] only if args[0] is true */
    IR_OR,
    IR_CALL, /* fn(args): a recursive function */
};

/* `level` is the nesting of the innermost function whose parameters occur: 0 for constants,
 * 1 for the function of a lift. Functions of one level never see each other's parameters,
 * so a level names the function. */
struct ct_mon_ir {
    enum ct_mon_ir_kind kind;
    enum ct_mon_op op;
    uint32_t n, level, index, id;
    uint32_t weight; /* of the tree below, saturating */
    const struct ct_mon_type *type;
    struct ct_mon_op_extra extra;
    struct ct_mon_cell value;
    struct ct_mon_fn *fn;
    struct ct_mon_ir **args;
    struct ct_mon_ir *next;
    uint64_t hash;
};

/* A function that is called at run time, because it is recursive. Parameters n.. are captures: nodes of
 * outer functions that the body uses. */
struct ct_mon_fn {
    struct ct_mon_fn *up; /* the function around it, NULL at the top */
    uint32_t level, nparams, id;
    struct ct_mon_ir *body;
    const struct ct_mon_type *result;
    struct ct_mon_ir **captures;
    size_t ncaptures, captures_cap;
    struct ct_mon_fn *next;
};

struct ct_mon_ir_pool {
    struct ct_mon_arena *arena;
    struct ct_mon_heap *constants;
    struct ct_mon_ir **buckets;
    size_t cap, count;
    size_t limit; /* nodes; beyond it the arena's way out of memory is taken */
};

void ct_mon_ir_init(struct ct_mon_ir_pool *p, struct ct_mon_arena *arena, struct ct_mon_heap *constants);
/* Takes the arena's way out when the heap of the constants is exhausted. */
void ct_mon_ir_check_constants(const struct ct_mon_ir_pool *p);

struct ct_mon_ir *ct_mon_ir_const(struct ct_mon_ir_pool *p, const struct ct_mon_type *type,
                                  struct ct_mon_cell value);
struct ct_mon_ir *ct_mon_ir_param(struct ct_mon_ir_pool *p, const struct ct_mon_type *type, uint32_t level,
                                  uint32_t index);
/* Folds constants and what follows from isNone/getSome of a known Some. */
struct ct_mon_ir *ct_mon_ir_op(struct ct_mon_ir_pool *p, const struct ct_mon_type *type, enum ct_mon_op op,
                               const struct ct_mon_op_extra *extra, struct ct_mon_ir **args, uint32_t n);
struct ct_mon_ir *ct_mon_ir_if(struct ct_mon_ir_pool *p, struct ct_mon_ir *c, struct ct_mon_ir *a,
                               struct ct_mon_ir *b);
struct ct_mon_ir *ct_mon_ir_and(struct ct_mon_ir_pool *p, struct ct_mon_ir *a, struct ct_mon_ir *b);
struct ct_mon_ir *ct_mon_ir_or(struct ct_mon_ir_pool *p, struct ct_mon_ir *a, struct ct_mon_ir *b);
struct ct_mon_ir *ct_mon_ir_call(struct ct_mon_ir_pool *p, struct ct_mon_fn *fn, struct ct_mon_ir **args,
                                 uint32_t n);

/* Adds an expression as it is, without folding it, or gives the one that is equal to it. What it points to
 * belongs to the pool already. */
struct ct_mon_ir *ct_mon_ir_copy(struct ct_mon_ir_pool *p, const struct ct_mon_ir *e);

/* Makes the node usable in fn: a node of a function around fn becomes a captured parameter. */
struct ct_mon_ir *ct_mon_ir_import(struct ct_mon_ir_pool *p, struct ct_mon_fn *fn, struct ct_mon_ir *e);

static inline bool ir_is_const(const struct ct_mon_ir *e)
{
    return e->kind == IR_CONST;
}

#endif
