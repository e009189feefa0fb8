/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the past (docs/tessla-language.md B.6, step 1): each remembers one bit of the step before. The
 * bits are atoms of the formula that no letter shows. A formula beside it, the history, says what they are,
 * so that the construction knows what the past leaves possible. */
#include "monitor/ltl.h"

bool ct_mon_ltl_is_past(const struct ct_mon_ltl *f)
{
    return f->kind < LTL_NEXT && (!f->a || ct_mon_ltl_is_past(f->a)) && (!f->b || ct_mon_ltl_is_past(f->b));
}

static struct ct_mon_ltl *remembered(struct ct_mon_ltl_pool *p, uint32_t number)
{
    return ct_mon_ltl_atom(p, LTL_ATOMS_MOST + number);
}

/* Makes room for a bit. NULL when there is none. */
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

static struct ct_mon_ltl *once(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f)
{
    return ct_mon_ltl_since(p, ct_mon_ltl_const(p, true), f);
}

struct ct_mon_ltl *ct_mon_ltl_past_at_least(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, uint32_t n)
{
    struct ct_mon_ltl *r = ct_mon_ltl_const(p, true);
    for (uint32_t i = 0; i < n; i++)
        r = once(p, i ? ct_mon_ltl_and(p, f, ct_mon_ltl_previous(p, r)) : f);
    return r;
}

struct ct_mon_ltl *ct_mon_ltl_past_begins(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, uint32_t n)
{
    struct ct_mon_ltl *r = ct_mon_ltl_const(p, true), *not_f = ct_mon_ltl_not(p, f);
    for (uint32_t i = 0; i < n; i++)
        r = once(p, i ? ct_mon_ltl_and(p, f, once(p, ct_mon_ltl_and(p, not_f, r))) : f);
    return r;
}

struct ct_mon_ltl *ct_mon_ltl_history(struct ct_mon_ltl_pool *p)
{
    struct ct_mon_ltl *h = ct_mon_ltl_const(p, true);
    for (uint32_t i = 0; i < p->nmemory; i++) {
        struct ct_mon_ltl *m = remembered(p, i), *u = p->memory[i].update;
        struct ct_mon_ltl *kept =
            ct_mon_ltl_or(p, ct_mon_ltl_and(p, u, ct_mon_ltl_next(p, m)),
                          ct_mon_ltl_and(p, ct_mon_ltl_not(p, u), ct_mon_ltl_next(p, ct_mon_ltl_not(p, m))));
        h = ct_mon_ltl_and(p, h, ct_mon_ltl_and(p, ct_mon_ltl_not(p, m), ct_mon_ltl_always(p, kept)));
    }
    return h;
}
