/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes, lazily elaborated definitions, and types by name. */
#include <string.h>

#include "monitor/elab.h"
#include "monitor/library.h"

struct ct_mon_env *ct_mon_env_new(struct ct_mon_elab *e, struct ct_mon_env *up)
{
    struct ct_mon_env *env = ARENA_NEW(e->arena, struct ct_mon_env);
    env->up = up;
    env->tail = &env->first;
    env->last_import = &env->imports;
    env->fn = e->fn;
    env->check = e->check > 0;
    env->library = up && up->library;
    return env;
}

static size_t slot(const struct ct_mon_env *env, const char *name)
{
    return (size_t)(hash_ptr(0, name) & (env->table_cap - 1));
}

struct ct_mon_binding *ct_mon_env_find(const struct ct_mon_env *env, const char *name, bool is_type)
{
    struct ct_mon_binding *b = env->table ? env->table[slot(env, name)] : env->first;
    while (b && (b->name != name || b->is_type != is_type))
        b = b->next;
    return !b && !is_type && env->lazy && ct_mon_library_declare(env->lazy, name)
               ? ct_mon_env_find(env, name, false)
               : b;
}

void ct_mon_env_names(struct ct_mon_elab *e, const struct ct_mon_env *env, bool is_type,
                      struct ct_mon_names *names)
{
    for (size_t i = 0; i == 0 || i < env->table_cap; i++)
        for (const struct ct_mon_binding *b = env->table ? env->table[i] : env->first; b; b = b->next)
            if (b->is_type == is_type)
                ct_mon_names_add(e->arena, names, b->name);
    if (env->lazy && !is_type)
        ct_mon_library_names(env->lazy, false, names);
}

struct ct_mon_binding *ct_mon_env_add(struct ct_mon_elab *e, struct ct_mon_env *env, const char *name,
                                      struct ct_mon_span span)
{
    struct ct_mon_binding *b = ARENA_NEW(e->arena, struct ct_mon_binding);
    *b = (struct ct_mon_binding){.name = name, .span = span, .env = env};
    if (env->table) {
        b->next = env->table[slot(env, name)];
        env->table[slot(env, name)] = b;
    } else {
        *env->tail = b;
        env->tail = &b->next;
    }
    return b;
}

bool ct_mon_elab_wrong_number(struct ct_mon_elab *e, struct ct_mon_span at, const char *what,
                              const char *name, size_t expected, size_t actual)
{
    if (expected != actual)
        ct_mon_diag_error(e->diags, at, "Wrong number of %s for %s. Expected: %zu, actual: %zu", what, name,
                          expected, actual);
    return expected != actual;
}

void ct_mon_elab_unknown_argument(struct ct_mon_elab *e, struct ct_mon_span at, const char *name,
                                  const struct ct_mon_names *params)
{
    ct_mon_diag_error(e->diags, at, "Undefined keyword argument %s%s", name,
                      ct_mon_did_you_mean(e->arena, name, params));
}

void ct_mon_elab_needs_type(struct ct_mon_elab *e, const struct ct_mon_ast_def *def)
{
    const char *name = def->name ? def->name : "function";
    ct_mon_diag_error(e->diags, def->name_span,
                      "Recursive definition %s needs a type annotation; write 'def %s%s: TYPE = …'", name,
                      name, def->has_params ? "(…)" : "");
}

void ct_mon_elab_defined_twice(struct ct_mon_elab *e, const char *name, struct ct_mon_span at,
                               struct ct_mon_span old)
{
    const char *where = "";
    unsigned line, column;
    if (old.source) {
        ct_mon_source_place(old.source, old.from, &line, &column, &(const char *){NULL}, &(size_t){0});
        where = old.source == at.source
                    ? ct_mon_arena_printf(e->arena, "; the first one is in line %u", line)
                    : ct_mon_arena_printf(e->arena, "; the first one is in %s:%u", old.source->name, line);
    }
    ct_mon_diag_error(e->diags, at, "Multiple definitions of %s in same scope%s", name, where);
}

static struct ct_mon_binding *add_new(struct ct_mon_elab *e, struct ct_mon_env *env, const char *name,
                                      struct ct_mon_span span)
{
    const struct ct_mon_binding *old = ct_mon_env_find(env, name, false);
    if (old)
        ct_mon_elab_defined_twice(e, name, span, old->span);
    return ct_mon_env_add(e, env, name, span);
}

void ct_mon_env_bind_value(struct ct_mon_elab *e, struct ct_mon_env *env, const char *name,
                           struct ct_mon_span span, struct ct_mon_cv cv)
{
    struct ct_mon_binding *b = add_new(e, env, name, span);
    b->cv = cv;
    b->state = BIND_DONE;
}

void ct_mon_env_bind_type(struct ct_mon_elab *e, struct ct_mon_env *env, const char *name,
                          const struct ct_mon_type *type)
{
    struct ct_mon_binding *b = ct_mon_env_add(e, env, name, (struct ct_mon_span){0});
    b->is_type = true;
    b->type = type;
}

void ct_mon_env_bind_def(struct ct_mon_elab *e, struct ct_mon_env *env, struct ct_mon_ast_def *def)
{
    if (!def->name)
        return;
    struct ct_mon_binding *b = add_new(e, env, def->name, def->name_span);
    b->def = def;
    if (def->body->kind == A_BUILTIN)
        ct_mon_elab_check_builtin(e, def, env);
    if (def->has_params || def->ntype_params) {
        struct ct_mon_closure *c = ARENA_NEW(e->arena, struct ct_mon_closure);
        *c = (struct ct_mon_closure){.def = def, .env = env};
        b->cv = (struct ct_mon_cv){.kind = CV_CLOSURE, .closure = c};
        b->state = BIND_DONE;
    }
}

/* Makes the value of a definition's name inside that definition: a stream that is filled in later, or a
 * record of such streams. Returns false for other types. */
static bool make_early(struct ct_mon_elab *e, const struct ct_mon_type *type,
                       const struct ct_mon_ast_def *def, struct ct_mon_cv *out)
{
    if (type->kind == TY_EVENTS) {
        *out = cv_stream(e, ct_mon_node_ref(&e->graph, type->args[0], def->name, def->name_span));
        return true;
    }
    if (type->kind != TY_RECORD || type->value)
        return false;
    *out = (struct ct_mon_cv){
        .kind = CV_RECORD, .type = type, .members = ARENA_ARRAY(e->arena, struct ct_mon_cv, type->n)};
    for (uint32_t i = 0; i < type->n; i++)
        if (!make_early(e, type->args[i], def, &out->members[i]))
            return false;
    return true;
}

static void fill_early(const struct ct_mon_cv *early, const struct ct_mon_cv *cv)
{
    if (early->kind == CV_STREAM && cv->kind == CV_STREAM) {
        early->node->args[0] = cv->node;
        early->node->n = 1;
    } else if (early->kind == CV_RECORD && cv->kind == CV_RECORD) {
        for (uint32_t i = 0; i < early->type->n; i++)
            fill_early(&early->members[i], &cv->members[i]);
    }
}

static struct ct_mon_cv refer_early(struct ct_mon_elab *e, struct ct_mon_binding *b, struct ct_mon_span at)
{
    const struct ct_mon_ast_def *def = b->def;
    if (b->used_early)
        return b->early;
    b->used_early = true;
    b->early = cv_error(e);
    if (!def->type)
        ct_mon_elab_needs_type(e, def);
    else if (!make_early(e, ct_mon_elab_type(e, b->env, def->type), def, &b->early)) {
        ct_mon_diag_error(e->diags, at, "Infinite recursion detected: %s needs its own value", def->name);
        b->early = cv_error(e);
    }
    return b->early;
}

static struct ct_mon_cv force_lazy(struct ct_mon_elab *e, struct ct_mon_binding *b)
{
    struct ct_mon_fn *fn = e->fn;
    unsigned check = e->check;
    const bool untyped = !b->def->type;
    b->state = BIND_ACTIVE;
    b->env->untyped += untyped;
    e->fn = b->env->fn;
    e->check = b->env->check ? (check ? check : 1) : 0;
    struct ct_mon_cv cv = ct_mon_elab_expr(e, b->env, b->def->body);
    if (b->def->type) {
        const struct ct_mon_type *type = ct_mon_elab_type(e, b->env, b->def->type);
        if (!ct_mon_elab_adapt(e, &cv, type, &(struct ct_mon_type_binds){0}, false, NULL, b->def->body->span))
            cv = cv_error(e);
    }
    if (cv.kind == CV_STREAM && !cv.node->name && !b->env->library) {
        cv.node->name = b->name;
        cv.node->span = b->span;
    }
    if (b->used_early)
        fill_early(&b->early, &cv);
    b->cv = cv;
    b->state = BIND_DONE;
    b->env->untyped -= untyped;
    while (!b->env->untyped && b->env->deferred) {
        struct ct_mon_binding *next = b->env->deferred;
        b->env->deferred = next->next_deferred;
        force_lazy(e, next);
    }
    e->fn = fn;
    e->check = check;
    return cv;
}

/* Puts off a definition whose type is annotated while one beside it, without annotation, is being elaborated:
 * it may need that one, whose type is not known yet. Returns whether it did. */
static bool defer(struct ct_mon_elab *e, struct ct_mon_binding *b)
{
    if (!b->env->untyped || !b->def->type ||
        !make_early(e, ct_mon_elab_type(e, b->env, b->def->type), b->def, &b->early))
        return false;
    b->used_early = true;
    b->next_deferred = b->env->deferred;
    b->env->deferred = b;
    return true;
}

/* Makes a value of an enclosing function available in the current one, as a captured parameter. */
static struct ct_mon_cv import(struct ct_mon_elab *e, struct ct_mon_cv cv)
{
    if (cv.kind == CV_VALUE)
        cv.ir = ct_mon_ir_import(&e->pool, e->fn, cv.ir);
    if ((cv.kind == CV_RECORD || cv.kind == CV_CHOICE) && e->fn) {
        uint32_t n = cv.kind == CV_CHOICE ? 2 : cv.type->n;
        struct ct_mon_cv *members = ARENA_ARRAY(e->arena, struct ct_mon_cv, n);
        for (uint32_t i = 0; i < n; i++)
            members[i] = import(e, cv.members[i]);
        cv.members = members;
        if (cv.kind == CV_CHOICE)
            cv.ir = ct_mon_ir_import(&e->pool, e->fn, cv.ir);
    }
    return cv;
}

struct ct_mon_cv ct_mon_elab_force(struct ct_mon_elab *e, struct ct_mon_binding *b, struct ct_mon_span at)
{
    if (b->state == BIND_ACTIVE || (b->state == BIND_LAZY && b->used_early))
        return refer_early(e, b, at);
    if (b->state == BIND_LAZY) {
        if (!ct_mon_elab_step(e, at))
            return cv_error(e);
        if (defer(e, b))
            return b->early;
        force_lazy(e, b);
    }
    return import(e, b->cv);
}

/* Returns whether the type mentions a parameter of the enclosing type that stands for a stream or a function,
 * so that no stream can have it. */
static bool is_of_unfit_parameter(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                  const struct ct_mon_ast_type *t)
{
    const struct ct_mon_binding *b =
        t->kind == AT_NAME && t->name ? ct_mon_env_lookup(e, env, t->name, true, t->span) : NULL;
    if (b && b->type)
        return !b->type->value;
    for (size_t i = 0; i < t->nargs; i++)
        if (is_of_unfit_parameter(e, env, t->args[i]))
            return true;
    return false;
}

/* Returns whether the definition of a type is being elaborated, so that it would contain itself. */
static bool contains_itself(const struct ct_mon_elab *e, const struct ct_mon_ast_stmt *definition)
{
    const struct ct_mon_type_in_use *in = e->types_in_use;
    while (in && in->definition != definition)
        in = in->outer;
    return in != NULL;
}

static const struct ct_mon_type *type_definition(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                                 const struct ct_mon_ast_type *t,
                                                 const struct ct_mon_binding *b)
{
    const struct ct_mon_ast_stmt *s = b->type_def;
    if (!s->type ||
        ct_mon_elab_wrong_number(e, t->span, "type arguments", t->name, s->ntype_params, t->nargs) ||
        !ct_mon_elab_step(e, t->span))
        return e->types.error;
    if (contains_itself(e, s)) {
        ct_mon_diag_error(
            e->diags, t->span,
            "Type %s contains itself, and a value of it would have no end; use another type here", t->name);
        return e->types.error;
    }
    struct ct_mon_env *inner = ct_mon_env_new(e, b->env);
    for (size_t i = 0; i < t->nargs; i++)
        ct_mon_env_bind_type(e, inner, s->type_params[i], ct_mon_elab_type(e, env, t->args[i]));
    const struct ct_mon_span outer = e->type_use;
    if (!is_of_unfit_parameter(e, env, t))
        e->type_use = t->span;
    const struct ct_mon_type_in_use in_use = {.definition = s, .outer = e->types_in_use};
    e->types_in_use = &in_use;
    const struct ct_mon_type *type = ct_mon_elab_type(e, inner, s->type);
    e->types_in_use = in_use.outer;
    e->type_use = outer;
    return type;
}

static const struct {
    const char *name;
    enum ct_mon_type_kind kind;
    size_t n;
} TYPES[] = {{"Int", TY_INT, 0},       {"Float", TY_FLOAT, 0}, {"Bool", TY_BOOL, 0},
             {"String", TY_STRING, 0}, {"Unit", TY_RECORD, 0}, {"Option", TY_OPTION, 1},
             {"List", TY_LIST, 1},     {"Set", TY_SET, 1},     {"Events", TY_EVENTS, 1},
             {"Map", TY_MAP, 2}};

enum {
    TYPES_COUNT = sizeof TYPES / sizeof *TYPES
};

static size_t find_type(const char *name)
{
    size_t i = 0;
    while (i < TYPES_COUNT && strcmp(TYPES[i].name, name) != 0)
        i++;
    return i;
}

bool ct_mon_elab_has_type(const char *name)
{
    return find_type(name) < TYPES_COUNT;
}

static const struct ct_mon_type *named_type(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                            const struct ct_mon_ast_type *t)
{
    struct ct_mon_types *ts = &e->types;
    const struct ct_mon_type *args[2] = {0};
    const struct ct_mon_binding *b = ct_mon_env_lookup(e, env, t->name, true, t->span);
    if (b && b->type)
        return b->type;
    if (b)
        return type_definition(e, env, t, b);
    const size_t i = find_type(t->name);
    if (i == TYPES_COUNT && ct_mon_diags_full_at(e->diags, t->span))
        return ts->error;
    if (i == TYPES_COUNT) {
        struct ct_mon_names names = {0};
        for (; env; env = env->up)
            ct_mon_env_names(e, env, true, &names);
        for (size_t k = 0; k < TYPES_COUNT; k++)
            ct_mon_names_add(e->arena, &names, TYPES[k].name);
        ct_mon_diag_error(e->diags, t->span, "Undefined type: %s%s", t->name,
                          ct_mon_did_you_mean(e->arena, t->name, &names));
        return ts->error;
    }
    if (ct_mon_elab_wrong_number(e, t->span, "type arguments", t->name, TYPES[i].n, t->nargs))
        return ts->error;
    for (size_t k = 0; k < t->nargs; k++) {
        args[k] = ct_mon_elab_type(e, env, t->args[k]);
        if (!args[k]->value) {
            if (args[k]->kind != TY_ERROR)
                ct_mon_diag_error(e->diags,
                                  is_of_unfit_parameter(e, env, t->args[k]) ? e->type_use : t->args[k]->span,
                                  "Streams may only contain value types; not other streams or functions");
            return ts->error;
        }
    }
    switch (TYPES[i].kind) {
    case TY_INT:
        return ts->integer;
    case TY_FLOAT:
        return ts->real;
    case TY_BOOL:
        return ts->boolean;
    case TY_STRING:
        return ts->string;
    case TY_RECORD:
        return ts->unit;
    case TY_MAP:
        return ct_mon_type_map(ts, args[0], args[1]);
    default:
        return ct_mon_type_of1(ts, TYPES[i].kind, args[0]);
    }
}

const struct ct_mon_type *ct_mon_elab_type(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                           const struct ct_mon_ast_type *t)
{
    if (t->kind == AT_NAME)
        return t->name ? named_type(e, env, t) : e->types.error;
    const struct ct_mon_type **args = ARENA_ARRAY(e->arena, const struct ct_mon_type *, t->nargs + 1);
    for (size_t i = 0; i < t->nargs; i++)
        args[i] = ct_mon_elab_type(e, env, t->args[i]);
    for (size_t i = 0; t->kind == AT_RECORD && i < t->nargs; i++)
        for (size_t k = 0; k < i; k++)
            if (t->names[k] == t->names[i])
                ct_mon_diag_error(e->diags, t->span, "Multiple definitions of %s in same scope", t->names[i]);
    switch (t->kind) {
    case AT_FUN:
        return ct_mon_type_fun(&e->types, args, t->nargs);
    case AT_RECORD:
        return ct_mon_type_record(&e->types, t->names, args, t->nargs, t->open);
    default:
        return ct_mon_type_tuple(&e->types, args, t->nargs);
    }
}
