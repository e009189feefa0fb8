/* SPDX-License-Identifier: Apache-2.0 */
/* Value expressions: the functions that lifts apply. A hash-consed graph of operations on parameters. */
#pragma once

#include "monitor/op.h"

enum ct_mon_ir_kind {
    IR_CONST,
    IR_PARAM, /* index; a parameter of the function at `level` */
    IR_OP,
    IR_IF,  /* args[0] ? args[1] : args[2]; evaluates only the chosen one */
    IR_AND, /* evaluates args[1] only if args[0] is true */
    IR_OR,
    IR_CALL, /* fn(args) of a recursive function */
};

/* An expression. `level` is the nesting of the innermost function whose parameters occur in it: 0 for
 * constants, 1 for the function of a lift. Functions of one level never see each other's parameters, so a
 * level identifies the function. */
struct ct_mon_ir {
    enum ct_mon_ir_kind kind;
    enum ct_mon_op op;
    uint32_t n, level, index, id;
    uint32_t weight; /* size of the tree below, saturating */
    const struct ct_mon_type *type;
    struct ct_mon_op_extra extra;
    struct ct_mon_cell value;
    struct ct_mon_fn *fn;
    struct ct_mon_ir **args;
    struct ct_mon_ir *next;
    uint64_t hash;
};

/* A function that is called at run time, because it is recursive. Parameters from `nparams` on are captures:
 * nodes of outer functions that the body uses. */
struct ct_mon_fn {
    struct ct_mon_fn *up; /* enclosing function, or NULL */
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
    size_t limit; /* most nodes; beyond it the arena jumps to out_of_memory */
};

void ct_mon_ir_init(struct ct_mon_ir_pool *p, struct ct_mon_arena *arena, struct ct_mon_heap *constants);
/* Jumps to the arena's out_of_memory when the heap of constants is exhausted. */
void ct_mon_ir_check_constants(const struct ct_mon_ir_pool *p);

struct ct_mon_ir *ct_mon_ir_const(struct ct_mon_ir_pool *p, const struct ct_mon_type *type,
                                  struct ct_mon_cell value);
struct ct_mon_ir *ct_mon_ir_param(struct ct_mon_ir_pool *p, const struct ct_mon_type *type, uint32_t level,
                                  uint32_t index);
/* Makes an operation. Folds constants, and isNone and getSome of a known Some. */
struct ct_mon_ir *ct_mon_ir_op(struct ct_mon_ir_pool *p, const struct ct_mon_type *type, enum ct_mon_op op,
                               const struct ct_mon_op_extra *extra, struct ct_mon_ir **args, uint32_t n);
struct ct_mon_ir *ct_mon_ir_if(struct ct_mon_ir_pool *p, struct ct_mon_ir *c, struct ct_mon_ir *a,
                               struct ct_mon_ir *b);
struct ct_mon_ir *ct_mon_ir_and(struct ct_mon_ir_pool *p, struct ct_mon_ir *a, struct ct_mon_ir *b);
struct ct_mon_ir *ct_mon_ir_or(struct ct_mon_ir_pool *p, struct ct_mon_ir *a, struct ct_mon_ir *b);
struct ct_mon_ir *ct_mon_ir_call(struct ct_mon_ir_pool *p, struct ct_mon_fn *fn, struct ct_mon_ir **args,
                                 uint32_t n);

/* Adds an expression unchanged, without folding, or returns an equal existing one. Everything it points to
 * must belong to the pool. */
struct ct_mon_ir *ct_mon_ir_copy(struct ct_mon_ir_pool *p, const struct ct_mon_ir *e);

/* Makes a node usable in fn: a node of an enclosing function becomes a captured parameter. */
struct ct_mon_ir *ct_mon_ir_import(struct ct_mon_ir_pool *p, struct ct_mon_fn *fn, struct ct_mon_ir *e);

static inline bool ir_is_const(const struct ct_mon_ir *e)
{
    return e->kind == IR_CONST;
}
