/* SPDX-License-Identifier: Apache-2.0 */
/* Value expressions: the functions that lifts apply. A hash-consed graph of operations over parameters. */
#ifndef CT_MONITOR_IR_H
#define CT_MONITOR_IR_H

#include "monitor/op.h"

enum ir_kind {
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
struct ir {
    enum ir_kind kind;
    enum op op;
    uint32_t n, level, index, id;
    uint32_t weight; /* of the tree below, saturating */
    const struct type *type;
    struct op_extra extra;
    struct cell value;
    struct fn *fn;
    struct ir **args;
    struct ir *next;
    uint64_t hash;
};

/* A function that is called at run time, because it is recursive. Parameters n.. are captures: nodes of
 * outer functions that the body uses. */
struct fn {
    struct fn *up; /* the function around it, NULL at the top */
    uint32_t level, nparams, id;
    struct ir *body;
    const struct type *result;
    struct ir **captures;
    size_t ncaptures, captures_cap;
    uint32_t code; /* first instruction, once emitted */
    uint32_t frame;
    bool emitted;
    struct fn *next;
};

struct ir_pool {
    struct arena *arena;
    struct heap *constants;
    struct ir **buckets;
    size_t cap, count;
    size_t limit; /* nodes; beyond it the arena's way out of memory is taken */
};

void ct_mon_ir_init(struct ir_pool *p, struct arena *arena, struct heap *constants);
/* Takes the arena's way out when the heap of the constants is exhausted. */
void ct_mon_ir_check_constants(const struct ir_pool *p);

struct ir *ct_mon_ir_const(struct ir_pool *p, const struct type *type, struct cell value);
struct ir *ct_mon_ir_param(struct ir_pool *p, const struct type *type, uint32_t level, uint32_t index);
/* Folds constants and what follows from isNone/getSome of a known Some. */
struct ir *ct_mon_ir_op(struct ir_pool *p, const struct type *type, enum op op, const struct op_extra *extra,
                        struct ir **args, uint32_t n);
struct ir *ct_mon_ir_if(struct ir_pool *p, struct ir *c, struct ir *a, struct ir *b);
struct ir *ct_mon_ir_and(struct ir_pool *p, struct ir *a, struct ir *b);
struct ir *ct_mon_ir_or(struct ir_pool *p, struct ir *a, struct ir *b);
struct ir *ct_mon_ir_call(struct ir_pool *p, struct fn *fn, struct ir **args, uint32_t n);

/* The node as seen in fn: itself, or, when it belongs to a function around fn, a captured parameter. */
struct ir *ct_mon_ir_import(struct ir_pool *p, struct fn *fn, struct ir *e);

static inline bool ir_is_const(const struct ir *e)
{
    return e->kind == IR_CONST;
}

#endif
