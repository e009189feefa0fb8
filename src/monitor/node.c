/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/node.h"

#include <string.h>

#include "monitor/machine.h"

void ct_mon_graph_init(struct ct_mon_graph *g, struct ct_mon_arena *arena, struct ct_mon_types *types,
                       struct ct_mon_ir_pool *pool)
{
    *g = (struct ct_mon_graph){.arena = arena, .types = types, .pool = pool, .cap = 1024};
    g->buckets = ARENA_ARRAY(arena, struct ct_mon_node *, g->cap);
}

static void grow(struct ct_mon_graph *g)
{
    size_t cap = g->cap * 2;
    struct ct_mon_node **buckets = ARENA_ARRAY(g->arena, struct ct_mon_node *, cap);
    for (size_t i = 0; i < g->cap; i++) {
        for (struct ct_mon_node *s = g->buckets[i], *next; s; s = next) {
            next = s->next;
            s->next = buckets[s->hash & (cap - 1)];
            buckets[s->hash & (cap - 1)] = s;
        }
    }
    g->buckets = buckets;
    g->cap = cap;
}

static bool same(struct ct_mon_heap *heap, const struct ct_mon_node *a, const struct ct_mon_node *b)
{
    return a->hash == b->hash && a->kind == b->kind && a->type == b->type && a->n == b->n &&
           a->index == b->index && a->variant == b->variant && a->kernel == b->kernel &&
           a->machine == b->machine && a->changes_only == b->changes_only &&
           (!a->n || !memcmp(a->args, b->args, a->n * sizeof *a->args)) && a->value.meta == b->value.meta &&
           (a->value.v.i == b->value.v.i ||
            ((a->value.meta & META_PTR) && ct_mon_value_compare(heap, &a->value, &b->value) == 0));
}

static struct ct_mon_node *add(struct ct_mon_graph *g, struct ct_mon_node s)
{
    uint64_t h = hash_mix(s.kind, s.index * 2u + s.changes_only);
    h = hash_ptr(hash_ptr(hash_ptr(h, s.type), s.kernel), s.machine);
    h = hash_mix(hash_mix(h, s.variant), ct_mon_value_hash(g->pool->constants, &s.value));
    for (uint32_t i = 0; i < s.n; i++)
        h = hash_ptr(h, s.args[i]);
    s.hash = h;
    bool unique = s.kind == N_REF || s.kind == N_OPAQUE;
    for (struct ct_mon_node *o = unique ? NULL : g->buckets[h & (g->cap - 1)]; o; o = o->next)
        if (same(g->pool->constants, o, &s))
            return o;
    if (g->count >= g->cap)
        grow(g);
    struct ct_mon_node *o = ARENA_NEW(g->arena, struct ct_mon_node);
    *o = s;
    o->args = ARENA_ARRAY(g->arena, struct ct_mon_node *, s.n);
    for (uint32_t i = 0; i < s.n; i++)
        o->args[i] = s.args[i];
    o->id = (uint32_t)g->count++;
    o->next = g->buckets[h & (g->cap - 1)];
    return g->buckets[h & (g->cap - 1)] = o;
}

struct ct_mon_node *ct_mon_node_nil(struct ct_mon_graph *g, const struct ct_mon_type *type)
{
    return add(g, (struct ct_mon_node){.kind = N_NIL, .type = type});
}

struct ct_mon_node *ct_mon_node_input(struct ct_mon_graph *g, const struct ct_mon_type *type, uint32_t index)
{
    return add(g, (struct ct_mon_node){.kind = N_INPUT, .type = type, .index = index});
}

struct ct_mon_node *ct_mon_node_default(struct ct_mon_graph *g, struct ct_mon_node *s,
                                        struct ct_mon_cell value)
{
    value.stamp = 0;
    if (node_is_const(s))
        return s;
    return add(g,
               (struct ct_mon_node){.kind = N_DEFAULT, .type = s->type, .n = 1, .args = &s, .value = value});
}

struct ct_mon_node *ct_mon_node_const(struct ct_mon_graph *g, const struct ct_mon_type *type,
                                      struct ct_mon_cell value)
{
    return ct_mon_node_default(g, ct_mon_node_nil(g, type), value);
}

/* Makes a node, simplified by rules that hold at every instant. The emitter, which knows more, does the other
 * simplifications. */
struct ct_mon_node *ct_mon_node_plain(struct ct_mon_graph *g, enum ct_mon_node_kind kind,
                                      const struct ct_mon_type *type, struct ct_mon_node **args, uint32_t n)
{
    struct ct_mon_node *a = args[0], *b = n > 1 ? args[1] : NULL;
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
    struct ct_mon_node s = {.kind = kind, .type = type, .n = n, .args = args};
    if (kind == N_DELAY)
        s.index =
            g->ndelays++; /* equal timers stay separate: a timer is cheap, and may contain a reference */
    return add(g, s);
}

struct ct_mon_node *ct_mon_node_kernel(struct ct_mon_graph *g, enum ct_mon_node_kind kind,
                                       struct ct_mon_node **args, uint32_t n, struct ct_mon_ir *kernel,
                                       const struct ct_mon_type *type)
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
    return add(g, (struct ct_mon_node){.kind = kind, .type = type, .n = n, .args = args, .kernel = kernel});
}

struct ct_mon_node *ct_mon_node_fold(struct ct_mon_graph *g, struct ct_mon_node *x, struct ct_mon_cell init,
                                     struct ct_mon_ir *kernel)
{
    init.stamp = 0;
    return add(
        g, (struct ct_mon_node){
               .kind = N_FOLD, .type = kernel->type, .n = 1, .args = &x, .kernel = kernel, .value = init});
}

struct ct_mon_node *ct_mon_node_ref(struct ct_mon_graph *g, const struct ct_mon_type *type, const char *name,
                                    struct ct_mon_span span)
{
    struct ct_mon_node *s =
        add(g, (struct ct_mon_node){.kind = N_REF, .type = type, .name = name, .span = span});
    s->args = ARENA_ARRAY(g->arena, struct ct_mon_node *, 1);
    return s;
}

struct ct_mon_node *ct_mon_node_tick(struct ct_mon_graph *g)
{
    return add(g, (struct ct_mon_node){.kind = N_TICK, .type = g->types->unit});
}

struct ct_mon_node *ct_mon_node_opaque(struct ct_mon_graph *g, const struct ct_mon_type *type)
{
    return add(g, (struct ct_mon_node){.kind = N_OPAQUE, .type = type});
}

struct ct_mon_node *ct_mon_node_monitor(struct ct_mon_graph *g, const struct ct_mon_type *type,
                                        struct ct_mon_node **args, uint32_t n,
                                        const struct ct_mon_machine *machine, const uint8_t *atoms,
                                        bool changes_only)
{
    return add(g, (struct ct_mon_node){.kind = N_MONITOR,
                                       .type = type,
                                       .n = n,
                                       .args = args,
                                       .machine = machine,
                                       .atoms = atoms,
                                       .changes_only = changes_only});
}

struct ct_mon_node *ct_mon_node_copy(struct ct_mon_graph *g, const struct ct_mon_node *s)
{
    return add(g, *s);
}

bool ct_mon_node_reads_held(const struct ct_mon_node *s, uint32_t arg)
{
    return s->kind == N_SLIFT || (s->kind == N_LAST && arg == 0) ||
           (arg == 1 && (s->kind == N_FILTER || s->kind == N_ON)) || s->kind == N_DELAY ||
           (s->kind == N_MONITOR && arg < s->machine->natoms && s->atoms[arg] == ATOM_SIGNAL);
}

struct ct_mon_node *ct_mon_node_target(struct ct_mon_node *s)
{
    struct ct_mon_node *slow = s;
    for (bool odd = false; s && s->kind == N_REF; odd = !odd) {
        s = s->args[0];
        if (odd)
            slow = slow->args[0];
        if (s == slow)
            return NULL;
    }
    return s;
}
