/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/cost.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/growth.h"
#include "monitor/library.h"

struct cone {
    const struct ct_mon_order *order;
    bool *needed; /* by evaluation order: this output needs the stream */
    bool *kept;   /* its last value, or its own state, outlives the instant */
    bool *grows;
    bool *runs; /* runs at an event of the current input */
};

static void mark_needed(const struct cone *c, const struct ct_mon_node *output,
                        const struct ct_mon_node **todo)
{
    size_t count = 0;
    todo[count++] = output;
    c->needed[output->order] = true;
    while (count) {
        const struct ct_mon_node *s = todo[--count];
        for (uint32_t k = 0; k < s->n; k++) {
            if (c->needed[s->args[k]->order])
                continue;
            c->needed[s->args[k]->order] = true;
            todo[count++] = s->args[k];
        }
    }
}

static void keep(const struct cone *c, const struct ct_mon_node *s)
{
    if (!node_is_const(s) && s->kind != N_NIL)
        c->kept[s->order] = true;
}

/* Marks what a stream needs from earlier instants. */
static void mark_kept(const struct cone *c, const struct ct_mon_node *s)
{
    switch (s->kind) {
    case N_LAST:
        keep(c, s->args[0]);
        break;
    case N_DELAY:
    case N_FOLD:
    case N_REDUCE:
    case N_PURE:
    case N_DEFAULT_FROM:
        keep(c, s);
        break;
    case N_ON:
    case N_FILTER:
        keep(c, s->args[1]);
        break;
    case N_SLIFT:
        for (uint32_t k = 0; k < s->n && s->n > 1; k++)
            keep(c, s->args[k]);
        break;
    case N_MONITOR:
        keep(c, s);
        for (uint32_t k = 0; k < s->n; k++)
            if (k < s->machine->natoms && s->atoms[k] == ATOM_SIGNAL)
                keep(c, s->args[k]);
        break;
    default:
        break;
    }
}

/* Adds up the operations that an event of an input causes for the output. Streams come after those that they
 * read at the same instant. Returns 0 when the output does not need the input. */
static uint64_t operations_for(const struct cone *c, uint32_t input)
{
    uint64_t sum = 0;
    bool is_needed = false;
    for (size_t i = 0; i < c->order->n; i++) {
        const struct ct_mon_node *s = c->order->nodes[i];
        const bool is_input = s->kind == N_INPUT && s->index == input;
        c->runs[i] = is_input || s->kind == N_TICK;
        for (uint32_t k = 0; k < s->n; k++)
            c->runs[i] |= node_reads_now(s, k) && c->runs[s->args[k]->order];
        if (!c->needed[i])
            continue;
        is_needed |= is_input;
        sum += c->runs[i] ? (s->kernel ? 1 + (uint64_t)s->kernel->weight : 1) : 0;
    }
    return is_needed ? sum : 0;
}

/* Returns whether the stream is defined in the specification, not in the library. */
static bool is_named(const struct ct_mon_node *s)
{
    return s->span.source && strcmp(s->span.source->name, CT_MON_LIBRARY_NAME) != 0;
}

static void sum_up(const struct cone *c, struct ct_mon_span output, struct ct_mon_costs *out)
{
    struct ct_monitor_cost *cost = &out->cost;
    for (size_t i = 0; i < c->order->n; i++)
        if (c->needed[i])
            mark_kept(c, c->order->nodes[i]);
    for (size_t i = 0; i < c->order->n; i++) {
        const struct ct_mon_node *s = c->order->nodes[i];
        if (!c->needed[i])
            continue;
        cost->streams++;
        cost->kept += c->kept[i];
        cost->own_instants |= s->kind == N_DELAY;
        if (c->grows[i] && (!cost->may_grow || is_named(s)))
            out->growing = is_named(s) ? s->span : output;
        cost->may_grow |= c->grows[i];
    }
}

int ct_mon_costs_of(const struct ct_mon_elab *e, const struct ct_mon_order *order, size_t output,
                    struct ct_mon_costs *out)
{
    const size_t n = order->n + 1;
    bool *marks = calloc(4 * n, sizeof *marks);
    const struct ct_mon_node **todo = calloc(n, sizeof *todo);
    struct cone c = {.order = order};
    *out = (struct ct_mon_costs){.inputs = calloc(e->ninputs + 1, sizeof *out->inputs)};
    bool fine = marks && todo && out->inputs;
    if (fine) {
        c.needed = marks;
        c.kept = marks + n;
        c.grows = marks + 2 * n;
        c.runs = marks + 3 * n;
        fine = ct_mon_growth_find(e, order, c.grows);
    }
    if (fine) {
        mark_needed(&c, e->outputs[output].node, todo);
        sum_up(&c, e->outputs[output].span, out);
    }
    for (uint32_t i = 0; fine && i < e->ninputs; i++) {
        out->inputs[i] = operations_for(&c, i);
        if (out->inputs[i] > out->cost.operations)
            out->cost.operations = out->inputs[i];
    }
    free(marks);
    free(todo);
    if (!fine)
        ct_mon_costs_free(out);
    return fine ? CT_OK : CT_ERR_NOMEM;
}

void ct_mon_costs_free(struct ct_mon_costs *costs)
{
    free(costs->inputs);
    *costs = (struct ct_mon_costs){0};
}
