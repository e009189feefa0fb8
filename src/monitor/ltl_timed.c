/* SPDX-License-Identifier: Apache-2.0 */
/* Timed operators with one clock each (docs/tessla-language.md B.6, step 0). A formula f required at the
 * first step is pushed inwards as "f at each step at which the guard holds", where the guard is a past
 * formula. A timed operator then needs to remember only one time: the first or the last at which its guard
 * held. */
#include "monitor/ltl.h"

struct timed {
    struct ct_mon_ltl_pool *pool;
    const struct ct_mon_ltl_clocks *clocks;
    struct ct_mon_ltl *first; /* formula that holds only at the first step */
    bool failed;
};

/* A requirement: f, or its negation, at each step at which the guard holds. */
struct demand {
    struct ct_mon_ltl *guard, *f;
    bool negate;
    bool single; /* the guard holds at exactly one step */
};

static struct ct_mon_ltl *spread(struct timed *t, struct demand d);

static struct ct_mon_ltl *refuse(struct timed *t)
{
    t->failed = true;
    return ct_mon_ltl_const(t->pool, false);
}

static struct ct_mon_ltl *signed_formula(struct timed *t, struct ct_mon_ltl *f, bool negate)
{
    return negate ? ct_mon_ltl_not(t->pool, f) : f;
}

/* Makes the formula that f holds wherever the guard does. */
static struct ct_mon_ltl *guarded(struct timed *t, struct ct_mon_ltl *guard, struct ct_mon_ltl *f)
{
    return guard == t->first ? f : ct_mon_ltl_always(t->pool, ct_mon_ltl_implies(t->pool, guard, f));
}

static struct ct_mon_ltl *not_before(struct timed *t, struct ct_mon_ltl *a)
{
    return ct_mon_ltl_not(t->pool, ct_mon_ltl_previous(t->pool, a));
}

static struct ct_mon_ltl *junction(struct timed *t, struct demand d)
{
    struct ct_mon_ltl *f = d.f;
    struct demand a = d, b = d;
    a.f = f->a;
    b.f = f->b;
    if ((f->kind == LTL_AND) != d.negate) {
        struct ct_mon_ltl *left = spread(t, a);
        return ct_mon_ltl_and(t->pool, left, spread(t, b));
    }
    if (d.single) {
        struct ct_mon_ltl *left = spread(t, a);
        return ct_mon_ltl_or(t->pool, left, spread(t, b));
    }
    if (b.f->past) {
        a.f = f->b;
        b.f = f->a;
    }
    if (!a.f->past)
        return refuse(t);
    b.guard = ct_mon_ltl_and(t->pool, d.guard, signed_formula(t, a.f, !d.negate));
    return spread(t, b);
}

/* Pushes a demand into an until or a release: b is required at each step from the guard on, up to a. */
static struct ct_mon_ltl *stretch(struct timed *t, struct demand d)
{
    if ((d.f->kind == LTL_UNTIL) != d.negate) {
        if (!d.single)
            return refuse(t);
        d.negate = !d.negate;
        return ct_mon_ltl_not(t->pool, spread(t, d));
    }
    if (!d.f->a->past)
        return refuse(t);
    struct ct_mon_ltl *end = signed_formula(t, d.f->a, d.negate);
    d.guard = ct_mon_ltl_since(t->pool, not_before(t, end), d.guard);
    d.f = d.f->b;
    d.single = false;
    return spread(t, d);
}

/* Registers a clock once. Returns its atom. */
static struct ct_mon_ltl *note(struct timed *t, struct ct_mon_ltl_clock clock)
{
    struct ct_mon_ltl_pool *p = t->pool;
    bool known = p->nclocks == LTL_CLOCKS_MOST || clock.atom->kind != LTL_ATOM;
    for (uint32_t i = 0; i < p->nclocks; i++)
        known |= p->clocks[i].atom == clock.atom;
    if (!known)
        p->clocks[p->nclocks++] = clock;
    return clock.atom;
}

static struct ct_mon_ltl *recent(struct timed *t, struct ct_mon_ltl *b, int64_t time)
{
    return note(t, (struct ct_mon_ltl_clock){NULL, b, t->clocks->recent(t->clocks->user, b, time), time});
}

static struct ct_mon_ltl *held(struct timed *t, struct ct_mon_ltl *a, struct ct_mon_ltl *b, int64_t time)
{
    return note(t, (struct ct_mon_ltl_clock){a, b, t->clocks->held(t->clocks->user, a, b, time), time});
}

/* Returns the atom that the single guard held less than `time` ago. It is true for a while from the guard on
 * and never again, which is added to pool.known. */
static struct ct_mon_ltl *window(struct timed *t, struct ct_mon_ltl *guard, int64_t time)
{
    struct ct_mon_ltl_pool *p = t->pool;
    struct ct_mon_ltl *y = recent(t, guard, time), *not_y = ct_mon_ltl_not(p, y);
    struct ct_mon_ltl *over = ct_mon_ltl_weak_until(p, y, ct_mon_ltl_always(p, not_y));
    struct ct_mon_ltl *known = ct_mon_ltl_and(p, guarded(t, guard, y), ct_mon_ltl_weak_until(p, not_y, over));
    p->known = p->known ? ct_mon_ltl_and(p, p->known, known) : known;
    return y;
}

/* Makes the formula that b holds within the interval after the single guard. */
static struct ct_mon_ltl *in_window(struct timed *t, struct ct_mon_ltl *guard, struct ct_mon_ltl *b,
                                    struct ct_mon_ltl_interval within)
{
    struct ct_mon_ltl_pool *p = t->pool;
    if (within.to != LTL_NO_END)
        b = ct_mon_ltl_and(p, b, window(t, guard, within.to));
    if (within.from)
        b = ct_mon_ltl_and(p, b, ct_mon_ltl_not(p, window(t, guard, within.from)));
    return b;
}

/* Makes a count that is required at one step. If required at several steps, each would need its own
 * counter. */
static struct ct_mon_ltl *count_once(struct timed *t, struct demand d)
{
    struct ct_mon_ltl_pool *p = t->pool;
    const struct ct_mon_ltl_count count = p->counts[d.f->index];
    if (!d.single || d.f->a->timed || d.f->b->timed)
        return refuse(t);
    struct ct_mon_ltl *b = in_window(t, d.guard, d.f->b, count.within);
    struct ct_mon_ltl *enough = ct_mon_ltl_at_least(p, d.f->a, b, count.least, count.begins);
    return guarded(t, d.guard, signed_formula(t, enough, d.negate));
}

/* Makes a timed until that is required at one step, so the time since then is known. */
static struct ct_mon_ltl *timed_once(struct timed *t, struct demand d, struct ct_mon_ltl_interval within)
{
    struct ct_mon_ltl_pool *p = t->pool;
    struct ct_mon_ltl *b = in_window(t, d.guard, d.f->b, within);
    return guarded(t, d.guard, signed_formula(t, ct_mon_ltl_until(p, d.f->a, b), d.negate));
}

/* Makes the formula that a until b within the time is false wherever the guard holds. */
static struct ct_mon_ltl *forbidden(struct timed *t, struct demand d, struct ct_mon_ltl_interval within)
{
    struct ct_mon_ltl_pool *p = t->pool;
    struct ct_mon_ltl *a = d.f->a, *on;
    if (!a->past || (within.from && within.to != LTL_NO_END))
        return refuse(t);
    struct ct_mon_ltl *kept = a->kind == LTL_TRUE ? a : ct_mon_ltl_previous(p, a);
    if (within.from)
        on = held(t, kept, d.guard, within.from);
    else
        on = ct_mon_ltl_and(p, ct_mon_ltl_since(p, kept, d.guard), recent(t, d.guard, within.to));
    return ct_mon_ltl_always(p, ct_mon_ltl_implies(p, on, ct_mon_ltl_not(p, d.f->b)));
}

/* Makes the formula that a until b within the time is true wherever the guard holds. */
static struct ct_mon_ltl *required(struct timed *t, struct demand d, struct ct_mon_ltl_interval within)
{
    struct ct_mon_ltl_pool *p = t->pool;
    struct ct_mon_ltl *a = d.f->a, *b = d.f->b;
    if (!within.from) { /* no guard stays that long without b */
        if (!b->past)
            return refuse(t);
        struct ct_mon_ltl *late = held(t, not_before(t, b), d.guard, within.to);
        struct ct_mon_ltl *in_time = ct_mon_ltl_always(p, ct_mon_ltl_not(p, late));
        return a->kind == LTL_TRUE
                   ? in_time
                   : ct_mon_ltl_and(p, in_time, guarded(t, d.guard, ct_mon_ltl_until(p, a, b)));
    }
    if (within.to != LTL_NO_END || a->kind != LTL_TRUE)
        return refuse(t);
    /* after the last guard b comes late enough, or both recur for ever */
    struct ct_mon_ltl *far = ct_mon_ltl_not(p, recent(t, d.guard, within.from));
    struct ct_mon_ltl *last = guarded(t, d.guard, ct_mon_ltl_eventually(p, ct_mon_ltl_and(p, b, far)));
    struct ct_mon_ltl *again = ct_mon_ltl_and(p, ct_mon_ltl_always(p, ct_mon_ltl_eventually(p, d.guard)),
                                              ct_mon_ltl_always(p, ct_mon_ltl_eventually(p, b)));
    return ct_mon_ltl_or(p, last, again);
}

static struct ct_mon_ltl *spread(struct timed *t, struct demand d)
{
    if (t->failed || t->pool->count > LTL_FORMULAS_MOST || t->pool->memory_full)
        return ct_mon_ltl_const(t->pool, false);
    if (!d.f->timed)
        return guarded(t, d.guard, signed_formula(t, d.f, d.negate));
    switch (d.f->kind) {
    case LTL_NOT:
        d.f = d.f->a;
        d.negate = !d.negate;
        return spread(t, d);
    case LTL_AND:
    case LTL_OR:
        return junction(t, d);
    case LTL_NEXT:
        d.guard = ct_mon_ltl_previous(t->pool, d.guard);
        d.f = d.f->a;
        return spread(t, d);
    case LTL_UNTIL:
    case LTL_RELEASE:
        return stretch(t, d);
    case LTL_COUNT:
        return count_once(t, d);
    default:
        break;
    }
    const struct ct_mon_ltl_interval within = t->pool->intervals[d.f->index];
    if (d.f->a->timed || d.f->b->timed)
        return refuse(t);
    return d.single ? timed_once(t, d, within) : d.negate ? forbidden(t, d, within) : required(t, d, within);
}

struct ct_mon_ltl *ct_mon_ltl_untimed(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f,
                                      const struct ct_mon_ltl_clocks *clocks)
{
    struct timed t = {.pool = p, .clocks = clocks};
    if (!f->timed)
        return f;
    t.first = ct_mon_ltl_not(p, ct_mon_ltl_previous(p, ct_mon_ltl_const(p, true)));
    struct ct_mon_ltl *r = spread(&t, (struct demand){t.first, f, false, true});
    return t.failed ? NULL : r;
}

/* Makes the formula that relates a clock's atom to the next step, which is at least one unit of time
 * later. */
static struct ct_mon_ltl *foreseen(struct ct_mon_ltl_pool *p, const struct ct_mon_ltl_clocks *clocks,
                                   const struct ct_mon_ltl_clock *clock)
{
    struct ct_mon_ltl *now, *then;
    const int64_t time = clock->time - 1;
    if (clock->a) { /* if it held that long and still holds, it will have held longer */
        now = time ? clocks->held(clocks->user, clock->a, clock->b, time)
                   : ct_mon_ltl_since(p, clock->a, clock->b);
        then = ct_mon_ltl_implies(p, clock->a, clock->atom);
    } else { /* what is that long ago will be too long ago, unless it recurs */
        now = time ? ct_mon_ltl_not(p, clocks->recent(clocks->user, clock->b, time))
                   : ct_mon_ltl_const(p, true);
        then = ct_mon_ltl_implies(p, clock->atom, clock->b);
    }
    return ct_mon_ltl_always(p, ct_mon_ltl_implies(p, now, ct_mon_ltl_next(p, then)));
}

void ct_mon_ltl_foresee(struct ct_mon_ltl_pool *p, const struct ct_mon_ltl_clocks *clocks)
{
    for (uint32_t i = 0; i < p->nclocks && clocks->has_room(clocks->user); i++) {
        struct ct_mon_ltl *fact = foreseen(p, clocks, &p->clocks[i]);
        p->known = p->known ? ct_mon_ltl_and(p, p->known, fact) : fact;
    }
}
