/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: matching arguments with parameters, lifting, expansion. */
#include <string.h>

#include "monitor/elab.h"

static const char *fun_name(const struct ct_mon_ast_def *def)
{
    return def->name ? def->name : "function";
}

static struct ct_mon_type_binds binds_of(struct ct_mon_elab *e, const struct ct_mon_closure *c)
{
    struct ct_mon_type_binds binds = {.n = c->def->ntype_params};
    binds.at = ARENA_ARRAY(e->arena, struct ct_mon_type_bind, binds.n);
    for (size_t i = 0; i < binds.n; i++) {
        binds.at[i].var = ct_mon_type_var(&e->types, c->def->type_params[i], c->def);
        binds.at[i].type = i < c->ngiven ? c->given[i].type : NULL;
    }
    return binds;
}

/* Makes an environment in which the type parameters of the definition are type variables. */
static struct ct_mon_env *type_env(struct ct_mon_elab *e, const struct ct_mon_closure *c)
{
    if (!c->def->ntype_params)
        return c->env;
    struct ct_mon_env *env = ct_mon_env_new(e, c->env);
    for (size_t i = 0; i < c->def->ntype_params; i++)
        ct_mon_env_bind_type(e, env, c->def->type_params[i],
                             ct_mon_type_var(&e->types, c->def->type_params[i], c->def));
    return env;
}

static const struct ct_mon_type *param_type(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                            const struct ct_mon_ast_def *def, size_t i)
{
    return def->params[i].type ? ct_mon_elab_type(e, env, def->params[i].type) : e->types.error;
}

/* Makes the environment of the body: binds parameters to their values and type parameters to their types. */
static struct ct_mon_env *body_env(struct ct_mon_elab *e, const struct ct_mon_closure *c,
                                   const struct ct_mon_type_binds *binds, const struct ct_mon_cv *args)
{
    struct ct_mon_env *env = ct_mon_env_new(e, c->env);
    for (size_t i = 0; i < binds->n; i++)
        ct_mon_env_bind_type(e, env, c->def->type_params[i],
                             binds->at[i].type ? binds->at[i].type : binds->at[i].var);
    for (size_t i = 0; i < c->def->nparams; i++)
        ct_mon_env_bind_value(e, env, c->def->params[i].name, c->def->params[i].span, args[i]);
    return env;
}

static struct ct_mon_cv dummy(struct ct_mon_elab *e, const struct ct_mon_type *type, uint32_t index)
{
    switch (type->kind) {
    case TY_EVENTS:
        return cv_stream(e, ct_mon_node_opaque(&e->graph, type->args[0]));
    case TY_FUN:
        return (struct ct_mon_cv){.kind = CV_FUN, .type = type};
    case TY_ERROR:
        return cv_error(e);
    case TY_RECORD:
        if (!type->value) {
            struct ct_mon_cv cv = {
                .kind = CV_RECORD, .type = type, .members = ARENA_ARRAY(e->arena, struct ct_mon_cv, type->n)};
            for (uint32_t i = 0; i < type->n; i++)
                cv.members[i] = dummy(e, type->args[i], index);
            return cv;
        }
        /* fall through */
    default:
        return cv_value(ct_mon_ir_param(&e->pool, type, e->fn ? e->fn->level : 0, index));
    }
}

void ct_mon_elab_generic(struct ct_mon_elab *e, struct ct_mon_cv f, struct ct_mon_span at)
{
    if (e->fuel)
        ct_mon_diag_error(e->diags, at, "Explicit type arguments needed for %s", fun_name(f.closure->def));
}

/* Returns the type of the body for these parameter types. */
static const struct ct_mon_type *body_type(struct ct_mon_elab *e, const struct ct_mon_closure *c,
                                           const struct ct_mon_type_binds *binds,
                                           const struct ct_mon_type **params)
{
    struct ct_mon_cv *args = ARENA_ARRAY(e->arena, struct ct_mon_cv, c->def->nparams);
    struct ct_mon_fn *fn = e->fn;
    e->check++;
    e->fn = ct_mon_elab_fn_new(e, c->env->fn, (uint32_t)c->def->nparams, NULL);
    for (size_t i = 0; i < c->def->nparams; i++)
        args[i] = dummy(e, params[i], (uint32_t)i);
    struct ct_mon_env *env = body_env(e, c, binds, args);
    struct ct_mon_cv cv = ct_mon_elab_expr(e, env, c->def->body);
    e->fn = fn;
    e->check--;
    if (cv.kind != CV_CLOSURE)
        return cv.type ? cv.type : e->types.error;
    const struct ct_mon_type *type = ct_mon_elab_fun_type(e, cv);
    if (!type)
        ct_mon_elab_generic(e, cv, c->def->body->span);
    return type ? type : e->types.error;
}

const struct ct_mon_type *ct_mon_elab_fun_type(struct ct_mon_elab *e, struct ct_mon_cv f)
{
    if (f.kind != CV_CLOSURE)
        return f.type;
    struct ct_mon_closure *c = f.closure;
    if (c->type)
        return c->type;
    if (c->def->ntype_params > c->ngiven || !ct_mon_elab_step(e, c->def->name_span))
        return NULL;
    struct ct_mon_type_binds binds = binds_of(e, c);
    const struct ct_mon_env *env = type_env(e, c);
    const struct ct_mon_type **types = ARENA_ARRAY(e->arena, const struct ct_mon_type *, c->def->nparams + 1);
    for (size_t i = 0; i < c->def->nparams; i++)
        types[i] = ct_mon_type_subst(&e->types, param_type(e, env, c->def, i), &binds);
    if (c->def->type) {
        types[c->def->nparams] = ct_mon_type_subst(&e->types, ct_mon_elab_type(e, env, c->def->type), &binds);
    } else if (c->def->active > 8) {
        ct_mon_elab_needs_type(e, c->def);
        return e->types.error;
    } else {
        c->def->active++;
        types[c->def->nparams] = body_type(e, c, &binds, types);
        c->def->active--;
    }
    return c->type = ct_mon_type_fun(&e->types, types, c->def->nparams + 1);
}

/* Adapts a macro to an expected function type, which also determines the macro's type parameters. */
static bool adapt_function(struct ct_mon_elab *e, struct ct_mon_cv *cv, const struct ct_mon_type *pattern,
                           struct ct_mon_type_binds *binds)
{
    const struct ct_mon_type *want = ct_mon_type_subst(&e->types, pattern, binds);
    struct ct_mon_closure *c = cv->kind == CV_CLOSURE ? cv->closure : NULL;
    if (c && c->def->ntype_params > c->ngiven) {
        if (c->def->nparams + 1 != want->n)
            return false;
        struct ct_mon_type_binds own = binds_of(e, c);
        const struct ct_mon_env *env = type_env(e, c);
        for (size_t i = 0; i < c->def->nparams; i++)
            if (!ct_mon_type_match(param_type(e, env, c->def, i), want->args[i], &own))
                return false;
        struct ct_mon_closure *given = ARENA_NEW(e->arena, struct ct_mon_closure);
        *given = (struct ct_mon_closure){.def = c->def, .env = c->env, .given = own.at, .ngiven = own.n};
        for (size_t i = 0; i < own.n; i++)
            if (!own.at[i].type || own.at[i].type->generic)
                return false;
        cv->closure = given;
    }
    const struct ct_mon_type *have = ct_mon_elab_fun_type(e, *cv);
    if (!have)
        return false;
    size_t n = binds->n;
    struct ct_mon_type_bind *saved = ARENA_ARRAY(e->arena, struct ct_mon_type_bind, n);
    if (n)
        memcpy(saved, binds->at, n * sizeof *saved);
    if (ct_mon_type_match(pattern, have, binds))
        return true;
    if (n)
        memcpy(binds->at, saved, n * sizeof *saved);
    if (!c || !c->def->liftable || have->n != pattern->n)
        return false;
    /* a liftable function may stand where a function on streams is expected: the call lifts it */
    for (uint32_t i = 0; i < have->n; i++)
        if (!ct_mon_type_match(pattern->args[i],
                               pattern->args[i]->kind == TY_EVENTS ? type_events(&e->types, have->args[i])
                                                                   : have->args[i],
                               binds))
            return false;
    return true;
}

static bool to_const_stream(struct ct_mon_elab *e, struct ct_mon_cv *cv, const struct ct_mon_type *element,
                            struct ct_mon_span at)
{
    if (e->check) {
        *cv = cv_stream(e, ct_mon_node_opaque(&e->graph, element));
        return true;
    }
    struct ct_mon_ir *ir = ct_mon_elab_materialise(e, *cv, at);
    if (!ir)
        return false;
    if (!ir_is_const(ir)) {
        ct_mon_diag_error(e->diags, at, "A value that is known only at run time cannot become a stream");
        return false;
    }
    *cv = cv_stream(e, ct_mon_node_const(&e->graph, ir->type, ir->value));
    return true;
}

static void mismatch(struct ct_mon_elab *e, const struct ct_mon_cv *cv, const struct ct_mon_type *pattern,
                     struct ct_mon_type_binds *binds, bool liftable, struct ct_mon_span at)
{
    const struct ct_mon_type *have = ct_mon_elab_fun_type(e, *cv);
    const bool lift = !liftable && cv->kind == CV_STREAM && pattern->value &&
                      ct_mon_type_match(pattern, cv->type->args[0], binds);
    if (cv->kind == CV_CLOSURE && !have) {
        ct_mon_elab_generic(e, *cv, at);
        return;
    }
    if (have && have->kind == TY_ERROR)
        return;
    ct_mon_diag_error(e->diags, at, "Type mismatch: Expected %s, found %s%s",
                      ct_mon_type_text(e->arena, ct_mon_type_subst(&e->types, pattern, binds)),
                      have ? ct_mon_type_text(e->arena, have) : "a module",
                      lift ? "; a function takes streams when '@liftable' stands before its 'def'" : "");
}

static bool is_value(const struct ct_mon_cv *cv)
{
    return cv->kind == CV_VALUE || (cv->kind == CV_RECORD && cv->type->value);
}

bool ct_mon_elab_adapt(struct ct_mon_elab *e, struct ct_mon_cv *cv, const struct ct_mon_type *pattern,
                       struct ct_mon_type_binds *binds, bool liftable, bool *lift, struct ct_mon_span at)
{
    if (cv->kind == CV_ERROR || pattern->kind == TY_ERROR)
        return cv->kind != CV_ERROR;
    bool fits = false;
    if (cv->kind == CV_CLOSURE || cv->kind == CV_FUN || cv->kind == CV_CHOICE) {
        fits = pattern->kind == TY_FUN && adapt_function(e, cv, pattern, binds);
    } else if (pattern->kind == TY_EVENTS && is_value(cv)) {
        if (ct_mon_type_match(pattern->args[0], cv->type, binds))
            return to_const_stream(e, cv, cv->type, at);
    } else if (cv->kind == CV_STREAM && pattern->value && liftable && lift) {
        fits = ct_mon_type_match(pattern, cv->type->args[0], binds);
        *lift |= fits;
    } else if (cv->type) {
        fits = ct_mon_type_match(pattern, cv->type, binds);
    }
    if (!fits)
        mismatch(e, cv, pattern, binds, liftable || !lift, at);
    return fits;
}

/* Puts the arguments into the order of the parameters. Returns false after reporting an error. */
static bool place_args(struct ct_mon_elab *e, const struct ct_mon_ast_def *def,
                       const struct ct_mon_cv_arg *args, size_t n, const struct ct_mon_cv_arg **placed,
                       struct ct_mon_span at)
{
    size_t position = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = position;
        if (args[i].name) {
            for (k = 0; k < def->nparams && def->params[k].name != args[i].name; k++)
                ;
            if (k == def->nparams) {
                struct ct_mon_names names = {0};
                for (k = 0; k < def->nparams; k++)
                    ct_mon_names_add(e->arena, &names, def->params[k].name);
                ct_mon_elab_unknown_argument(e, args[i].name_span, args[i].name, &names);
                return false;
            }
        } else {
            while (k < def->nparams && placed[k])
                k++;
            position = k + 1;
        }
        if (k < def->nparams && placed[k]) {
            ct_mon_diag_error(e->diags, args[i].name ? args[i].name_span : args[i].span,
                              "Argument %s of %s is given twice", def->params[k].name, fun_name(def));
            return false;
        }
        if (k < def->nparams)
            placed[k] = &args[i];
    }
    /* no parameter is filled twice: with as many arguments as parameters, all are filled */
    return !ct_mon_elab_wrong_number(e, at, "arguments", fun_name(def), def->nparams, n);
}

static struct ct_mon_cv expand(struct ct_mon_elab *e, struct ct_mon_closure *c,
                               struct ct_mon_type_binds *binds, struct ct_mon_cv *args,
                               const struct ct_mon_type *result, struct ct_mon_span at)
{
    struct ct_mon_ast_def *def = c->def;
    if (def->body->kind == A_BUILTIN) {
        if (e->check && result->kind != TY_ERROR && result->kind != TY_FUN)
            return dummy(e, result, def->nparams ? (uint32_t)def->nparams : 0);
        return ct_mon_elab_builtin(e, def->body->name, args, def->nparams, result, at);
    }
    if (e->check && def->type)
        return dummy(e, result, 1);
    if (!e->check && ct_mon_elab_wants_residual(e, def, args, def->nparams, result)) {
        struct ct_mon_env *env = body_env(e, c, binds, args);
        return ct_mon_elab_residual(e, c, env, args, def->nparams, result, at);
    }
    if (e->check && !def->type && def->active > 2) {
        ct_mon_elab_needs_type(e, def);
        return cv_error(e);
    }
    if (!ct_mon_elab_step(e, at))
        return cv_error(e);
    e->depth++;
    def->active++;
    struct ct_mon_env *env = body_env(e, c, binds, args);
    struct ct_mon_cv cv = ct_mon_elab_expr(e, env, def->body);
    if (def->type &&
        !ct_mon_elab_adapt(e, &cv, result, &(struct ct_mon_type_binds){0}, false, NULL, def->body->span))
        cv = cv_error(e);
    def->active--;
    e->depth--;
    return cv;
}

/* Calls a liftable function that has at least one stream as argument. */
static struct ct_mon_cv lift_call(struct ct_mon_elab *e, struct ct_mon_cv f, struct ct_mon_cv *args, size_t n,
                                  const struct ct_mon_type *result, struct ct_mon_span at)
{
    if (n > LIFT_MOST) {
        ct_mon_diag_error(e->diags, at, "Cannot lift a function of more than %d parameters", LIFT_MOST);
        return cv_error(e);
    }
    for (size_t i = 0; i < n; i++)
        if (is_value(&args[i]) && !to_const_stream(e, &args[i], args[i].type, at))
            return cv_error(e);
    if (e->check)
        return result ? cv_stream(e, ct_mon_node_opaque(&e->graph, result)) : cv_error(e);
    return ct_mon_elab_slift(e, f, args, n, at);
}

static struct ct_mon_cv call_closure(struct ct_mon_elab *e, struct ct_mon_cv f,
                                     const struct ct_mon_cv_arg *args, size_t n, struct ct_mon_span at)
{
    struct ct_mon_closure *c = f.closure;
    struct ct_mon_ast_def *def = c->def;
    const struct ct_mon_cv_arg **placed = ARENA_ARRAY(e->arena, const struct ct_mon_cv_arg *, def->nparams);
    struct ct_mon_cv *cvs = ARENA_ARRAY(e->arena, struct ct_mon_cv, def->nparams);
    if (!place_args(e, def, args, n, placed, at))
        return cv_error(e);
    struct ct_mon_type_binds binds = binds_of(e, c);
    const struct ct_mon_env *env = type_env(e, c);
    bool lift = false, failed = false;
    /* functions come last, because the other arguments bind their type parameters */
    for (int functions = 0; functions < 2; functions++) {
        for (size_t i = 0; i < def->nparams; i++) {
            const struct ct_mon_type *pattern = param_type(e, env, def, i);
            if ((pattern->kind == TY_FUN) != (functions == 1))
                continue;
            cvs[i] = placed[i]->cv;
            failed |= !ct_mon_elab_adapt(e, &cvs[i], pattern, &binds, def->liftable, &lift, placed[i]->span);
        }
    }
    if (failed)
        return cv_error(e);
    for (size_t i = 0; i < binds.n; i++) {
        if (!binds.at[i].type) {
            ct_mon_diag_error(e->diags, at, "Explicit type arguments needed for %s", fun_name(def));
            return cv_error(e);
        }
    }
    const struct ct_mon_type *result =
        def->type ? ct_mon_type_subst(&e->types, ct_mon_elab_type(e, env, def->type), &binds)
                  : e->types.error;
    if (lift) {
        struct ct_mon_closure *given = ARENA_NEW(e->arena, struct ct_mon_closure);
        *given = (struct ct_mon_closure){.def = def, .env = c->env, .given = binds.at, .ngiven = binds.n};
        f.closure = given;
        if (!def->type) {
            const struct ct_mon_type *t = ct_mon_elab_fun_type(e, f);
            if (t && t->kind == TY_ERROR) /* it was reported */
                return cv_error(e);
            result = t ? t->args[t->n - 1] : result;
        }
        return lift_call(e, f, cvs, def->nparams, result, at);
    }
    return expand(e, c, &binds, cvs, result, at);
}

static struct ct_mon_cv call_choice(struct ct_mon_elab *e, struct ct_mon_cv f,
                                    const struct ct_mon_cv_arg *args, size_t n, struct ct_mon_span at)
{
    struct ct_mon_cv a = ct_mon_elab_call(e, f.members[0], args, n, at),
                     b = ct_mon_elab_call(e, f.members[1], args, n, at);
    if (a.kind == CV_ERROR || b.kind == CV_ERROR)
        return cv_error(e);
    if (a.kind == CV_CLOSURE || a.kind == CV_CHOICE) {
        struct ct_mon_cv *members = ARENA_ARRAY(e->arena, struct ct_mon_cv, 2);
        members[0] = a;
        members[1] = b;
        return (struct ct_mon_cv){
            .kind = CV_CHOICE, .type = ct_mon_elab_fun_type(e, a), .ir = f.ir, .members = members};
    }
    struct ct_mon_ir *x = ct_mon_elab_materialise(e, a, at), *y = ct_mon_elab_materialise(e, b, at);
    return x && y ? cv_value(ct_mon_ir_if(&e->pool, f.ir, x, y)) : cv_error(e);
}

static struct ct_mon_cv call_unknown(struct ct_mon_elab *e, struct ct_mon_cv f,
                                     const struct ct_mon_cv_arg *args, size_t n, struct ct_mon_span at)
{
    struct ct_mon_type_binds none = {0};
    if (n + 1 != f.type->n) {
        ct_mon_diag_error(e->diags, at, "Wrong number of arguments for function. Expected: %u, actual: %zu",
                          f.type->n - 1, n);
        return cv_error(e);
    }
    for (size_t i = 0; i < n; i++) {
        struct ct_mon_cv cv = args[i].cv;
        if (!ct_mon_elab_adapt(e, &cv, f.type->args[i], &none, false, NULL, args[i].span))
            return cv_error(e);
    }
    return dummy(e, f.type->args[n], (uint32_t)n);
}

struct ct_mon_cv ct_mon_elab_call(struct ct_mon_elab *e, struct ct_mon_cv f, const struct ct_mon_cv_arg *args,
                                  size_t n, struct ct_mon_span at)
{
    if (!ct_mon_elab_step(e, at))
        return cv_error(e);
    switch (f.kind) {
    case CV_ERROR:
        return f;
    case CV_CLOSURE:
        return call_closure(e, f, args, n, at);
    case CV_CHOICE:
        return call_choice(e, f, args, n, at);
    case CV_FUN:
        return call_unknown(e, f, args, n, at);
    default:
        if (!f.type || f.type->kind != TY_ERROR)
            ct_mon_diag_error(e->diags, at, "Type mismatch: Expected a function, found %s",
                              f.type ? ct_mon_type_text(e->arena, f.type) : "a module");
        return cv_error(e);
    }
}

struct ct_mon_cv ct_mon_elab_apply(struct ct_mon_elab *e, struct ct_mon_cv f, struct ct_mon_cv *args,
                                   size_t n, struct ct_mon_span at)
{
    struct ct_mon_cv_arg *list = ARENA_ARRAY(e->arena, struct ct_mon_cv_arg, n);
    for (size_t i = 0; i < n; i++)
        list[i] = (struct ct_mon_cv_arg){.span = at, .cv = args[i]};
    return ct_mon_elab_call(e, f, list, n, at);
}

/* Returns whether the type is that of a function on values: a lifted function may have it as parameter. */
static bool is_value_function(const struct ct_mon_type *t)
{
    bool is = t->kind == TY_FUN;
    for (uint32_t i = 0; is && i < t->n; i++)
        is = t->args[i]->value;
    return is;
}

static void check_liftable(struct ct_mon_elab *e, const struct ct_mon_closure *c,
                           const struct ct_mon_env *env)
{
    bool fine = c->def->nparams > 0;
    for (size_t i = 0; i < c->def->nparams; i++) {
        const struct ct_mon_type *t = param_type(e, env, c->def, i);
        fine &= t->value || is_value_function(t);
    }
    if (c->def->type)
        fine &= ct_mon_elab_type(e, env, c->def->type)->value;
    if (!fine)
        ct_mon_diag_error(
            e->diags, c->def->name_span,
            "Macro has been annotated with @liftable, but its type does not allow being lifted");
}

/* Checks a macro once for all possible arguments: its type parameters stay variables. */
void ct_mon_elab_check_def(struct ct_mon_elab *e, struct ct_mon_ast_def *def, struct ct_mon_env *env)
{
    struct ct_mon_closure c = {.def = def, .env = env};
    struct ct_mon_type_binds binds = binds_of(e, &c);
    const struct ct_mon_env *types = type_env(e, &c);
    const struct ct_mon_type **params = ARENA_ARRAY(e->arena, const struct ct_mon_type *, def->nparams);
    for (size_t i = 0; i < def->nparams; i++)
        params[i] = param_type(e, types, def, i);
    if (def->liftable)
        check_liftable(e, &c, types);
    if (def->body->kind == A_BUILTIN || def->body->kind == A_EXTERN)
        return;
    struct ct_mon_fn *fn = e->fn;
    e->check++;
    e->fn = ct_mon_elab_fn_new(e, env->fn, (uint32_t)def->nparams, NULL);
    struct ct_mon_cv *args = ARENA_ARRAY(e->arena, struct ct_mon_cv, def->nparams);
    for (size_t i = 0; i < def->nparams; i++)
        args[i] = dummy(e, params[i], (uint32_t)i);
    def->active++;
    struct ct_mon_cv cv = ct_mon_elab_expr(e, body_env(e, &c, &binds, args), def->body);
    def->active--;
    if (def->type)
        ct_mon_elab_adapt(e, &cv, ct_mon_elab_type(e, types, def->type), &(struct ct_mon_type_binds){0},
                          false, NULL, def->body->span);
    e->fn = fn;
    e->check--;
}
