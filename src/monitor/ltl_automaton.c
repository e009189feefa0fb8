/* SPDX-License-Identifier: Apache-2.0 */
/* The tableau: what a set of formulas requires of this step and of the next (docs/tessla-language.md B.6,
 * steps 2 to 4). Acceptance is on transitions: each until has the set of transitions that do not postpone
 * it. */
#include <string.h>

#include "monitor/ltl.h"

enum {
    STATES_MOST = 20000,
    TABLE = 1 << 14,
    WORK_MOST = 20000000
};

struct choice {
    uint64_t *todo, *done, *next; /* sets of formulas */
    uint64_t pos, neg, promised;
};

static bool has(const uint64_t *set, uint32_t id)
{
    return set[id / 64] >> (id % 64) & 1;
}

static void put(uint64_t *set, uint32_t id)
{
    set[id / 64] |= UINT64_C(1) << (id % 64);
}

static bool subset(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (a[i] & ~b[i])
            return false;
    return true;
}

static uint64_t *new_set(struct ct_mon_ltl_automaton *m, const uint64_t *from)
{
    uint64_t *set = ARENA_ARRAY(m->pool->arena, uint64_t, m->words);
    if (from)
        memcpy(set, from, m->words * sizeof *set);
    return set;
}

static void index_formulas(struct ct_mon_ltl_automaton *m)
{
    m->by_id = ARENA_ARRAY(m->pool->arena, struct ct_mon_ltl *, m->pool->count);
    m->ways = new_set(m, NULL);
    for (uint32_t i = 0; i < LTL_BUCKETS; i++) {
        for (struct ct_mon_ltl *f = m->pool->buckets[i]; f; f = f->next) {
            m->by_id[f->id] = f;
            if (f->kind == LTL_OR || f->kind == LTL_UNTIL || f->kind == LTL_RELEASE)
                put(m->ways, f->id);
        }
    }
}

void ct_mon_ltl_automaton_init(struct ct_mon_ltl_automaton *m, struct ct_mon_ltl_pool *p)
{
    *m = (struct ct_mon_ltl_automaton){.pool = p, .words = p->count / 64 + 1, .work = WORK_MOST};
    m->table = ARENA_ARRAY(p->arena, uint32_t, TABLE);
    index_formulas(m);
}

/* Charges work. Returns false when there is none left. */
static bool spend(struct ct_mon_ltl_automaton *m, size_t n)
{
    arena_spend(m->pool->arena, n);
    m->failed |= m->work < n;
    m->work -= m->failed ? 0 : n;
    return !m->failed;
}

static uint32_t state_of(struct ct_mon_ltl_automaton *m, const uint64_t *set)
{
    uint64_t h = 1;
    for (uint32_t i = 0; i < m->words; i++)
        h = hash_mix(h, set[i]);
    uint32_t *bucket = &m->table[h & (TABLE - 1)];
    for (uint32_t i = *bucket; i; i = m->states[i - 1].hash_next)
        if (!memcmp(m->states[i - 1].set, set, m->words * sizeof *set))
            return i - 1;
    if (m->n >= STATES_MOST) {
        m->failed = true;
        return 0;
    }
    struct ct_mon_ltl_state s = {.set = new_set(m, set), .hash_next = *bucket};
    ARENA_PUSH(m->pool->arena, m->states, m->n, m->cap, s);
    *bucket = (uint32_t)m->n;
    return (uint32_t)m->n - 1;
}

/* Returns whether the choice can be dropped, because an existing edge of the state requires a subset of
 * it. */
static bool needless(struct ct_mon_ltl_automaton *m, uint32_t from, const struct choice *c)
{
    const struct ct_mon_ltl_state *s = &m->states[from];
    if (!spend(m, s->nedges))
        return true;
    for (size_t i = 0; i < s->nedges; i++) {
        const struct ct_mon_ltl_edge *o = &s->edges[i];
        if (!(o->pos & ~c->pos) && !(o->neg & ~c->neg) && !(o->promised & ~c->promised) &&
            subset(m->states[o->to].set, c->next, m->words))
            return true;
    }
    return false;
}

static void add_edge(struct ct_mon_ltl_automaton *m, uint32_t from, const struct choice *c)
{
    if (needless(m, from, c))
        return;
    const struct ct_mon_ltl_edge e = {state_of(m, c->next), c->pos, c->neg, c->promised};
    struct ct_mon_ltl_state *s = &m->states[from];
    ARENA_PUSH(m->pool->arena, s->edges, s->nedges, s->cap, e);
}

/* Copies the choice. The copy's sets are stored after those of the choices being expanded. */
static struct choice split(struct ct_mon_ltl_automaton *m, const struct choice *c)
{
    struct choice d = *c;
    uint64_t **sets[] = {&d.todo, &d.done, &d.next};
    const uint64_t *from[] = {c->todo, c->done, c->next};
    if (m->depth == m->spare_count) {
        uint64_t *spare = ARENA_ARRAY(m->pool->arena, uint64_t, (size_t)3 * m->words);
        ARENA_PUSH(m->pool->arena, m->spare, m->spare_count, m->spare_cap, spare);
    }
    for (size_t i = 0; i < 3; i++) {
        *sets[i] = m->spare[m->depth] + i * m->words;
        memcpy(*sets[i], from[i], m->words * sizeof **sets[i]);
    }
    return d;
}

/* Picks the formula to expand next: formulas with one alternative first, so that contradictions are found
 * before branching. */
static int first(const struct ct_mon_ltl_automaton *m, const uint64_t *set)
{
    int id = -1;
    for (uint32_t i = 0; i < m->words; i++) {
        const uint64_t sure = set[i] & ~m->ways[i];
        if (sure)
            return (int)(i * 64) + __builtin_ctzll(sure);
        if (set[i] && id < 0)
            id = (int)(i * 64) + __builtin_ctzll(set[i]);
    }
    return id;
}

/* Returns whether this step requires f already. An alternative that requires f is then superfluous. */
static bool asked(const struct choice *c, const struct ct_mon_ltl *f)
{
    return has(c->done, f->id) || has(c->todo, f->id);
}

/* Returns whether f contradicts what this step requires. */
static bool refuted(const struct choice *c, const struct ct_mon_ltl *f)
{
    return f->kind == LTL_FALSE || (f->kind == LTL_ATOM && c->neg >> f->index & 1) ||
           (f->kind == LTL_NOT && c->pos >> f->a->index & 1);
}

static void expand(struct ct_mon_ltl_automaton *m, uint32_t from, struct choice *c);

/* Expands the first of two alternatives: f holds in this step. */
static void expand_other(struct ct_mon_ltl_automaton *m, uint32_t from, const struct choice *c,
                         const struct ct_mon_ltl *f)
{
    if (refuted(c, f) || needless(m, from, c))
        return;
    struct choice other = split(m, c);
    put(other.todo, f->id);
    m->depth++;
    expand(m, from, &other);
    m->depth--;
}

/* Expands the formulas one by one, with both branches of those that have two alternatives. */
static void expand(struct ct_mon_ltl_automaton *m, uint32_t from, struct choice *c)
{
    int id;
    while (!m->failed && (id = first(m, c->todo)) >= 0) {
        if (!spend(m, 1))
            return;
        const struct ct_mon_ltl *f = m->by_id[id];
        c->todo[f->id / 64] &= ~(UINT64_C(1) << (f->id % 64));
        if (has(c->done, f->id))
            continue;
        put(c->done, f->id);
        switch (f->kind) {
        case LTL_TRUE:
            break;
        case LTL_FALSE:
            return;
        case LTL_ATOM:
            c->pos |= UINT64_C(1) << f->index;
            break;
        case LTL_NOT:
            c->neg |= UINT64_C(1) << f->a->index;
            break;
        case LTL_AND:
            put(c->todo, f->a->id);
            put(c->todo, f->b->id);
            break;
        case LTL_OR:
            if (asked(c, f->a) || asked(c, f->b))
                break;
            expand_other(m, from, c, f->b);
            put(c->todo, f->a->id);
            break;
        case LTL_NEXT:
            put(c->next, f->a->id);
            break;
        case LTL_UNTIL: /* b; or a, and the same at the next step */
            if (asked(c, f->b))
                break;
            expand_other(m, from, c, f->b);
            put(c->todo, f->a->id);
            put(c->next, f->id);
            c->promised |= UINT64_C(1) << f->until;
            break;
        case LTL_RELEASE: /* b, and a or the same at the next step */
            put(c->todo, f->b->id);
            if (asked(c, f->a))
                break;
            expand_other(m, from, c, f->a);
            put(c->next, f->id);
            break;
        case LTL_TIMED: /* removed by ct_mon_ltl_untimed */
        case LTL_COUNT:
            break;
        }
        if (c->pos & c->neg)
            return;
    }
    if (!m->failed)
        add_edge(m, from, c);
}

uint32_t ct_mon_ltl_automaton_add(struct ct_mon_ltl_automaton *m, const struct ct_mon_ltl *f)
{
    uint64_t *set = new_set(m, NULL);
    put(set, f->id);
    uint32_t start = state_of(m, set);
    for (size_t i = 0; i < m->n && !m->failed; i++) {
        if (m->states[i].expanded)
            continue;
        m->states[i].expanded = true;
        struct choice c = {new_set(m, m->states[i].set), new_set(m, NULL), new_set(m, NULL), 0, 0, 0};
        expand(m, (uint32_t)i, &c);
    }
    return start;
}

/* Returns whether every `until` can be fulfilled infinitely often within the component. */
static bool good(const struct ct_mon_ltl_automaton *m, const uint32_t *members, size_t n,
                 const uint32_t *component)
{
    uint64_t always_promised = ~UINT64_C(0);
    bool inner = false;
    for (size_t i = 0; i < n; i++) {
        const struct ct_mon_ltl_state *s = &m->states[members[i]];
        for (size_t k = 0; k < s->nedges; k++)
            if (component[s->edges[k].to] == component[members[i]]) {
                always_promised &= s->edges[k].promised;
                inner = true;
            }
    }
    return inner && !always_promised;
}

struct frame {
    uint32_t state;
    size_t edge;
};

/* Finds components by Tarjan's algorithm. A component is found after all components it leads to, so one pass
 * marks the live states. */
void ct_mon_ltl_automaton_finish(struct ct_mon_ltl_automaton *m)
{
    struct ct_mon_arena *a = m->pool->arena;
    uint32_t *stack = ARENA_ARRAY(a, uint32_t, m->n + 1), *component = ARENA_ARRAY(a, uint32_t, m->n + 1);
    struct frame *frames = ARENA_ARRAY(a, struct frame, m->n + 1);
    uint32_t index = 0, components = 0;
    size_t depth = 0, top = 0;
    for (uint32_t root = 0; root < m->n; root++) {
        if (m->states[root].index)
            continue;
        frames[depth++] = (struct frame){root, 0};
        while (depth) {
            struct frame *f = &frames[depth - 1];
            struct ct_mon_ltl_state *s = &m->states[f->state];
            if (!s->index) {
                s->index = s->low = ++index;
                s->on_stack = true;
                stack[top++] = f->state;
            }
            if (f->edge < s->nedges) {
                uint32_t to = s->edges[f->edge++].to;
                struct ct_mon_ltl_state *t = &m->states[to];
                if (!t->index)
                    frames[depth++] = (struct frame){to, 0};
                else if (t->on_stack && t->index < s->low)
                    s->low = t->index;
                continue;
            }
            depth--;
            if (depth && s->low < m->states[frames[depth - 1].state].low)
                m->states[frames[depth - 1].state].low = s->low;
            if (s->low != s->index)
                continue;
            size_t end = top;
            components++;
            do {
                m->states[stack[--top]].on_stack = false;
                component[stack[top]] = components;
            } while (stack[top] != f->state);
            bool live = good(m, &stack[top], end - top, component);
            for (size_t i = top; i < end && !live; i++) {
                const struct ct_mon_ltl_state *x = &m->states[stack[i]];
                for (size_t k = 0; k < x->nedges; k++)
                    live |= m->states[x->edges[k].to].live;
            }
            for (size_t i = top; i < end; i++)
                m->states[stack[i]].live = live;
        }
    }
}
