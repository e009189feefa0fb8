/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on values: kernels of lifts, and recursive functions that are called at run time. */
#include "monitor/elab.h"

/* depth at which the unrolling of a recursion on constants ends; beyond it the recursion is a call */
enum {
    UNROLL_MOST = 64,
    UNTYPED_MOST = 4,   /* expansions of a function in itself before it counts as recursive without a type */
    MARK_MOST = 100000, /* most expressions searched for the parameters of a condition */
};

struct ct_mon_residual {
    struct ct_mon_residual *next;
    struct ct_mon_residual *around; /* residual whose body led to this one, while both are elaborated */
    struct ct_mon_ast_def *def;
    const struct ct_mon_env *env;
    const struct ct_mon_cv *args;
    uint64_t statics; /* bits of the arguments that are constants in the body, not parameters of fn */
    struct ct_mon_fn *fn;
    bool again;  /* a 'static if' in it needs constants that it was not elaborated for */
    bool broken; /* its body was abandoned because of such a 'static if', here or around it */
};

struct ct_mon_fn *ct_mon_elab_fn_new(struct ct_mon_elab *e, struct ct_mon_fn *up, uint32_t nparams,
                                     const struct ct_mon_type *result)
{
    struct ct_mon_fn *fn = ARENA_NEW(e->arena, struct ct_mon_fn);
    *fn = (struct ct_mon_fn){.up = up, .level = up ? up->level + 1 : 1, .nparams = nparams, .result = result};
    return fn;
}

struct ct_mon_ir *ct_mon_elab_materialise(struct ct_mon_elab *e, struct ct_mon_cv cv, struct ct_mon_span at)
{
    if (cv.kind == CV_VALUE)
        return cv.ir;
    if (cv.kind == CV_RECORD && cv.type->value) {
        struct ct_mon_ir **args = ARENA_ARRAY(e->arena, struct ct_mon_ir *, cv.type->n);
        for (uint32_t i = 0; i < cv.type->n; i++)
            if (!(args[i] = ct_mon_elab_materialise(e, cv.members[i], at)))
                return NULL;
        return ct_mon_ir_op(&e->pool, cv.type, OP_RECORD, NULL, args, cv.type->n);
    }
    if (cv.kind != CV_ERROR)
        ct_mon_diag_error(e->diags, at, "Expected a value, found %s",
                          cv.kind == CV_STREAM   ? "a stream"
                          : cv.kind == CV_MODULE ? "a module"
                                                 : "a function");
    return NULL;
}

static bool is_run_time(const struct ct_mon_cv *cv)
{
    if (cv->kind == CV_VALUE)
        return !ir_is_const(cv->ir);
    if (cv->kind == CV_CHOICE)
        return true;
    for (uint32_t i = 0; cv->kind == CV_RECORD && i < cv->type->n; i++)
        if (is_run_time(&cv->members[i]))
            return true;
    return false;
}

static bool is_fun(const struct ct_mon_cv *cv)
{
    return cv->kind == CV_CLOSURE || cv->kind == CV_FUN;
}

static bool has_bit(uint64_t bits, size_t i)
{
    return i < STATIC_PARAMS && (bits >> i & 1);
}

bool ct_mon_elab_wants_residual(const struct ct_mon_elab *e, const struct ct_mon_ast_def *def,
                                const struct ct_mon_cv *args, size_t n, const struct ct_mon_type *result)
{
    if (!def->active || !result->value || !n || (!def->type && def->active <= UNTYPED_MOST))
        return false;
    bool run_time = false;
    bool all_static = true;
    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == CV_STREAM || (args[i].kind == CV_RECORD && !args[i].type->value))
            return false;
        run_time |= is_run_time(&args[i]);
        all_static &= has_bit(def->static_params, i) || is_fun(&args[i]);
    }
    if (!run_time && all_static && def->static_params)
        return false;
    return run_time || (e->fn && def->active > UNROLL_MOST);
}

/* Returns the bits of the parameters for whose constants the function is elaborated. */
static uint64_t statics_of(const struct ct_mon_ast_def *def, const struct ct_mon_cv *args, size_t n)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        if (has_bit(def->static_params, i) && args[i].kind == CV_VALUE && ir_is_const(args[i].ir))
            bits |= UINT64_C(1) << i;
    return bits;
}

static bool is_param(const struct ct_mon_cv *args, uint64_t statics, size_t i)
{
    return !is_fun(&args[i]) && !has_bit(statics, i);
}

static bool same_arg(const struct ct_mon_cv *a, const struct ct_mon_cv *b, bool constant)
{
    if (constant)
        return a->ir == b->ir;
    if (a->kind != b->kind && (is_fun(a) || is_fun(b)))
        return false;
    if (a->kind == CV_CLOSURE)
        return a->closure->def == b->closure->def && a->closure->env == b->closure->env;
    return a->type == b->type;
}

static struct ct_mon_residual *find(const struct ct_mon_elab *e, const struct ct_mon_closure *c,
                                    const struct ct_mon_cv *args, size_t n, const struct ct_mon_type *result)
{
    const uint64_t statics = statics_of(c->def, args, n);
    for (struct ct_mon_residual *r = e->residuals; r; r = r->next) {
        bool same = r->def == c->def && r->env == c->env && r->fn->result == result && !r->broken &&
                    r->statics == statics;
        for (size_t i = 0; i < n && same; i++)
            same = same_arg(&r->args[i], &args[i], has_bit(statics, i));
        if (same)
            return r;
    }
    return NULL;
}

/* Marks the parameters, called with constants, on which x in the body of `r` depends. Returns false when
 * there is none. `left` bounds the work, because expressions share parts. */
static bool mark_static(struct ct_mon_residual *r, const struct ct_mon_ir *x, unsigned *left);

static bool mark_param(struct ct_mon_residual *r, const struct ct_mon_ir *param, unsigned *left)
{
    while (r && r->fn->level != param->level)
        r = r->around;
    if (!r)
        return false;
    const uint32_t capture = param->index - r->fn->nparams;
    if (param->index >= r->fn->nparams)
        return capture < r->fn->ncaptures && mark_static(r->around, r->fn->captures[capture], left);
    size_t i = 0;
    for (uint32_t k = 0; !is_param(r->args, r->statics, i) || k++ < param->index; i++)
        ;
    const struct ct_mon_cv *arg = &r->args[i];
    if (arg->kind != CV_VALUE || i >= STATIC_PARAMS)
        return false;
    if (!ir_is_const(arg->ir))
        return mark_static(r->around, arg->ir, left);
    r->def->static_params |= UINT64_C(1) << i;
    return r->again = true;
}

static bool mark_static(struct ct_mon_residual *r, const struct ct_mon_ir *x, unsigned *left)
{
    if (!*left)
        return false;
    --*left;
    bool marked = x->kind == IR_PARAM && mark_param(r, x, left);
    for (uint32_t i = 0; i < x->n; i++)
        marked |= mark_static(r, x->args[i], left);
    return marked;
}

bool ct_mon_elab_defer_static(struct ct_mon_elab *e, const struct ct_mon_ir *condition)
{
    unsigned left = MARK_MOST;
    const bool marked = mark_static(e->building, condition, &left);
    e->deferred += marked;
    return marked;
}

static struct ct_mon_fn *residual_fn(struct ct_mon_elab *e, const struct ct_mon_closure *c,
                                     const struct ct_mon_cv *args, size_t n, uint64_t statics,
                                     const struct ct_mon_type *result)
{
    uint32_t values = 0;
    for (size_t i = 0; i < n; i++)
        values += is_param(args, statics, i);
    struct ct_mon_fn *fn = ct_mon_elab_fn_new(e, c->env->fn, values, result);
    fn->id = e->nfns++;
    if (e->fns_tail)
        e->fns_tail->next = fn;
    else
        e->fns = fn;
    e->fns_tail = fn;
    return fn;
}

static struct ct_mon_residual *build(struct ct_mon_elab *e, struct ct_mon_closure *c, struct ct_mon_env *env,
                                     const struct ct_mon_cv *args, size_t n, const struct ct_mon_type *result,
                                     struct ct_mon_span at)
{
    const unsigned deferred = e->deferred;
    const uint64_t statics = statics_of(c->def, args, n);
    struct ct_mon_residual *r = ARENA_NEW(e->arena, struct ct_mon_residual);
    struct ct_mon_fn *fn = residual_fn(e, c, args, n, statics, result);
    *r = (struct ct_mon_residual){.def = c->def,
                                  .env = c->env,
                                  .args = args,
                                  .statics = statics,
                                  .fn = fn,
                                  .next = e->residuals,
                                  .around = e->building};
    e->residuals = e->building = r;
    struct ct_mon_fn *outer = e->fn;
    e->fn = env->fn = fn;
    uint32_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_fun(&args[i]))
            continue;
        struct ct_mon_binding *b = ct_mon_env_find(env, c->def->params[i].name, false);
        b->cv =
            has_bit(statics, i) ? args[i] : cv_value(ct_mon_ir_param(&e->pool, args[i].type, fn->level, k++));
    }
    e->depth++;
    struct ct_mon_cv cv = ct_mon_elab_expr(e, env, c->def->body);
    e->depth--;
    if (ct_mon_elab_adapt(e, &cv, result, &(struct ct_mon_type_binds){0}, false, NULL, c->def->body->span))
        fn->body = ct_mon_elab_materialise(e, cv, at);
    if (!fn->body)
        fn->body = ct_mon_ir_const(&e->pool, result, cell_error(E_STACK));
    e->fn = outer;
    e->building = r->around;
    r->broken = e->deferred != deferred;
    return r;
}

struct ct_mon_cv ct_mon_elab_residual(struct ct_mon_elab *e, struct ct_mon_closure *c, struct ct_mon_env *env,
                                      struct ct_mon_cv *args, size_t n, const struct ct_mon_type *result,
                                      struct ct_mon_span at)
{
    if (!c->def->type) {
        ct_mon_elab_needs_type(e, c->def);
        return cv_error(e);
    }
    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == CV_CHOICE) {
            ct_mon_diag_error(e->diags, at,
                              "A recursive function cannot take a function that is chosen at run time");
            return cv_error(e);
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct ct_mon_ir *constant = args[i].kind == CV_RECORD && !is_run_time(&args[i])
                                         ? ct_mon_elab_materialise(e, args[i], at)
                                         : NULL;
        if (constant)
            args[i] = cv_value(constant);
    }
    struct ct_mon_residual *r = find(e, c, args, n, result);
    while (!r || r->again) {
        if (!ct_mon_elab_step(e, at))
            return cv_error(e);
        r = build(e, c, env, args, n, result, at);
    }
    struct ct_mon_ir **list = ARENA_ARRAY(e->arena, struct ct_mon_ir *, n);
    uint32_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_param(args, r->statics, i))
            continue;
        if (!(list[k++] = ct_mon_elab_materialise(e, args[i], at)))
            return cv_error(e);
    }
    return cv_value(ct_mon_ir_call(&e->pool, r->fn, list, k));
}

struct ct_mon_ir *ct_mon_elab_kernel(struct ct_mon_elab *e, struct ct_mon_cv f,
                                     const struct ct_mon_type **types, const struct ct_mon_cv *fixed,
                                     size_t n, struct ct_mon_span at)
{
    struct ct_mon_fn *outer = e->fn;
    if (outer) {
        ct_mon_diag_error(e->diags, at, "A stream operator cannot stand inside a function on values");
        return NULL;
    }
    struct ct_mon_cv *args = ARENA_ARRAY(e->arena, struct ct_mon_cv, n);
    e->fn = ct_mon_elab_fn_new(e, NULL, (uint32_t)n, NULL);
    uint32_t k = 0;
    for (size_t i = 0; i < n; i++)
        args[i] = fixed && fixed[i].kind != CV_ERROR
                      ? fixed[i]
                      : cv_value(ct_mon_ir_param(&e->pool, types[i], e->fn->level, k++));
    /* depth starts at 0: macros around the lift do not make its function recursive */
    struct ct_mon_cv cv = ct_mon_elab_apply(e, f, args, n, at);
    struct ct_mon_ir *ir = ct_mon_elab_materialise(e, cv, at);
    e->fn = outer;
    return ir;
}

static bool close_tree(struct ct_mon_elab *e, struct ct_mon_fn *fn, struct ct_mon_ir *x, uint8_t *seen)
{
    bool grew = false;
    if (seen[x->id])
        return false;
    seen[x->id] = 1;
    for (uint32_t i = 0; i < x->n; i++)
        grew |= close_tree(e, fn, x->args[i], seen);
    if (x->kind != IR_CALL)
        return grew;
    for (size_t i = 0; i < x->fn->ncaptures; i++) {
        size_t before = fn->ncaptures;
        ct_mon_ir_import(&e->pool, fn, x->fn->captures[i]);
        grew |= fn->ncaptures != before;
    }
    return grew;
}

/* Adds captured parameters until each function has all that the functions it calls capture from further
 * out. */
void ct_mon_elab_close_captures(struct ct_mon_elab *e)
{
    bool grew;
    do {
        grew = false;
        for (struct ct_mon_fn *fn = e->fns; fn; fn = fn->next) {
            /* includes room for parameters that imports add during the walk */
            uint8_t *seen = ARENA_ARRAY(e->arena, uint8_t, e->pool.count + 65536);
            grew |= close_tree(e, fn, fn->body, seen);
        }
    } while (grew);
}
