/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/growth.h"

#include <stdlib.h>

/* Returns whether values of the type can grow. Options and records have a fixed number of members. */
static bool holds(const struct ct_mon_type *t)
{
    switch (t->kind) {
    case TY_STRING:
    case TY_LIST:
    case TY_SET:
    case TY_MAP:
        return true;
    case TY_OPTION:
    case TY_RECORD:
        for (uint32_t i = 0; i < t->n; i++)
            if (holds(t->args[i]))
                return true;
        return false;
    default:
        return false;
    }
}

/* Returns whether the argument's value may become part of the stream's value. */
static bool flows(const struct ct_mon_node *s, uint32_t arg)
{
    switch (s->kind) {
    case N_FILTER:
    case N_LAST:
    case N_DEFAULT:
    case N_PURE:
    case N_FOLD:
    case N_REDUCE:
        return arg == 0;
    case N_ON:
        return arg == 1;
    case N_DEFAULT_FROM:
    case N_MERGE:
    case N_LIFT:
    case N_SLIFT:
        return true;
    default:
        return false;
    }
}

/* ---- streams that depend on themselves ---- */

struct frame {
    uint32_t stream, next;
};

/* Strongly connected components (Tarjan) of the streams that hold a value that can grow. */
struct components {
    const struct ct_mon_order *order;
    uint32_t *number; /* by stream: its component, from 1 on; 0: not finished */
    uint32_t *seen, *low, *stack;
    struct frame *frames;
    uint32_t count, visits;
    size_t top, depth;
};

static void enter(struct components *c, uint32_t stream)
{
    c->seen[stream] = c->low[stream] = ++c->visits;
    c->stack[c->top++] = stream;
    c->frames[c->depth++] = (struct frame){stream, 0};
}

static void leave(struct components *c)
{
    const uint32_t stream = c->frames[--c->depth].stream;
    if (c->depth) {
        const uint32_t up = c->frames[c->depth - 1].stream;
        c->low[up] = c->low[stream] < c->low[up] ? c->low[stream] : c->low[up];
    }
    if (c->low[stream] != c->seen[stream])
        return;
    c->count++;
    do
        c->number[c->stack[--c->top]] = c->count;
    while (c->stack[c->top] != stream);
}

static void follow(struct components *c, uint32_t root)
{
    enter(c, root);
    while (c->depth) {
        struct frame *f = &c->frames[c->depth - 1];
        const struct ct_mon_node *s = c->order->nodes[f->stream];
        if (f->next == s->n) {
            leave(c);
            continue;
        }
        const uint32_t k = f->next++;
        const uint32_t to = s->args[k]->order;
        if (!flows(s, k) || !holds(s->args[k]->type))
            continue;
        if (!c->seen[to])
            enter(c, to);
        else if (!c->number[to] && c->seen[to] < c->low[f->stream])
            c->low[f->stream] = c->seen[to];
    }
}

/* Numbers the components. The caller frees the result. NULL: out of memory. */
static uint32_t *find_components(const struct ct_mon_order *order)
{
    const size_t n = order->n + 1;
    uint32_t *memory = calloc(4 * n, sizeof *memory);
    struct components c = {.order = order, .frames = calloc(n, sizeof *c.frames)};
    if (!memory || !c.frames) {
        free(memory);
        free(c.frames);
        return NULL;
    }
    c.number = memory;
    c.seen = memory + n;
    c.low = memory + 2 * n;
    c.stack = memory + 3 * n;
    for (uint32_t i = 0; i < order->n; i++)
        if (!c.seen[i] && holds(order->nodes[i]->type))
            follow(&c, i);
    free(c.frames);
    return memory;
}

/* ---- functions that enlarge their argument ---- */

struct search {
    const struct ct_mon_node *stream;
    const uint32_t *component;
    uint32_t *expressions; /* by expression: the last search that looked for growth below it */
    uint32_t *functions;
    uint32_t *own; /* by expression: twice the last search that looked, plus 1 when it may contain the
                    * stream's old value */
    uint32_t turn;
    bool in_function; /* every parameter counts as the stream's old value */
};

/* Returns whether a parameter of the stream's function depends on the stream. */
static bool is_own(const struct search *g, uint32_t parameter)
{
    const struct ct_mon_node *s = g->stream;
    const bool folds = s->kind == N_FOLD || s->kind == N_REDUCE;
    if (g->in_function || (folds && parameter == 0))
        return true;
    const uint32_t k = folds ? parameter - 1 : parameter;
    return k < s->n && g->component[s->args[k]->order] &&
           g->component[s->args[k]->order] == g->component[s->order];
}

/* Returns whether the value of an expression may contain the stream's old value. */
static bool has_own(const struct search *g, const struct ct_mon_ir *x)
{
    if (!holds(x->type) || x->kind == IR_CONST)
        return false;
    if (g->own[x->id] >> 1 == g->turn)
        return g->own[x->id] & 1;
    bool has = x->kind == IR_PARAM && is_own(g, x->index);
    for (uint32_t i = x->kind == IR_IF; i < x->n && !has; i++)
        has = has_own(g, x->args[i]);
    g->own[x->id] = g->turn << 1 | has;
    return has;
}

static bool is_op(const struct ct_mon_ir *x, enum ct_mon_op op)
{
    return x->kind == IR_OP && x->op == op;
}

/* Returns the collection whose size the condition compares with a constant, and sets *branch to the argument
 * of the `if` that applies to small sizes. NULL: the condition is of another form. */
static const struct ct_mon_ir *compared(const struct ct_mon_ir *condition, uint32_t *branch)
{
    const bool below = is_op(condition, OP_LT) || is_op(condition, OP_LE);
    const bool above = is_op(condition, OP_GT) || is_op(condition, OP_GE);
    *branch = below ? 1 : 2;
    if (!(below || above) || !is_op(condition->args[0], OP_SIZE) || !ir_is_const(condition->args[1]))
        return NULL;
    return condition->args[0]->args[0];
}

/* Returns whether x is a sliding window: the collection itself while it is small, else the collection without
 * one element. */
static bool is_window(const struct ct_mon_ir *x)
{
    uint32_t small = 1;
    const struct ct_mon_ir *list = x->kind == IR_IF ? compared(x->args[0], &small) : NULL;
    if (!list || x->args[small] != list)
        return false;
    const struct ct_mon_ir *other = x->args[3 - small];
    return ir_is_const(other) ||
           ((is_op(other, OP_LIST_TAIL) || is_op(other, OP_LIST_INIT)) && other->args[0] == list);
}

/* Returns whether an operation enlarges a value that contains the stream's old value. A map entry with a
 * constant key replaces the entry before it, so it does not count. */
static bool makes_more(const struct search *g, const struct ct_mon_ir *x)
{
    switch (x->op) {
    case OP_CONCAT:
    case OP_FORMAT:
        return has_own(g, x->args[0]) || has_own(g, x->args[1]);
    case OP_TO_STRING:
        return has_own(g, x->args[0]);
    case OP_LIST_APPEND:
    case OP_LIST_PREPEND:
        return has_own(g, x->args[0]) && !is_window(x->args[0]);
    case OP_SET_ADD:
    case OP_MAP_ADD:
        return has_own(g, x->args[0]) && !ir_is_const(x->args[1]);
    default:
        return false;
    }
}

/* Returns whether an operation adds one element to `small`, a collection that is known to be small. */
static bool adds_to(const struct ct_mon_ir *x, const struct ct_mon_ir *small)
{
    return (is_op(x, OP_LIST_APPEND) || is_op(x, OP_LIST_PREPEND) || is_op(x, OP_SET_ADD) ||
            is_op(x, OP_MAP_ADD)) &&
           x->args[0] == small;
}

static bool grows_in(struct search *g, const struct ct_mon_ir *x);

/* Searches the body of a function. A function that calls itself is searched once, with every parameter
 * treated as the stream's old value. */
static bool function_grows(struct search *g, const struct ct_mon_fn *fn)
{
    if (g->functions[fn->id] == g->turn)
        return false;
    g->functions[fn->id] = g->turn;
    const bool before = g->in_function;
    g->in_function = true;
    const bool grows = grows_in(g, fn->body);
    g->in_function = before;
    return grows;
}

static bool grows_in(struct search *g, const struct ct_mon_ir *x)
{
    if (!holds(x->type) || g->expressions[x->id] == g->turn)
        return false;
    g->expressions[x->id] = g->turn;
    if (x->kind == IR_OP && makes_more(g, x))
        return true;
    if (x->kind == IR_CALL && has_own(g, x) && function_grows(g, x->fn))
        return true;
    uint32_t small = 0;
    const struct ct_mon_ir *list = x->kind == IR_IF ? compared(x->args[0], &small) : NULL;
    for (uint32_t i = x->kind == IR_IF; i < x->n; i++) {
        const bool is_limited = list && i == small && adds_to(x->args[i], list);
        if (!is_limited && grows_in(g, x->args[i]))
            return true;
    }
    return false;
}

/* Marks all streams of a component in which one grows. `growing` has room for all component numbers. */
static void spread(const uint32_t *component, size_t n, bool *growing, bool *grows)
{
    for (size_t i = 0; i < n; i++)
        growing[component[i]] |= grows[i];
    for (size_t i = 0; i < n; i++)
        grows[i] |= component[i] && growing[component[i]];
}

bool ct_mon_growth_find(const struct ct_mon_elab *e, const struct ct_mon_order *order, bool *grows)
{
    uint32_t *component = find_components(order);
    uint32_t *marks = calloc(2 * e->pool.count + e->nfns + 1, sizeof *marks);
    bool *growing = calloc(order->n + 1, sizeof *growing);
    struct search g = {.component = component, .expressions = marks};
    if (component && marks && growing) {
        g.own = marks + e->pool.count;
        g.functions = marks + 2 * e->pool.count;
    }
    for (size_t i = 0; g.functions && i < order->n; i++) {
        const struct ct_mon_node *s = order->nodes[i];
        g.stream = s;
        g.turn++;
        grows[i] = s->kernel && holds(s->type) && grows_in(&g, s->kernel);
    }
    if (g.functions)
        spread(component, order->n, growing, grows);
    free(growing);
    free(component);
    free(marks);
    return g.functions;
}
