/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions as formulas. An expression is made together with its rest: the formula that must hold
 * at the step after its last one. A rest of NULL requires nothing, so the match alone is enough and no
 * further step is needed. */
#include "monitor/watch_ltl.h"

/* The formula being built, and its environment. */
struct match {
    struct ct_mon_formula *f;
    struct ct_mon_wenv *env;
};

static struct ct_mon_ltl_pool *pool(const struct match *m)
{
    return &m->f->pool;
}

/* Makes the formula of one step. Unless it is the last step, it must be decided by the word up to the
 * step. */
static struct ct_mon_ltl *one_step(const struct match *m, const struct ct_mon_wx *x, bool last)
{
    struct ct_mon_ltl *a = ct_mon_formula_build(m->f, m->env, x);
    if (!last)
        ct_mon_formula_check_past(m->f, x, a, "in a regular expression, before its last step");
    return a;
}

/* Makes the formula of a repeated step. */
static struct ct_mon_ltl *repeated_step(const struct match *m, const struct ct_mon_wx *x)
{
    if (x->kind < WX_SEQUENCE)
        return one_step(m, x, false);
    ct_mon_watch_error(m->f->w, x->span, "Only an expression of one step can be repeated");
    return ct_mon_formula_fail(m->f);
}

static struct ct_mon_ltl *then(const struct match *m, struct ct_mon_ltl *a, struct ct_mon_ltl *rest)
{
    return rest ? ct_mon_ltl_and(pool(m), a, ct_mon_ltl_next(pool(m), rest)) : a;
}

static struct ct_mon_ltl *either(const struct match *m, struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    return a && b ? ct_mon_ltl_or(pool(m), a, b) : NULL;
}

/* Returns whether an expression may match zero steps. */
static bool may_be_empty(const struct match *m, const struct ct_mon_wx *x)
{
    switch (x->kind) {
    case WX_SEQUENCE:
        return may_be_empty(m, x->args[0]) && may_be_empty(m, x->args[1]);
    case WX_EITHER:
        return may_be_empty(m, x->args[0]) || may_be_empty(m, x->args[1]);
    case WX_REPEAT:
        return ct_mon_formula_range(m->f, m->env, x).low == 0;
    default:
        return false;
    }
}

/* Makes the formula of up to `more` steps of a, then the rest. STEPS_NO_END: any number of steps. */
static struct ct_mon_ltl *optional_steps(const struct match *m, struct ct_mon_ltl *a, int64_t more,
                                         struct ct_mon_ltl *rest)
{
    if (!rest)
        return NULL;
    if (more == STEPS_NO_END)
        return ct_mon_ltl_until(pool(m), a, rest);
    struct ct_mon_ltl *g = rest;
    for (int64_t i = 0; i < more; i++)
        g = ct_mon_ltl_or(pool(m), rest, then(m, a, g));
    return g;
}

/* Makes the formula of a repetition. `some`: of at least one step. */
static struct ct_mon_ltl *repeat(const struct match *m, const struct ct_mon_wx *x, struct ct_mon_ltl *rest,
                                 bool some)
{
    const struct ct_mon_steps r = ct_mon_formula_range(m->f, m->env, x);
    struct ct_mon_ltl *a = repeated_step(m, x->args[0]);
    const int64_t low = some && !r.low ? 1 : r.low;
    if (m->f->failed || (r.high != STEPS_NO_END && r.high < low))
        return ct_mon_ltl_const(pool(m), false);
    struct ct_mon_ltl *g = optional_steps(m, a, r.high == STEPS_NO_END ? STEPS_NO_END : r.high - low, rest);
    for (int64_t i = 0; i < low; i++)
        g = then(m, a, g);
    return g;
}

static struct ct_mon_ltl *overlap(const struct match *m, const struct ct_mon_wx *x, struct ct_mon_ltl *last);

/* Makes the formula that x matches and the rest holds after it. NULL: x may match zero steps and has no rest.
 * `some`: x has to match at least one step. */
static struct ct_mon_ltl *match(const struct match *m, const struct ct_mon_wx *x, struct ct_mon_ltl *rest,
                                bool some)
{
    switch (x->kind) {
    case WX_SEQUENCE: {
        struct ct_mon_ltl *g = match(m, x->args[0], match(m, x->args[1], rest, false), some);
        if (some && may_be_empty(m, x->args[0]))
            g = either(m, g, match(m, x->args[1], rest, true));
        return g;
    }
    case WX_EITHER:
        return either(m, match(m, x->args[0], rest, some), match(m, x->args[1], rest, some));
    case WX_REPEAT:
        return repeat(m, x, rest, some);
    case WX_OVERLAP:
        return overlap(m, x->args[0], match(m, x->args[1], rest, true));
    default:
        return then(m, one_step(m, x, !rest), rest);
    }
}

/* Makes the formula that x matches at least one step, and `last` holds at the last one. */
static struct ct_mon_ltl *overlap(const struct match *m, const struct ct_mon_wx *x, struct ct_mon_ltl *last)
{
    switch (x->kind) {
    case WX_SEQUENCE: {
        struct ct_mon_ltl *g = match(m, x->args[0], overlap(m, x->args[1], last), false);
        return may_be_empty(m, x->args[1]) ? either(m, g, overlap(m, x->args[0], last)) : g;
    }
    case WX_EITHER:
        return either(m, overlap(m, x->args[0], last), overlap(m, x->args[1], last));
    case WX_OVERLAP:
        return overlap(m, x->args[0], overlap(m, x->args[1], last));
    case WX_REPEAT: {
        const struct ct_mon_steps r = ct_mon_formula_range(m->f, m->env, x);
        struct ct_mon_ltl *a = repeated_step(m, x->args[0]);
        struct ct_mon_ltl *end = ct_mon_ltl_and(pool(m), a, last);
        const int64_t before = r.low ? r.low - 1 : 0;
        if (m->f->failed || !r.high)
            return ct_mon_ltl_const(pool(m), false);
        struct ct_mon_ltl *g =
            optional_steps(m, a, r.high == STEPS_NO_END ? STEPS_NO_END : r.high - 1 - before, end);
        for (int64_t i = 0; i < before; i++)
            g = then(m, a, g);
        return g;
    }
    default:
        return ct_mon_ltl_and(pool(m), one_step(m, x, false), last);
    }
}

struct ct_mon_ltl *ct_mon_formula_regular(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                          const struct ct_mon_wx *x)
{
    const struct match m = {f, env};
    struct ct_mon_ltl *g = match(&m, x, NULL, false);
    return g ? g : ct_mon_ltl_const(&f->pool, true);
}
