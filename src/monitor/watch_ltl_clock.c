/* SPDX-License-Identifier: Apache-2.0 */
/* Timing in formulas: conditions on past times are computed by streams with an event at each step, and become
 * atoms of the formula. */
#include "monitor/big.h"
#include "monitor/watch_ltl.h"

/* Makes the stream that tells at each step whether g, a past formula, holds. */
static struct ct_mon_wv truth(struct ct_mon_formula *f, const struct ct_mon_ltl *g)
{
    struct ct_mon_elab *e = f->w->e;
    struct ct_mon_node *args[LTL_ATOMS_MOST + 1];
    const char *why = NULL;
    const struct ct_mon_machine *machine = ct_mon_ltl_past_machine(&f->pool, g, f->natoms, &why);
    if (!machine)
        return ct_mon_watch_error(f->w, f->span, "The formula cannot be monitored: %s", why);
    uint8_t *kinds = ARENA_ARRAY(e->arena, uint8_t, LTL_ATOMS_MOST);
    for (uint32_t i = 0; i < f->natoms; i++) {
        args[i] = f->atoms[i];
        kinds[i] = f->kinds[i];
    }
    args[f->natoms] = f->step;
    /* the verdicts true and unknown become the Bools true and false */
    return (struct ct_mon_wv){
        .kind = WV_EVENTS,
        .node = ct_mon_node_monitor(&e->graph, e->types.boolean, args, f->natoms + 1, machine, kinds, false)};
}

static struct ct_mon_wv duration(struct ct_mon_formula *f, int64_t time)
{
    struct ct_mon_elab *e = f->w->e;
    return (struct ct_mon_wv){.kind = WV_CONST,
                              .ir = ct_mon_ir_const(&e->pool, e->types.integer, cell_int(time))};
}

/* Makes the atom of a library function that has an event at each step. */
static struct ct_mon_ltl *clock_atom(struct ct_mon_formula *f, const char *function, struct ct_mon_wv *args,
                                     size_t n)
{
    const struct ct_mon_wv v = ct_mon_watch_library(f->w, "Wp", function, args, n, WV_EVENTS, f->span);
    f->failed |= v.kind != WV_EVENTS;
    if (f->failed)
        return ct_mon_ltl_const(&f->pool, false);
    return ct_mon_formula_atom(f, v.node, ATOM_BOOL, NULL, f->span);
}

struct ct_mon_ltl *ct_mon_formula_held(void *formula, struct ct_mon_ltl *a, struct ct_mon_ltl *b,
                                       int64_t time)
{
    struct ct_mon_formula *f = formula;
    if (!f->step)
        return ct_mon_ltl_const(&f->pool, false);
    const struct ct_mon_wv kept = truth(f, a);
    struct ct_mon_wv args[3] = {kept, truth(f, b), duration(f, time)};
    return clock_atom(f, "heldFor", args, 3);
}

struct ct_mon_ltl *ct_mon_formula_recent(void *formula, struct ct_mon_ltl *b, int64_t time)
{
    struct ct_mon_formula *f = formula;
    if (!f->step)
        return ct_mon_ltl_const(&f->pool, false);
    struct ct_mon_wv args[2] = {truth(f, b), duration(f, time)};
    return clock_atom(f, "heldWithin", args, 2);
}

struct ct_mon_ltl *ct_mon_formula_pace(struct ct_mon_formula *f, struct ct_mon_ltl_interval within)
{
    struct ct_mon_ltl_pool *p = &f->pool;
    struct ct_mon_ltl *r = ct_mon_ltl_const(p, true);
    for (int upper = 0; upper < 2 && f->step; upper++) {
        const int64_t time = upper ? within.to : within.from;
        if (time == (upper ? LTL_NO_END : 0))
            continue;
        struct ct_mon_wv args[2] = {{.kind = WV_EVENTS, .node = f->step}, duration(f, time)};
        struct ct_mon_ltl *less = clock_atom(f, "stepWithin", args, 2);
        r = ct_mon_ltl_and(p, r, upper ? less : ct_mon_ltl_not(p, less));
    }
    return r;
}

struct ct_mon_ltl *ct_mon_formula_since(struct ct_mon_formula *f, struct ct_mon_ltl *a, struct ct_mon_ltl *b,
                                        struct ct_mon_ltl_interval within)
{
    struct ct_mon_ltl *since = ct_mon_ltl_since(&f->pool, a, b);
    if (within.to == LTL_NO_END)
        return within.from ? ct_mon_formula_held(f, a, b, within.from) : since;
    if (!within.from)
        return ct_mon_ltl_and(&f->pool, since, ct_mon_formula_recent(f, b, within.to));
    if (!f->failed)
        ct_mon_watch_error(
            f->w, f->span,
            "A past operator timed with '=' would need all times stored; expected '<', '<=', '>=' or '>'");
    f->failed = true;
    return since;
}

struct ct_mon_ltl_interval ct_mon_formula_interval(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                                   const struct ct_mon_wx *x)
{
    const struct ct_mon_ltl_interval all = {0, LTL_NO_END};
    if (!x->time)
        return all;
    const struct ct_mon_wv v = ct_mon_watch_lower(f->w, env, x->time, NULL);
    const bool constant = v.kind == WV_CONST && v.ir->type == f->w->e->types.integer && ir_is_const(v.ir);
    f->timed = true;
    if (v.kind != WV_ERROR && (!constant || cell_is_big(&v.ir->value) || v.ir->value.v.i < 0 ||
                               v.ir->value.v.i > INT64_MAX / 2 || (x->time_op == T_LT && !v.ir->value.v.i)))
        ct_mon_watch_error(f->w, x->time->span,
                           "A timed operator needs a constant time of at least 0, and '<' a time above 0");
    else if (v.kind != WV_ERROR) {
        const int64_t time = v.ir->value.v.i;
        return x->time_op == T_LT   ? (struct ct_mon_ltl_interval){0, time}
               : x->time_op == T_LE ? (struct ct_mon_ltl_interval){0, time + 1}
               : x->time_op == T_GE ? (struct ct_mon_ltl_interval){time, LTL_NO_END}
               : x->time_op == T_GT ? (struct ct_mon_ltl_interval){time + 1, LTL_NO_END}
                                    : (struct ct_mon_ltl_interval){time, time + 1};
    }
    f->failed = true;
    return all;
}
