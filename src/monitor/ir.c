/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/ir.h"

#include <string.h>

enum {
    NODES_MOST = 2000000
};

void ct_mon_ir_init(struct ct_mon_ir_pool *p, struct ct_mon_arena *arena, struct ct_mon_heap *constants)
{
    *p = (struct ct_mon_ir_pool){.arena = arena, .constants = constants, .cap = 1024, .limit = NODES_MOST};
    p->buckets = ARENA_ARRAY(arena, struct ct_mon_ir *, p->cap);
}

static void grow(struct ct_mon_ir_pool *p)
{
    size_t cap = p->cap * 2;
    struct ct_mon_ir **buckets = ARENA_ARRAY(p->arena, struct ct_mon_ir *, cap);
    for (size_t i = 0; i < p->cap; i++) {
        for (struct ct_mon_ir *e = p->buckets[i], *next; e; e = next) {
            next = e->next;
            e->next = buckets[e->hash & (cap - 1)];
            buckets[e->hash & (cap - 1)] = e;
        }
    }
    p->buckets = buckets;
    p->cap = cap;
}

void ct_mon_ir_check_constants(const struct ct_mon_ir_pool *p)
{
    if (p->constants->exhausted)
        ct_mon_arena_leave(p->arena, p->constants->exhausted == E_BUDGET ? ARENA_WORK : ARENA_LIMIT);
}

static bool same(struct ct_mon_heap *heap, const struct ct_mon_ir *a, const struct ct_mon_ir *b)
{
    if (a->hash != b->hash || a->kind != b->kind || a->op != b->op || a->n != b->n || a->level != b->level ||
        a->index != b->index || a->type != b->type || a->fn != b->fn || a->extra.type != b->extra.type ||
        a->extra.index != b->extra.index)
        return false;
    if (a->n && memcmp(a->args, b->args, a->n * sizeof *a->args) != 0)
        return false;
    /* compares bits, not values: 0.0 and -0.0 are different constants */
    return a->kind != IR_CONST ||
           (a->value.meta == b->value.meta &&
            (a->value.v.i == b->value.v.i ||
             ((a->value.meta & META_PTR) && ct_mon_value_compare(heap, &a->value, &b->value) == 0)));
}

static struct ct_mon_ir *intern(struct ct_mon_ir_pool *p, struct ct_mon_ir e)
{
    uint64_t h = hash_mix(e.kind * 256u + e.op, e.level * 65536u + e.index);
    h = hash_ptr(hash_ptr(hash_ptr(h, e.type), e.fn), e.extra.type);
    h = hash_mix(h, e.extra.index);
    if (e.kind == IR_CONST)
        h = hash_mix(h, ct_mon_value_hash(p->constants, &e.value));
    uint64_t weight = 1;
    for (uint32_t i = 0; i < e.n; i++) {
        h = hash_ptr(h, e.args[i]);
        weight += e.args[i]->weight;
        if (e.args[i]->level > e.level)
            e.level = e.args[i]->level;
    }
    e.hash = h;
    e.weight = weight > UINT32_MAX ? UINT32_MAX : (uint32_t)weight;
    for (struct ct_mon_ir *o = p->buckets[h & (p->cap - 1)]; o; o = o->next)
        if (same(p->constants, o, &e))
            return o;
    if (p->count >= p->limit)
        ct_mon_arena_leave(p->arena, ARENA_LIMIT);
    if (p->count >= p->cap)
        grow(p);
    struct ct_mon_ir *o = ARENA_NEW(p->arena, struct ct_mon_ir);
    struct ct_mon_ir **args = ARENA_ARRAY(p->arena, struct ct_mon_ir *, e.n);
    for (uint32_t i = 0; i < e.n; i++)
        args[i] = e.args[i];
    *o = e;
    o->args = args;
    o->id = (uint32_t)p->count++;
    o->next = p->buckets[h & (p->cap - 1)];
    return p->buckets[h & (p->cap - 1)] = o;
}

struct ct_mon_ir *ct_mon_ir_const(struct ct_mon_ir_pool *p, const struct ct_mon_type *type,
                                  struct ct_mon_cell value)
{
    value.stamp = 0;
    return intern(p, (struct ct_mon_ir){.kind = IR_CONST, .type = type, .value = value});
}

struct ct_mon_ir *ct_mon_ir_param(struct ct_mon_ir_pool *p, const struct ct_mon_type *type, uint32_t level,
                                  uint32_t index)
{
    return intern(p, (struct ct_mon_ir){.kind = IR_PARAM, .type = type, .level = level, .index = index});
}

static struct ct_mon_ir *fold(struct ct_mon_ir_pool *p, const struct ct_mon_type *type, enum ct_mon_op op,
                              const struct ct_mon_op_extra *extra, struct ct_mon_ir **args, uint32_t n)
{
    struct ct_mon_cell few[8], *cells = n <= 8 ? few : ARENA_ARRAY(p->arena, struct ct_mon_cell, n), r = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (!ir_is_const(args[i]))
            return NULL;
        cells[i] = args[i]->value;
    }
    ct_mon_op_eval(op, extra, p->constants, cells, n, &r);
    ct_mon_ir_check_constants(p);
    return ct_mon_ir_const(p, type, r);
}

struct ct_mon_ir *ct_mon_ir_op(struct ct_mon_ir_pool *p, const struct ct_mon_type *type, enum ct_mon_op op,
                               const struct ct_mon_op_extra *extra, struct ct_mon_ir **args, uint32_t n)
{
    struct ct_mon_ir *c = fold(p, type, op, extra, args, n);
    if (c)
        return c;
    if (n == 1 && args[0]->kind == IR_OP && args[0]->op == OP_SOME) {
        if (op == OP_GET_SOME)
            return args[0]->args[0];
        if (op == OP_IS_NONE || op == OP_IS_SOME)
            return ct_mon_ir_const(p, type, cell_int(op == OP_IS_SOME));
    }
    if (n == 1 && op == OP_NOT && args[0]->kind == IR_OP && args[0]->op == OP_NOT)
        return args[0]->args[0];
    if (op == OP_FIELD && args[0]->kind == IR_OP && args[0]->op == OP_RECORD)
        return args[0]->args[extra->index];
    struct ct_mon_ir e = {.kind = IR_OP, .op = op, .type = type, .n = n, .args = args};
    if (extra)
        e.extra = *extra;
    return intern(p, e);
}

/* Returns the value of a constant condition, or -1. A constant error is not folded: execution raises it. */
static int known(const struct ct_mon_ir *c)
{
    return ir_is_const(c) && !cell_err(&c->value) ? (c->value.v.i ? 1 : 0) : -1;
}

struct ct_mon_ir *ct_mon_ir_if(struct ct_mon_ir_pool *p, struct ct_mon_ir *c, struct ct_mon_ir *a,
                               struct ct_mon_ir *b)
{
    int k = known(c);
    if (k >= 0)
        return k ? a : b;
    struct ct_mon_ir *args[] = {c, a, b};
    return intern(p, (struct ct_mon_ir){.kind = IR_IF, .type = a->type, .n = 3, .args = args});
}

struct ct_mon_ir *ct_mon_ir_and(struct ct_mon_ir_pool *p, struct ct_mon_ir *a, struct ct_mon_ir *b)
{
    int k = known(a);
    if (k >= 0)
        return k ? b : a;
    struct ct_mon_ir *args[] = {a, b};
    return intern(p, (struct ct_mon_ir){.kind = IR_AND, .type = a->type, .n = 2, .args = args});
}

struct ct_mon_ir *ct_mon_ir_or(struct ct_mon_ir_pool *p, struct ct_mon_ir *a, struct ct_mon_ir *b)
{
    int k = known(a);
    if (k >= 0)
        return k ? a : b;
    struct ct_mon_ir *args[] = {a, b};
    return intern(p, (struct ct_mon_ir){.kind = IR_OR, .type = a->type, .n = 2, .args = args});
}

struct ct_mon_ir *ct_mon_ir_call(struct ct_mon_ir_pool *p, struct ct_mon_fn *fn, struct ct_mon_ir **args,
                                 uint32_t n)
{
    /* the result belongs to the calling function, even when only captures tie it to one */
    uint32_t level = fn->up ? fn->up->level : 0;
    return intern(p,
                  (struct ct_mon_ir){
                      .kind = IR_CALL, .type = fn->result, .fn = fn, .n = n, .args = args, .level = level});
}

struct ct_mon_ir *ct_mon_ir_copy(struct ct_mon_ir_pool *p, const struct ct_mon_ir *e)
{
    return intern(p, *e);
}

struct ct_mon_ir *ct_mon_ir_import(struct ct_mon_ir_pool *p, struct ct_mon_fn *fn, struct ct_mon_ir *e)
{
    if (!fn || e->level == 0 || e->level >= fn->level)
        return e;
    struct ct_mon_ir *outer = ct_mon_ir_import(p, fn->up, e);
    size_t i = 0;
    while (i < fn->ncaptures && fn->captures[i] != outer)
        i++;
    if (i == fn->ncaptures)
        ARENA_PUSH(p->arena, fn->captures, fn->ncaptures, fn->captures_cap, outer);
    return ct_mon_ir_param(p, e->type, fn->level, fn->nparams + (uint32_t)i);
}
