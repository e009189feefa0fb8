/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions: computes their compile-time values. */
#include <string.h>

#include "monitor/big.h"
#include "monitor/elab.h"
#include "monitor/print.h"

/* C stack for elaboration; deeper macros are a "Stack overflow". A macro's body may begin only with
 * STACK_OF_BODY left, so that the message names the same place whatever the size of C frames. */
enum {
    STACK_MOST = 6 * 1024 * 1024,
    STACK_OF_BODY = 512 * 1024
};

bool ct_mon_elab_step(struct ct_mon_elab *e, struct ct_mon_span at)
{
    ptrdiff_t used = e->stack_base - (const char *)__builtin_frame_address(0);
    if (e->fuel == 0)
        return false;
    arena_spend(e->arena, 1);
    const ptrdiff_t most = e->depth != e->stepped ? STACK_MOST - STACK_OF_BODY : STACK_MOST;
    e->stepped = e->depth;
    if (used > most || -used > most || e->depth > MACRO_DEPTH) {
        ct_mon_diag_error(e->diags, at, "Stack overflow");
        e->fuel = 0;
        return false;
    }
    if (--e->fuel == 0)
        ct_mon_diag_error(e->diags, at, "The specification is too large when its macros are expanded");
    return e->fuel > 0;
}

struct ct_mon_cv ct_mon_elab_library_name(struct ct_mon_elab *e, const char *module, const char *name)
{
    struct ct_mon_env *env = e->library;
    if (module) {
        struct ct_mon_binding *m = ct_mon_env_find(env, ct_mon_arena_intern_z(e->arena, module), false);
        env = m && m->cv.kind == CV_MODULE ? m->cv.env : env;
    }
    struct ct_mon_binding *b = ct_mon_env_find(env, ct_mon_arena_intern_z(e->arena, name), false);
    return b ? ct_mon_elab_force(e, b, (struct ct_mon_span){0}) : cv_error(e);
}

/* Returns what to write for a name of the library as sources before modules have it, such as List_append. */
static const char *old_name(struct ct_mon_elab *e, const char *id)
{
    const char *rest = strchr(id, '_');
    if (!rest)
        return NULL;
    const char *module = ct_mon_arena_intern(e->arena, id, (size_t)(rest - id));
    const struct ct_mon_binding *m = ct_mon_env_find(e->library, module, false);
    const char *member = ct_mon_arena_intern_z(e->arena, rest + 1);
    if (!m || m->cv.kind != CV_MODULE || !ct_mon_env_find(m->cv.env, member, false))
        return NULL;
    return ct_mon_arena_printf(e->arena, "; write '%s.%s'", module, member);
}

static struct ct_mon_cv name(struct ct_mon_elab *e, struct ct_mon_env *env, const char *id,
                             struct ct_mon_span at)
{
    struct ct_mon_binding *b = ct_mon_env_lookup(e, env, id, false, at);
    if (b)
        return ct_mon_elab_force(e, b, at);
    if (ct_mon_diags_full_at(e->diags, at))
        return cv_error(e);
    struct ct_mon_names names = {0};
    for (; env; env = env->up)
        ct_mon_env_names(e, env, false, &names);
    ct_mon_names_add(e->arena, &names, "true");
    ct_mon_names_add(e->arena, &names, "false");
    const char *hint = old_name(e, id);
    ct_mon_diag_error(e->diags, at, "Undefined variable %s%s", id,
                      hint ? hint : ct_mon_did_you_mean(e->arena, id, &names));
    return cv_error(e);
}

/* Returns the meaning of a name outside of all modules, for which imports do not count. The library means its
 * own names. */
static struct ct_mon_cv root(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x)
{
    struct ct_mon_binding *b = env->library ? NULL : ct_mon_env_find(e->global, x->name, false);
    if (!b)
        b = ct_mon_env_find(e->library, x->name, false);
    return b ? ct_mon_elab_force(e, b, x->span) : name(e, e->global, x->name, x->span);
}

struct ct_mon_cv ct_mon_elab_integer(struct ct_mon_elab *e, int64_t integer, const char *digits,
                                     struct ct_mon_span at)
{
    if (!digits)
        return cv_cell(e, e->types.integer, cell_int(integer));
    const bool hex = digits[0] == '0' && (digits[1] | 0x20) == 'x';
    const char *first = hex ? digits + 2 : digits;
    const struct ct_mon_cell c =
        ct_mon_int_from_digits(&e->constants, first, strlen(first), hex ? 16 : 10, false);
    ct_mon_ir_check_constants(&e->pool);
    if (!cell_err(&c))
        return cv_cell(e, e->types.integer, c);
    ct_mon_diag_error(e->diags, at, "Integer of more than %d bits", BIG_BITS_MOST);
    return cv_error(e);
}

static struct ct_mon_cv time_literal(struct ct_mon_elab *e, const struct ct_mon_ast *x)
{
    int64_t t = 0;
    /* inside a macro the unit matters only when it is called */
    if (!e->check)
        ct_mon_unit_convert(e, x->integer, x->name, x->span, &t);
    else if (!ct_mon_unit_known(x->name))
        return cv_value(ct_mon_ir_param(&e->pool, e->types.integer, 0, 0));
    return cv_cell(e, e->types.integer, cell_int(t));
}

static struct ct_mon_cv insertion(struct ct_mon_elab *e, struct ct_mon_env *env,
                                  const struct ct_mon_ast_part *part)
{
    struct ct_mon_cv args[2];
    struct ct_mon_cv cv = ct_mon_elab_expr(e, env, part->value);
    if (cv.kind == CV_ERROR || !part->format)
        return cv.kind == CV_ERROR ? cv
                                   : ct_mon_elab_apply(e, ct_mon_elab_library_name(e, NULL, "toString"), &cv,
                                                       1, part->value->span);
    size_t size = strlen(part->format);
    enum ct_mon_format_need need = ct_mon_format_check(part->format, size);
    const struct ct_mon_type *type = cv.type && cv.type->kind == TY_EVENTS ? cv.type->args[0] : cv.type;
    const struct ct_mon_type *want = need == FORMAT_INT     ? e->types.integer
                                     : need == FORMAT_FLOAT ? e->types.real
                                                            : type;
    if (need == FORMAT_BAD) {
        ct_mon_diag_error(e->diags, part->value->span, "Format conversion %s is not supported", part->format);
        return cv_error(e);
    }
    if (type != want && type != e->types.error) {
        ct_mon_diag_error(e->diags, part->value->span, "Type mismatch: Expected %s, found %s",
                          ct_mon_type_text(e->arena, want),
                          type ? ct_mon_type_text(e->arena, type) : "a function");
        return cv_error(e);
    }
    args[0] = cv_cell(e, e->types.string, ct_mon_value_string(&e->constants, part->format, size));
    args[1] = cv;
    return ct_mon_elab_apply(e, ct_mon_elab_library_name(e, "String", "format"), args, 2, part->value->span);
}

static struct ct_mon_cv string(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x)
{
    struct ct_mon_cv sum = {0};
    for (size_t i = 0; i < x->nparts; i++) {
        const struct ct_mon_ast_part *part = &x->parts[i];
        struct ct_mon_cv cv =
            part->value
                ? insertion(e, env, part)
                : cv_cell(e, e->types.string, ct_mon_value_string(&e->constants, part->text, part->size));
        if (i) {
            struct ct_mon_cv args[] = {sum, cv};
            cv = ct_mon_elab_apply(e, ct_mon_elab_library_name(e, "String", "concat"), args, 2, x->span);
        }
        sum = cv;
    }
    return x->nparts ? sum : cv_cell(e, e->types.string, ct_mon_value_string(&e->constants, "", 0));
}

static struct ct_mon_cv record(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x)
{
    struct ct_mon_cv *members = ARENA_ARRAY(e->arena, struct ct_mon_cv, x->nargs);
    const struct ct_mon_type **types = ARENA_ARRAY(e->arena, const struct ct_mon_type *, x->nargs);
    const char **names = ARENA_ARRAY(e->arena, const char *, x->nargs);
    bool failed = false;
    if (!x->nargs)
        return cv_cell(e, e->types.unit, cell_int(0));
    for (size_t i = 0; i < x->nargs; i++) {
        members[i] = ct_mon_elab_expr(e, env, x->args[i].value);
        names[i] = x->kind == A_RECORD
                       ? x->args[i].name
                       : ct_mon_arena_intern_z(e->arena, ct_mon_arena_printf(e->arena, "_%zu", i + 1));
        failed |= members[i].kind == CV_ERROR;
        types[i] = members[i].kind == CV_CLOSURE ? ct_mon_elab_fun_type(e, members[i]) : members[i].type;
        if (members[i].kind == CV_MODULE || !types[i]) {
            ct_mon_diag_error(e->diags, x->args[i].value->span,
                              "A module or generic macro cannot be a member");
            failed = true;
        }
        for (size_t k = 0; k < i; k++)
            if (names[k] == names[i]) {
                ct_mon_diag_error(e->diags, x->args[i].name_span, "Multiple definitions of %s in same scope",
                                  names[i]);
                failed = true;
            }
    }
    if (failed)
        return cv_error(e);
    const struct ct_mon_type *type = ct_mon_type_record(&e->types, names, types, x->nargs, false);
    struct ct_mon_cv *ordered = ARENA_ARRAY(e->arena, struct ct_mon_cv, x->nargs);
    for (size_t i = 0; i < x->nargs; i++)
        ordered[ct_mon_type_member(type, names[i])] = members[i];
    return (struct ct_mon_cv){.kind = CV_RECORD, .type = type, .members = ordered};
}

static struct ct_mon_cv block(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x)
{
    struct ct_mon_env *inner = ct_mon_env_new(e, env);
    for (size_t i = 0; i < x->ndefs; i++)
        ct_mon_env_bind_def(e, inner, x->defs[i]);
    struct ct_mon_cv cv = ct_mon_elab_expr(e, inner, x->a);
    /* also check what the result did not need, unless this is one of many expansions */
    if (e->depth == 0 || e->check) {
        for (struct ct_mon_binding *b = inner->first; b; b = b->next) {
            if (b->is_type)
                continue;
            if (b->cv.kind == CV_CLOSURE)
                ct_mon_elab_check_def(e, b->def, inner);
            else
                ct_mon_elab_force(e, b, b->span);
        }
    }
    return cv;
}

static struct ct_mon_cv value_member(struct ct_mon_elab *e, struct ct_mon_cv cv,
                                     const struct ct_mon_type *type, int k)
{
    struct ct_mon_op_extra extra = {.index = (uint32_t)k};
    struct ct_mon_ir *arg = cv.ir;
    return cv_value(ct_mon_ir_op(&e->pool, type->args[k], OP_FIELD, &extra, &arg, 1));
}

static struct ct_mon_cv member(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x)
{
    struct ct_mon_cv cv = ct_mon_elab_expr(e, env, x->a);
    if (cv.kind == CV_ERROR)
        return cv;
    if (cv.kind == CV_MODULE) {
        struct ct_mon_binding *b = ct_mon_env_member(e, cv.env, x->name, false, x->span);
        if (b)
            return ct_mon_elab_force(e, b, x->span);
        if (ct_mon_diags_full_at(e->diags, x->name_span))
            return cv_error(e);
        struct ct_mon_names names = {0};
        ct_mon_env_names(e, cv.env, false, &names);
        ct_mon_diag_error(e->diags, x->name_span, "Undefined variable %s%s", x->name,
                          ct_mon_did_you_mean(e->arena, x->name, &names));
        return cv_error(e);
    }
    const struct ct_mon_type *type = cv.kind == CV_STREAM ? cv.type->args[0] : cv.type;
    int k = type && type->kind == TY_RECORD ? ct_mon_type_member(type, x->name) : -1;
    if (k < 0 && (!type || type->kind != TY_ERROR) && !ct_mon_diags_full_at(e->diags, x->name_span)) {
        struct ct_mon_names names = {0};
        for (uint32_t i = 0; type && type->kind == TY_RECORD && i < type->n; i++)
            ct_mon_names_add(e->arena, &names, type->names[i]);
        ct_mon_diag_error(e->diags, x->name_span, "Object of type %s does not have a member named %s%s",
                          type ? ct_mon_type_text(e->arena, type) : "function", x->name,
                          ct_mon_did_you_mean(e->arena, x->name, &names));
    }
    if (k < 0)
        return cv_error(e);
    if (cv.kind == CV_RECORD)
        return cv.members[k];
    if (cv.kind == CV_VALUE)
        return value_member(e, cv, type, k);
    struct ct_mon_op_extra extra = {.index = (uint32_t)k};
    struct ct_mon_ir *param = ct_mon_ir_param(&e->pool, type, 1, 0);
    struct ct_mon_ir *kernel = ct_mon_ir_op(&e->pool, type->args[k], OP_FIELD, &extra, &param, 1);
    return cv_stream(e, ct_mon_node_kernel(&e->graph, N_SLIFT, &cv.node, 1, kernel, kernel->type));
}

static struct ct_mon_cv typed(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x)
{
    struct ct_mon_cv cv = ct_mon_elab_expr(e, env, x->a);
    if (cv.kind != CV_CLOSURE)
        return cv;
    struct ct_mon_ast_def *def = cv.closure->def;
    if (ct_mon_elab_wrong_number(e, x->span, "type arguments", def->name ? def->name : "function",
                                 def->ntype_params, x->ntypes))
        return cv_error(e);
    struct ct_mon_closure *c = ARENA_NEW(e->arena, struct ct_mon_closure);
    *c = (struct ct_mon_closure){.def = def, .env = cv.closure->env, .ngiven = x->ntypes};
    c->given = ARENA_ARRAY(e->arena, struct ct_mon_type_bind, x->ntypes);
    for (size_t i = 0; i < x->ntypes; i++) {
        c->given[i].var = ct_mon_type_var(&e->types, def->type_params[i], def);
        c->given[i].type = ct_mon_elab_type(e, env, x->types[i]);
        if (!c->given[i].type->value && c->given[i].type->kind != TY_ERROR) {
            ct_mon_diag_error(e->diags, x->types[i]->span,
                              "Streams may only contain value types; not other streams or functions");
            return cv_error(e);
        }
    }
    cv.closure = c;
    if (!def->has_params) /* def empty[K]: needs only its type arguments to be called */
        return ct_mon_elab_call(e, cv, NULL, 0, x->span);
    return cv;
}

/* Returns the operator for Floats that does what one for Ints does, or the reverse; T_END: none. */
static enum ct_mon_token twin_operator(enum ct_mon_token op)
{
    if (op >= T_PLUS && op <= T_SLASH)
        return op + (T_FPLUS - T_PLUS);
    if (op >= T_FPLUS && op <= T_FSLASH)
        return op - (T_FPLUS - T_PLUS);
    if (op >= T_LT && op <= T_GE)
        return op + (T_FLT - T_LT);
    return op >= T_FLT && op <= T_FGE ? op - (T_FLT - T_LT) : T_END;
}

/* Reports an operand of an operator for numbers of the other kind, or a String. Returns whether it did. */
static bool wrong_operand(struct ct_mon_elab *e, const struct ct_mon_ast *x, const struct ct_mon_cv_arg *arg)
{
    const enum ct_mon_token twin = twin_operator(x->op);
    const struct ct_mon_type *type = arg->cv.kind == CV_STREAM ? arg->cv.type->args[0] : arg->cv.type;
    const bool floats = twin != T_END && twin < x->op;
    const struct ct_mon_type *want = floats ? e->types.real : e->types.integer;
    if (twin == T_END || (arg->cv.kind != CV_STREAM && arg->cv.kind != CV_VALUE) || type == want ||
        (type != e->types.real && type != e->types.integer && type != e->types.string))
        return false;
    const char *hint =
        ct_mon_arena_printf(e->arena, "%s is for %s, %s for %s", ct_mon_token_text(x->op),
                            floats ? "Floats" : "Ints", ct_mon_token_text(twin), floats ? "Ints" : "Floats");
    if (type == e->types.string)
        hint = x->op == T_PLUS ? "Strings are joined by String.concat" : "Strings have '==' and '!='";
    ct_mon_diag_error(e->diags, arg->span, "Type mismatch: Expected %s, found %s; %s",
                      ct_mon_type_text(e->arena, want), ct_mon_type_text(e->arena, arg->cv.type), hint);
    return true;
}

static struct ct_mon_cv operator_call(struct ct_mon_elab *e, struct ct_mon_env *env,
                                      const struct ct_mon_ast *x)
{
    static const char *const binary[] = {
        "add",    "sub",   "mul",    "div",       "mod",        "fadd", "fsub", "fmul", "fdiv",
        "bitand", "bitor", "bitxor", "leftshift", "rightshift", "eq",   "neq",  "lt",   "gt",
        "leq",    "geq",   "flt",    "fgt",       "fleq",       "fgeq", "and",  "or"};
    const char *op = x->kind == A_BINARY ? binary[x->op - T_PLUS]
                     : x->op == T_NOT    ? "not"
                     : x->op == T_TILDE  ? "bitflip"
                     : x->op == T_MINUS  ? "negate"
                                         : "fnegate";
    struct ct_mon_cv_arg args[2] = {{.span = x->a->span}, {0}};
    args[0].cv = ct_mon_elab_expr(e, env, x->a);
    /* a constant left side of && or || may make the right side unneeded; a recursion depends on that */
    if (x->kind == A_BINARY && (x->op == T_AND || x->op == T_OR) && !e->check &&
        args[0].cv.kind == CV_VALUE && ir_is_const(args[0].cv.ir) && args[0].cv.type == e->types.boolean &&
        !args[0].cv.ir->value.meta && e->depth && (args[0].cv.ir->value.v.i != 0) == (x->op == T_OR))
        return args[0].cv;
    if (x->kind == A_BINARY) {
        args[1].span = x->b->span;
        args[1].cv = ct_mon_elab_expr(e, env, x->b);
    }
    if (wrong_operand(e, x, &args[0]) || (x->kind == A_BINARY && wrong_operand(e, x, &args[1])))
        return cv_error(e);
    return ct_mon_elab_call(e, ct_mon_elab_library_name(e, "Operators", op), args,
                            x->kind == A_BINARY ? 2 : 1, x->span);
}

static struct ct_mon_cv checked(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x)
{
    e->check++;
    struct ct_mon_cv cv = ct_mon_elab_expr(e, env, x);
    e->check--;
    return cv;
}

/* Joins the branches of an 'if' whose condition is not constant. They must have the same type. */
static struct ct_mon_cv join(struct ct_mon_elab *e, struct ct_mon_cv cond, struct ct_mon_cv a,
                             struct ct_mon_cv b, struct ct_mon_span at)
{
    if (a.kind == CV_ERROR || b.kind == CV_ERROR)
        return cv_error(e);
    const struct ct_mon_type *ta = a.kind == CV_CLOSURE ? ct_mon_elab_fun_type(e, a) : a.type;
    const struct ct_mon_type *tb = b.kind == CV_CLOSURE ? ct_mon_elab_fun_type(e, b) : b.type;
    if (!ta || !tb) {
        ct_mon_elab_generic(e, ta ? b : a, at);
        return cv_error(e);
    }
    if (!ct_mon_type_match(ta, tb, &(struct ct_mon_type_binds){0})) {
        ct_mon_diag_error(e->diags, at, "Type mismatch: Expected %s, found %s",
                          ct_mon_type_text(e->arena, ta), ct_mon_type_text(e->arena, tb));
        return cv_error(e);
    }
    if (ta->kind == TY_FUN) {
        struct ct_mon_cv *members = ARENA_ARRAY(e->arena, struct ct_mon_cv, 2);
        members[0] = a;
        members[1] = b;
        return (struct ct_mon_cv){.kind = CV_CHOICE, .type = ta, .ir = cond.ir, .members = members};
    }
    struct ct_mon_ir *x = ct_mon_elab_materialise(e, a, at), *y = ct_mon_elab_materialise(e, b, at);
    return x && y ? cv_value(ct_mon_ir_if(&e->pool, cond.ir, x, y)) : cv_error(e);
}

static struct ct_mon_cv choose(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x,
                               bool which)
{
    struct ct_mon_cv cv = ct_mon_elab_expr(e, env, which ? x->b : x->c);
    if (e->depth == 0 && !x->flag)
        checked(e, env, which ? x->c : x->b);
    return cv;
}

static struct ct_mon_cv if_streams(struct ct_mon_elab *e, struct ct_mon_cv cond, struct ct_mon_cv a,
                                   struct ct_mon_cv b, const struct ct_mon_ast *x)
{
    const struct ct_mon_cv_arg args[] = {
        {.cv = cond, .span = x->a->span}, {.cv = a, .span = x->b->span}, {.cv = b, .span = x->c->span}};
    return ct_mon_elab_call(e, ct_mon_elab_library_name(e, "Operators", "ite"), args, 3, x->span);
}

static struct ct_mon_cv if_expr(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x)
{
    struct ct_mon_cv cond = ct_mon_elab_expr(e, env, x->a);
    if (cond.kind == CV_ERROR) {
        checked(e, env, x->b);
        checked(e, env, x->c);
        return cond;
    }
    bool value = cond.kind == CV_VALUE && cond.type == e->types.boolean;
    bool known = value && ir_is_const(cond.ir) && !e->check && !cell_err(&cond.ir->value);
    if (x->flag && !known && !(value && e->check)) {
        if (value && ct_mon_elab_defer_static(e, cond.ir))
            return cv_error(e);
        /* in a function on values it is a choice at run time */
        if (value && e->fn) {
            struct ct_mon_cv a = ct_mon_elab_expr(e, env, x->b), b = ct_mon_elab_expr(e, env, x->c);
            return join(e, cond, a, b, x->c->span);
        }
        ct_mon_diag_error(e->diags, x->a->span,
                          "'static if' needs a condition of type Bool that is known at compile time");
        return cv_error(e);
    }
    if (known && x->flag)
        return choose(e, env, x, cond.ir->value.v.i);
    if (known && e->depth) {
        /* in a function a plain if is lazy, too; only with streams is it the signal operator */
        struct ct_mon_cv cv = ct_mon_elab_expr(e, env, cond.ir->value.v.i ? x->b : x->c);
        if (cv.kind != CV_STREAM)
            return cv;
    }
    struct ct_mon_cv a = ct_mon_elab_expr(e, env, x->b), b = ct_mon_elab_expr(e, env, x->c);
    if (a.kind == CV_ERROR || b.kind == CV_ERROR)
        return cv_error(e);
    if (x->flag) { /* both branches of a static choice are checked: their types may differ by lifting */
        struct ct_mon_cv wide = a.kind == CV_STREAM ? b : a, other = a.kind == CV_STREAM ? a : b;
        const struct ct_mon_type *t = other.kind == CV_CLOSURE ? ct_mon_elab_fun_type(e, other) : other.type;
        if (t)
            ct_mon_elab_adapt(e, &wide, t, &(struct ct_mon_type_binds){0}, false, NULL, x->span);
        return other;
    }
    if (!value || a.kind == CV_STREAM || b.kind == CV_STREAM)
        return if_streams(e, cond, a, b, x);
    return join(e, cond, a, b, x->c->span);
}

static struct ct_mon_cv call(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x)
{
    struct ct_mon_cv f = ct_mon_elab_expr(e, env, x->a);
    struct ct_mon_cv_arg *args = ARENA_ARRAY(e->arena, struct ct_mon_cv_arg, x->nargs);
    bool failed = f.kind == CV_ERROR;
    for (size_t i = 0; i < x->nargs; i++) {
        args[i] = (struct ct_mon_cv_arg){
            .name = x->args[i].name, .name_span = x->args[i].name_span, .span = x->args[i].value->span};
        args[i].cv = ct_mon_elab_expr(e, env, x->args[i].value);
        failed |= args[i].cv.kind == CV_ERROR;
    }
    if (failed) {
        /* a declared result type is known nevertheless, which avoids follow-up errors */
        if (f.kind == CV_CLOSURE && f.closure->def->type && !f.closure->def->ntype_params) {
            const struct ct_mon_type *t = ct_mon_elab_type(e, f.closure->env, f.closure->def->type);
            if (t->kind == TY_EVENTS)
                return cv_stream(e, ct_mon_node_opaque(&e->graph, t->args[0]));
        }
        return cv_error(e);
    }
    return ct_mon_elab_call(e, f, args, x->nargs, x->span);
}

struct ct_mon_cv ct_mon_elab_expr(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x)
{
    if (!ct_mon_elab_step(e, x->span))
        return cv_error(e);
    switch (x->kind) {
    case A_ERROR:
        return cv_error(e);
    case A_INT:
        return ct_mon_elab_integer(e, x->integer, x->digits, x->span);
    case A_TIME:
        return time_literal(e, x);
    case A_FLOAT:
        return cv_cell(e, e->types.real, cell_float(x->real));
    case A_BOOL:
        return cv_cell(e, e->types.boolean, cell_int(x->flag));
    case A_STRING:
        return string(e, env, x);
    case A_NAME:
        return name(e, env, x->name, x->span);
    case A_ROOT:
        return x->name ? root(e, env, x) : cv_error(e);
    case A_TUPLE:
    case A_RECORD:
        return record(e, env, x);
    case A_BLOCK:
        return block(e, env, x);
    case A_CALL:
        return call(e, env, x);
    case A_TYPED:
        return typed(e, env, x);
    case A_MEMBER:
        return member(e, env, x);
    case A_UNARY:
    case A_BINARY:
        return operator_call(e, env, x);
    case A_IF:
        return if_expr(e, env, x);
    case A_LAMBDA: {
        struct ct_mon_closure *c = ARENA_NEW(e->arena, struct ct_mon_closure);
        *c = (struct ct_mon_closure){.def = x->lambda, .env = env};
        return (struct ct_mon_cv){.kind = CV_CLOSURE, .closure = c};
    }
    case A_EXTERN:
        ct_mon_diag_error(e->diags, x->span,
                          "An extern function is not part of the specification, and coretap has none; write "
                          "its definition here");
        return cv_error(e);
    case A_BUILTIN:
        ct_mon_diag_error(e->diags, x->span, "__builtin__ needs a definition with parameters around it");
        return cv_error(e);
    }
    return cv_error(e);
}
