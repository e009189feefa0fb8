/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the past (docs/tessla-language.md B.6, step 1). Each remembers one bit of the step before. The
 * bits are atoms of the formula that letters do not contain. A second formula, the history, defines the bits,
 * so that the construction knows which pasts are possible. */
#include "monitor/ltl.h"

static struct ct_mon_ltl *remembered(struct ct_mon_ltl_pool *p, uint32_t number)
{
    return ct_mon_ltl_atom(p, LTL_ATOMS_MOST + number);
}

/* Allocates a bit. NULL: none is left. */
static struct ct_mon_ltl_memory *remember(struct ct_mon_ltl_pool *p)
{
    p->memory_full |= p->nmemory == LTL_MEMORY_MOST;
    return p->memory_full ? NULL : &p->memory[p->nmemory++];
}

struct ct_mon_ltl *ct_mon_ltl_previous(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f)
{
    if (f->kind == LTL_FALSE)
        return f;
    for (uint32_t i = 0; i < p->nmemory; i++)
        if (p->memory[i].update == f)
            return remembered(p, i);
    struct ct_mon_ltl_memory *m = remember(p);
    if (!m)
        return ct_mon_ltl_const(p, false);
    m->update = f;
    return remembered(p, p->nmemory - 1);
}

struct ct_mon_ltl *ct_mon_ltl_since(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    if (b->kind == LTL_TRUE || b->kind == LTL_FALSE || a->kind == LTL_FALSE)
        return b;
    for (uint32_t i = 0; i < p->nmemory; i++)
        if (p->memory[i].a == a && p->memory[i].b == b)
            return p->memory[i].update;
    struct ct_mon_ltl_memory *m = remember(p);
    if (!m)
        return ct_mon_ltl_const(p, false);
    m->a = a;
    m->b = b;
    /* b now, or a now and the same at the step before */
    return m->update = ct_mon_ltl_or(p, b, ct_mon_ltl_and(p, a, remembered(p, (uint32_t)(m - p->memory))));
}

struct ct_mon_ltl *ct_mon_ltl_once(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f)
{
    return ct_mon_ltl_since(p, ct_mon_ltl_const(p, true), f);
}

struct ct_mon_ltl *ct_mon_ltl_past_at_least(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, uint32_t n)
{
    struct ct_mon_ltl *r = ct_mon_ltl_const(p, true);
    for (uint32_t i = 0; i < n; i++)
        r = ct_mon_ltl_once(p, i ? ct_mon_ltl_and(p, f, ct_mon_ltl_previous(p, r)) : f);
    return r;
}

struct ct_mon_ltl *ct_mon_ltl_past_begins(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, uint32_t n)
{
    struct ct_mon_ltl *r = ct_mon_ltl_const(p, true), *not_f = ct_mon_ltl_not(p, f);
    for (uint32_t i = 0; i < n; i++)
        r = ct_mon_ltl_once(p, i ? ct_mon_ltl_and(p, f, ct_mon_ltl_once(p, ct_mon_ltl_and(p, not_f, r))) : f);
    return r;
}

struct ct_mon_ltl *ct_mon_ltl_history(struct ct_mon_ltl_pool *p)
{
    struct ct_mon_ltl *h = p->known ? p->known : ct_mon_ltl_const(p, true);
    for (uint32_t i = 0; i < p->nmemory; i++) {
        struct ct_mon_ltl *m = remembered(p, i), *u = p->memory[i].update;
        struct ct_mon_ltl *kept =
            ct_mon_ltl_or(p, ct_mon_ltl_and(p, u, ct_mon_ltl_next(p, m)),
                          ct_mon_ltl_and(p, ct_mon_ltl_not(p, u), ct_mon_ltl_next(p, ct_mon_ltl_not(p, m))));
        h = ct_mon_ltl_and(p, h, ct_mon_ltl_and(p, ct_mon_ltl_not(p, m), ct_mon_ltl_always(p, kept)));
    }
    return h;
}

/* A state of the machine of a past formula: its memory bits, and the last verdict. */
struct past_state {
    uint64_t memory;
    uint32_t hash_next;
    uint8_t verdict;
};

struct past {
    struct ct_mon_ltl_pool *pool;
    const struct ct_mon_ltl *f;
    struct ct_mon_ltl **needed; /* in an order with operands first */
    uint32_t count;
    uint64_t memory;           /* bits that are needed */
    bool *value;               /* by id */
    struct past_state *states; /* the first one is before the first step */
    size_t n, cap;
    uint32_t table[LTL_BUCKETS];
};

/* Lists the subformulas of f, including those that its memory bits remember. */
static void find_needed(struct past *s)
{
    struct ct_mon_ltl_pool *p = s->pool;
    struct ct_mon_ltl **by_id = ARENA_ARRAY(p->arena, struct ct_mon_ltl *, p->count);
    bool *needed = ARENA_ARRAY(p->arena, bool, p->count), more = true;
    for (uint32_t i = 0; i < LTL_BUCKETS; i++)
        for (struct ct_mon_ltl *f = p->buckets[i]; f; f = f->next)
            by_id[f->id] = f;
    needed[s->f->id] = true;
    while (more) {
        more = false;
        arena_spend(p->arena, p->count);
        for (uint32_t i = p->count; i-- > 0;) { /* operands are older than the formulas that contain them */
            const struct ct_mon_ltl *f = by_id[i];
            if (!needed[i])
                continue;
            if (f->a)
                needed[f->a->id] = true;
            if (f->b)
                needed[f->b->id] = true;
            const uint32_t k = f->index - LTL_ATOMS_MOST;
            if (f->kind != LTL_ATOM || f->index < LTL_ATOMS_MOST || (s->memory >> k & 1))
                continue;
            s->memory |= UINT64_C(1) << k;
            needed[p->memory[k].update->id] = more = true;
        }
    }
    s->needed = ARENA_ARRAY(p->arena, struct ct_mon_ltl *, p->count);
    for (uint32_t i = 0; i < p->count; i++)
        if (needed[i])
            s->needed[s->count++] = by_id[i];
}

static uint32_t past_state(struct past *s, uint64_t memory, uint8_t verdict)
{
    uint32_t *bucket = &s->table[hash_mix(memory, verdict) & (LTL_BUCKETS - 1)];
    for (uint32_t i = *bucket; i; i = s->states[i - 1].hash_next)
        if (s->states[i - 1].memory == memory && s->states[i - 1].verdict == verdict)
            return i - 1;
    const struct past_state fresh = {memory, *bucket, verdict};
    ARENA_PUSH(s->pool->arena, s->states, s->n, s->cap, fresh);
    *bucket = (uint32_t)s->n;
    return (uint32_t)s->n - 1;
}

/* Returns the memory bits after a letter. */
static uint32_t past_step(struct past *s, uint64_t memory, uint32_t letter)
{
    const uint64_t atoms = letter | memory << LTL_ATOMS_MOST;
    uint64_t next = 0;
    arena_spend(s->pool->arena, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct ct_mon_ltl *f = s->needed[i];
        const bool a = f->a && s->value[f->a->id], b = f->b && s->value[f->b->id];
        s->value[f->id] = f->kind == LTL_ATOM  ? atoms >> f->index & 1
                          : f->kind == LTL_NOT ? !a
                          : f->kind == LTL_AND ? a && b
                          : f->kind == LTL_OR  ? a || b
                                               : f->kind == LTL_TRUE;
    }
    for (uint32_t k = 0; k < s->pool->nmemory; k++)
        if (s->memory >> k & 1)
            next |= (uint64_t)s->value[s->pool->memory[k].update->id] << k;
    return past_state(s, next, s->value[s->f->id] ? VERDICT_TRUE : VERDICT_UNKNOWN);
}

const struct ct_mon_machine *ct_mon_ltl_past_machine(struct ct_mon_ltl_pool *p, const struct ct_mon_ltl *f,
                                                     uint32_t natoms, const char **why)
{
    struct past *s = ARENA_NEW(p->arena, struct past);
    *s = (struct past){.pool = p, .f = f, .value = ARENA_ARRAY(p->arena, bool, p->count)};
    find_needed(s);
    past_state(s, 0, VERDICT_NONE);
    for (size_t i = 0; i < s->n; i++)
        for (uint32_t letter = 0; letter < 1u << natoms; letter++) {
            past_step(s, s->states[i].memory, letter);
            if (s->n > MACHINE_STATES_MOST) {
                *why = "the past formula in a timed operator needs more than 16000 states";
                return NULL;
            }
        }
    const struct ct_mon_ltl_table t = ct_mon_ltl_table_new(p->arena, natoms, (uint32_t)s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        t.verdicts[i] = s->states[i].verdict;
        for (uint32_t letter = 0; letter < 1u << natoms; letter++) {
            const uint32_t to = past_step(s, s->states[i].memory, letter);
            ltl_table_put(&t, letter, i << 2 | t.verdicts[i], to << 2 | s->states[to].verdict);
        }
    }
    t.machine->decided = true;
    return t.machine;
}
