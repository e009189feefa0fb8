/* SPDX-License-Identifier: Apache-2.0 */
/* monitor(...): formulas over streams (docs/tessla-language.md B.5). */
#include "monitor/watch_ast.h"

struct formula {
    struct ct_mon_watch *w;
    struct ct_mon_wenv *env;
    struct ct_mon_ltl_pool pool;
    struct ct_mon_node *atoms[LTL_ATOMS_MOST];
    uint8_t kinds[LTL_ATOMS_MOST];
    struct ct_mon_node *steps[LTL_ATOMS_MOST];
    uint32_t natoms;
    bool failed;
};

static struct ct_mon_ltl *fail(struct formula *f)
{
    f->failed = true;
    return ct_mon_ltl_const(&f->pool, false);
}

/* Makes an atom of a stream, which is what everything but a connective stands for. */
static struct ct_mon_ltl *atom(struct formula *f, const struct ct_mon_wx *x)
{
    struct ct_mon_elab *e = f->w->e;
    struct ct_mon_wv v = ct_mon_watch_lower(f->w, f->env, x, NULL);
    if (v.kind == WV_ERROR)
        return fail(f);
    bool boolean = ct_mon_watch_type(v) == e->types.boolean;
    if (v.kind != WV_EVENTS && !boolean) {
        ct_mon_watch_error(
            f->w, x->span,
            "Type mismatch: Expected events or a signal of Bool in a formula, found a signal of %s",
            ct_mon_type_text(e->arena, ct_mon_watch_type(v)));
        return fail(f);
    }
    if (v.kind == WV_CONST)
        return ct_mon_ltl_const(&f->pool, v.ir->value.v.i);
    for (uint32_t i = 0; i < f->natoms; i++)
        if (f->atoms[i] == v.node)
            return ct_mon_ltl_atom(&f->pool, i);
    if (f->natoms == LTL_ATOMS_MOST) {
        ct_mon_watch_error(f->w, x->span, "A formula of more than %d different streams", LTL_ATOMS_MOST);
        return fail(f);
    }
    uint32_t k = f->natoms++;
    f->atoms[k] = f->steps[k] = v.node;
    f->kinds[k] = v.kind == WV_SIGNAL ? ATOM_SIGNAL : boolean ? ATOM_BOOL : ATOM_EVENT;
    if (v.kind == WV_SIGNAL) { /* its first value is not a change */
        v = ct_mon_watch_library(f->w, "Wp", "changeOf", &v, 1, WV_EVENTS, x->span);
        if (v.kind == WV_ERROR)
            return fail(f);
        f->steps[k] = v.node;
    }
    return ct_mon_ltl_atom(&f->pool, k);
}

static struct ct_mon_ltl *build(struct formula *f, const struct ct_mon_wx *x);

static struct ct_mon_ltl *holding(struct ct_mon_ltl_pool *p, const struct ct_mon_wx *x, struct ct_mon_ltl *a)
{
    uint32_t n = (uint32_t)x->integer;
    struct ct_mon_ltl *at_least = ct_mon_ltl_at_least(p, a, n),
                      *at_most = ct_mon_ltl_not(p, ct_mon_ltl_at_least(p, a, n + 1));
    return x->op == T_GE ? at_least : x->op == T_LE ? at_most : ct_mon_ltl_and(p, at_least, at_most);
}

static struct ct_mon_ltl *weak_until(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b)
{
    return ct_mon_ltl_release(p, b, ct_mon_ltl_or(p, a, b));
}

static struct ct_mon_ltl *connect(struct formula *f, const struct ct_mon_wx *x)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    struct ct_mon_ltl *a = build(f, x->args[0]), *b = x->nargs > 1 ? build(f, x->args[1]) : NULL, *r = a;
    switch (x->kind) {
    case WX_AND:
        return ct_mon_ltl_and(p, a, b);
    case WX_OR:
        return ct_mon_ltl_or(p, a, b);
    case WX_NOT:
        return ct_mon_ltl_not(p, a);
    case WX_IMPLIES:
        return ct_mon_ltl_or(p, ct_mon_ltl_not(p, a), b);
    case WX_IFF:
        return ct_mon_ltl_or(p, ct_mon_ltl_and(p, a, b),
                             ct_mon_ltl_and(p, ct_mon_ltl_not(p, a), ct_mon_ltl_not(p, b)));
    case WX_ALWAYS:
        return ct_mon_ltl_always(p, a);
    case WX_EVENTUALLY:
        return ct_mon_ltl_eventually(p, a);
    case WX_NEVER:
        return ct_mon_ltl_always(p, ct_mon_ltl_not(p, a));
    case WX_NEXT:
        for (int64_t i = 0; i < x->integer; i++)
            r = ct_mon_ltl_next(p, r);
        return r;
    case WX_WITHIN:
        for (int64_t i = 0; i < x->integer; i++)
            r = ct_mon_ltl_or(p, a, ct_mon_ltl_next(p, r));
        return r;
    case WX_HOLDING:
        return holding(p, x, a);
    case WX_UNTIL:
        return ct_mon_ltl_until(p, a, b);
    case WX_WEAK_UNTIL:
        return weak_until(p, a, b);
    case WX_RELEASES:
        return ct_mon_ltl_release(p, a, b);
    case WX_BEFORE:
        return ct_mon_ltl_until(p, ct_mon_ltl_not(p, b), a);
    default: /* WX_WEAK_BEFORE */
        return weak_until(p, ct_mon_ltl_not(p, b), a);
    }
}

static struct ct_mon_ltl *build(struct formula *f, const struct ct_mon_wx *x)
{
    if (f->failed || f->pool.count > LTL_FORMULAS_MOST)
        return ct_mon_ltl_const(&f->pool, false);
    switch (x->kind) {
    case WX_AND:
    case WX_OR:
    case WX_NOT:
    case WX_IMPLIES:
    case WX_IFF:
    case WX_ALWAYS:
    case WX_EVENTUALLY:
    case WX_NEVER:
    case WX_NEXT:
    case WX_HOLDING:
    case WX_WITHIN:
    case WX_UNTIL:
    case WX_WEAK_UNTIL:
    case WX_RELEASES:
    case WX_BEFORE:
    case WX_WEAK_BEFORE:
        return connect(f, x);
    case WX_BOOL:
        return ct_mon_ltl_const(&f->pool, x->integer);
    default:
        return atom(f, x);
    }
}

/* Lists the machine's inputs: the atoms and, behind them, the streams whose events make the steps. */
static uint32_t inputs(struct formula *f, const struct ct_mon_wx *x, struct ct_mon_node **args)
{
    struct ct_mon_elab *e = f->w->e;
    uint32_t n = 0;
    while (n < f->natoms) {
        args[n] = f->atoms[n];
        n++;
    }
    if (x->clock_all) {
        args[n++] = ct_mon_node_tick(&e->graph);
    } else if (x->clock) {
        struct ct_mon_wv v = ct_mon_watch_lower(f->w, f->env, x->clock, NULL);
        if (v.kind == WV_SIGNAL)
            v = ct_mon_watch_library(f->w, "Wp", "changeOf", &v, 1, WV_EVENTS, x->clock->span);
        if (v.kind == WV_CONST)
            v = ct_mon_watch_error(f->w, x->clock->span,
                                   "Type mismatch: Expected events as clock, found a constant");
        if (v.kind == WV_ERROR)
            f->failed = true;
        else
            args[n++] = v.node;
    } else {
        for (uint32_t i = 0; i < f->natoms; i++)
            args[n++] = f->steps[i];
    }
    return n;
}

static void warn(struct ct_mon_elab *e, const struct ct_mon_machine *m, struct ct_mon_span at)
{
    if (m->empty != VERDICT_UNKNOWN)
        ct_mon_diag_warning(e->diags, at, "The formula is always %s, whatever happens",
                            m->empty == VERDICT_TRUE ? "true" : "false");
    else if (!m->decided)
        ct_mon_diag_warning(e->diags, at, "The formula is never decided: its verdict is always unknown");
}

struct ct_mon_wv ct_mon_watch_monitor(struct ct_mon_watch *w, struct ct_mon_wenv *env,
                                      const struct ct_mon_wx *x)
{
    struct ct_mon_elab *e = w->e;
    struct formula f = {.w = w, .env = env, .pool = {.arena = e->arena}};
    struct ct_mon_node *args[2 * LTL_ATOMS_MOST + 1];
    const char *why = NULL;
    if (!x->nargs)
        return (struct ct_mon_wv){.kind = WV_ERROR};
    for (size_t i = 1; i < x->nargs; i++) { /* p := stream */
        struct ct_mon_wenv *b = ARENA_NEW(e->arena, struct ct_mon_wenv);
        *b = (struct ct_mon_wenv){x->arg_names[i], x->args[i], env, f.env};
        f.env = b;
    }
    struct ct_mon_ltl *formula = build(&f, x->args[0]);
    uint32_t n = f.failed ? 0 : inputs(&f, x, args);
    if (f.failed)
        return (struct ct_mon_wv){.kind = WV_ERROR};
    const struct ct_mon_machine *machine = ct_mon_ltl_machine(&f.pool, formula, f.natoms, &why);
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
