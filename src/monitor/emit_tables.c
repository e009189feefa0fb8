/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a program beside its code: inputs, outputs, timers, machines, and the work of each
 * instruction. */
#include "monitor/emit.h"

/* Finds machines whose verdict is only emitted when it changes. Their steps write the output directly, which
 * is fast. */
static void find_direct(struct ct_mon_emit *m, const struct ct_mon_order *order)
{
    uint8_t *used = ARENA_ARRAY(m->e->arena, uint8_t, m->e->graph.count);
    for (size_t i = 0; i < order->n; i++)
        for (uint32_t k = 0; k < order->nodes[i]->n; k++)
            used[order->nodes[i]->args[k]->id] = 2;
    for (size_t i = 0; i < m->e->noutputs; i++)
        if (used[m->e->outputs[i].node->id] < 2)
            used[m->e->outputs[i].node->id]++;
    for (size_t i = 0; i < m->e->noutputs; i++) {
        struct ct_mon_node *s = m->e->outputs[i].node;
        if (s->kind != N_MONITOR || !s->changes_only || used[s->id] != 1)
            continue;
        s->mark = 3;
        s->value = cell_int((int64_t)i);
        m->p->outputs[i].direct = true;
    }
}

/* Links outputs of the same stream, which are emitted together. */
static void chain_outputs(const struct ct_mon_emit *m)
{
    struct ct_mon_out_info *outputs = m->p->outputs;
    uint32_t *last = ARENA_ARRAY(m->e->arena, uint32_t, m->e->graph.count + 1); /* by node: output + 1 */
    uint32_t *first = ARENA_ARRAY(m->e->arena, uint32_t, m->e->graph.count + 1);
    for (uint32_t i = 0; i < m->e->noutputs; i++) {
        const uint32_t id = m->e->outputs[i].node->id;
        outputs[i].next = NO_OUTPUT;
        if (last[id])
            outputs[last[id] - 1].next = i;
        else
            first[id] = i;
        outputs[first[id]].count++;
        last[id] = i + 1;
    }
}

void ct_mon_emit_tables(struct ct_mon_emit *m, const struct ct_mon_order *order)
{
    struct ct_mon_elab *e = m->e;
    struct ct_mon_program *p = m->p;
    p->inputs = ARENA_ARRAY(e->arena, struct ct_mon_input_info, e->ninputs + 1);
    p->outputs = ARENA_ARRAY(e->arena, struct ct_mon_out_info, e->noutputs + 1);
    p->timers = ARENA_ARRAY(e->arena, struct ct_mon_timer_info, e->graph.ndelays + 1);
    p->ninputs = e->ninputs;
    p->noutputs = e->noutputs;
    p->nnodes = order->n;
    for (size_t i = 0; i < e->ninputs; i++) {
        const struct ct_mon_elab_input *in = &e->inputs[i];
        p->inputs[i] = (struct ct_mon_input_info){.name = in->name,
                                                  .type = in->type,
                                                  .type_text = ct_mon_type_text(e->arena, in->type),
                                                  .source_kind = in->source_kind,
                                                  .source_arg = in->source_arg,
                                                  .source_core = in->source_core,
                                                  .source_number = in->source_number,
                                                  .cell = NO_CELL,
                                                  .prev = NO_CELL};
    }
    for (size_t i = 0; i < e->noutputs; i++)
        p->outputs[i] =
            (struct ct_mon_out_info){.name = e->outputs[i].name,
                                     .type = e->outputs[i].node->type,
                                     .type_text = ct_mon_type_text(e->arena, e->outputs[i].node->type),
                                     .raw = e->outputs[i].raw};
    chain_outputs(m);
    p->ntimers = 0;
    size_t machines = 0;
    for (size_t i = 0; i < order->n; i++)
        machines += order->nodes[i]->kind == N_MONITOR;
    p->machine_starts = ARENA_ARRAY(e->arena, uint16_t, machines + 1);
    for (size_t i = 0; i < order->n; i++) {
        struct ct_mon_node *s = order->nodes[i];
        if (s->kind == N_DELAY) /* renumbers, because only timers that are needed count */
            s->index = (uint32_t)p->ntimers++;
        if (s->kind == N_MONITOR) {
            p->machine_starts[p->nmachines] = s->machine->start;
            s->index = (uint32_t)p->nmachines++;
        }
    }
    find_direct(m, order);
}

/* Returns the work of one instruction, without the work of its operation and of functions it calls. */
static uint64_t cost_of(const struct ct_mon_program *p, const struct ct_mon_insn *i)
{
    switch (i->op) {
    case I_STEP:
        return 4 + (uint64_t)p->steps[i->a].machine->natoms + p->steps[i->a].clocks;
    case I_STEPS:
        return i->b;
    case I_OUTS:
        return p->outputs[i->b].count;
    case I_SLOW:
        return 8 + (uint64_t)p->slow[i->b].n;
    case I_CALL:
    case I_TAIL:
        return 4 + (uint64_t)p->fns[i->b].nargs;
    default:
        return 1;
    }
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* works backwards: jumps go forward, so an instruction's successors are already known */
void ct_mon_emit_costs(const struct ct_mon_emit *m)
{
    struct ct_mon_program *p = m->p;
    p->costs = ARENA_ARRAY(m->e->arena, uint32_t, p->ncode + 1);
    for (size_t k = p->ncode; k-- > 0;) {
        const struct ct_mon_insn *i = &p->code[k];
        const bool last = i->op == I_END || i->op == I_RETURN || i->op == I_TAIL;
        const uint64_t next = last || i->op == I_JUMP ? 0 : p->costs[k + 1];
        const uint64_t cost =
            cost_of(p, i) + larger(next, p->costs[insn_target(i) ? insn_target(i) : p->ncode]);
        p->costs[k] = cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
    }
}
