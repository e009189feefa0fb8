/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/ltl.h"

static struct ct_mon_ltl *intern(struct ct_mon_ltl_pool *p, enum ct_mon_ltl_kind kind, uint32_t index,
                                 struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    uint64_t h = hash_ptr(hash_ptr(hash_mix(kind, index), a), b);
    struct ct_mon_ltl **bucket = &p->buckets[h & (LTL_BUCKETS - 1)];
    for (struct ct_mon_ltl *f = *bucket; f; f = f->next)
        if (f->kind == kind && f->index == index && f->a == a && f->b == b)
            return f;
    struct ct_mon_ltl *f = ARENA_NEW(p->arena, struct ct_mon_ltl);
    *f = (struct ct_mon_ltl){.kind = kind,
                             .index = index,
                             .a = a,
                             .b = b,
                             .id = p->count++,
                             .past = kind < LTL_NEXT && (!a || a->past) && (!b || b->past),
                             .timed = kind >= LTL_TIMED || (a && a->timed) || (b && b->timed),
                             .next = *bucket};
    if (kind == LTL_UNTIL)
        f->until = p->untils++;
    return *bucket = f;
}

struct ct_mon_ltl *ct_mon_ltl_const(struct ct_mon_ltl_pool *p, bool value)
{
    return intern(p, value ? LTL_TRUE : LTL_FALSE, 0, NULL, NULL);
}

struct ct_mon_ltl *ct_mon_ltl_atom(struct ct_mon_ltl_pool *p, uint32_t index)
{
    return intern(p, LTL_ATOM, index, NULL, NULL);
}

struct ct_mon_ltl *ct_mon_ltl_not(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a)
{
    if (a->kind == LTL_TRUE || a->kind == LTL_FALSE)
        return ct_mon_ltl_const(p, a->kind == LTL_FALSE);
    return a->kind == LTL_NOT ? a->a : intern(p, LTL_NOT, 0, a, NULL);
}

static bool opposite(const struct ct_mon_ltl *a, const struct ct_mon_ltl *b)
{
    return (a->kind == LTL_NOT && a->a == b) || (b->kind == LTL_NOT && b->a == a);
}

/* Makes a conjunction or a disjunction; they differ in the constant that decides. Sorts operands by age, so
 * that a & b and b & a are one formula. */
static struct ct_mon_ltl *junction(struct ct_mon_ltl_pool *p, enum ct_mon_ltl_kind kind, struct ct_mon_ltl *a,
                                   struct ct_mon_ltl *b)
{
    enum ct_mon_ltl_kind rules = kind == LTL_AND ? LTL_FALSE : LTL_TRUE,
                         yields = kind == LTL_AND ? LTL_TRUE : LTL_FALSE;
    if (a->kind == rules || b->kind == yields || a == b)
        return a;
    if (b->kind == rules || a->kind == yields)
        return b;
    if (opposite(a, b))
        return ct_mon_ltl_const(p, kind == LTL_OR);
    return a->id < b->id ? intern(p, kind, 0, a, b) : intern(p, kind, 0, b, a);
}

struct ct_mon_ltl *ct_mon_ltl_and(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    return junction(p, LTL_AND, a, b);
}

struct ct_mon_ltl *ct_mon_ltl_or(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    return junction(p, LTL_OR, a, b);
}

struct ct_mon_ltl *ct_mon_ltl_next(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a)
{
    /* next true is no constant where the word can end: in a scope */
    return a->kind == LTL_FALSE ? a : intern(p, LTL_NEXT, 0, a, NULL);
}

struct ct_mon_ltl *ct_mon_ltl_until(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    if (b->kind == LTL_TRUE || b->kind == LTL_FALSE || a->kind == LTL_FALSE || a == b)
        return b;
    return intern(p, LTL_UNTIL, 0, a, b);
}

struct ct_mon_ltl *ct_mon_ltl_release(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    if (b->kind == LTL_TRUE || b->kind == LTL_FALSE || a->kind == LTL_TRUE || a == b)
        return b;
    return intern(p, LTL_RELEASE, 0, a, b);
}

struct ct_mon_ltl *ct_mon_ltl_timed_again(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a,
                                          struct ct_mon_ltl *b, uint32_t index)
{
    return b->kind == LTL_FALSE ? b : intern(p, LTL_TIMED, index, a, b);
}

struct ct_mon_ltl *ct_mon_ltl_timed(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b,
                                    struct ct_mon_ltl_interval within)
{
    uint32_t i = 0;
    while (i < p->nintervals && (p->intervals[i].from != within.from || p->intervals[i].to != within.to))
        i++;
    if (i == LTL_INTERVALS_MOST)
        return NULL;
    p->intervals[i] = within;
    p->nintervals += i == p->nintervals;
    return ct_mon_ltl_timed_again(p, a, b, i);
}

struct ct_mon_ltl *ct_mon_ltl_always(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a)
{
    return ct_mon_ltl_release(p, ct_mon_ltl_const(p, false), a);
}

struct ct_mon_ltl *ct_mon_ltl_eventually(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a)
{
    return ct_mon_ltl_until(p, ct_mon_ltl_const(p, true), a);
}

struct ct_mon_ltl *ct_mon_ltl_at_least(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *f,
                                       uint32_t n, bool begins)
{
    struct ct_mon_ltl *r = ct_mon_ltl_const(p, true), *not_f = ct_mon_ltl_not(p, f);
    for (uint32_t i = 0; i < n; i++) {
        struct ct_mon_ltl *more = begins ? ct_mon_ltl_until(p, a, ct_mon_ltl_and(p, not_f, r))
                                         : ct_mon_ltl_and(p, a, ct_mon_ltl_next(p, r));
        r = ct_mon_ltl_until(p, a, i ? ct_mon_ltl_and(p, f, more) : f);
    }
    return r;
}

struct ct_mon_ltl *ct_mon_ltl_count_again(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a,
                                          struct ct_mon_ltl *f, uint32_t index)
{
    return f->kind == LTL_FALSE || a->kind == LTL_FALSE ? ct_mon_ltl_const(p, false)
                                                        : intern(p, LTL_COUNT, index, a, f);
}

struct ct_mon_ltl *ct_mon_ltl_count(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f,
                                    struct ct_mon_ltl_count count)
{
    if (p->ncounts == LTL_COUNTS_MOST)
        return NULL;
    p->counts[p->ncounts] = count;
    return ct_mon_ltl_count_again(p, ct_mon_ltl_const(p, true), f, p->ncounts++);
}

struct ct_mon_ltl *ct_mon_ltl_weak_until(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a,
                                         struct ct_mon_ltl *b)
{
    return ct_mon_ltl_release(p, b, ct_mon_ltl_or(p, a, b));
}

struct ct_mon_ltl *ct_mon_ltl_implies(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    return ct_mon_ltl_or(p, ct_mon_ltl_not(p, a), b);
}

static struct ct_mon_ltl *normal(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, bool negate)
{
    struct ct_mon_ltl *a, *b;
    switch (f->kind) {
    case LTL_NOT:
        return ct_mon_ltl_nnf(p, f->a, !negate);
    case LTL_NEXT: /* the whole word has no end, so next true is true */
        a = ct_mon_ltl_nnf(p, f->a, negate);
        return a->kind == LTL_TRUE ? a : ct_mon_ltl_next(p, a);
    case LTL_AND:
    case LTL_OR:
    case LTL_UNTIL:
    case LTL_RELEASE:
        a = ct_mon_ltl_nnf(p, f->a, negate);
        b = ct_mon_ltl_nnf(p, f->b, negate);
        if (f->kind == LTL_AND || f->kind == LTL_OR)
            return junction(p, (f->kind == LTL_AND) != negate ? LTL_AND : LTL_OR, a, b);
        return (f->kind == LTL_UNTIL) != negate ? ct_mon_ltl_until(p, a, b) : ct_mon_ltl_release(p, a, b);
    default:
        return negate ? ct_mon_ltl_not(p, f) : f;
    }
}

struct ct_mon_ltl *ct_mon_ltl_nnf(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, bool negate)
{
    struct ct_mon_ltl **memo = negate ? &f->negative : &f->positive;
    if (!*memo)
        *memo = normal(p, f, negate);
    return *memo;
}
