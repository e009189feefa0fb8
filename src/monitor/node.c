/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/node.h"

#include <string.h>

void ct_mon_graph_init(struct graph *g, struct arena *arena, struct types *types, struct ir_pool *pool)
{
    *g = (struct graph){.arena = arena, .types = types, .pool = pool, .cap = 1024};
    g->buckets = ARENA_ARRAY(arena, struct node *, g->cap);
}

static void grow(struct graph *g)
{
    size_t cap = g->cap * 2;
    struct node **buckets = ARENA_ARRAY(g->arena, struct node *, cap);
    for (size_t i = 0; i < g->cap; i++) {
        for (struct node *s = g->buckets[i], *next; s; s = next) {
            next = s->next;
            s->next = buckets[s->hash & (cap - 1)];
            buckets[s->hash & (cap - 1)] = s;
        }
    }
    g->buckets = buckets;
    g->cap = cap;
}

static bool same(struct heap *heap, const struct node *a, const struct node *b)
{
    return a->hash == b->hash && a->kind == b->kind && a->type == b->type && a->n == b->n &&
           a->index == b->index && a->kernel == b->kernel && a->machine == b->machine &&
           a->changes_only == b->changes_only &&
           (!a->n || !memcmp(a->args, b->args, a->n * sizeof *a->args)) && a->value.meta == b->value.meta &&
           (a->value.v.i == b->value.v.i ||
            ((a->value.meta & META_PTR) && ct_mon_value_compare(heap, &a->value, &b->value) == 0));
}

static struct node *add(struct graph *g, struct node s)
{
    uint64_t h = hash_mix(s.kind, s.index * 2u + s.changes_only);
    h = hash_ptr(hash_ptr(hash_ptr(h, s.type), s.kernel), s.machine);
    h = hash_mix(h, ct_mon_value_hash(g->pool->constants, &s.value));
    for (uint32_t i = 0; i < s.n; i++)
        h = hash_ptr(h, s.args[i]);
    s.hash = h;
    bool unique = s.kind == N_REF || s.kind == N_OPAQUE;
    for (struct node *o = unique ? NULL : g->buckets[h & (g->cap - 1)]; o; o = o->next)
        if (same(g->pool->constants, o, &s))
            return o;
    if (g->count >= g->cap)
        grow(g);
    struct node *o = ARENA_NEW(g->arena, struct node);
    *o = s;
    o->args = ARENA_ARRAY(g->arena, struct node *, s.n);
    for (uint32_t i = 0; i < s.n; i++)
        o->args[i] = s.args[i];
    o->id = (uint32_t)g->count++;
    o->next = g->buckets[h & (g->cap - 1)];
    return g->buckets[h & (g->cap - 1)] = o;
}

struct node *ct_mon_node_nil(struct graph *g, const struct type *type)
{
    return add(g, (struct node){.kind = N_NIL, .type = type});
}

struct node *ct_mon_node_input(struct graph *g, const struct type *type, uint32_t index)
{
    return add(g, (struct node){.kind = N_INPUT, .type = type, .index = index});
}

struct node *ct_mon_node_default(struct graph *g, struct node *s, struct cell value)
{
    value.stamp = 0;
    if (node_is_const(s))
        return s;
    return add(g, (struct node){.kind = N_DEFAULT, .type = s->type, .n = 1, .args = &s, .value = value});
}

struct node *ct_mon_node_const(struct graph *g, const struct type *type, struct cell value)
{
    return ct_mon_node_default(g, ct_mon_node_nil(g, type), value);
}

/* Simplifications that hold at every instant; others are left to the emitter, which knows more. */
struct node *ct_mon_node_plain(struct graph *g, enum node_kind kind, const struct type *type,
                               struct node **args, uint32_t n)
{
    struct node *a = args[0], *b = n > 1 ? args[1] : NULL;
    bool a_nil = a->kind == N_NIL, b_nil = b && b->kind == N_NIL;
    if ((kind == N_MERGE || kind == N_DEFAULT_FROM) && (b_nil || a == b))
        return a;
    if (kind == N_MERGE && a_nil)
        return b;
    if ((kind == N_TIME || kind == N_PURE || kind == N_FILTER || kind == N_LAST || kind == N_ON) &&
        (a_nil || b_nil))
        return ct_mon_node_nil(g, type);
    if (kind == N_FILTER && node_is_const(b) && !b->value.meta)
        return b->value.v.i ? a : ct_mon_node_nil(g, type);
    if (kind == N_PURE && a->kind == N_PURE)
        return a;
    struct node s = {.kind = kind, .type = type, .n = n, .args = args};
    if (kind == N_DELAY)
        s.index =
            g->ndelays++; /* equal timers stay apart: a timer is cheap, and a reference may hide in one */
    return add(g, s);
}

struct node *ct_mon_node_kernel(struct graph *g, enum node_kind kind, struct node **args, uint32_t n,
                                struct ir *kernel, const struct type *type)
{
    if (kind == N_SLIFT) {
        for (uint32_t i = 0; i < n; i++)
            if (args[i]->kind == N_NIL)
                return ct_mon_node_nil(g, type);
        if (n == 0)
            return ct_mon_node_const(g, type, kernel->value);
        if (n == 1 && kernel->kind == IR_PARAM)
            return args[0];
    }
    return add(g, (struct node){.kind = kind, .type = type, .n = n, .args = args, .kernel = kernel});
}

struct node *ct_mon_node_fold(struct graph *g, struct node *x, struct cell init, struct ir *kernel)
{
    init.stamp = 0;
    return add(
        g, (struct node){
               .kind = N_FOLD, .type = kernel->type, .n = 1, .args = &x, .kernel = kernel, .value = init});
}

struct node *ct_mon_node_ref(struct graph *g, const struct type *type, const char *name, struct span span)
{
    struct node *s = add(g, (struct node){.kind = N_REF, .type = type, .name = name, .span = span});
    s->args = ARENA_ARRAY(g->arena, struct node *, 1);
    return s;
}

struct node *ct_mon_node_tick(struct graph *g)
{
    return add(g, (struct node){.kind = N_TICK, .type = g->types->unit});
}

struct node *ct_mon_node_opaque(struct graph *g, const struct type *type)
{
    return add(g, (struct node){.kind = N_OPAQUE, .type = type});
}

struct node *ct_mon_node_monitor(struct graph *g, const struct type *type, struct node **args, uint32_t n,
                                 const struct machine *machine, const uint8_t *atoms, bool changes_only)
{
    return add(g, (struct node){.kind = N_MONITOR,
                                .type = type,
                                .n = n,
                                .args = args,
                                .machine = machine,
                                .atoms = atoms,
                                .changes_only = changes_only});
}

struct node *ct_mon_node_target(struct node *s)
{
    struct node *slow = s;
    for (bool odd = false; s && s->kind == N_REF; odd = !odd) {
        s = s->args[0];
        if (odd)
            slow = slow->args[0];
        if (s == slow)
            return NULL;
    }
    return s;
}
