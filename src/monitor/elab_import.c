/* SPDX-License-Identifier: Apache-2.0 */
/* Imports: modules whose names are visible in a scope, and as members of the module that imports them. */
#include "monitor/elab.h"

void ct_mon_env_add_import(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast_stmt *stmt)
{
    struct ct_mon_import *import = ARENA_NEW(e->arena, struct ct_mon_import);
    import->stmt = stmt;
    *env->last_import = import;
    env->last_import = &import->next;
}

/* Appends the modules that env imports, and that the list does not contain yet. */
static struct ct_mon_env **add_imported(const struct ct_mon_env *env, struct ct_mon_env **tail)
{
    for (const struct ct_mon_import *i = env->imports; i; i = i->next) {
        if (!i->env || i->env->listed)
            continue;
        i->env->listed = true;
        i->env->next_listed = NULL;
        *tail = i->env;
        tail = &i->env->next_listed;
    }
    return tail;
}

/* Finds a name in the modules that env imports, and in those that they import in turn. A list of modules
 * bounds the work where many ways lead to one of them. Sets *second when another module has another meaning
 * of the name. */
static struct ct_mon_binding *find_imported(const struct ct_mon_env *env, const char *name, bool is_type,
                                            struct ct_mon_binding **second)
{
    struct ct_mon_binding *first = NULL;
    struct ct_mon_env *list = NULL, **tail = add_imported(env, &list);
    for (struct ct_mon_env *m = list; m; m = m->next_listed) {
        struct ct_mon_binding *b = ct_mon_env_find(m, name, is_type);
        if (!b)
            tail = add_imported(m, tail);
        else if (!first)
            first = b;
        else if (b != first)
            *second = b;
    }
    for (; list; list = list->next_listed)
        list->listed = false;
    return first;
}

static const char *module_name(const struct ct_mon_binding *b)
{
    return b->env->name ? b->env->name : "the library";
}

/* Reports a name with two meanings. Returns one without meaning. */
static struct ct_mon_binding *ambiguous(struct ct_mon_elab *e, const char *name,
                                        const struct ct_mon_binding *first,
                                        const struct ct_mon_binding *second, struct ct_mon_span at)
{
    ct_mon_diag_error(e->diags, at, "%s is ambiguous: %s and %s have it; write %s.%s or %s.%s", name,
                      module_name(first), module_name(second), module_name(first), name,
                      second->env->name ? second->env->name : "__root__", name);
    struct ct_mon_binding *none = ARENA_NEW(e->arena, struct ct_mon_binding);
    *none = (struct ct_mon_binding){
        .name = name, .state = BIND_DONE, .cv = cv_error(e), .type = e->types.error, .env = first->env};
    return none;
}

struct ct_mon_binding *ct_mon_env_member(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                         const char *name, bool is_type, struct ct_mon_span at)
{
    struct ct_mon_binding *second = NULL, *b = ct_mon_env_find(env, name, is_type);
    if (b)
        return b;
    b = find_imported(env, name, is_type, &second);
    return second ? ambiguous(e, name, b, second, at) : b;
}

struct ct_mon_binding *ct_mon_env_lookup(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                         const char *name, bool is_type, struct ct_mon_span at)
{
    for (; env; env = env->up) {
        struct ct_mon_binding *b = ct_mon_env_member(e, env, name, is_type, at);
        if (!b)
            continue;
        /* an import must not change silently what a name of the library means */
        struct ct_mon_binding *known =
            b->env != env && !env->library ? ct_mon_env_find(e->library, name, is_type) : NULL;
        if (known && known != b && b->env->name && !ct_mon_env_find(env, name, is_type))
            return ambiguous(e, name, b, known, at);
        return b;
    }
    return NULL;
}

/* Finds the module of an import. Returns NULL when it is unknown, after an error message if `report`. */
static struct ct_mon_env *module_of(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                    const struct ct_mon_ast_stmt *s, bool report)
{
    struct ct_mon_env *module = NULL;
    for (size_t i = 0; i < s->value->nargs; i++) {
        const struct ct_mon_ast_arg *part = &s->value->args[i];
        const struct ct_mon_binding *b = i ? ct_mon_env_member(e, module, part->name, false, part->name_span)
                                           : ct_mon_env_lookup(e, env, part->name, false, part->name_span);
        if (b && b->state == BIND_DONE && b->cv.kind == CV_MODULE) {
            module = b->cv.env;
            continue;
        }
        struct ct_mon_names names = {0};
        for (const struct ct_mon_env *up = i ? module : env; up; up = i ? NULL : up->up)
            ct_mon_env_names(e, up, false, &names);
        if (report && b)
            ct_mon_diag_error(e->diags, part->name_span,
                              "%s is not a module; an import names a module, and makes all its names visible",
                              part->name);
        else if (report)
            ct_mon_diag_error(e->diags, part->name_span, "Undefined module %s%s", part->name,
                              ct_mon_did_you_mean(e->arena, part->name, &names));
        return NULL;
    }
    return module;
}

/* Finds the modules of the imports in a scope and in its modules. Returns whether it found one more. */
static bool resolve(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast_stmt *stmts,
                    bool report)
{
    bool found = false;
    for (struct ct_mon_import *i = env->imports; i; i = i->next) {
        if (i->env || !ct_mon_elab_step(e, i->stmt->span))
            continue;
        i->env = module_of(e, env, i->stmt, report);
        found |= i->env != NULL;
    }
    for (const struct ct_mon_ast_stmt *s = stmts; s; s = s->next) {
        const struct ct_mon_binding *b =
            s->kind == S_MODULE && s->name ? ct_mon_env_find(env, s->name, false) : NULL;
        if (b && b->cv.kind == CV_MODULE && b->state == BIND_DONE && b->env == env)
            found |= resolve(e, b->cv.env, s->body, report);
    }
    return found;
}

void ct_mon_elab_resolve_imports(struct ct_mon_elab *e, struct ct_mon_env *env,
                                 const struct ct_mon_ast_stmt *stmts)
{
    /* one import may make the module of another one visible, whatever their order */
    while (resolve(e, env, stmts, false))
        ;
    resolve(e, env, stmts, true);
}
