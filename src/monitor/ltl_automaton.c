/* The tableau: what a set of formulas asks of this step and of the next one (LANGUAGE.md B.6, steps 2 to 4).
 * Acceptance is on transitions: one set for each until, of those that do not put its end off. */
#include <string.h>

#include "monitor/ltl.h"

enum {
    STATES_MOST = 20000,
    TABLE = 1 << 14,
    WORK_MOST = 20000000
};

struct choice {
    uint64_t *todo, *done, *next; /* formulas */
    uint32_t pos, neg;
    uint64_t promised;
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

static void index_formulas(struct ltl_automaton *m)
{
    m->by_id = ARENA_ARRAY(m->pool->arena, struct ltl *, m->pool->count);
    for (uint32_t i = 0; i < LTL_BUCKETS; i++)
        for (struct ltl *f = m->pool->buckets[i]; f; f = f->next)
            m->by_id[f->id] = f;
}

void ltl_automaton_init(struct ltl_automaton *m, struct ltl_pool *p)
{
    *m = (struct ltl_automaton){.pool = p, .words = p->count / 64 + 1, .work = WORK_MOST};
    m->table = ARENA_ARRAY(p->arena, uint32_t, TABLE);
    index_formulas(m);
}

/* Counts work; false: there was too much of it. */
static bool spend(struct ltl_automaton *m, size_t n)
{
    arena_spend(m->pool->arena, n);
    m->failed |= m->work < n;
    m->work -= m->failed ? 0 : n;
    return !m->failed;
}

static uint64_t *new_set(struct ltl_automaton *m, const uint64_t *from)
{
    uint64_t *set = ARENA_ARRAY(m->pool->arena, uint64_t, m->words);
    if (from)
        memcpy(set, from, m->words * sizeof *set);
    return set;
}

static uint32_t state_of(struct ltl_automaton *m, const uint64_t *set)
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
    struct ltl_state s = {.set = new_set(m, set), .hash_next = *bucket};
    ARENA_PUSH(m->pool->arena, m->states, m->n, m->cap, s);
    *bucket = (uint32_t)m->n;
    return (uint32_t)m->n - 1;
}

static void add_edge(struct ltl_automaton *m, uint32_t from, const struct choice *c)
{
    struct ltl_edge e = {state_of(m, c->next), c->pos, c->neg, c->promised};
    struct ltl_state *s = &m->states[from];
    if (!spend(m, s->nedges))
        return;
    for (size_t i = 0; i < s->nedges; i++) {
        const struct ltl_edge *o = &s->edges[i];
        /* another edge that asks for less makes this one needless */
        if (!(o->pos & ~e.pos) && !(o->neg & ~e.neg) && !(o->promised & ~e.promised) &&
            subset(m->states[o->to].set, m->states[e.to].set, m->words))
            return;
    }
    ARENA_PUSH(m->pool->arena, s->edges, s->nedges, s->cap, e);
}

static struct choice split(struct ltl_automaton *m, const struct choice *c)
{
    struct choice d = *c;
    d.todo = new_set(m, c->todo);
    d.done = new_set(m, c->done);
    d.next = new_set(m, c->next);
    return d;
}

static int first(const uint64_t *set, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (set[i])
            return (int)(i * 64) + __builtin_ctzll(set[i]);
    return -1;
}

/* Takes the formulas to do one by one; where there are two ways, both are gone. */
static void expand(struct ltl_automaton *m, uint32_t from, struct choice *c)
{
    int id;
    while (!m->failed && (id = first(c->todo, m->words)) >= 0) {
        if (!spend(m, 1))
            return;
        const struct ltl *f = m->by_id[id];
        c->todo[f->id / 64] &= ~(UINT64_C(1) << (f->id % 64));
        if (has(c->done, f->id))
            continue;
        put(c->done, f->id);
        struct choice other;
        switch (f->kind) {
        case LTL_TRUE:
            break;
        case LTL_FALSE:
            return;
        case LTL_ATOM:
            c->pos |= 1u << f->index;
            break;
        case LTL_NOT:
            c->neg |= 1u << f->a->index;
            break;
        case LTL_AND:
            put(c->todo, f->a->id);
            put(c->todo, f->b->id);
            break;
        case LTL_OR:
            other = split(m, c);
            put(other.todo, f->b->id);
            expand(m, from, &other);
            put(c->todo, f->a->id);
            break;
        case LTL_NEXT:
            put(c->next, f->a->id);
            break;
        case LTL_UNTIL: /* b, or a and the same again */
            other = split(m, c);
            put(other.todo, f->b->id);
            expand(m, from, &other);
            put(c->todo, f->a->id);
            put(c->next, f->id);
            c->promised |= UINT64_C(1) << f->until;
            break;
        case LTL_RELEASE: /* b, and a or the same again */
            other = split(m, c);
            put(other.todo, f->a->id);
            put(other.todo, f->b->id);
            expand(m, from, &other);
            put(c->todo, f->b->id);
            put(c->next, f->id);
            break;
        }
        if (c->pos & c->neg)
            return;
    }
    if (!m->failed)
        add_edge(m, from, c);
}

uint32_t ltl_automaton_add(struct ltl_automaton *m, const struct ltl *f)
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

/* A component is good when every until can end inside it, again and again. */
static bool good(const struct ltl_automaton *m, const uint32_t *members, size_t n, const uint32_t *component)
{
    uint64_t always_promised = ~UINT64_C(0);
    bool inner = false;
    for (size_t i = 0; i < n; i++) {
        const struct ltl_state *s = &m->states[members[i]];
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

/* Tarjan's components come out in reverse order: what one leads to is done before it. */
void ltl_automaton_finish(struct ltl_automaton *m)
{
    struct arena *a = m->pool->arena;
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
            struct ltl_state *s = &m->states[f->state];
            if (!s->index) {
                s->index = s->low = ++index;
                s->on_stack = true;
                stack[top++] = f->state;
            }
            if (f->edge < s->nedges) {
                uint32_t to = s->edges[f->edge++].to;
                struct ltl_state *t = &m->states[to];
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
                const struct ltl_state *x = &m->states[stack[i]];
                for (size_t k = 0; k < x->nedges; k++)
                    live |= m->states[x->edges[k].to].live;
            }
            for (size_t i = top; i < end; i++)
                m->states[stack[i]].live = live;
        }
    }
}
