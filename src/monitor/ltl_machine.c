/* SPDX-License-Identifier: Apache-2.0 */
/* Combines two automata, of a formula and of its negation, into one minimal machine (docs/tessla-language.md
 * B.6, steps 5 to 7). */
#include <string.h>

#include "monitor/ltl.h"

enum {
    PAIRS_MOST = 65535,
    TABLE = 1 << 11,
    AT_ONCE = 8, /* edges, sets or letters per unit of work */
};

/* A state of the product: live states of both automata, sorted, those of the formula first. */
struct pair {
    uint32_t *ids;
    uint32_t npos, nneg, hash_next;
    uint8_t verdict;
};

struct product {
    struct ct_mon_arena *arena;
    struct ct_mon_ltl_automaton m;
    struct pair *pairs;
    size_t n, cap;
    uint32_t *table;
    uint32_t *next; /* by pair * letters + letter */
    size_t next_cap;
    uint32_t letters;
    uint32_t *buffer, *mark, stamp;
    size_t work;
    bool failed;
};

static bool subset(const struct product *p, uint32_t a, uint32_t b)
{
    const uint64_t *x = p->m.states[a].set, *y = p->m.states[b].set;
    for (uint32_t i = 0; i < p->m.words; i++)
        if (x[i] & ~y[i])
            return false;
    return true;
}

/* Drops states that require more than another one in the set, which does not change what the set accepts.
 * Sorts the rest. */
static uint32_t reduce(struct product *p, uint32_t *ids, uint32_t n)
{
    uint32_t kept = 0;
    arena_spend(p->arena, (n <= 64 ? (uint64_t)n * n : n) / AT_ONCE);
    for (uint32_t i = 0; i < n; i++) {
        bool needless = false;
        for (uint32_t k = 0; k < n && !needless && n <= 64; k++)
            needless = k != i && subset(p, ids[k], ids[i]) && (k < kept || k > i);
        if (!needless)
            ids[kept++] = ids[i];
    }
    for (uint32_t i = 1; i < kept; i++) {
        uint32_t x = ids[i], k = i;
        for (; k && ids[k - 1] > x; k--)
            ids[k] = ids[k - 1];
        ids[k] = x;
    }
    return kept;
}

static uint32_t intern(struct product *p, const uint32_t *ids, uint32_t npos, uint32_t nneg)
{
    uint8_t verdict = !npos ? VERDICT_FALSE : !nneg ? VERDICT_TRUE : VERDICT_UNKNOWN;
    if (verdict) /* one state stands for all decided ones */
        npos = nneg = 0;
    uint64_t h = hash_mix(verdict, npos);
    for (uint32_t i = 0; i < npos + nneg; i++)
        h = hash_mix(h, ids[i]);
    uint32_t *bucket = &p->table[h & (TABLE - 1)];
    for (uint32_t i = *bucket; i; i = p->pairs[i - 1].hash_next) {
        const struct pair *o = &p->pairs[i - 1];
        if (o->verdict == verdict && o->npos == npos && o->nneg == nneg &&
            (!(npos + nneg) || !memcmp(o->ids, ids, (npos + nneg) * sizeof *ids)))
            return i - 1;
    }
    if (p->n >= PAIRS_MOST) {
        p->failed = true;
        return 0;
    }
    struct pair pair = {ARENA_ARRAY(p->arena, uint32_t, npos + nneg + 1), npos, nneg, *bucket, verdict};
    if (npos + nneg)
        memcpy(pair.ids, ids, (npos + nneg) * sizeof *ids);
    ARENA_PUSH(p->arena, p->pairs, p->n, p->cap, pair);
    *bucket = (uint32_t)p->n;
    return (uint32_t)p->n - 1;
}

/* Writes the live successors of ids under a letter to `out`. Returns how many there are. */
static uint32_t successors(struct product *p, const uint32_t *ids, uint32_t n, uint32_t letter, uint32_t *out)
{
    uint32_t count = 0;
    const uint32_t visible = p->letters - 1;
    p->stamp++;
    for (uint32_t i = 0; i < n; i++) {
        const struct ct_mon_ltl_state *s = &p->m.states[ids[i]];
        for (size_t k = 0; k < s->nedges; k++) {
            const struct ct_mon_ltl_edge *e = &s->edges[k];
            /* memory bits are not part of the letter: the edges into the state agree with them */
            if ((e->pos & visible & ~letter) || (e->neg & letter) || !p->m.states[e->to].live ||
                p->mark[e->to] == p->stamp)
                continue;
            p->mark[e->to] = p->stamp;
            out[count++] = e->to;
        }
        if (p->work < s->nedges + 1) {
            p->failed = true;
            return 0;
        }
        p->work -= s->nedges + 1;
        arena_spend(p->arena, s->nedges / AT_ONCE + 1);
    }
    return reduce(p, out, count);
}

static uint32_t step(struct product *p, uint32_t from, uint32_t letter)
{
    const struct pair s = p->pairs[from];
    if (s.verdict)
        return from;
    uint32_t npos = successors(p, s.ids, s.npos, letter, p->buffer);
    uint32_t nneg = successors(p, s.ids + s.npos, s.nneg, letter, p->buffer + npos);
    return intern(p, p->buffer, npos, nneg);
}

static void explore(struct product *p, uint32_t pos, uint32_t neg)
{
    uint32_t ids[2] = {pos, neg};
    uint32_t npos = p->m.states[pos].live, nneg = p->m.states[neg].live;
    if (!npos)
        ids[0] = neg;
    size_t filled = 0;
    intern(p, ids, npos, nneg);
    for (size_t i = 0; i < p->n && !p->failed; i++) {
        for (uint32_t letter = 0; letter < p->letters && !p->failed; letter++) {
            uint32_t to = step(p, (uint32_t)i, letter);
            ARENA_PUSH(p->arena, p->next, filled, p->next_cap, to);
        }
    }
}

/* Finds classes of equivalent states by Moore's algorithm: splits classes until the successors of all members
 * agree. */
static uint32_t minimise(struct product *p, uint32_t *class)
{
    uint32_t *fresh = ARENA_ARRAY(p->arena, uint32_t, p->n), *table = ARENA_ARRAY(p->arena, uint32_t, TABLE);
    uint32_t *chain = ARENA_ARRAY(p->arena, uint32_t, p->n), count = 0, before;
    for (size_t i = 0; i < p->n; i++)
        class[i] = p->pairs[i].verdict;
    do {
        before = count;
        count = 0;
        arena_spend(p->arena, p->n * p->letters / AT_ONCE);
        memset(table, 0, TABLE * sizeof *table);
        for (uint32_t i = 0; i < p->n; i++) {
            const uint32_t *row = &p->next[(size_t)i * p->letters];
            uint64_t h = hash_mix(1, class[i]);
            for (uint32_t k = 0; k < p->letters; k++)
                h = hash_mix(h, class[row[k]]);
            uint32_t *bucket = &table[h & (TABLE - 1)], o;
            for (o = *bucket; o; o = chain[o - 1]) {
                const uint32_t *other = &p->next[(size_t)(o - 1) * p->letters];
                bool same = class[o - 1] == class[i];
                for (uint32_t k = 0; k < p->letters && same; k++)
                    same = class[other[k]] == class[row[k]];
                if (same)
                    break;
            }
            fresh[i] = o ? fresh[o - 1] : count++;
            if (!o) {
                chain[i] = *bucket;
                *bucket = i + 1;
            }
        }
        memcpy(class, fresh, p->n * sizeof *class);
    } while (count != before);
    return count;
}

struct ct_mon_ltl_table ct_mon_ltl_table_new(struct ct_mon_arena *a, uint32_t natoms, uint32_t nstates)
{
    struct ct_mon_machine *m = ARENA_NEW(a, struct ct_mon_machine);
    const bool wide = nstates > 64;
    *m = (struct ct_mon_machine){.natoms = natoms, .nstates = nstates, .width = wide ? nstates * 4 : 256};
    const size_t cells = (size_t)m->width << natoms;
    const struct ct_mon_ltl_table t = {.machine = m,
                                       .verdicts = ARENA_ARRAY(a, uint8_t, nstates),
                                       .next8 = wide ? NULL : ARENA_ARRAY(a, uint8_t, cells),
                                       .next16 = wide ? ARENA_ARRAY(a, uint16_t, cells) : NULL};
    m->verdicts = t.verdicts;
    m->next8 = t.next8;
    m->next16 = t.next16;
    m->start = VERDICT_NONE;
    return t;
}

/* Builds the machine's table. State 0 is the one before the first step; the others are numbered breadth
 * first. */
static const struct ct_mon_machine *build(struct product *p, uint32_t natoms, const uint32_t *class,
                                          uint32_t classes, const char **why)
{
    struct ct_mon_arena *a = p->arena;
    uint32_t *repr = ARENA_ARRAY(a, uint32_t, classes), *number = ARENA_ARRAY(a, uint32_t, classes);
    uint32_t *order = ARENA_ARRAY(a, uint32_t, classes + 1), n = 0;
    for (uint32_t i = (uint32_t)p->n; i-- > 0;)
        repr[class[i]] = i;
    order[n++] = 0;
    number[class[0]] = 1;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < p->letters; k++) {
            uint32_t c = class[p->next[(size_t)order[i] * p->letters + k]];
            if (!number[c]) {
                order[n++] = repr[c];
                number[c] = n;
            }
        }
    }
    if (n + 1 > MACHINE_STATES_MOST) {
        *why = "its monitor needs more than 16000 states";
        return NULL;
    }
    const struct ct_mon_ltl_table t = ct_mon_ltl_table_new(a, natoms, n + 1);
    struct ct_mon_machine *m = t.machine;
    m->empty = p->pairs[0].verdict;
    for (uint32_t i = 0; i <= n; i++) {
        uint32_t from = order[i ? i - 1 : 0];
        uint32_t code = i ? i << 2 | p->pairs[from].verdict : VERDICT_NONE;
        for (uint32_t k = 0; k < p->letters; k++) {
            uint32_t to = p->next[(size_t)from * p->letters + k];
            ltl_table_put(&t, k, code, number[class[to]] << 2 | p->pairs[to].verdict);
        }
        m->decided |= p->pairs[from].verdict != VERDICT_UNKNOWN;
        t.verdicts[i] = code & 3;
    }
    return m;
}

const struct ct_mon_machine *ct_mon_ltl_machine(struct ct_mon_ltl_pool *pool, struct ct_mon_ltl *f,
                                                uint32_t natoms, const char **why)
{
    struct ct_mon_ltl *history = ct_mon_ltl_history(pool), *not_f = ct_mon_ltl_not(pool, f);
    struct ct_mon_ltl *pos = ct_mon_ltl_nnf(pool, ct_mon_ltl_and(pool, history, f), false),
                      *neg = ct_mon_ltl_nnf(pool, ct_mon_ltl_and(pool, history, not_f), false);
    if (pool->memory_full) {
        *why = "it has more than 48 past operators";
        return NULL;
    }
    if (natoms > LTL_ATOMS_MOST || pool->untils > 64 || pool->count > LTL_FORMULAS_MOST) {
        *why = natoms > LTL_ATOMS_MOST ? "it has more than 12 atoms" : "it has too many operators";
        return NULL;
    }
    struct product p = {.arena = pool->arena, .letters = 1u << natoms, .work = 50000000};
    ct_mon_ltl_automaton_init(&p.m, pool);
    uint32_t from = ct_mon_ltl_automaton_add(&p.m, pos), not_from = ct_mon_ltl_automaton_add(&p.m, neg);
    *why = "its monitor is too large";
    if (p.m.failed)
        return NULL;
    ct_mon_ltl_automaton_finish(&p.m);
    p.table = ARENA_ARRAY(pool->arena, uint32_t, TABLE);
    p.buffer = ARENA_ARRAY(pool->arena, uint32_t, 2 * p.m.n + 2);
    p.mark = ARENA_ARRAY(pool->arena, uint32_t, p.m.n + 1);
    explore(&p, from, not_from);
    if (p.failed)
        return NULL;
    uint32_t *class = ARENA_ARRAY(pool->arena, uint32_t, p.n);
    uint32_t classes = minimise(&p, class);
    return build(&p, natoms, class, classes, why);
}
