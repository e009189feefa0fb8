/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes and exceptions of SALT, rewritten to formulas over the whole word (Bauer, Leucker, Streit: SALT,
 * 2006; the operators stop, accept and reject of SALT--). */
#include "monitor/ltl.h"

enum rewriting {
    STOP_BEFORE, /* the word ends before the step of b */
    STOP_WITH,   /* the word ends with the step of b */
    STOP_NOW,    /* the word has no step at all */
    ACCEPT,
    REJECT,
    REWRITINGS
};

struct rewrite {
    struct ct_mon_ltl_pool *pool;
    struct ct_mon_ltl *b, *not_b;
    struct ct_mon_ltl **made[REWRITINGS]; /* by id of the original formula */
};

static struct ct_mon_ltl *rewrite(struct rewrite *r, struct ct_mon_ltl *f, enum rewriting how);

/* Rewrites a future operator whose operands are rewritten already. */
static struct ct_mon_ltl *bounded(struct rewrite *r, const struct ct_mon_ltl *f, enum rewriting how,
                                  struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    struct ct_mon_ltl_pool *p = r->pool;
    const enum ct_mon_ltl_kind kind = f->kind;
    if (how == STOP_NOW)
        return ct_mon_ltl_const(p, kind == LTL_RELEASE);
    if (kind == LTL_NEXT) {
        if (how == STOP_BEFORE)
            return ct_mon_ltl_next(p, ct_mon_ltl_and(p, r->not_b, a));
        a = ct_mon_ltl_next(p, a);
        return how == ACCEPT ? ct_mon_ltl_or(p, r->b, a) : ct_mon_ltl_and(p, r->not_b, a);
    }
    const bool until = kind != LTL_RELEASE;
    if (how == STOP_BEFORE || how == STOP_WITH)
        a = until ? ct_mon_ltl_and(p, r->not_b, a) : ct_mon_ltl_or(p, r->b, a);
    if (how == STOP_BEFORE)
        b = until ? ct_mon_ltl_and(p, r->not_b, b) : ct_mon_ltl_or(p, r->b, b);
    p->count_aborted |= kind == LTL_COUNT && (how == ACCEPT || how == REJECT);
    return kind == LTL_TIMED   ? ct_mon_ltl_timed_again(p, a, b, f->index)
           : kind == LTL_COUNT ? ct_mon_ltl_count_again(p, a, b, f->index)
           : until             ? ct_mon_ltl_until(p, a, b)
                               : ct_mon_ltl_release(p, a, b);
}

static struct ct_mon_ltl *rewritten(struct rewrite *r, struct ct_mon_ltl *f, enum rewriting how)
{
    struct ct_mon_ltl_pool *p = r->pool;
    struct ct_mon_ltl *a;
    if (p->count > LTL_FORMULAS_MOST)
        return f;
    switch (f->kind) {
    case LTL_NOT:
        how = how == ACCEPT ? REJECT : how == REJECT ? ACCEPT : how;
        return ct_mon_ltl_not(p, rewrite(r, f->a, how));
    case LTL_AND:
    case LTL_OR:
        a = rewrite(r, f->a, how);
        return f->kind == LTL_AND ? ct_mon_ltl_and(p, a, rewrite(r, f->b, how))
                                  : ct_mon_ltl_or(p, a, rewrite(r, f->b, how));
    case LTL_NEXT:
    case LTL_UNTIL:
    case LTL_RELEASE:
    case LTL_TIMED:
    case LTL_COUNT:
        a = rewrite(r, f->a, how);
        return bounded(r, f, how, a, f->b ? rewrite(r, f->b, how) : NULL);
    default:
        return how == ACCEPT ? ct_mon_ltl_or(p, f, r->b) : how == REJECT ? ct_mon_ltl_and(p, f, r->not_b) : f;
    }
}

static struct ct_mon_ltl *rewrite(struct rewrite *r, struct ct_mon_ltl *f, enum rewriting how)
{
    struct ct_mon_ltl **made = &r->made[how][f->id];
    if (!*made)
        *made = rewritten(r, f, how);
    return *made;
}

static struct rewrite begin(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *b)
{
    struct rewrite r = {.pool = p, .b = b, .not_b = ct_mon_ltl_not(p, b)};
    for (unsigned i = 0; i < REWRITINGS; i++)
        r.made[i] = ARENA_ARRAY(p->arena, struct ct_mon_ltl *, p->count);
    return r;
}

struct ct_mon_ltl *ct_mon_ltl_upto(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, struct ct_mon_ltl *b,
                                   bool inclusive)
{
    struct rewrite r = begin(p, b);
    if (inclusive)
        return rewrite(&r, f, STOP_WITH);
    return ct_mon_ltl_or(p, ct_mon_ltl_and(p, b, rewrite(&r, f, STOP_NOW)),
                         ct_mon_ltl_and(p, r.not_b, rewrite(&r, f, STOP_BEFORE)));
}

struct ct_mon_ltl *ct_mon_ltl_abort(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, struct ct_mon_ltl *b,
                                    bool accept)
{
    struct rewrite r = begin(p, b);
    return rewrite(&r, f, accept ? ACCEPT : REJECT);
}
