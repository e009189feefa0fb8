/* SPDX-License-Identifier: Apache-2.0 */
/* Statements and operators of the watchpoint dialect, lowered to the core. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "monitor/watch_ast.h"

/* A definition that was lowered before, for one trigger. */
struct ct_mon_wmemo {
    struct ct_mon_wmemo *next;
    const struct ct_mon_node *trigger;
    struct ct_mon_wv value;
};

struct ct_mon_wv ct_mon_watch_error(struct ct_mon_watch *w, struct ct_mon_span at, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ct_mon_diag_error(w->e->diags, at, "%s", text);
    return (struct ct_mon_wv){.kind = WV_ERROR};
}

const struct ct_mon_type *ct_mon_watch_type(struct ct_mon_wv v)
{
    return v.kind == WV_CONST ? v.ir->type : v.node->type;
}

static struct ct_mon_cv constant_of(struct ct_mon_watch *w, struct ct_mon_wv v)
{
    if (v.kind == WV_ERROR)
        return cv_error(w->e);
    return v.kind == WV_CONST ? cv_value(v.ir) : cv_stream(w->e, v.node);
}

static struct ct_mon_node *node_of(struct ct_mon_watch *w, struct ct_mon_wv v)
{
    return v.kind == WV_CONST ? ct_mon_node_const(&w->e->graph, v.ir->type, v.ir->value) : v.node;
}

struct ct_mon_wv ct_mon_watch_library(struct ct_mon_watch *w, const char *module, const char *name,
                                      struct ct_mon_wv *args, size_t n, enum ct_mon_wv_kind kind,
                                      struct ct_mon_span at)
{
    struct ct_mon_elab *e = w->e;
    struct ct_mon_cv_arg *list = ARENA_ARRAY(e->arena, struct ct_mon_cv_arg, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == WV_ERROR)
            return args[i];
        list[i] = (struct ct_mon_cv_arg){.span = at, .cv = constant_of(w, args[i])};
    }
    struct ct_mon_cv cv = ct_mon_elab_call(e, ct_mon_elab_library_name(e, module, name), list, n, at);
    if (cv.kind == CV_VALUE && ir_is_const(cv.ir))
        return (struct ct_mon_wv){.kind = WV_CONST, .ir = cv.ir};
    if (cv.kind != CV_STREAM)
        return (struct ct_mon_wv){.kind = WV_ERROR};
    if (kind == WV_SIGNAL)
        cv.node = ct_mon_node_plain(&e->graph, N_PURE, cv.node->type, &cv.node, 1);
    return (struct ct_mon_wv){.kind = kind, .node = cv.node};
}

/* Reduces a signal to its values at the trigger, when no other values matter. */
static struct ct_mon_wv sampled(struct ct_mon_watch *w, struct ct_mon_wv v, struct ct_mon_node *trigger)
{
    if (!trigger || v.kind != WV_SIGNAL)
        return v;
    struct ct_mon_node *args[2] = {trigger, v.node};
    return (struct ct_mon_wv){.kind = WV_EVENTS,
                              .node = ct_mon_node_plain(&w->e->graph, N_ON, v.node->type, args, 2)};
}

/* Applies an operator pointwise. The result has events if an operand has (signals are sampled there); else it
 * is a signal. */
static struct ct_mon_wv pointwise(struct ct_mon_watch *w, const char *op, struct ct_mon_wv *args, size_t n,
                                  struct ct_mon_span at)
{
    struct ct_mon_node *events = NULL;
    for (size_t i = 0; i < n; i++)
        if (args[i].kind == WV_EVENTS && !events)
            events = args[i].node;
    for (size_t i = 0; i < n && events; i++)
        args[i] = sampled(w, args[i], events);
    return ct_mon_watch_library(w, "Operators", op, args, n, events ? WV_EVENTS : WV_SIGNAL, at);
}

static bool is_unit_events(struct ct_mon_wv v)
{
    return v.kind == WV_EVENTS && v.node->type->kind == TY_RECORD && v.node->type->n == 0;
}

static struct ct_mon_wv junction(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x,
                                 struct ct_mon_node *trigger)
{
    struct ct_mon_wv args[2] = {ct_mon_watch_lower(w, env, x->args[0], trigger),
                                ct_mon_watch_lower(w, env, x->args[1], trigger)};
    bool a = is_unit_events(args[0]), b = is_unit_events(args[1]), both = x->kind == WX_AND;
    if (args[0].kind == WV_ERROR || args[1].kind == WV_ERROR)
        return (struct ct_mon_wv){.kind = WV_ERROR};
    if (a && b)
        return ct_mon_watch_library(w, both ? "Wp" : NULL, both ? "unitBoth" : "mergeUnit", args, 2,
                                    WV_EVENTS, x->span);
    return pointwise(w, both ? "and" : "or", args, 2, x->span);
}

static struct ct_mon_wv negation(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x,
                                 struct ct_mon_node *trigger)
{
    struct ct_mon_wv v = ct_mon_watch_lower(w, env, x->args[0], trigger);
    if (v.kind == WV_ERROR)
        return v;
    if (ct_mon_watch_type(v) != w->e->types.boolean)
        return ct_mon_watch_error(
            w, x->span, "Type mismatch: Expected Bool, found %s; absence of an event is not an event",
            ct_mon_type_text(w->e->arena, ct_mon_watch_type(v)));
    return pointwise(w, "not", &v, 1, x->span);
}

/* Lowers an implication. If its left side is events, the right side is tested when they happen. */
static struct ct_mon_wv implication(struct ct_mon_watch *w, struct ct_mon_wenv *env,
                                    const struct ct_mon_wx *x, struct ct_mon_node *trigger)
{
    struct ct_mon_wv a = ct_mon_watch_lower(w, env, x->args[0], trigger);
    if (a.kind == WV_ERROR)
        return a;
    if (a.kind == WV_EVENTS && !(trigger && ct_mon_watch_type(a) == w->e->types.boolean)) {
        struct ct_mon_wv b = ct_mon_watch_lower(w, env, x->args[1], a.node);
        if (b.kind == WV_ERROR)
            return b;
        if (ct_mon_watch_type(b) != w->e->types.boolean)
            return ct_mon_watch_error(w, x->args[1]->span, "Type mismatch: Expected Bool, found %s",
                                      ct_mon_type_text(w->e->arena, ct_mon_watch_type(b)));
        struct ct_mon_wv args[2] = {a, b};
        return ct_mon_watch_library(w, NULL, "on", args, 2, WV_EVENTS, x->span);
    }
    struct ct_mon_wv b = ct_mon_watch_lower(w, env, x->args[1], trigger);
    if (b.kind == WV_ERROR)
        return b;
    a = pointwise(w, "not", &a, 1, x->args[0]->span);
    struct ct_mon_wv args[2] = {a, b};
    return a.kind == WV_ERROR ? a : pointwise(w, "or", args, 2, x->span);
}

/* Lowers "on E if C" and filter(E, C). C is a condition, or events that must coincide with E. */
static struct ct_mon_wv filtered(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x)
{
    struct ct_mon_wv e = ct_mon_watch_lower(w, env, x->args[0], NULL);
    if (e.kind == WV_ERROR)
        return e;
    if (e.kind != WV_EVENTS)
        return ct_mon_watch_error(w, x->args[0]->span, "Type mismatch: Expected events, found a signal");
    struct ct_mon_wv c = ct_mon_watch_lower(w, env, x->args[1], e.node);
    if (c.kind == WV_ERROR)
        return c;
    struct ct_mon_wv args[2] = {e, c};
    if (ct_mon_watch_type(c) != w->e->types.boolean)
        return ct_mon_watch_library(w, "Wp", "both", args, 2, WV_EVENTS, x->span);
    /* a Bool stream counts when it has an event */
    if (c.kind == WV_EVENTS) {
        args[0] = ct_mon_watch_library(w, "Wp", "both", args, 2, WV_EVENTS, x->span);
        if (args[0].kind == WV_ERROR)
            return args[0];
    }
    return ct_mon_watch_library(w, NULL, "filter", args, 2, WV_EVENTS, x->span);
}

static struct ct_mon_wv operation(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x,
                                  struct ct_mon_node *trigger)
{
    struct ct_mon_wv args[2];
    for (size_t i = 0; i < x->nargs; i++) {
        args[i] = ct_mon_watch_lower(w, env, x->args[i], trigger);
        if (args[i].kind == WV_ERROR)
            return args[i];
    }
    /* the same operator symbols apply to both kinds of numbers */
    static const char *const floats[][2] = {{"add", "fadd"}, {"sub", "fsub"}, {"mul", "fmul"},
                                            {"div", "fdiv"}, {"lt", "flt"},   {"gt", "fgt"},
                                            {"leq", "fleq"}, {"geq", "fgeq"}, {"negate", "fnegate"}};
    const char *op = x->name;
    for (size_t i = 0; i < sizeof floats / sizeof *floats && ct_mon_watch_type(args[0]) == w->e->types.real;
         i++)
        if (!strcmp(op, floats[i][0])) {
            op = floats[i][1];
            break;
        }
    return pointwise(w, op, args, x->nargs, x->span);
}

/* ---- sources and names ---- */

static const char *input_name(struct ct_mon_elab *e, const struct ct_mon_wx *x)
{
    char *name = ct_mon_arena_printf(e->arena, "%s_%s", x->name, x->text ? x->text : "");
    if (!strcmp(x->name, "itm_trace"))
        name = ct_mon_arena_printf(e->arena, "%s_%lld", x->name, (long long)x->integer);
    else if (!x->text)
        name = ct_mon_arena_printf(e->arena, "%s_0x%llx", x->name, (unsigned long long)x->integer);
    else if (!strcmp(x->name, "codeLine"))
        name = ct_mon_arena_printf(e->arena, "%s_%s_%lld", x->name, x->text, (long long)x->integer);
    if (x->core)
        name = ct_mon_arena_printf(e->arena, "%s_%s", name, x->core);
    for (char *p = name; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              (*p & 0x80)))
            *p = '_';
    return ct_mon_arena_intern_z(e->arena, name);
}

static struct ct_mon_node *add_input(struct ct_mon_elab *e, const char *name, const struct ct_mon_type *type,
                                     struct ct_mon_span span, const struct ct_mon_wx *x)
{
    struct ct_mon_elab_input in = {.name = name, .type = type, .span = span};
    if (x) {
        in.source_kind = x->name;
        in.source_arg = x->text;
        in.source_core = x->core;
        in.source_number = (uint64_t)x->integer;
    }
    in.node = ct_mon_node_input(&e->graph, type, (uint32_t)e->ninputs);
    in.node->name = name;
    ARENA_PUSH(e->arena, e->inputs, e->ninputs, e->inputs_cap, in);
    return in.node;
}

/* Returns the key of a watchpoint, which equal watchpoints share. */
static const char *source_key(struct ct_mon_elab *e, const struct ct_mon_wx *x)
{
    const uint64_t key[] = {(uintptr_t)ct_mon_arena_intern_z(e->arena, x->name), (uintptr_t)x->text,
                            (uintptr_t)x->core, (uint64_t)x->integer};
    return ct_mon_arena_intern(e->arena, (const char *)key, sizeof key);
}

/* Returns the input of a watchpoint; the same watchpoint has one input. It is named after the definition that
 * consists of just the watchpoint. */
static struct ct_mon_wv source(struct ct_mon_watch *w, const struct ct_mon_wx *x, const char *name)
{
    struct ct_mon_elab *e = w->e;
    const bool is_signal = !strcmp(x->name, "variable_value");
    const bool value = is_signal || !strcmp(x->name, "itm_trace");
    const char *key = source_key(e, x);
    struct ct_mon_node *node = ct_mon_name_map_get(&w->sources, key);
    if (!node) {
        node = add_input(e, name ? name : input_name(e, x), value ? e->types.integer : e->types.unit, x->span,
                         x);
        ct_mon_name_map_add(e->arena, &w->sources, key, node);
    }
    struct ct_mon_wv v = {.kind = WV_EVENTS, .node = node};
    if (!is_signal)
        return v;
    struct ct_mon_wv args[2] = {
        v, {.kind = WV_CONST, .ir = ct_mon_ir_const(&e->pool, e->types.integer, cell_int(0))}};
    return ct_mon_watch_library(w, "Wp", "recent", args, 2, WV_SIGNAL, x->span);
}

static bool type_fits(struct ct_mon_watch *w, const struct ct_mon_wdef *d, struct ct_mon_wv v)
{
    bool signal = !strcmp(d->type->name ? d->type->name : "", "Signal");
    bool events = !strcmp(d->type->name ? d->type->name : "", "Events");
    const struct ct_mon_type *element = (signal || events) && d->type->nargs == 1
                                            ? ct_mon_elab_type(w->e, w->e->global, d->type->args[0])
                                            : NULL;
    if (element && element->kind == TY_ERROR)
        return true;
    if (element && element == ct_mon_watch_type(v) && (signal ? v.kind != WV_EVENTS : v.kind == WV_EVENTS))
        return true;
    ct_mon_watch_error(w, d->type->span, "Type mismatch: %s is %s[%s]", d->name,
                       v.kind == WV_EVENTS ? "Events" : "Signal",
                       ct_mon_type_text(w->e->arena, ct_mon_watch_type(v)));
    return false;
}

static struct ct_mon_wv definition(struct ct_mon_watch *w, struct ct_mon_wdef *d, struct ct_mon_node *trigger,
                                   struct ct_mon_span at)
{
    for (const struct ct_mon_wmemo *memo = d->memos; memo; memo = memo->next)
        if (memo->trigger == trigger)
            return memo->value;
    if (d->active)
        return ct_mon_watch_error(w, at, "Infinite recursion detected: %s is defined by itself", d->name);
    struct ct_mon_wmemo *memo = ARENA_NEW(w->e->arena, struct ct_mon_wmemo);
    d->active = true;
    if (d->body->kind == WX_SOURCE)
        memo->value = sampled(w, source(w, d->body, d->name), trigger);
    else
        memo->value = ct_mon_watch_lower(w, NULL, d->body, trigger);
    d->active = false;
    if (d->type && !trigger && memo->value.kind != WV_ERROR && !type_fits(w, d, memo->value))
        memo->value.kind = WV_ERROR;
    if (memo->value.kind >= WV_EVENTS && !memo->value.node->name && !trigger)
        memo->value.node->name = d->name;
    memo->trigger = trigger;
    memo->next = d->memos;
    d->memos = memo;
    return memo->value;
}

struct ct_mon_wdef *ct_mon_watch_find(const struct ct_mon_watch *w, const char *name)
{
    return ct_mon_name_map_get(&w->definitions, name);
}

struct ct_mon_wv ct_mon_watch_undefined(struct ct_mon_watch *w, const struct ct_mon_wx *x, const char *kind)
{
    if (ct_mon_diags_full_at(w->e->diags, x->span))
        return (struct ct_mon_wv){.kind = WV_ERROR};
    struct ct_mon_names names = {0};
    for (const struct ct_mon_win *in = w->spec.ins; in; in = in->next)
        ct_mon_names_add(w->e->arena, &names, in->name);
    for (const struct ct_mon_wdef *d = w->spec.defs; d; d = d->next)
        ct_mon_names_add(w->e->arena, &names, d->name);
    ct_mon_watch_function_names(w->e->arena, &names);
    ct_mon_watch_words(w->e->arena, &names);
    return ct_mon_watch_error(w, x->span, "Undefined %s %s%s", kind, x->name,
                              ct_mon_did_you_mean(w->e->arena, x->name, &names));
}

static struct ct_mon_wv name(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x,
                             struct ct_mon_node *trigger)
{
    for (; env; env = env->next)
        if (env->name == x->name)
            return ct_mon_watch_lower(w, env->of, env->x, trigger);
    struct ct_mon_wdef *d = ct_mon_watch_find(w, x->name);
    if (d && d->has_params && d->body->kind != WX_ERROR)
        return ct_mon_watch_error(w, x->span, "Wrong number of arguments for %s. Expected: %zu, actual: 0",
                                  d->name, d->nparams);
    if (d)
        return definition(w, d, trigger, x->span);
    struct ct_mon_binding *b = ct_mon_env_find(w->e->global, x->name, false);
    if (!b || b->cv.kind != CV_STREAM)
        return ct_mon_watch_undefined(w, x, "variable");
    bool signal = b->type_def; /* type_def marks inputs that were declared as signals */
    return sampled(w, (struct ct_mon_wv){.kind = signal ? WV_SIGNAL : WV_EVENTS, .node = b->cv.node},
                   trigger);
}

static struct ct_mon_wv constant(struct ct_mon_watch *w, const struct ct_mon_type *type, struct ct_mon_cell c)
{
    return (struct ct_mon_wv){.kind = WV_CONST, .ir = ct_mon_ir_const(&w->e->pool, type, c)};
}

static struct ct_mon_wv lower(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x,
                              struct ct_mon_node *trigger)
{
    struct ct_mon_elab *e = w->e;
    struct ct_mon_cv cv;
    int64_t t;
    switch (x->kind) {
    case WX_INT:
        cv = ct_mon_elab_integer(e, x->integer, x->text, x->span);
        return (struct ct_mon_wv){.kind = cv.kind == CV_ERROR ? WV_ERROR : WV_CONST, .ir = cv.ir};
    case WX_TIME:
        if (!ct_mon_unit_convert(e, x->integer, x->name, x->span, &t))
            return (struct ct_mon_wv){.kind = WV_ERROR};
        return constant(w, e->types.integer, cell_int(t));
    case WX_FLOAT:
        return constant(w, e->types.real, cell_float(x->real));
    case WX_STRING:
        return constant(w, e->types.string, ct_mon_value_string(&e->constants, x->text, x->text_size));
    case WX_BOOL:
        return constant(w, e->types.boolean, cell_int(x->integer));
    case WX_NAME:
        return name(w, env, x, trigger);
    case WX_SOURCE:
        return sampled(w, source(w, x, NULL), trigger);
    case WX_CALL:
        return sampled(w, ct_mon_watch_call(w, env, x, trigger), trigger);
    case WX_OP:
        return operation(w, env, x, trigger);
    case WX_AND:
    case WX_OR:
        return junction(w, env, x, trigger);
    case WX_NOT:
        return negation(w, env, x, trigger);
    case WX_IMPLIES:
        return implication(w, env, x, trigger);
    case WX_ON:
        return filtered(w, env, x);
    case WX_MONITOR:
        return ct_mon_watch_monitor(w, env, x);
    case WX_ERROR:
        return (struct ct_mon_wv){.kind = WV_ERROR};
    default:
        return ct_mon_watch_error(
            w, x->span,
            "A temporal formula is allowed only in monitor(...), as an operand of formulas and macros");
    }
}

struct ct_mon_wv ct_mon_watch_lower(struct ct_mon_watch *w, struct ct_mon_wenv *env,
                                    const struct ct_mon_wx *x, struct ct_mon_node *trigger)
{
    if (!ct_mon_elab_step(w->e, x->span))
        return (struct ct_mon_wv){.kind = WV_ERROR};
    if (w->depth >= WATCH_DEPTH_MOST)
        return ct_mon_watch_error(w, x->span, "Stack overflow");
    w->depth++;
    struct ct_mon_wv v = lower(w, env, x, trigger);
    w->depth--;
    return v;
}

/* ---- the specification ---- */

/* Gives a name that was declared wrongly no meaning, so that its uses are no errors. */
static void declare_failed(struct ct_mon_watch *w, const char *name, struct ct_mon_span at)
{
    struct ct_mon_wdef *d = ARENA_NEW(w->e->arena, struct ct_mon_wdef);
    *d = (struct ct_mon_wdef){.name = name, .span = at, .body = ARENA_NEW(w->e->arena, struct ct_mon_wx)};
    if (!ct_mon_watch_find(w, name))
        ct_mon_name_map_add(w->e->arena, &w->definitions, name, d);
}

static void declare_input(struct ct_mon_watch *w, const struct ct_mon_win *in)
{
    struct ct_mon_elab *e = w->e;
    const struct ct_mon_ast_type *t = in->type;
    bool signal = t->name && !strcmp(t->name, "Signal"), events = t->name && !strcmp(t->name, "Events");
    if (!(signal || events) || t->nargs != 1) {
        ct_mon_diag_error(e->diags, t->span,
                          "Input streams must be defined to have stream types; write Events[TYPE] or "
                          "Signal[TYPE]");
        declare_failed(w, in->name, in->span);
        return;
    }
    const struct ct_mon_type *type = ct_mon_elab_type(e, e->global, t->args[0]);
    if (type->kind == TY_ERROR) {
        declare_failed(w, in->name, in->span);
        return;
    }
    if (signal && type != e->types.integer && type != e->types.boolean) {
        ct_mon_diag_error(e->diags, t->span,
                          "An input signal must have type Int or Bool, because it begins with 0 or false");
        declare_failed(w, in->name, in->span);
        return;
    }
    struct ct_mon_node *node = add_input(e, in->name, type, in->span, NULL);
    if (signal) {
        node = ct_mon_node_default(&e->graph, node, cell_int(0));
        node = ct_mon_node_plain(&e->graph, N_PURE, type, &node, 1);
    }
    const struct ct_mon_binding *old = ct_mon_env_find(e->global, in->name, false);
    const struct ct_mon_wdef *definition = ct_mon_watch_find(w, in->name);
    if (old || definition) {
        ct_mon_elab_defined_twice(e, in->name, in->span, definition ? definition->span : old->span);
        return;
    }
    struct ct_mon_binding *b = ct_mon_env_add(e, e->global, in->name, in->span);
    b->cv = cv_stream(e, node);
    b->state = BIND_DONE;
    /* the dialect has its own scope: names of the library are not visible, and signals are marked */
    b->env = ARENA_NEW(e->arena, struct ct_mon_env);
    b->type_def = signal ? ARENA_NEW(e->arena, struct ct_mon_ast_stmt) : NULL;
}

/* Makes definitions known by their names. Of those that share a name, the first counts. */
static void declare_definitions(struct ct_mon_watch *w)
{
    for (struct ct_mon_wdef *d = w->spec.defs; d; d = d->next)
        if (ct_mon_watch_find(w, d->name))
            ct_mon_elab_defined_twice(w->e, d->name, d->span, ct_mon_watch_find(w, d->name)->span);
        else
            ct_mon_name_map_add(w->e->arena, &w->definitions, d->name, d);
}

static void put_out(struct ct_mon_watch *w, const char *stream, struct ct_mon_span span)
{
    struct ct_mon_wx x = {.kind = WX_NAME, .name = stream, .span = span};
    struct ct_mon_wv v = ct_mon_watch_lower(w, NULL, &x, NULL);
    if (v.kind == WV_ERROR)
        return;
    ct_mon_elab_add_output(w->e,
                           &(struct ct_mon_elab_output){.name = stream, .node = node_of(w, v), .span = span});
}

/* Returns whether a definition is a formula, which has no value of its own. */
static bool is_formula(struct ct_mon_watch *w, const struct ct_mon_wdef *d)
{
    const struct ct_mon_wx x = {.kind = WX_NAME, .name = d->name, .span = d->span};
    return ct_mon_watch_is_temporal(w, NULL, &x);
}

void ct_mon_watch_spec(struct ct_mon_elab *e, const struct ct_mon_source *text)
{
    struct ct_mon_watch w = {.e = e};
    e->stack_base = __builtin_frame_address(0);
    ct_mon_watch_parse(e->arena, e->diags, text, &w.spec);
    declare_definitions(&w);
    for (const struct ct_mon_win *in = w.spec.ins; in; in = in->next)
        declare_input(&w, in);
    for (struct ct_mon_wdef *d = w.spec.defs; d; d = d->next)
        if (!d->has_params && !is_formula(&w, d))
            definition(&w, d, NULL, d->span);
    for (const struct ct_mon_wout *o = w.spec.outs; o; o = o->next) {
        if (o->name) {
            put_out(&w, o->name, o->span);
            continue;
        }
        for (const struct ct_mon_win *in = w.spec.ins; in; in = in->next)
            put_out(&w, in->name, in->span);
        for (const struct ct_mon_wdef *d = w.spec.defs; d; d = d->next)
            if (!d->has_params && !is_formula(&w, d))
                put_out(&w, d->name, o->span);
    }
    ct_mon_elab_close_captures(e);
}
