/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas behind a loss: the subset construction, with a set of states in the place of the one. */
#include <stdlib.h>
#include <string.h>

#include "monitor/certain.h"

enum {
    /* Letters times states of one step; beyond it every state but the first is possible. */
    WORK_MOST = 1 << 16
};

static bool has(const uint64_t *set, uint32_t number)
{
    return set[number >> 6] >> (number & 63) & 1;
}

static void add(uint64_t *set, uint32_t number)
{
    set[number >> 6] |= UINT64_C(1) << (number & 63);
}

/* Gives the entry of the transition table that stands for a state: its number and its verdict. */
static uint32_t encoded(const struct ct_mon_machine *machine, uint32_t number)
{
    return number << 2 | machine->verdicts[number];
}

bool ct_mon_certain_states_init(struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    struct ct_mon_shade_states *states = &c->states[s->index];
    states->words = (s->machine->nstates + 63) / 64;
    states->set = calloc(2 * states->words, sizeof *states->set);
    if (!states->set)
        return false;
    states->next = states->set + states->words;
    ct_mon_certain_states_hold(c, s);
    return true;
}

void ct_mon_certain_states_join(struct ct_mon_certain *c, const struct ct_mon_certain *other,
                                const struct ct_mon_node *s)
{
    struct ct_mon_shade_states *mine = &c->states[s->index];
    for (size_t i = 0; i < mine->words; i++)
        mine->set[i] |= other->states[s->index].set[i];
}

void ct_mon_certain_states_hold(struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    struct ct_mon_shade_states *states = &c->states[s->index];
    memset(states->set, 0, states->words * sizeof *states->set);
    add(states->set, ct_mon_bank_state(c->m, s->index) >> 2);
}

/* The letters that a step may have. */
struct letters {
    uint32_t surely, maybe; /* atoms that are true, and those that may be */
    uint32_t one_of;        /* without one of these there is no step; 0: there may be in any case */
};

/* Finds the atoms of which one must be true in each step, because the events that they test for make the
 * steps. 0: another stream may make one, too. */
static uint32_t clock_atoms(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    uint32_t all = 0;
    for (uint32_t k = s->machine->natoms; k < s->n; k++) {
        uint32_t same = 0;
        for (uint32_t i = 0; i < s->machine->natoms; i++)
            same |= (uint32_t)(s->atoms[i] == ATOM_EVENT && s->args[i] == s->args[k]) << i;
        if (!same && c->now[s->args[k]->order].occurs != OCCURS_NOT)
            return 0;
        all |= same;
    }
    return all;
}

static struct letters letters(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    struct letters l = {.one_of = clock_atoms(c, s)};
    for (uint32_t i = 0; i < s->machine->natoms; i++) {
        const struct ct_mon_node *atom = s->args[i];
        const struct ct_mon_shade_event *e = &c->now[atom->order];
        const struct ct_mon_shade *h = &c->held[atom->order];
        const struct ct_mon_guess *g = s->atoms[i] == ATOM_SIGNAL ? &h->value : &e->value;
        bool may = s->atoms[i] == ATOM_SIGNAL ? h->ever : e->occurs != OCCURS_NOT;
        bool must = s->atoms[i] == ATOM_SIGNAL ? !h->never : e->occurs == OCCURS;
        if (s->atoms[i] != ATOM_EVENT) {
            may &= g->hi != 0;
            must &= g->lo != 0;
        }
        l.surely |= (uint32_t)(may && must) << i;
        l.maybe |= (uint32_t)(may && !must) << i;
    }
    return l;
}

/* Adds every state that one of the letters leads to from a possible one. Result: how many transitions were
 * looked up. */
static uint32_t step(struct ct_mon_shade_states *states, const struct ct_mon_machine *machine,
                     const struct letters *l)
{
    uint32_t work = 0;
    for (uint32_t number = 0; number < machine->nstates; number++) {
        if (!has(states->set, number))
            continue;
        uint32_t subset = l->maybe;
        for (bool last = false; !last && work < WORK_MOST; work++) {
            const uint32_t letter = l->surely | subset;
            if (!l->one_of || (letter & l->one_of))
                add(states->next, machine_next(machine, encoded(machine, number), letter) >> 2);
            last = subset == 0;
            subset = (subset - 1) & l->maybe;
        }
    }
    for (uint32_t number = 0; work >= WORK_MOST && number < machine->nstates; number++)
        if (number != (uint32_t)machine->start >> 2)
            add(states->next, number);
    return work;
}

static enum ct_mon_occurs clock_of(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    enum ct_mon_occurs clock = OCCURS_NOT;
    for (uint32_t i = s->machine->natoms; i < s->n; i++)
        if (c->now[s->args[i]->order].occurs > clock)
            clock = c->now[s->args[i]->order].occurs;
    return clock;
}

struct ct_mon_shade ct_mon_certain_verdict(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_machine *machine = s->machine;
    const struct ct_mon_shade_states *states = &c->states[s->index];
    struct ct_mon_shade h = {.value = {.lo = 3, .hi = -1}};
    for (uint32_t number = 0; number < machine->nstates; number++) {
        if (!has(states->set, number))
            continue;
        const uint8_t verdict = machine->verdicts[number];
        h.never |= verdict == VERDICT_NONE;
        h.ever |= verdict != VERDICT_NONE;
        if (verdict == VERDICT_NONE)
            continue;
        h.value.lo = verdict < h.value.lo ? verdict : h.value.lo;
        h.value.hi = verdict > h.value.hi ? verdict : h.value.hi;
    }
    h.sure = !h.ever || (!h.never && h.value.lo == h.value.hi);
    return h;
}

struct ct_mon_shade_event ct_mon_certain_step(struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    struct ct_mon_shade_states *states = &c->states[s->index];
    const enum ct_mon_occurs clock = clock_of(c, s);
    heap_spend(&c->m->heap, 4 * (uint64_t)s->machine->nstates);
    const struct ct_mon_shade was = ct_mon_certain_verdict(c, s);
    if (clock == OCCURS_NOT)
        return (struct ct_mon_shade_event){.occurs = OCCURS_NOT, .sure = true};
    memset(states->next, 0, states->words * sizeof *states->next);
    const struct letters l = letters(c, s);
    heap_spend(&c->m->heap, 2 * step(states, s->machine, &l));
    for (size_t i = 0; i < states->words; i++)
        states->set[i] = states->next[i] | (clock == OCCURS && !c->unseen ? 0 : states->set[i]);
    const struct ct_mon_shade is = ct_mon_certain_verdict(c, s);
    struct ct_mon_shade_event e = {
        .occurs = (uint8_t)clock, .sure = clock == OCCURS && is.sure, .value = is.value};
    if (s->changes_only && e.sure && was.sure) /* both verdicts are those of the run: so is the change */
        e.occurs = was.never || was.value.lo != is.value.lo ? OCCURS : OCCURS_NOT;
    else if (s->changes_only) {
        e.occurs = OCCURS_MAYBE;
        e.sure = false;
    }
    return e;
}

bool ct_mon_certain_states_sure(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_shade_states *states = &c->states[s->index];
    unsigned count = 0;
    for (size_t i = 0; i < states->words; i++)
        count += (unsigned)__builtin_popcountll(states->set[i]);
    return count == 1;
}
