/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of a specification: declares inputs and outputs, and checks every definition. */
#include <string.h>

#include "monitor/elab.h"
#include "monitor/library.h"

/* most steps of macro expansion; more would take minutes */
static const uint64_t FUEL = 4000000;

enum {
    GLOBAL_TABLE = 4096,
    CONSTANTS_PART = 4,        /* fraction of the arena's limit that constants may use in addition */
    CONSTANTS_WORK = 200000000 /* units of work for calculating constants */
};

/* Makes an environment for many names. */
static struct ct_mon_env *table_env(struct ct_mon_elab *e, struct ct_mon_env *up)
{
    struct ct_mon_env *env = ct_mon_env_new(e, up);
    env->table_cap = GLOBAL_TABLE;
    env->table = ARENA_ARRAY(e->arena, struct ct_mon_binding *, GLOBAL_TABLE);
    return env;
}

void ct_mon_elab_init(struct ct_mon_elab *e, struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                      const char *time_unit)
{
    memset(e, 0, sizeof *e);
    e->arena = arena;
    e->diags = diags;
    e->time_unit = time_unit;
    e->fuel = FUEL;
    ct_mon_heap_init(&e->constants, arena->limit / CONSTANTS_PART, true);
    heap_allow(&e->constants, CONSTANTS_WORK);
    ct_mon_types_init(&e->types, arena);
    ct_mon_ir_init(&e->pool, arena, &e->constants);
    ct_mon_graph_init(&e->graph, arena, &e->types, &e->pool);
    e->library = table_env(e, NULL);
    e->global = table_env(e, e->library);
}

static void declare_module(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast_stmt *s)
{
    struct ct_mon_env *inner = ct_mon_env_new(e, env);
    inner->name = s->name;
    ct_mon_elab_declare(e, inner, s->body);
    ct_mon_env_bind_value(e, env, s->name, s->name_span, (struct ct_mon_cv){.kind = CV_MODULE, .env = inner});
}

static void declare_type(struct ct_mon_elab *e, struct ct_mon_env *env, struct ct_mon_ast_stmt *s)
{
    /* in the global scope, types of the language keep their names */
    const struct ct_mon_binding *old = ct_mon_env_find(env, s->name, true);
    if (old || (env == e->global && ct_mon_elab_has_type(s->name))) {
        ct_mon_elab_defined_twice(e, s->name, s->name_span, old ? old->span : (struct ct_mon_span){0});
        return;
    }
    struct ct_mon_binding *b = ct_mon_env_add(e, env, s->name, s->name_span);
    b->is_type = true;
    b->type_def = s;
}

static void declare_input(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast_stmt *s)
{
    const struct ct_mon_type *type = s->type ? ct_mon_elab_type(e, env, s->type) : e->types.error;
    struct ct_mon_cv cv = cv_error(e);
    if (type->kind == TY_EVENTS) {
        struct ct_mon_elab_input input = {.name = s->name, .type = type->args[0], .span = s->name_span};
        input.node = ct_mon_node_input(&e->graph, input.type, (uint32_t)e->ninputs);
        input.node->name = s->name;
        ARENA_PUSH(e->arena, e->inputs, e->ninputs, e->inputs_cap, input);
        cv = cv_stream(e, input.node);
    } else if (type->kind != TY_ERROR) {
        ct_mon_diag_error(e->diags, s->type->span,
                          "Input streams must be defined to have stream types; write Events[%s]",
                          ct_mon_type_text(e->arena, type));
    }
    ct_mon_env_bind_value(e, env, s->name, s->name_span, cv);
}

void ct_mon_elab_declare(struct ct_mon_elab *e, struct ct_mon_env *env, struct ct_mon_ast_stmt *stmts)
{
    /* inputs last: their types may be declared later, or imported */
    for (struct ct_mon_ast_stmt *s = stmts; s; s = s->next)
        if (s->kind == S_TYPE && s->name)
            declare_type(e, env, s);
    for (struct ct_mon_ast_stmt *s = stmts; s; s = s->next) {
        if (s->kind == S_IMPORT)
            ct_mon_env_add_import(e, env, s);
        else if (s->kind == S_DEF && s->name && s->def->body->kind != A_ERROR)
            ct_mon_env_bind_def(e, env, s->def);
        else if (s->kind == S_MODULE && s->name)
            declare_module(e, env, s);
    }
    if (env == e->global)
        ct_mon_elab_resolve_imports(e, env, stmts);
    for (struct ct_mon_ast_stmt *s = stmts; s; s = s->next)
        if (s->kind == S_IN && s->name)
            declare_input(e, env, s);
    /* what has an error keeps its name, unless another one is meant */
    for (struct ct_mon_ast_stmt *s = stmts; s; s = s->next)
        if (s->kind == S_DEF && s->name && s->def->body->kind == A_ERROR &&
            !ct_mon_env_find(env, s->name, false))
            ct_mon_env_bind_def(e, env, s->def);
}

/* Checks the annotations of a statement against the declared ones. */
static void check_annotation(struct ct_mon_elab *e, const struct ct_mon_ast_stmt *s,
                             const struct ct_mon_ast_annotation *a, struct ct_mon_names *declared)
{
    for (size_t i = 0; i < declared->n - 1; i++)
        if (!strcmp(declared->at[i], a->name))
            return;
    const char *near = s->def || s->kind != S_OUT ? "liftable" : "raw";
    if (!strcmp(a->name, near))
        return;
    ct_mon_names_add(e->arena, declared, near);
    const char *hint = ct_mon_did_you_mean(e->arena, a->name, declared);
    if (*hint)
        ct_mon_diag_error(e->diags, a->span, "Undefined annotation @%s%s", a->name, hint);
    else
        ct_mon_diag_error(e->diags, a->span,
                          "Undefined annotation @%s; declare it by 'def @%s', with its parameters if it has "
                          "any, as in 'def @unit(u: String)'",
                          a->name, a->name);
    if (s->def && strstr(hint, "liftable"))
        s->def->liftable = true;
}

static void check_annotations(struct ct_mon_elab *e, const struct ct_mon_ast_stmt *stmts)
{
    struct ct_mon_names declared = {0};
    ct_mon_library_names(e->library->lazy, true, &declared);
    for (const struct ct_mon_ast_stmt *s = stmts; s; s = s->next)
        if (s->kind == S_ANNOTATION && s->name)
            ct_mon_names_add(e->arena, &declared, s->name);
    for (const struct ct_mon_ast_stmt *s = stmts; s; s = s->next)
        for (const struct ct_mon_ast_annotation *a = s->annotations; a; a = a->next)
            check_annotation(e, s, a, &declared);
}

static void check_all(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast_stmt *stmts)
{
    for (const struct ct_mon_ast_stmt *s = stmts; s; s = s->next) {
        struct ct_mon_binding *b = s->name ? ct_mon_env_find(env, s->name, s->kind == S_TYPE) : NULL;
        if (!b)
            continue;
        if (s->kind == S_MODULE && b->cv.kind == CV_MODULE)
            check_all(e, b->cv.env, s->body);
        else if (s->kind == S_DEF && b->cv.kind == CV_CLOSURE)
            ct_mon_elab_check_def(e, s->def, env);
        else if (s->kind == S_DEF && s->def->body->kind != A_EXTERN)
            ct_mon_elab_force(e, b, s->name_span);
        else if (s->kind == S_TYPE && s->type && !s->ntype_params)
            ct_mon_elab_type(e, env, s->type);
    }
}

void ct_mon_elab_add_output(struct ct_mon_elab *e, const struct ct_mon_elab_output *out)
{
    if (ct_mon_name_map_get(&e->outputs_by_name, out->name))
        ct_mon_diag_warning(e->diags, out->span, "Conflicting out declaration: %s is an output twice",
                            out->name);
    else
        ct_mon_name_map_add(e->arena, &e->outputs_by_name, out->name, out->node);
    ARENA_PUSH(e->arena, e->outputs, e->noutputs, e->outputs_cap, *out);
}

/* Reports an output without a stream, unless another error was reported already. */
static void no_output(struct ct_mon_elab *e, const struct ct_mon_ast_stmt *s)
{
    if (!e->diags->errors)
        ct_mon_diag_error(e->diags, s->value->span, "The output is empty; a stream or a value was expected");
}

static void output_value(struct ct_mon_elab *e, const struct ct_mon_ast_stmt *s, struct ct_mon_cv cv,
                         const char *name);

/* Puts out the members of a record with streams, each as an output of its own: name.member. */
static void output_members(struct ct_mon_elab *e, const struct ct_mon_ast_stmt *s, struct ct_mon_cv cv,
                           const char *name)
{
    for (uint32_t i = 0; i < cv.type->n; i++) {
        const char *full = ct_mon_arena_printf(e->arena, "%s.%s", name, cv.type->names[i]);
        if (ct_mon_elab_step(e, s->value->span))
            output_value(e, s, cv.members[i], ct_mon_arena_intern_z(e->arena, full));
    }
}

static void output(struct ct_mon_elab *e, const struct ct_mon_ast_stmt *s)
{
    struct ct_mon_cv cv = ct_mon_elab_expr(e, e->global, s->value);
    const struct ct_mon_ast_def *def = cv.kind == CV_CLOSURE ? cv.closure->def : NULL;
    if (def && def->has_params && !def->nparams) /* def f() = …: the value of f */
        cv = ct_mon_elab_call(e, cv, NULL, 0, s->value->span);
    output_value(e, s, cv, s->name);
}

static void output_value(struct ct_mon_elab *e, const struct ct_mon_ast_stmt *s, struct ct_mon_cv cv,
                         const char *name)
{
    if (cv.kind == CV_RECORD && !cv.type->value) {
        output_members(e, s, cv, name);
        return;
    }
    if (cv.kind == CV_VALUE || (cv.kind == CV_RECORD && cv.type->value)) {
        struct ct_mon_ir *ir = ct_mon_elab_materialise(e, cv, s->value->span);
        cv = ir && ir_is_const(ir) ? cv_stream(e, ct_mon_node_const(&e->graph, ir->type, ir->value))
                                   : cv_error(e);
    }
    if (cv.kind == CV_ERROR) {
        no_output(e, s);
        return;
    }
    if (cv.kind != CV_STREAM) {
        const struct ct_mon_type *have = ct_mon_elab_fun_type(e, cv);
        ct_mon_diag_error(e->diags, s->value->span, "Type mismatch: Expected a stream, found %s",
                          have                   ? ct_mon_type_text(e->arena, have)
                          : cv.kind == CV_MODULE ? "a module"
                                                 : "a macro; give it its arguments");
        return;
    }
    ct_mon_elab_add_output(
        e, &(struct ct_mon_elab_output){
               .name = name, .node = cv.node, .raw = s->raw || s->kind == S_PRINT, .span = s->name_span});
}

static void output_all(struct ct_mon_elab *e, const struct ct_mon_ast_stmt *stmts)
{
    for (const struct ct_mon_ast_stmt *s = stmts; s; s = s->next) {
        struct ct_mon_binding *b = s->name && (s->kind == S_DEF || s->kind == S_IN)
                                       ? ct_mon_env_find(e->global, s->name, false)
                                       : NULL;
        if (b && b->state == BIND_DONE && b->cv.kind == CV_STREAM)
            ct_mon_elab_add_output(
                e, &(struct ct_mon_elab_output){.name = s->name, .node = b->cv.node, .span = s->name_span});
    }
}

void ct_mon_elab_spec(struct ct_mon_elab *e, struct ct_mon_ast_stmt *stmts)
{
    e->stack_base = __builtin_frame_address(0);
    ct_mon_elab_declare(e, e->global, stmts);
    check_annotations(e, stmts);
    check_all(e, e->global, stmts);
    for (const struct ct_mon_ast_stmt *s = stmts; s; s = s->next) {
        if (s->kind == S_OUT_ALL)
            output_all(e, stmts);
        else if ((s->kind == S_OUT || s->kind == S_PRINT) && s->value)
            output(e, s);
    }
    ct_mon_elab_close_captures(e);
}
