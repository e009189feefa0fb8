/* SPDX-License-Identifier: Apache-2.0 */
/* Detects recursion, and orders the streams (docs/tessla-language.md A.4). */
#include "monitor/program.h"

static void recursion_error(struct ct_mon_elab *e, const struct ct_mon_node *s)
{
    ct_mon_diag_error(e->diags, s->span,
                      "Infinite recursion detected%s%s; only the first argument of 'last' and of 'delay' may "
                      "depend on itself",
                      s->name ? " in the definition of " : "", s->name ? s->name : "");
}

/* Returns all nodes in the order in which they were made. That of the buckets depends on the addresses of
 * nodes, which differ from run to run. */
static struct ct_mon_node **all_nodes(struct ct_mon_elab *e)
{
    struct ct_mon_node **nodes = ARENA_ARRAY(e->arena, struct ct_mon_node *, e->graph.count + 1);
    for (size_t i = 0; i < e->graph.cap; i++)
        for (struct ct_mon_node *s = e->graph.buckets[i]; s; s = s->next)
            nodes[s->id] = s;
    return nodes;
}

/* Replaces references by the nodes that they stand for. */
static bool resolve(struct ct_mon_elab *e, struct ct_mon_node **nodes)
{
    bool fine = true;
    for (size_t i = 0; i < e->graph.count; i++) {
        struct ct_mon_node *s = nodes[i];
        if (s->kind != N_REF || !s->args[0])
            continue;
        struct ct_mon_node *target = ct_mon_node_target(s);
        if (!target) {
            recursion_error(e, s);
            fine = false;
        } else if (!target->span.source) {
            target->span = s->span;
            target->name = target->name ? target->name : s->name;
        }
    }
    for (size_t i = 0; fine && i < e->graph.count; i++)
        for (uint32_t k = 0; nodes[i]->kind != N_REF && k < nodes[i]->n; k++)
            if (nodes[i]->args[k]->kind == N_REF && ct_mon_node_target(nodes[i]->args[k]))
                nodes[i]->args[k] = ct_mon_node_target(nodes[i]->args[k]);
    for (size_t i = 0; fine && i < e->noutputs; i++)
        e->outputs[i].node = ct_mon_node_target(e->outputs[i].node);
    return fine;
}

struct frame {
    struct ct_mon_node *s;
    uint32_t next;
};

/* Reports a recursion without delay. Names the definition on the cycle that was entered first. */
static void report_cycle(struct ct_mon_elab *e, const struct frame *stack, size_t depth,
                         const struct ct_mon_node *again)
{
    const struct ct_mon_node *named = again;
    for (size_t i = depth; i-- > 0;) {
        if (stack[i].s->span.source && !named->span.source)
            named = stack[i].s;
        if (stack[i].s == again)
            break;
    }
    recursion_error(e, named);
}

/* Reports each cycle of edges within one instant. The depth-first search has its own stack, because graphs
 * may be deep. It begins with the youngest nodes: a definition is younger than those that it refers to first,
 * and so is entered before them. */
static bool acyclic(struct ct_mon_elab *e, struct ct_mon_node **nodes)
{
    struct frame *stack = ARENA_ARRAY(e->arena, struct frame, e->graph.count + 1);
    bool fine = true;
    for (size_t i = e->graph.count; i-- > 0;) {
        size_t depth = 0;
        if (nodes[i]->mark)
            continue;
        stack[depth++] = (struct frame){nodes[i], 0};
        nodes[i]->mark = 1;
        while (depth) {
            struct frame *f = &stack[depth - 1];
            if (f->next == f->s->n) {
                f->s->mark = 2;
                depth--;
                continue;
            }
            uint32_t k = f->next++;
            struct ct_mon_node *t = f->s->args[k];
            if (!node_reads_now(f->s, k) || t->mark == 2)
                continue;
            if (t->mark == 1) {
                report_cycle(e, stack, depth, t);
                fine = false;
                continue;
            }
            t->mark = 1;
            stack[depth++] = (struct frame){t, 0};
        }
    }
    return fine;
}

static size_t mark_reached(struct ct_mon_elab *e, struct ct_mon_node **list)
{
    size_t n = 0;
    for (size_t i = 0; i < e->noutputs; i++) {
        struct ct_mon_node *s = e->outputs[i].node;
        if (!s->reached) {
            s->reached = true;
            list[n++] = s;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < list[i]->n; k++)
            if (!list[i]->args[k]->reached) {
                list[i]->args[k]->reached = true;
                list[n++] = list[i]->args[k];
            }
    return n;
}

/* Orders the streams so that each comes after those that it reads (Kahn's algorithm). A `last` goes as early
 * as possible: until its stream is written, the value that it reads is in place and need not be saved. */
static void sort(struct ct_mon_elab *e, struct ct_mon_node **list, size_t n, struct ct_mon_order *order)
{
    uint32_t *waits = ARENA_ARRAY(e->arena, uint32_t, e->graph.count);
    uint32_t *first = ARENA_ARRAY(e->arena, uint32_t, e->graph.count + 1); /* users of a node (CSR) */
    struct ct_mon_node **ready = ARENA_ARRAY(e->arena, struct ct_mon_node *, n),
                       **lasts = ARENA_ARRAY(e->arena, struct ct_mon_node *, n);
    size_t nready = 0, nlasts = 0, edges = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < list[i]->n; k++)
            if (node_reads_now(list[i], k)) {
                waits[list[i]->id]++;
                first[list[i]->args[k]->id + 1]++;
                edges++;
            }
    for (size_t i = 0; i < e->graph.count; i++)
        first[i + 1] += first[i];
    uint32_t *fill = ARENA_ARRAY(e->arena, uint32_t, e->graph.count);
    struct ct_mon_node **users = ARENA_ARRAY(e->arena, struct ct_mon_node *, edges);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < list[i]->n; k++)
            if (node_reads_now(list[i], k)) {
                uint32_t id = list[i]->args[k]->id;
                users[first[id] + fill[id]++] = list[i];
            }
    for (size_t i = n; i-- > 0;)
        if (!waits[list[i]->id])
            ready[nready++] = list[i];
    order->nodes = ARENA_ARRAY(e->arena, struct ct_mon_node *, n);
    while (nready || nlasts) {
        struct ct_mon_node *s = nlasts ? lasts[--nlasts] : ready[--nready];
        s->order = (uint32_t)order->n;
        order->nodes[order->n++] = s;
        for (uint32_t k = first[s->id]; k < first[s->id + 1]; k++) {
            struct ct_mon_node *u = users[k];
            if (--waits[u->id])
                continue;
            if (u->kind == N_LAST)
                lasts[nlasts++] = u;
            else
                ready[nready++] = u;
        }
    }
}

/* Returns whether the stream has an event at instant 0 whatever the inputs are. */
static bool always_at_zero(const struct ct_mon_node *s)
{
    switch (s->kind) {
    case N_DEFAULT:
    case N_FOLD:
    case N_TICK:
        return true;
    case N_TIME:
    case N_PURE:
        return s->args[0]->has0;
    case N_DEFAULT_FROM:
    case N_MERGE:
        return s->args[0]->has0 || s->args[1]->has0;
    case N_ON:
        return s->args[0]->has0 && s->args[1]->has0;
    case N_SLIFT:
        for (uint32_t i = 0; i < s->n; i++)
            if (!s->args[i]->has0)
                return false;
        return true;
    default:
        return false;
    }
}

bool ct_mon_analyse(struct ct_mon_elab *e, struct ct_mon_order *order)
{
    *order = (struct ct_mon_order){0};
    struct ct_mon_node **nodes = all_nodes(e);
    if (!resolve(e, nodes) || !acyclic(e, nodes))
        return false;
    struct ct_mon_node **list = ARENA_ARRAY(e->arena, struct ct_mon_node *, e->graph.count + 1);
    size_t n = mark_reached(e, list);
    sort(e, list, n, order);
    for (size_t i = 0; i < order->n; i++)
        order->nodes[i]->has0 = always_at_zero(order->nodes[i]);
    return true;
}
