/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas after a loss, by the subset construction: each machine has a set of possible states. */
#include <stdlib.h>
#include <string.h>

#include "monitor/certain.h"

enum {
    /* limit of letters times states in one step; beyond it every state but the first is possible */
    WORK_MOST = 1 << 16,
    STEP_WORK = 60,   /* units of work for a step */
    STATE_WORK = 4,   /* units that each state of the machine adds */
    LOOK_UP_WORK = 2, /* units that each letter adds in each state */
    SETS_FIRST = 8,   /* sets allocated at first */
    SETS_MOST = 256,  /* most sets; one more, and all are forgotten */
    INPUTS_MOST = 31, /* an instant's key has two bits per input */
    LETTER_BITS = 20,
};

static bool has(const uint64_t *set, uint32_t number)
{
    return set[number >> 6] >> (number & 63) & 1;
}

static void add(uint64_t *set, uint32_t number)
{
    set[number >> 6] |= UINT64_C(1) << (number & 63);
}

/* Returns the entry of the transition table for a state: its number and its verdict. */
static uint32_t encoded(const struct ct_mon_machine *machine, uint32_t number)
{
    return number << 2 | machine->verdicts[number];
}

/* ---- sets of states ---- */

static uint64_t *set_at(const struct ct_mon_shade_states *states, uint32_t number)
{
    return states->sets + number * states->words;
}

static const struct ct_mon_shade_set *facts_of(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_shade_states *states = &c->states[s->index];
    return &states->facts[states->at];
}

static size_t edges_size(const struct ct_mon_shade_states *states, uint32_t sets)
{
    return sets * CERTAIN_COLUMNS * sizeof *states->edges;
}

/* Doubles the room for sets. Returns false when out of memory or at the limit; arrays may have moved. */
static bool grow(struct ct_mon_shade_states *states)
{
    const uint32_t room = states->room ? 2 * states->room : SETS_FIRST;
    if (room > SETS_MOST)
        return false;
    uint64_t *sets = realloc(states->sets, room * states->words * sizeof *sets);
    if (!sets)
        return false;
    states->sets = sets;
    struct ct_mon_shade_set *facts = realloc(states->facts, room * sizeof *facts);
    if (!facts)
        return false;
    states->facts = facts;
    struct ct_mon_shade_edge *edges = realloc(states->edges, edges_size(states, room));
    if (!edges)
        return false;
    states->edges = edges;
    states->room = room;
    return true;
}

static struct ct_mon_shade_set facts_about(const struct ct_mon_machine *machine, const uint64_t *set)
{
    struct ct_mon_shade_set f = {.lo = VERDICT_NONE};
    uint32_t states = 0;
    for (uint32_t number = 0; number < machine->nstates; number++) {
        if (!has(set, number))
            continue;
        const uint8_t verdict = machine->verdicts[number];
        states++;
        f.never |= verdict == VERDICT_NONE;
        f.ever |= verdict != VERDICT_NONE;
        if (verdict == VERDICT_NONE)
            continue;
        f.lo = verdict < f.lo ? verdict : f.lo;
        f.hi = verdict > f.hi ? verdict : f.hi;
    }
    f.single = states == 1;
    return f;
}

/* Returns the number of `set`, which must not lie in `states`. When there are too many, forgets all sets and
 * sets *fresh. */
static uint32_t number_of(struct ct_mon_shade_states *states, const struct ct_mon_machine *machine,
                          const uint64_t *set, bool *fresh)
{
    const size_t size = states->words * sizeof *set;
    for (uint32_t k = 1; k < states->count; k++)
        if (memcmp(set_at(states, k), set, size) == 0)
            return k;
    if (states->count == states->room && !grow(states)) {
        states->count = 1;
        *fresh = true;
    }
    memcpy(set_at(states, states->count), set, size);
    states->facts[states->count] = facts_about(machine, set);
    memset(states->edges + states->count * CERTAIN_COLUMNS, 0, edges_size(states, 1));
    return states->count++;
}

static void put(struct ct_mon_certain *c, const struct ct_mon_node *s, const uint64_t *set)
{
    struct ct_mon_shade_states *states = &c->states[s->index];
    bool fresh = false;
    states->at = number_of(states, s->machine, set, &fresh);
}

bool ct_mon_certain_states_init(struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    struct ct_mon_shade_states *states = &c->states[s->index];
    states->words = (s->machine->nstates + 63) / 64;
    states->count = 1;
    if (!grow(states))
        return false;
    ct_mon_certain_states_hold(c, s);
    return true;
}

void ct_mon_certain_states_join(struct ct_mon_certain *c, const struct ct_mon_certain *other,
                                const struct ct_mon_node *s)
{
    const struct ct_mon_shade_states *mine = &c->states[s->index];
    const struct ct_mon_shade_states *more = &other->states[s->index];
    for (size_t i = 0; i < mine->words; i++)
        c->formulas.scratch[i] = set_at(mine, mine->at)[i] | set_at(more, more->at)[i];
    put(c, s, c->formulas.scratch);
}

void ct_mon_certain_states_hold(struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    uint64_t *set = c->formulas.scratch;
    memset(set, 0, c->states[s->index].words * sizeof *set);
    add(set, ct_mon_bank_state(c->m, s->index) >> 2);
    put(c, s, set);
}

bool ct_mon_certain_states_same(const struct ct_mon_certain *a, const struct ct_mon_node *s,
                                const struct ct_mon_certain *b, const struct ct_mon_node *t)
{
    const struct ct_mon_shade_states *x = &a->states[s->index];
    const struct ct_mon_shade_states *y = &b->states[t->index];
    return memcmp(set_at(x, x->at), set_at(y, y->at), x->words * sizeof *x->sets) == 0;
}

void ct_mon_certain_states_copy(struct ct_mon_certain *to, const struct ct_mon_node *s,
                                const struct ct_mon_certain *from, const struct ct_mon_node *t)
{
    const struct ct_mon_shade_states *states = &from->states[t->index];
    put(to, s, set_at(states, states->at));
}

bool ct_mon_certain_states_sure(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    return facts_of(c, s)->single;
}

struct ct_mon_shade ct_mon_certain_verdict(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_shade_set *f = facts_of(c, s);
    return (struct ct_mon_shade){.sure = !f->ever || (!f->never && f->lo == f->hi),
                                 .never = f->never,
                                 .ever = f->ever,
                                 .value = {.lo = f->ever ? f->lo : 3, .hi = f->ever ? f->hi : -1}};
}

/* ---- letters ---- */

/* The letters that a step may read. */
struct letters {
    uint32_t surely, maybe; /* atoms that are surely true, and atoms that may be true */
    uint32_t one_of;        /* a step needs one of these atoms; 0: it needs none */
    bool stays;             /* the machine may also take no step */
    bool unseen;            /* the machine may take any number of steps */
    bool none;              /* the machine takes no step */
};

/* Returns whether an input has an event at this instant. */
static enum ct_mon_occurs input_occurs(const struct ct_mon_certain *c, uint32_t input)
{
    if (!c->unseen && c->m->seen[input] == c->m->stamp)
        return c->maybe ? OCCURS_MAYBE : OCCURS;
    return c->losing && !c->kept[input] ? OCCURS_MAYBE : OCCURS_NOT;
}

static enum ct_mon_occurs occurs(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    return s->kind == N_INPUT ? input_occurs(c, s->index) : (enum ct_mon_occurs)c->now[s->order].occurs;
}

/* Returns the atoms of which one is true in each step, because their events trigger the steps. Returns 0 when
 * another stream may trigger a step, too. */
static uint32_t clock_atoms(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    uint32_t all = 0;
    for (uint32_t k = s->machine->natoms; k < s->n; k++) {
        uint32_t same = 0;
        for (uint32_t i = 0; i < s->machine->natoms; i++)
            same |= (uint32_t)(s->atoms[i] == ATOM_EVENT && s->args[i] == s->args[k]) << i;
        if (!same && occurs(c, s->args[k]) != OCCURS_NOT)
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
        bool may = s->atoms[i] == ATOM_SIGNAL ? h->ever : occurs(c, atom) != OCCURS_NOT;
        bool must = s->atoms[i] == ATOM_SIGNAL ? !h->never : occurs(c, atom) == OCCURS;
        if (s->atoms[i] != ATOM_EVENT) {
            may &= g->hi != 0;
            must &= g->lo != 0;
        }
        l.surely |= (uint32_t)(may && must) << i;
        l.maybe |= (uint32_t)(may && !must) << i;
    }
    return l;
}

static enum ct_mon_occurs clock_of(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    enum ct_mon_occurs clock = OCCURS_NOT;
    for (uint32_t i = s->machine->natoms; i < s->n; i++)
        if (occurs(c, s->args[i]) > clock)
            clock = occurs(c, s->args[i]);
    return clock;
}

/* ---- steps ---- */

/* Adds to `next` every state that a possible letter leads to from a state of `set`. Returns how many
 * transitions were looked up. */
static uint32_t step(const uint64_t *set, uint64_t *next, const struct ct_mon_machine *machine,
                     const struct letters *l)
{
    uint32_t work = 0;
    for (uint32_t number = 0; number < machine->nstates; number++) {
        if (!has(set, number))
            continue;
        uint32_t subset = l->maybe;
        for (bool last = false; !last && work < WORK_MOST; work++) {
            const uint32_t letter = l->surely | subset;
            if (!l->one_of || (letter & l->one_of))
                add(next, machine_next(machine, encoded(machine, number), letter) >> 2);
            last = subset == 0;
            subset = (subset - 1) & l->maybe;
        }
    }
    for (uint32_t number = 0; work >= WORK_MOST && number < machine->nstates; number++)
        if (number != (uint32_t)machine->start >> 2)
            add(next, number);
    return work;
}

/* Returns the column of a step. When there are too many columns, forgets all. */
static uint32_t column_of(struct ct_mon_shade_states *states, const struct letters *l)
{
    const uint64_t key = l->surely | (uint64_t)l->maybe << LETTER_BITS |
                         (uint64_t)l->one_of << 2 * LETTER_BITS | (uint64_t)l->stays << 3 * LETTER_BITS |
                         (uint64_t)l->unseen << (3 * LETTER_BITS + 1) |
                         (uint64_t)l->none << (3 * LETTER_BITS + 2);
    for (uint32_t k = 0; k < states->columns; k++)
        if (states->keys[k] == key)
            return k;
    if (states->columns == CERTAIN_COLUMNS) {
        states->columns = 0;
        memset(states->column_of, 0, sizeof states->column_of);
        memset(states->edges, 0, edges_size(states, states->count));
    }
    states->keys[states->columns] = key;
    return states->columns++;
}

/* Returns the work that is still allowed. */
static uint64_t allowed(const struct ct_mon_heap *h)
{
    const uint64_t now = h->work > 0 ? (uint64_t)h->work : 0;
    return h->more_work < UINT64_MAX - now ? h->more_work + now : UINT64_MAX;
}

/* Computes where a step leads, or any number of unseen steps, and remembers it. */
static struct ct_mon_shade_edge learn(struct ct_mon_certain *c, const struct ct_mon_node *s,
                                      const struct letters *l, uint32_t column)
{
    struct ct_mon_shade_states *states = &c->states[s->index];
    const size_t size = states->words * sizeof *states->sets;
    const uint64_t most = allowed(&c->m->heap);
    const uint64_t each =
        c->formulas.is_one[s->order] ? STEP_WORK : 0; /* others are charged with the streams */
    uint64_t *set = c->formulas.scratch + states->words;
    uint64_t *next = set + states->words;
    uint64_t work = 0;
    bool more = !l->none;
    memcpy(set, set_at(states, states->at), size);
    while (more && work <= most) {
        memset(next, 0, size);
        work += each + STATE_WORK * (uint64_t)s->machine->nstates;
        work += LOOK_UP_WORK * (uint64_t)step(set, next, s->machine, l);
        for (size_t i = 0; i < states->words && l->stays; i++)
            next[i] |= set[i];
        more = l->unseen && memcmp(set, next, size) != 0;
        memcpy(set, next, size);
    }
    bool fresh = false;
    const struct ct_mon_shade_edge edge = {number_of(states, s->machine, set, &fresh), (uint32_t)work};
    if (!fresh && !more)
        states->edges[states->at * CERTAIN_COLUMNS + column] = edge;
    return edge;
}

/* Takes a step and returns its work. */
static uint64_t take(struct ct_mon_certain *c, const struct ct_mon_node *s, const struct letters *l,
                     uint32_t column)
{
    struct ct_mon_shade_states *states = &c->states[s->index];
    struct ct_mon_shade_edge edge = states->edges[states->at * CERTAIN_COLUMNS + column];
    if (!edge.to || c->m->plain_losses)
        edge = learn(c, s, l, column);
    c->states_changed |= edge.to != states->at;
    states->at = edge.to;
    return edge.work;
}

struct ct_mon_shade_event ct_mon_certain_step(struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const enum ct_mon_occurs clock = clock_of(c, s);
    const struct ct_mon_shade was = ct_mon_certain_verdict(c, s);
    if (clock == OCCURS_NOT) {
        heap_spend(&c->m->heap, STATE_WORK * (uint64_t)s->machine->nstates);
        return (struct ct_mon_shade_event){.occurs = OCCURS_NOT, .sure = true};
    }
    struct letters l = letters(c, s);
    l.stays = clock != OCCURS || c->unseen;
    heap_spend(&c->m->heap, take(c, s, &l, column_of(&c->states[s->index], &l)));
    const struct ct_mon_shade is = ct_mon_certain_verdict(c, s);
    struct ct_mon_shade_event e = {
        .occurs = (uint8_t)clock, .sure = clock == OCCURS && is.sure, .value = is.value};
    if (s->changes_only && e.sure && was.sure) /* both verdicts are those of the run, so the change is, too */
        e.occurs = was.never || was.value.lo != is.value.lo ? OCCURS : OCCURS_NOT;
    else if (s->changes_only) {
        e.occurs = OCCURS_MAYBE;
        e.sure = false;
    }
    return e;
}

/* ---- formulas that are stepped together ---- */

/* Returns whether a formula depends only on events of inputs. */
static bool is_of_inputs(const struct ct_mon_node *s)
{
    bool all = true;
    for (uint32_t i = 0; i < s->n && all; i++)
        all = s->args[i]->kind == N_INPUT && (i >= s->machine->natoms || s->atoms[i] == ATOM_EVENT);
    return all;
}

bool ct_mon_formulas_init(struct ct_mon_certain *c)
{
    struct ct_mon_formulas *f = &c->formulas;
    const size_t n = c->order->n;
    size_t words = 1;
    f->streams = calloc(n + 1, sizeof *f->streams);
    f->is_one = calloc(n + 1, sizeof *f->is_one);
    if (!f->streams || !f->is_one)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct ct_mon_node *s = c->order->nodes[i];
        f->is_one[i] =
            s->kind == N_MONITOR && !c->m->plain_losses && c->m->p->ninputs <= INPUTS_MOST && is_of_inputs(s);
        if (s->kind == N_MONITOR && s->machine->nstates > 64 * words)
            words = (s->machine->nstates + 63) / 64;
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < c->order->nodes[i]->n; k++)
            f->is_one[c->order->nodes[i]->args[k]->order] = false;
    for (uint32_t i = 0; i < n; i++)
        if (f->is_one[i])
            f->streams[f->count++] = i;
    f->scratch = calloc(3 * words, sizeof *f->scratch);
    return f->scratch != NULL;
}

void ct_mon_formulas_free(struct ct_mon_certain *c)
{
    for (size_t i = 0; c->states && i < c->m->p->nmachines; i++) {
        free(c->states[i].sets);
        free(c->states[i].facts);
        free(c->states[i].edges);
    }
    free(c->formulas.streams);
    free(c->formulas.is_one);
    free(c->formulas.scratch);
}

/* Returns the number of the current instant among the remembered ones. When there are too many, forgets
 * all. */
static uint32_t instant_of(struct ct_mon_certain *c)
{
    struct ct_mon_formulas *f = &c->formulas;
    uint64_t key = (uint64_t)c->unseen << 2 * INPUTS_MOST;
    for (uint32_t i = 0; i < c->m->p->ninputs; i++)
        key |= (uint64_t)input_occurs(c, i) << 2 * i;
    for (uint32_t k = 0; k < f->instant_count; k++)
        if (f->instants[k] == key)
            return k;
    if (f->instant_count == CERTAIN_COLUMNS) {
        f->instant_count = 0;
        for (size_t i = 0; i < c->m->p->nmachines; i++)
            memset(c->states[i].column_of, 0, sizeof c->states[i].column_of);
    }
    f->instants[f->instant_count] = key;
    return f->instant_count++;
}

/* Takes a step that is not remembered yet. */
static uint64_t first_step(struct ct_mon_certain *c, const struct ct_mon_node *s, uint32_t instant)
{
    struct ct_mon_shade_states *states = &c->states[s->index];
    const enum ct_mon_occurs clock = clock_of(c, s);
    struct letters l = {.none = true};
    if (clock != OCCURS_NOT) {
        l = letters(c, s);
        l.stays = clock != OCCURS || c->unseen;
        l.unseen = c->unseen;
    }
    const uint32_t column = column_of(states, &l);
    states->column_of[instant] = (uint8_t)(column + 1);
    return take(c, s, &l, column);
}

void ct_mon_formulas_step(struct ct_mon_certain *c)
{
    const struct ct_mon_formulas *f = &c->formulas;
    if (!f->followed || !f->count)
        return;
    const uint32_t instant = instant_of(c);
    uint64_t work = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct ct_mon_node *s = c->order->nodes[f->streams[i]];
        struct ct_mon_shade_states *states = &c->states[s->index];
        const uint32_t column = states->column_of[instant];
        const struct ct_mon_shade_edge *edge = &states->edges[states->at * CERTAIN_COLUMNS + column - 1];
        if (__builtin_expect(column && edge->to, 1)) {
            states->at = edge->to;
            work += edge->work;
        } else {
            work += first_step(c, s, instant);
        }
    }
    heap_spend(&c->m->heap, work);
}

bool ct_mon_formulas_unsure(const struct ct_mon_certain *c)
{
    const struct ct_mon_formulas *f = &c->formulas;
    for (size_t i = 0; i < f->count; i++)
        if (!ct_mon_certain_states_sure(c, c->order->nodes[f->streams[i]]))
            return true;
    return false;
}
