/* SPDX-License-Identifier: Apache-2.0 */
/* monitor(...): formulas over streams (docs/tessla-language.md B.5). */
#include "monitor/big.h"
#include "monitor/watch_ltl.h"

struct ct_mon_ltl *ct_mon_formula_fail(struct ct_mon_formula *f)
{
    f->failed = true;
    return ct_mon_ltl_const(&f->pool, false);
}

struct ct_mon_ltl *ct_mon_formula_atom(struct ct_mon_formula *f, struct ct_mon_node *node, uint8_t kind,
                                       struct ct_mon_node *step, struct ct_mon_span at)
{
    for (uint32_t i = 0; i < f->natoms; i++)
        if (f->atoms[i] == node)
            return ct_mon_ltl_atom(&f->pool, i);
    if (f->natoms == LTL_ATOMS_MOST) {
        ct_mon_watch_error(f->w, at, "The formula uses more than %d different streams%s", LTL_ATOMS_MOST,
                           f->timed ? "; each of its clocks counts as one" : "");
        return ct_mon_formula_fail(f);
    }
    const uint32_t k = f->natoms++;
    f->atoms[k] = node;
    f->kinds[k] = kind;
    f->steps[k] = step;
    return ct_mon_ltl_atom(&f->pool, k);
}

/* Makes an atom of a stream. Everything except connectives is an atom. */
static struct ct_mon_ltl *atom(struct ct_mon_formula *f, struct ct_mon_wenv *env, const struct ct_mon_wx *x)
{
    struct ct_mon_elab *e = f->w->e;
    struct ct_mon_wv v = ct_mon_watch_lower(f->w, env, x, NULL);
    if (v.kind == WV_ERROR)
        return ct_mon_formula_fail(f);
    bool boolean = ct_mon_watch_type(v) == e->types.boolean;
    if (v.kind != WV_EVENTS && !boolean) {
        ct_mon_watch_error(
            f->w, x->span,
            "Type mismatch: Expected events or a signal of Bool in a formula, found a signal of %s",
            ct_mon_type_text(e->arena, ct_mon_watch_type(v)));
        return ct_mon_formula_fail(f);
    }
    if (v.kind == WV_CONST)
        return ct_mon_ltl_const(&f->pool, v.ir->value.v.i);
    struct ct_mon_node *step = v.node;
    if (v.kind == WV_SIGNAL) { /* a signal's first value is not a change */
        struct ct_mon_wv change = ct_mon_watch_library(f->w, "Wp", "changeOf", &v, 1, WV_EVENTS, x->span);
        if (change.kind == WV_ERROR)
            return ct_mon_formula_fail(f);
        step = change.node;
    }
    const uint8_t kind = v.kind == WV_SIGNAL ? ATOM_SIGNAL : boolean ? ATOM_BOOL : ATOM_EVENT;
    return ct_mon_formula_atom(f, v.node, kind, step, x->span);
}

enum {
    STEPS_MOST = 16,
};

/* Evaluates an end of a range: a constant of at most 16 steps. */
static int64_t steps(struct ct_mon_formula *f, struct ct_mon_wenv *env, const struct ct_mon_wx *x)
{
    const struct ct_mon_wv v = ct_mon_watch_lower(f->w, env, x, NULL);
    if (v.kind == WV_ERROR) {
        f->failed = true;
        return 0;
    }
    const bool constant = v.kind == WV_CONST && v.ir->type == f->w->e->types.integer && ir_is_const(v.ir);
    if (constant && !cell_is_big(&v.ir->value) && v.ir->value.v.i >= 0 && v.ir->value.v.i <= STEPS_MOST)
        return v.ir->value.v.i;
    ct_mon_watch_error(f->w, x->span, "A number of steps must be a constant from 0 to %d", STEPS_MOST);
    f->failed = true;
    return 0;
}

struct ct_mon_steps ct_mon_formula_range(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                         const struct ct_mon_wx *x)
{
    if (!x->low)
        return (struct ct_mon_steps){1, 1};
    const int64_t n = steps(f, env, x->low), m = x->high ? steps(f, env, x->high) : n;
    const struct ct_mon_steps r = x->op == T_LT   ? (struct ct_mon_steps){0, n - 1}
                                  : x->op == T_LE ? (struct ct_mon_steps){0, n}
                                  : x->op == T_GT ? (struct ct_mon_steps){n + 1, STEPS_NO_END}
                                  : x->op == T_GE ? (struct ct_mon_steps){n, STEPS_NO_END}
                                                  : (struct ct_mon_steps){n, m};
    if (!f->failed && r.low > r.high && (x->high || x->op == T_LT)) {
        ct_mon_watch_error(f->w, x->low->span, "The range of steps is empty");
        f->failed = true;
    }
    return r;
}

/* Makes the formula that a holds at some step of the range, where step 0 is the current one. */
static struct ct_mon_ltl *at_some_step(struct ct_mon_formula *f, const struct ct_mon_wx *x,
                                       struct ct_mon_steps r, struct ct_mon_ltl *a)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    struct ct_mon_ltl *(*const shift)(struct ct_mon_ltl_pool *, struct ct_mon_ltl *) =
        x->past ? ct_mon_ltl_previous : ct_mon_ltl_next;
    struct ct_mon_ltl *g = a;
    if (r.high == STEPS_NO_END)
        g = x->past ? ct_mon_ltl_once(p, a) : ct_mon_ltl_eventually(p, a);
    for (int64_t i = r.low; i < r.high; i++)
        g = ct_mon_ltl_or(p, a, shift(p, g));
    for (int64_t i = 0; i < r.low; i++)
        g = shift(p, g);
    return g;
}

static struct ct_mon_ltl *strong_until(struct ct_mon_formula *f, const struct ct_mon_wx *x,
                                       struct ct_mon_ltl *a, struct ct_mon_ltl *b,
                                       struct ct_mon_ltl_interval within)
{
    if (x->past)
        return ct_mon_formula_since(f, a, b, within);
    if (!within.from && within.to == LTL_NO_END)
        return ct_mon_ltl_until(&f->pool, a, b);
    struct ct_mon_ltl *r = ct_mon_ltl_timed(&f->pool, a, b, within);
    if (r)
        return r;
    ct_mon_watch_error(f->w, x->span, "The formula uses more than %d different times", LTL_INTERVALS_MOST);
    return ct_mon_formula_fail(f);
}

/* Makes the formula that `enough`, which stays true once it is, became true within a time. "Long
 * ago" needs one remembered time; "not long ago" would need as many as are counted, and is refused. */
static struct ct_mon_ltl *counted_in_past(struct ct_mon_formula *f, const struct ct_mon_wx *x,
                                          struct ct_mon_ltl *enough, struct ct_mon_ltl_interval within)
{
    if (within.to == LTL_NO_END)
        return ct_mon_formula_held(f, ct_mon_ltl_const(&f->pool, true), enough, within.from);
    if (!f->failed)
        ct_mon_watch_error(f->w, x->span,
                           "Counting more than one past step within a time would need several stored times; "
                           "expected '>=' or '>'");
    return ct_mon_formula_fail(f);
}

/* Makes the formula that a holds at n or more steps within the time; for `occurring`, that it begins to hold
 * n times. */
static struct ct_mon_ltl *at_least(struct ct_mon_formula *f, const struct ct_mon_wx *x, struct ct_mon_ltl *a,
                                   uint32_t n, struct ct_mon_ltl_interval within)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    struct ct_mon_ltl *any = ct_mon_ltl_const(p, true);
    const bool begins = x->kind == WX_OCCURRING, timed = within.from || within.to != LTL_NO_END;
    if (n == 0)
        return any;
    if (timed && n == 1)
        return strong_until(f, x, any, a, within);
    if (x->past) {
        struct ct_mon_ltl *enough =
            begins ? ct_mon_ltl_past_begins(p, a, n) : ct_mon_ltl_past_at_least(p, a, n);
        return timed ? counted_in_past(f, x, enough, within) : enough;
    }
    if (!timed)
        return ct_mon_ltl_at_least(p, any, a, n, begins);
    const struct ct_mon_ltl_count count = {within, n, begins};
    struct ct_mon_ltl *r = ct_mon_ltl_count(p, a, count);
    if (r)
        return r;
    ct_mon_watch_error(f->w, x->span, "The formula has more than %d counts within times", LTL_COUNTS_MOST);
    return ct_mon_formula_fail(f);
}

/* Makes the formula that the number of steps, or of beginnings, lies in the range. */
static struct ct_mon_ltl *counted(struct ct_mon_formula *f, const struct ct_mon_wx *x, struct ct_mon_steps r,
                                  struct ct_mon_ltl *a, struct ct_mon_ltl_interval within)
{
    struct ct_mon_ltl *enough = at_least(f, x, a, (uint32_t)r.low, within);
    if (r.high == STEPS_NO_END)
        return enough;
    return ct_mon_ltl_and(&f->pool, enough,
                          ct_mon_ltl_not(&f->pool, at_least(f, x, a, (uint32_t)r.high + 1, within)));
}

/* Makes a until b, with the ending that x requires. */
static struct ct_mon_ltl *until(struct ct_mon_formula *f, struct ct_mon_wenv *env, const struct ct_mon_wx *x,
                                struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    const struct ct_mon_ltl_interval within = ct_mon_formula_interval(f, env, x);
    struct ct_mon_ltl *end = x->ending.inclusive ? ct_mon_ltl_and(p, a, b) : b;
    struct ct_mon_ltl *strong = strong_until(f, x, a, end, within);
    switch (x->ending.need) {
    case NEED_REQUIRED:
        return strong;
    case NEED_OPTIONAL:
        return ct_mon_ltl_implies(p, strong_until(f, x, ct_mon_ltl_const(p, true), b, within), strong);
    default:
        if (!x->past && !x->time)
            return ct_mon_ltl_weak_until(p, a, end);
        return ct_mon_ltl_or(p, strong,
                             x->past ? ct_mon_ltl_not(p, ct_mon_ltl_once(p, ct_mon_ltl_not(p, a)))
                                     : ct_mon_ltl_always(p, a));
    }
}

static struct ct_mon_ltl *releases(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                   const struct ct_mon_wx *x, struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    return ct_mon_ltl_not(p, until(f, env, x, ct_mon_ltl_not(p, a), ct_mon_ltl_not(p, b)));
}

bool ct_mon_formula_check_past(struct ct_mon_formula *f, const struct ct_mon_wx *x,
                               const struct ct_mon_ltl *a, const char *where)
{
    if (f->failed || a->past)
        return true;
    ct_mon_watch_error(
        f->w, x->span,
        "A formula about the future cannot be used %s; expected one about the present or the past", where);
    f->failed = true;
    return false;
}

static struct ct_mon_ltl *upto(struct ct_mon_formula *f, struct ct_mon_ltl *a, struct ct_mon_ltl *end,
                               struct ct_mon_ending how)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    struct ct_mon_ltl *scope = ct_mon_ltl_upto(p, a, end, how.inclusive),
                      *comes = ct_mon_ltl_eventually(p, end);
    return how.need == NEED_REQUIRED   ? ct_mon_ltl_and(p, comes, scope)
           : how.need == NEED_OPTIONAL ? ct_mon_ltl_implies(p, comes, scope)
                                       : scope;
}

static struct ct_mon_ltl *from(struct ct_mon_formula *f, struct ct_mon_ltl *a, struct ct_mon_ltl *start,
                               struct ct_mon_ending how)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    struct ct_mon_ltl *wait = ct_mon_ltl_not(p, start),
                      *begin = ct_mon_ltl_and(p, start, how.inclusive ? a : ct_mon_ltl_next(p, a));
    return how.need == NEED_REQUIRED ? ct_mon_ltl_until(p, wait, begin)
                                     : ct_mon_ltl_weak_until(p, wait, begin);
}

/* Makes formulas of scopes and exceptions. */
static struct ct_mon_ltl *scope(struct ct_mon_formula *f, struct ct_mon_wenv *env, const struct ct_mon_wx *x)
{
    struct ct_mon_ltl *a = ct_mon_formula_build(f, env, x->args[0]),
                      *b = ct_mon_formula_build(f, env, x->args[1]);
    const bool exception = x->kind == WX_ACCEPTON || x->kind == WX_REJECTON;
    if (!ct_mon_formula_check_past(f, x->args[1], b,
                                   exception ? "as an exception" : "as the limit of a scope"))
        return a;
    if (exception) {
        struct ct_mon_ltl *r = ct_mon_ltl_abort(&f->pool, a, b, x->kind == WX_ACCEPTON);
        if (!f->pool.count_aborted || f->failed)
            return r;
        ct_mon_watch_error(f->w, x->span,
                           "Steps are counted within a time, so an exception cannot decide the formula");
        return ct_mon_formula_fail(f);
    }
    if (x->kind == WX_UPTO)
        return upto(f, a, b, x->ending);
    if (x->kind == WX_BETWEEN && x->nargs > 2) {
        struct ct_mon_ltl *end = ct_mon_formula_build(f, env, x->args[2]);
        if (!ct_mon_formula_check_past(f, x->args[2], end, "as the limit of a scope"))
            return a;
        a = upto(f, a, end, x->ending);
    }
    return from(f, a, b, x->start);
}

static struct ct_mon_ltl *conditional(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                      const struct ct_mon_wx *x)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    if (x->nargs < 2)
        return ct_mon_formula_fail(f);
    struct ct_mon_ltl *c = ct_mon_formula_build(f, env, x->args[0]),
                      *then = ct_mon_ltl_implies(p, c, ct_mon_formula_build(f, env, x->args[1]));
    return x->nargs < 3
               ? then
               : ct_mon_ltl_and(p, then, ct_mon_ltl_or(p, c, ct_mon_formula_build(f, env, x->args[2])));
}

/* Makes the body for each element and combines the results. */
static struct ct_mon_ltl *each(struct ct_mon_formula *f, struct ct_mon_wenv *env, const struct ct_mon_wx *x)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    struct ct_mon_ltl *none = ct_mon_ltl_const(p, true), *one = ct_mon_ltl_const(p, false),
                      *all = ct_mon_ltl_const(p, true);
    for (size_t i = 1; i < x->nargs && !f->failed; i++) {
        struct ct_mon_wenv *inner = ARENA_NEW(f->w->e->arena, struct ct_mon_wenv);
        *inner = (struct ct_mon_wenv){.name = x->name, .x = x->args[i], .of = env, .next = env};
        struct ct_mon_ltl *a = ct_mon_formula_build(f, inner, x->args[0]), *not_a = ct_mon_ltl_not(p, a);
        one = ct_mon_ltl_or(p, ct_mon_ltl_and(p, one, not_a), ct_mon_ltl_and(p, none, a));
        none = ct_mon_ltl_and(p, none, not_a);
        all = ct_mon_ltl_and(p, all, a);
    }
    return x->each == EACH_ALL    ? all
           : x->each == EACH_NONE ? none
           : x->each == EACH_SOME ? ct_mon_ltl_not(p, none)
                                  : one;
}

/* Makes a prefix operator. */
static struct ct_mon_ltl *unary(struct ct_mon_formula *f, struct ct_mon_wenv *env, const struct ct_mon_wx *x)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    struct ct_mon_ltl *a = ct_mon_formula_build(f, env, x->args[0]);
    if (x->past && !ct_mon_formula_check_past(f, x->args[0], a, "inside a past operator"))
        return a;
    const struct ct_mon_ltl_interval within = ct_mon_formula_interval(f, env, x);
    struct ct_mon_ltl *any = ct_mon_ltl_const(p, true);
    if (x->kind == WX_EVENTUALLY)
        return strong_until(f, x, any, a, within);
    if (x->kind == WX_ALWAYS)
        return ct_mon_ltl_not(p, strong_until(f, x, any, ct_mon_ltl_not(p, a), within));
    if (x->kind == WX_NEVER)
        return ct_mon_ltl_not(p, strong_until(f, x, any, a, within));
    if (x->kind == WX_NEXT && x->time && x->past)
        return ct_mon_ltl_and(p, ct_mon_ltl_previous(p, a), ct_mon_formula_pace(f, within));
    if (x->kind == WX_NEXT && x->time)
        return ct_mon_ltl_next(p, ct_mon_ltl_and(p, a, ct_mon_formula_pace(f, within)));
    struct ct_mon_steps r = ct_mon_formula_range(f, env, x);
    if (f->failed)
        return a;
    if (x->kind == WX_HOLDING || x->kind == WX_OCCURRING)
        return counted(f, x, r, a, within);
    if (x->kind == WX_WITHIN && x->op == T_ASSIGN && !x->high)
        r.low = 0;
    return at_some_step(f, x, r, a);
}

static struct ct_mon_ltl *binary(struct ct_mon_formula *f, struct ct_mon_wenv *env, const struct ct_mon_wx *x)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    struct ct_mon_ltl *a = ct_mon_formula_build(f, env, x->args[0]),
                      *b = ct_mon_formula_build(f, env, x->args[1]);
    static const char where[] = "inside a past operator";
    if (x->past && !(ct_mon_formula_check_past(f, x->args[0], a, where) &&
                     ct_mon_formula_check_past(f, x->args[1], b, where)))
        return a;
    switch (x->kind) {
    case WX_AND:
        return ct_mon_ltl_and(p, a, b);
    case WX_OR:
        return ct_mon_ltl_or(p, a, b);
    case WX_IMPLIES:
        return ct_mon_ltl_implies(p, a, b);
    case WX_IFF:
        return ct_mon_ltl_or(p, ct_mon_ltl_and(p, a, b),
                             ct_mon_ltl_and(p, ct_mon_ltl_not(p, a), ct_mon_ltl_not(p, b)));
    case WX_UNTIL:
        return until(f, env, x, a, b);
    case WX_RELEASES:
        return releases(f, env, x, a, b);
    default: /* WX_BEFORE */
        return until(f, env, x, ct_mon_ltl_not(p, b), a);
    }
}

/* Makes the formula of a name or macro. */
static struct ct_mon_ltl *expand(struct ct_mon_formula *f, struct ct_mon_wenv *env, const struct ct_mon_wx *x)
{
    struct ct_mon_watch *w = f->w;
    struct ct_mon_wenv *inner = NULL;
    for (; x->kind == WX_NAME && env; env = env->next)
        if (env->name == x->name)
            return ct_mon_formula_build(f, env->of, env->x);
    const struct ct_mon_wdef *d = ct_mon_watch_find(w, x->name);
    if (!d || d->has_params != (x->kind == WX_CALL)) /* atom() reports what is wrong */
        return atom(f, env, x);
    if (w->depth >= WATCH_DEPTH_MOST) {
        ct_mon_watch_error(w, x->span, "Infinite recursion detected: %s is defined by itself", d->name);
        return ct_mon_formula_fail(f);
    }
    if (x->kind == WX_CALL && !ct_mon_watch_bind(w, env, x, d, &inner))
        return ct_mon_formula_fail(f);
    w->depth++;
    struct ct_mon_ltl *r = ct_mon_formula_build(f, inner, d->body);
    w->depth--;
    return r;
}

struct ct_mon_ltl *ct_mon_formula_build(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                        const struct ct_mon_wx *x)
{
    if (f->failed || f->pool.count > LTL_FORMULAS_MOST)
        return ct_mon_ltl_const(&f->pool, false);
    if (!ct_mon_elab_step(f->w->e, x->span))
        return ct_mon_formula_fail(f);
    switch (x->kind) {
    case WX_AND:
    case WX_OR:
    case WX_IMPLIES:
    case WX_IFF:
    case WX_UNTIL:
    case WX_RELEASES:
    case WX_BEFORE:
        return binary(f, env, x);
    case WX_NOT:
        return ct_mon_ltl_not(&f->pool, ct_mon_formula_build(f, env, x->args[0]));
    case WX_ALWAYS:
    case WX_EVENTUALLY:
    case WX_NEVER:
    case WX_NEXT:
    case WX_HOLDING:
    case WX_OCCURRING:
    case WX_WITHIN:
        return unary(f, env, x);
    case WX_UPTO:
    case WX_FROM:
    case WX_BETWEEN:
    case WX_ACCEPTON:
    case WX_REJECTON:
        return scope(f, env, x);
    case WX_IF:
        return conditional(f, env, x);
    case WX_EACH:
        return each(f, env, x);
    case WX_REGULAR:
        return ct_mon_formula_regular(f, env, x->args[0]);
    case WX_BOOL:
        return ct_mon_ltl_const(&f->pool, x->integer);
    case WX_NAME:
    case WX_CALL:
        if (ct_mon_watch_is_temporal(f->w, env, x))
            return expand(f, env, x);
        return atom(f, env, x);
    default:
        return atom(f, env, x);
    }
}

bool ct_mon_watch_is_temporal(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x)
{
    if (x->kind >= WX_IFF || !ct_mon_elab_step(w->e, x->span))
        return true;
    for (struct ct_mon_wenv *e = env; x->kind == WX_NAME && e; e = e->next)
        if (e->name == x->name)
            return !e->stream && ct_mon_watch_is_temporal(w, e->of, e->x);
    for (size_t i = 0; x->kind != WX_MONITOR && i < x->nargs; i++)
        if (ct_mon_watch_is_temporal(w, env, x->args[i]))
            return true;
    if (x->kind != WX_NAME && x->kind != WX_CALL)
        return false;
    struct ct_mon_wdef *d = ct_mon_watch_find(w, x->name);
    if (!d || (x->kind == WX_CALL && !d->has_params))
        return false;
    if (d->temporal == TEMPORAL_UNKNOWN) {
        d->temporal = TEMPORAL_NOT;
        if (ct_mon_watch_is_temporal(w, NULL, d->body))
            d->temporal = TEMPORAL;
    }
    return d->temporal == TEMPORAL;
}

/* Returns the stream of the explicit clock. NULL: there is none, or after an error. */
static struct ct_mon_node *clock_node(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                      const struct ct_mon_wx *x)
{
    if (x->clock_all)
        return ct_mon_node_tick(&f->w->e->graph);
    if (!x->clock)
        return NULL;
    struct ct_mon_wv v = ct_mon_watch_lower(f->w, env, x->clock, NULL);
    if (v.kind == WV_SIGNAL)
        v = ct_mon_watch_library(f->w, "Wp", "changeOf", &v, 1, WV_EVENTS, x->clock->span);
    if (v.kind == WV_CONST)
        v = ct_mon_watch_error(f->w, x->clock->span,
                               "Type mismatch: Expected events as the clock, found a constant");
    f->failed |= v.kind == WV_ERROR;
    return v.kind == WV_ERROR ? NULL : v.node;
}

/* Lists the machine's inputs: the atoms, then the streams whose events trigger the steps. */
static uint32_t inputs(const struct ct_mon_formula *f, struct ct_mon_node *clock, struct ct_mon_node **args)
{
    uint32_t n = 0;
    while (n < f->natoms) {
        args[n] = f->atoms[n];
        n++;
    }
    if (clock)
        args[n++] = clock;
    for (uint32_t i = 0; i < f->natoms && !clock; i++)
        if (f->steps[i])
            args[n++] = f->steps[i];
    return n;
}

/* Makes a stream with an event at each step. */
static struct ct_mon_node *every_step(struct ct_mon_formula *f, struct ct_mon_node *clock)
{
    struct ct_mon_wv v = {.kind = WV_EVENTS, .node = clock};
    if (clock)
        return clock;
    for (uint32_t i = 0; i < f->natoms && v.kind != WV_ERROR; i++) {
        struct ct_mon_wv args[2] = {v, {.kind = WV_EVENTS, .node = f->steps[i]}};
        v = !i ? args[1] : ct_mon_watch_library(f->w, NULL, "mergeUnit", args, 2, WV_EVENTS, f->span);
    }
    f->failed |= v.kind == WV_ERROR;
    return v.node ? v.node : ct_mon_node_nil(&f->w->e->graph, f->w->e->types.unit);
}

static bool has_room(void *formula)
{
    const struct ct_mon_formula *f = formula;
    return f->natoms < LTL_ATOMS_MOST && !f->failed;
}

static struct ct_mon_ltl_clocks clocks_of(struct ct_mon_formula *f)
{
    return (struct ct_mon_ltl_clocks){ct_mon_formula_held, ct_mon_formula_recent, has_room, f};
}

/* Builds the machine of a formula. Knowledge of deadlines enlarges it; if it gets too large, it is built
 * without. */
static const struct ct_mon_machine *machine_of(struct ct_mon_formula *f, struct ct_mon_ltl *formula,
                                               const char **why)
{
    struct ct_mon_ltl *known = f->pool.known;
    const struct ct_mon_ltl_clocks clocks = clocks_of(f);
    const uint32_t natoms = f->natoms;
    ct_mon_ltl_foresee(&f->pool, &clocks);
    const struct ct_mon_machine *machine =
        f->failed ? NULL : ct_mon_ltl_machine(&f->pool, formula, f->natoms, why);
    if (machine || f->pool.known == known)
        return machine;
    f->pool.known = known;
    f->natoms = natoms;
    return f->failed ? NULL : ct_mon_ltl_machine(&f->pool, formula, natoms, why);
}

/* Makes the formula again with its times, now that its streams, and so its steps, are known. */
static struct ct_mon_ltl *with_times(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                     const struct ct_mon_wx *x, struct ct_mon_node *clock)
{
    f->step = every_step(f, clock);
    f->pool = (struct ct_mon_ltl_pool){.arena = f->w->e->arena};
    struct ct_mon_ltl *r = ct_mon_formula_build(f, env, x);
    const struct ct_mon_ltl_clocks clocks = clocks_of(f);
    if (!f->failed)
        r = ct_mon_ltl_untimed(&f->pool, r, &clocks);
    if (!r)
        ct_mon_watch_error(
            f->w, f->span,
            "A timed operator would need more than one stored time here; expected it at the top level or "
            "after 'always (.. implies ..)', with operands about the present or the past");
    f->failed |= !r;
    return r;
}

static void warn(struct ct_mon_elab *e, const struct ct_mon_machine *m, struct ct_mon_span at)
{
    if (m->empty != VERDICT_UNKNOWN)
        ct_mon_diag_warning(e->diags, at, "The formula is %s for every trace",
                            m->empty == VERDICT_TRUE ? "true" : "false");
    else if (!m->decided)
        ct_mon_diag_warning(e->diags, at, "The formula can never be decided; its verdict is always unknown");
}

struct ct_mon_wv ct_mon_watch_monitor(struct ct_mon_watch *w, struct ct_mon_wenv *env,
                                      const struct ct_mon_wx *x)
{
    if (!x->nargs)
        return (struct ct_mon_wv){.kind = WV_ERROR};
    struct ct_mon_elab *e = w->e;
    struct ct_mon_formula f = {.w = w, .pool = {.arena = e->arena}, .span = x->args[0]->span};
    struct ct_mon_node *args[2 * LTL_ATOMS_MOST + 1];
    const char *why = NULL;
    struct ct_mon_wenv *bound = env;
    for (size_t i = 1; i < x->nargs; i++) { /* binding p := stream */
        struct ct_mon_wenv *b = ARENA_NEW(e->arena, struct ct_mon_wenv);
        *b = (struct ct_mon_wenv){x->arg_names[i], x->args[i], env, bound, true};
        bound = b;
    }
    struct ct_mon_ltl *formula = ct_mon_formula_build(&f, bound, x->args[0]);
    struct ct_mon_node *clock = f.failed ? NULL : clock_node(&f, bound, x);
    if (f.timed && !f.failed)
        formula = with_times(&f, bound, x->args[0], clock);
    if (f.failed)
        return (struct ct_mon_wv){.kind = WV_ERROR};
    const struct ct_mon_machine *machine = machine_of(&f, formula, &why);
    const uint32_t n = inputs(&f, clock, args);
    if (f.failed)
        return (struct ct_mon_wv){.kind = WV_ERROR};
    if (!machine)
        return ct_mon_watch_error(w, x->span, "The formula cannot be monitored: %s", why);
    warn(e, machine, x->args[0]->span);
    uint8_t *kinds = ARENA_ARRAY(e->arena, uint8_t, LTL_ATOMS_MOST);
    for (uint32_t i = 0; i < f.natoms; i++)
        kinds[i] = f.kinds[i];
    struct ct_mon_node *node =
        ct_mon_node_monitor(&e->graph, e->types.verdict, args, n, machine, kinds, e->changes_only);
    return (struct ct_mon_wv){.kind = WV_EVENTS, .node = node};
}
