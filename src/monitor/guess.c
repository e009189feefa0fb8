/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/guess.h"

#include "monitor/range.h"

/* limits of evaluation; the result of a larger function may be anything */
enum {
    VISITS = 2000,
    DEPTH = 200,
    VISIT_WORK = 20,    /* units of work */
    VALUES_WORK = 2000, /* units for operations on known values; beyond them the result may be anything */
    ASSUMED = 16
};

bool ct_mon_guess_is_plain(const struct ct_mon_type *type)
{
    return type->kind == TY_INT || type->kind == TY_BOOL || type->kind == TY_VERDICT ||
           (type->kind == TY_RECORD && !type->n);
}

static struct ct_mon_range range_of(const struct ct_mon_guess *g)
{
    return (struct ct_mon_range){g->lo, g->hi, g->error};
}

/* Sets the interval to an Int of any size. */
static void set_int(struct ct_mon_guess *g, const struct ct_mon_cell *cell)
{
    if (!(cell->meta & META_PTR))
        g->lo = g->hi = cell->v.i;
    else if (cell->v.o->negative)
        g->lo = g->hi = INT64_MIN;
    else
        g->lo = g->hi = INT64_MAX;
}

struct ct_mon_guess ct_mon_guess_range(int64_t lo, int64_t hi)
{
    return (struct ct_mon_guess){.lo = lo, .hi = hi};
}

struct ct_mon_guess ct_mon_guess_any(const struct ct_mon_type *type, bool error)
{
    struct ct_mon_guess g = ct_mon_guess_range(INT64_MIN, INT64_MAX);
    if (type->kind == TY_BOOL)
        g = ct_mon_guess_range(0, 1);
    else if (type->kind == TY_VERDICT)
        g = ct_mon_guess_range(0, 2);
    else if (type->kind == TY_RECORD && !type->n)
        g = ct_mon_guess_range(0, 0);
    else if (type->kind == TY_OPTION)
        g = ct_mon_guess_any(type->args[0], false);
    g.none = g.some = type->kind == TY_OPTION;
    g.error = error;
    return g;
}

struct ct_mon_guess ct_mon_guess_cell(const struct ct_mon_type *type, struct ct_mon_cell cell)
{
    struct ct_mon_guess g = ct_mon_guess_any(type, false);
    g.known = true;
    g.cell = cell;
    g.error = (cell.meta & META_ERR) != 0;
    if (g.error)
        return g;
    if (ct_mon_guess_is_plain(type))
        set_int(&g, &cell);
    if (type->kind == TY_OPTION) {
        g.some = (cell.meta & META_SOME) != 0;
        g.none = !g.some;
        if (g.some && ct_mon_guess_is_plain(type->args[0]))
            set_int(&g, &cell);
    }
    return g;
}

struct ct_mon_guess ct_mon_guess_join(const struct ct_mon_guess *a, const struct ct_mon_guess *b)
{
    struct ct_mon_guess g = *a;
    g.known = false;
    g.error |= b->error;
    g.none |= b->none;
    g.some |= b->some;
    g.lo = a->lo < b->lo ? a->lo : b->lo;
    g.hi = a->hi > b->hi ? a->hi : b->hi;
    return g;
}

bool ct_mon_guess_single(const struct ct_mon_type *type, const struct ct_mon_guess *g)
{
    return !g->error && ct_mon_guess_is_plain(type) && g->lo == g->hi && !range_is_open(range_of(g));
}

struct ct_mon_guess ct_mon_guess_option(const struct ct_mon_guess *g, bool none, bool some)
{
    struct ct_mon_guess o = *g;
    o.none = none;
    o.some = some;
    if (o.known && some && !none)
        o.cell.meta += META_SOME_ONE;
    else
        o.known = false;
    if (!some)
        o = (struct ct_mon_guess){.known = true, .none = true};
    return o;
}

struct ct_mon_guess ct_mon_guess_payload(const struct ct_mon_type *type, const struct ct_mon_guess *option)
{
    struct ct_mon_cell cell = option->cell;
    if (option->known && option->some) {
        cell.meta -= META_SOME_ONE;
        return ct_mon_guess_cell(type, cell);
    }
    struct ct_mon_guess g = ct_mon_guess_any(type, option->error || option->none);
    if (type->kind != TY_OPTION) {
        g.lo = option->lo;
        g.hi = option->hi;
    }
    return g;
}

/* ---- operations ---- */

static struct ct_mon_guess truth(bool may_false, bool may_true)
{
    return ct_mon_guess_range(may_false ? 0 : 1, may_true ? 1 : 0);
}

static struct ct_mon_guess operation(const struct ct_mon_ir *x, const struct ct_mon_guess *a,
                                     const struct ct_mon_guess *b)
{
    struct ct_mon_range r;
    const bool equality = x->op == OP_EQ || x->op == OP_NE;
    if (equality && !ct_mon_guess_is_plain(x->args[0]->type))
        return truth(true, true);
    if (range_apply(x->op, range_of(a), range_of(b), &r))
        return (struct ct_mon_guess){.lo = r.lo, .hi = r.hi, .error = r.error};
    switch (x->op) {
    case OP_IS_NONE:
        return truth(a->some, a->none);
    case OP_IS_SOME:
        return truth(a->none, a->some);
    case OP_SOME:
        if (x->args[0]->type->kind == TY_OPTION)
            return ct_mon_guess_any(x->type, true);
        return ct_mon_guess_option(a, false, true);
    case OP_GET_SOME:
        return ct_mon_guess_payload(x->type, a);
    default:
        return ct_mon_guess_any(x->type, true);
    }
}

/* ---- expressions ---- */

/* What the condition of the current branch says about an option. */
struct assumed {
    const struct ct_mon_ir *option;
    bool some;
};

struct eval {
    const struct ct_mon_guess *params;
    struct assumed assumed[ASSUMED];
    unsigned assumed_count, visits, depth;
    struct ct_mon_heap heap; /* has no memory, so only plain results are known */
};

static void assume(struct eval *e, const struct ct_mon_ir *x, bool value)
{
    if (x->kind == IR_OP && x->op == OP_NOT) {
        assume(e, x->args[0], !value);
    } else if (x->kind == (value ? IR_AND : IR_OR)) {
        assume(e, x->args[0], value);
        assume(e, x->args[1], value);
    } else if (x->kind == IR_OP && (x->op == OP_IS_SOME || x->op == OP_IS_NONE) &&
               e->assumed_count < ASSUMED) {
        e->assumed[e->assumed_count++] = (struct assumed){x->args[0], (x->op == OP_IS_SOME) == value};
    }
}

static struct ct_mon_guess eval(struct eval *e, const struct ct_mon_ir *x);

static struct ct_mon_guess eval_assuming(struct eval *e, const struct ct_mon_ir *x,
                                         const struct ct_mon_ir *condition, bool value)
{
    const unsigned count = e->assumed_count;
    assume(e, condition, value);
    const struct ct_mon_guess g = eval(e, x);
    e->assumed_count = count;
    return g;
}

/* Evaluates an 'if'. An error in its condition becomes its value, or ends the run. */
static struct ct_mon_guess choice(struct eval *e, const struct ct_mon_ir *x)
{
    const struct ct_mon_guess c = eval(e, x->args[0]);
    struct ct_mon_guess g;
    if (c.lo == c.hi) {
        g = eval_assuming(e, x->args[c.lo ? 1 : 2], x->args[0], c.lo != 0);
    } else {
        const struct ct_mon_guess yes = eval_assuming(e, x->args[1], x->args[0], true);
        const struct ct_mon_guess no = eval_assuming(e, x->args[2], x->args[0], false);
        g = ct_mon_guess_join(&yes, &no);
    }
    g.known &= !c.error;
    g.error |= c.error;
    return g;
}

static struct ct_mon_guess connective(struct eval *e, const struct ct_mon_ir *x)
{
    const bool stop = x->kind == IR_OR;
    const struct ct_mon_guess a = eval(e, x->args[0]);
    if (a.lo == a.hi && (a.lo != 0) == stop)
        return a;
    struct ct_mon_guess b = eval_assuming(e, x->args[1], x->args[0], !stop);
    if (a.lo != a.hi) {
        const struct ct_mon_guess stopped = ct_mon_guess_range(stop, stop);
        b = ct_mon_guess_join(&stopped, &b);
    }
    b.known = false;
    b.error |= a.error;
    return b;
}

static struct ct_mon_guess applied(struct eval *e, const struct ct_mon_ir *x)
{
    struct ct_mon_guess args[2] = {{0}};
    if (x->n > 2 || x->op >= OP_POW)
        return ct_mon_guess_any(x->type, true);
    bool known = true;
    bool error = false;
    for (uint32_t i = 0; i < x->n; i++) {
        args[i] = eval(e, x->args[i]);
        known &= args[i].known;
        error |= args[i].error;
    }
    if (known) {
        const struct ct_mon_cell cells[] = {args[0].cell, args[1].cell};
        struct ct_mon_cell result = {0};
        ct_mon_op_eval(x->op, &x->extra, &e->heap, cells, x->n, &result);
        const bool fine = !e->heap.exhausted;
        e->heap.exhausted = E_NONE;
        if (fine)
            return ct_mon_guess_cell(x->type, result);
    }
    struct ct_mon_guess g = operation(x, &args[0], &args[1]);
    g.error |= error;
    g.known = false;
    return g;
}

static struct ct_mon_guess eval(struct eval *e, const struct ct_mon_ir *x)
{
    if (++e->visits > VISITS || e->depth >= DEPTH)
        return ct_mon_guess_any(x->type, true);
    e->depth++;
    struct ct_mon_guess g = ct_mon_guess_any(x->type, true);
    if (x->kind == IR_CONST)
        g = ct_mon_guess_cell(x->type, x->value);
    else if (x->kind == IR_PARAM)
        g = e->params[x->index];
    else if (x->kind == IR_OP)
        g = applied(e, x);
    else if (x->kind == IR_IF)
        g = choice(e, x);
    else if (x->kind == IR_AND || x->kind == IR_OR)
        g = connective(e, x);
    for (unsigned i = 0; i < e->assumed_count; i++) {
        if (e->assumed[i].option != x || g.known || g.error)
            continue;
        g.none &= !e->assumed[i].some;
        g.some &= e->assumed[i].some;
    }
    e->depth--;
    return g;
}

struct ct_mon_guess ct_mon_guess_eval(struct ct_mon_heap *payer, const struct ct_mon_ir *kernel,
                                      const struct ct_mon_guess *params)
{
    struct eval e;
    e.params = params;
    e.assumed_count = e.visits = e.depth = 0;
    e.heap = (struct ct_mon_heap){.work = VALUES_WORK};
    const struct ct_mon_guess g = eval(&e, kernel);
    heap_spend(payer, e.visits * VISIT_WORK + (uint64_t)(VALUES_WORK - e.heap.work));
    return g;
}
