/* SPDX-License-Identifier: Apache-2.0 */
/* Statements and operators of the watchpoint dialect, lowered to the core. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "monitor/watch_ast.h"

/* Nested macros and definitions beyond this are an error. */
enum {
    DEPTH_MOST = 200
};

/* A definition lowered before, for one trigger. */
struct wmemo {
    struct wmemo *next;
    const struct node *trigger;
    struct wv value;
};

struct wv watch_error(struct watch *w, struct span at, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    diag_error(w->e->diags, at, "%s", text);
    return (struct wv){.kind = WV_ERROR};
}

const struct type *watch_type(struct wv v)
{
    return v.kind == WV_CONST ? v.ir->type : v.node->type;
}

struct cv watch_cv(struct watch *w, struct wv v)
{
    if (v.kind == WV_ERROR)
        return cv_error(w->e);
    return v.kind == WV_CONST ? cv_value(v.ir) : cv_stream(w->e, v.node);
}

struct node *watch_node(struct watch *w, struct wv v)
{
    return v.kind == WV_CONST ? node_const(&w->e->graph, v.ir->type, v.ir->value) : v.node;
}

struct wv watch_library(struct watch *w, const char *module, const char *name, struct wv *args, size_t n,
                        enum wv_kind kind, struct span at)
{
    struct elab *e = w->e;
    struct cv_arg *list = ARENA_ARRAY(e->arena, struct cv_arg, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == WV_ERROR)
            return args[i];
        list[i] = (struct cv_arg){.span = at, .cv = watch_cv(w, args[i])};
    }
    struct cv cv = elab_call(e, elab_library_name(e, module, name), list, n, at);
    if (cv.kind == CV_VALUE && ir_is_const(cv.ir))
        return (struct wv){.kind = WV_CONST, .ir = cv.ir};
    if (cv.kind != CV_STREAM)
        return (struct wv){.kind = WV_ERROR};
    if (kind == WV_SIGNAL)
        cv.node = node_plain(&e->graph, N_PURE, cv.node->type, &cv.node, 1);
    return (struct wv){.kind = kind, .node = cv.node};
}

/* A signal where only its values at the trigger count. */
static struct wv sampled(struct watch *w, struct wv v, struct node *trigger)
{
    if (!trigger || v.kind != WV_SIGNAL)
        return v;
    struct node *args[2] = {trigger, v.node};
    return (struct wv){.kind = WV_EVENTS, .node = node_plain(&w->e->graph, N_ON, v.node->type, args, 2)};
}

/* Pointwise: events if one operand is (signals are sampled there), else a signal. */
static struct wv pointwise(struct watch *w, const char *op, struct wv *args, size_t n, struct span at)
{
    struct node *events = NULL;
    for (size_t i = 0; i < n; i++)
        if (args[i].kind == WV_EVENTS && !events)
            events = args[i].node;
    for (size_t i = 0; i < n && events; i++)
        args[i] = sampled(w, args[i], events);
    return watch_library(w, "Operators", op, args, n, events ? WV_EVENTS : WV_SIGNAL, at);
}

static bool is_unit_events(struct wv v)
{
    return v.kind == WV_EVENTS && v.node->type->kind == TY_RECORD && v.node->type->n == 0;
}

static struct wv junction(struct watch *w, struct wenv *env, const struct wx *x, struct node *trigger)
{
    struct wv args[2] = {watch_lower(w, env, x->args[0], trigger), watch_lower(w, env, x->args[1], trigger)};
    bool a = is_unit_events(args[0]), b = is_unit_events(args[1]), both = x->kind == WX_AND;
    if (args[0].kind == WV_ERROR || args[1].kind == WV_ERROR)
        return (struct wv){.kind = WV_ERROR};
    if (a && b)
        return watch_library(w, both ? "Wp" : NULL, both ? "unitBoth" : "mergeUnit", args, 2, WV_EVENTS,
                             x->span);
    return pointwise(w, both ? "and" : "or", args, 2, x->span);
}

static struct wv negation(struct watch *w, struct wenv *env, const struct wx *x, struct node *trigger)
{
    struct wv v = watch_lower(w, env, x->args[0], trigger);
    if (v.kind == WV_ERROR)
        return v;
    if (watch_type(v) != w->e->types.boolean)
        return watch_error(w, x->span,
                           "Type mismatch: Expected Bool, found %s; absence of an event is not an event",
                           type_text(w->e->arena, watch_type(v)));
    return pointwise(w, "not", &v, 1, x->span);
}

/* An implication from events is tested where they happen. */
static struct wv implication(struct watch *w, struct wenv *env, const struct wx *x, struct node *trigger)
{
    struct wv a = watch_lower(w, env, x->args[0], trigger);
    if (a.kind == WV_ERROR)
        return a;
    if (a.kind == WV_EVENTS && !(trigger && watch_type(a) == w->e->types.boolean)) {
        struct wv b = watch_lower(w, env, x->args[1], a.node);
        if (b.kind == WV_ERROR)
            return b;
        if (watch_type(b) != w->e->types.boolean)
            return watch_error(w, x->args[1]->span, "Type mismatch: Expected Bool, found %s",
                               type_text(w->e->arena, watch_type(b)));
        struct wv args[2] = {a, b};
        return watch_library(w, NULL, "on", args, 2, WV_EVENTS, x->span);
    }
    struct wv b = watch_lower(w, env, x->args[1], trigger);
    if (b.kind == WV_ERROR)
        return b;
    a = pointwise(w, "not", &a, 1, x->args[0]->span);
    struct wv args[2] = {a, b};
    return a.kind == WV_ERROR ? a : pointwise(w, "or", args, 2, x->span);
}

/* on E if C, filter(E, C): C is a condition, or events that must come together with E. */
static struct wv filtered(struct watch *w, struct wenv *env, const struct wx *x)
{
    struct wv e = watch_lower(w, env, x->args[0], NULL);
    if (e.kind == WV_ERROR)
        return e;
    if (e.kind != WV_EVENTS)
        return watch_error(w, x->args[0]->span, "Type mismatch: Expected events, found a signal");
    struct wv c = watch_lower(w, env, x->args[1], e.node);
    if (c.kind == WV_ERROR)
        return c;
    struct wv args[2] = {e, c};
    if (watch_type(c) != w->e->types.boolean)
        return watch_library(w, "Wp", "both", args, 2, WV_EVENTS, x->span);
    /* a Bool stream counts where it has an event, too */
    if (c.kind == WV_EVENTS) {
        args[0] = watch_library(w, "Wp", "both", args, 2, WV_EVENTS, x->span);
        if (args[0].kind == WV_ERROR)
            return args[0];
    }
    return watch_library(w, NULL, "filter", args, 2, WV_EVENTS, x->span);
}

static struct wv operation(struct watch *w, struct wenv *env, const struct wx *x, struct node *trigger)
{
    struct wv args[2];
    for (size_t i = 0; i < x->nargs; i++) {
        args[i] = watch_lower(w, env, x->args[i], trigger);
        if (args[i].kind == WV_ERROR)
            return args[i];
    }
    /* one set of signs for both kinds of numbers */
    static const char *const floats[][2] = {{"add", "fadd"}, {"sub", "fsub"}, {"mul", "fmul"},
                                            {"div", "fdiv"}, {"lt", "flt"},   {"gt", "fgt"},
                                            {"leq", "fleq"}, {"geq", "fgeq"}, {"negate", "fnegate"}};
    const char *op = x->name;
    for (size_t i = 0; i < sizeof floats / sizeof *floats && watch_type(args[0]) == w->e->types.real; i++)
        if (!strcmp(op, floats[i][0])) {
            op = floats[i][1];
            break;
        }
    return pointwise(w, op, args, x->nargs, x->span);
}

/* ---- sources and names ---- */

static const char *input_name(struct elab *e, const struct wx *x)
{
    char *name = arena_printf(e->arena, "%s_%s", x->name, x->text ? x->text : "");
    if (!x->text)
        name = arena_printf(e->arena, "%s_0x%llx", x->name, (unsigned long long)x->integer);
    else if (!strcmp(x->name, "codeLine"))
        name = arena_printf(e->arena, "%s_%s_%lld", x->name, x->text, (long long)x->integer);
    for (char *p = name; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              (*p & 0x80)))
            *p = '_';
    return arena_intern_z(e->arena, name);
}

static struct node *add_input(struct elab *e, const char *name, const struct type *type, struct span span,
                              const struct wx *x)
{
    struct elab_input in = {.name = name, .type = type, .span = span};
    if (x) {
        in.source_kind = x->name;
        in.source_arg = x->text;
        in.source_number = (uint64_t)x->integer;
    }
    in.node = node_input(&e->graph, type, (uint32_t)e->ninputs);
    in.node->name = name;
    ARENA_PUSH(e->arena, e->inputs, e->ninputs, e->inputs_cap, in);
    return in.node;
}

/* The same watchpoint asked for twice is one input; it has the name of the definition that is just it. */
static struct wv source(struct watch *w, const struct wx *x, const char *name)
{
    struct elab *e = w->e;
    bool value = !strcmp(x->name, "variable_value");
    struct node *node = NULL;
    for (size_t i = 0; i < e->ninputs && !node; i++)
        if (e->inputs[i].source_kind && !strcmp(e->inputs[i].source_kind, x->name) &&
            e->inputs[i].source_arg == x->text && e->inputs[i].source_number == (uint64_t)x->integer)
            node = e->inputs[i].node;
    if (!node)
        node = add_input(e, name ? name : input_name(e, x), value ? e->types.integer : e->types.unit, x->span,
                         x);
    struct wv v = {.kind = WV_EVENTS, .node = node};
    if (!value)
        return v;
    struct wv args[2] = {v, {.kind = WV_CONST, .ir = ir_const(&e->pool, e->types.integer, cell_int(0))}};
    return watch_library(w, "Wp", "recent", args, 2, WV_SIGNAL, x->span);
}

static bool type_fits(struct watch *w, const struct wdef *d, struct wv v)
{
    bool signal = !strcmp(d->type->name ? d->type->name : "", "Signal");
    bool events = !strcmp(d->type->name ? d->type->name : "", "Events");
    const struct type *element =
        (signal || events) && d->type->nargs == 1 ? elab_type(w->e, w->e->global, d->type->args[0]) : NULL;
    if (element && element->kind == TY_ERROR)
        return true;
    if (element && element == watch_type(v) && (signal ? v.kind != WV_EVENTS : v.kind == WV_EVENTS))
        return true;
    watch_error(w, d->type->span, "Type mismatch: %s is %s[%s]", d->name,
                v.kind == WV_EVENTS ? "Events" : "Signal", type_text(w->e->arena, watch_type(v)));
    return false;
}

static struct wv definition(struct watch *w, struct wdef *d, struct node *trigger, struct span at)
{
    for (const struct wmemo *memo = d->memos; memo; memo = memo->next)
        if (memo->trigger == trigger)
            return memo->value;
    if (d->active)
        return watch_error(w, at, "Infinite recursion detected: %s is defined by itself", d->name);
    struct wmemo *memo = ARENA_NEW(w->e->arena, struct wmemo);
    d->active = true;
    if (d->body->kind == WX_SOURCE)
        memo->value = sampled(w, source(w, d->body, d->name), trigger);
    else
        memo->value = watch_lower(w, NULL, d->body, trigger);
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

struct wdef *watch_find(const struct watch *w, const char *name)
{
    struct wdef *d = w->spec.defs;
    while (d && d->name != name)
        d = d->next;
    return d;
}

static struct wv name(struct watch *w, struct wenv *env, const struct wx *x, struct node *trigger)
{
    for (; env; env = env->next)
        if (env->name == x->name)
            return watch_lower(w, env->of, env->x, trigger);
    struct wdef *d = watch_find(w, x->name);
    if (d && d->has_params)
        return watch_error(w, x->span, "Wrong number of arguments for %s. Expected: %zu, actual: 0", d->name,
                           d->nparams);
    if (d)
        return definition(w, d, trigger, x->span);
    struct binding *b = env_find(w->e->global, x->name, false);
    if (!b || b->env->library || b->cv.kind != CV_STREAM)
        return watch_error(w, x->span, "Undefined variable %s", x->name);
    bool signal = b->type_def; /* marks inputs declared as signals */
    return sampled(w, (struct wv){.kind = signal ? WV_SIGNAL : WV_EVENTS, .node = b->cv.node}, trigger);
}

static struct wv constant(struct watch *w, const struct type *type, struct cell c)
{
    return (struct wv){.kind = WV_CONST, .ir = ir_const(&w->e->pool, type, c)};
}

static struct wv lower(struct watch *w, struct wenv *env, const struct wx *x, struct node *trigger)
{
    struct elab *e = w->e;
    struct cv cv;
    int64_t t;
    switch (x->kind) {
    case WX_INT:
        cv = elab_integer(e, x->integer, x->text, x->span);
        return (struct wv){.kind = cv.kind == CV_ERROR ? WV_ERROR : WV_CONST, .ir = cv.ir};
    case WX_TIME:
        if (!unit_convert(e, x->integer, x->name, x->span, &t))
            return (struct wv){.kind = WV_ERROR};
        return constant(w, e->types.integer, cell_int(t));
    case WX_FLOAT:
        return constant(w, e->types.real, cell_float(x->real));
    case WX_STRING:
        return constant(w, e->types.string, value_string(&e->constants, x->text, x->text_size));
    case WX_BOOL:
        return constant(w, e->types.boolean, cell_int(x->integer));
    case WX_NAME:
        return name(w, env, x, trigger);
    case WX_SOURCE:
        return sampled(w, source(w, x, NULL), trigger);
    case WX_CALL:
        return sampled(w, watch_call(w, env, x, trigger), trigger);
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
        return watch_monitor(w, env, x);
    default:
        return (struct wv){.kind = WV_ERROR};
    }
}

struct wv watch_lower(struct watch *w, struct wenv *env, const struct wx *x, struct node *trigger)
{
    if (!elab_step(w->e, x->span))
        return (struct wv){.kind = WV_ERROR};
    if (w->depth >= DEPTH_MOST)
        return watch_error(w, x->span, "Stack overflow");
    w->depth++;
    struct wv v = lower(w, env, x, trigger);
    w->depth--;
    return v;
}

/* ---- the specification ---- */

static void declare_input(struct watch *w, const struct win *in)
{
    struct elab *e = w->e;
    const struct ast_type *t = in->type;
    bool signal = t->name && !strcmp(t->name, "Signal"), events = t->name && !strcmp(t->name, "Events");
    if (!(signal || events) || t->nargs != 1) {
        diag_error(e->diags, t->span, "Input streams must be defined to have stream types");
        return;
    }
    const struct type *type = elab_type(e, e->global, t->args[0]);
    if (type->kind == TY_ERROR)
        return;
    if (signal && type != e->types.integer && type != e->types.boolean) {
        diag_error(e->diags, t->span,
                   "A signal that comes in has type Int or Bool: it begins with 0 or false");
        return;
    }
    struct node *node = add_input(e, in->name, type, in->span, NULL);
    if (signal) {
        node = node_default(&e->graph, node, cell_int(0));
        node = node_plain(&e->graph, N_PURE, type, &node, 1);
    }
    struct binding *old = env_find(e->global, in->name, false);
    if ((old && !old->env->library) || watch_find(w, in->name)) {
        diag_error(e->diags, in->span, "Multiple definitions of %s in same scope", in->name);
        return;
    }
    struct binding *b = env_add(e, e->global, in->name, in->span);
    b->cv = cv_stream(e, node);
    b->state = BIND_DONE;
    /* the dialect's own scope: the library's names do not count, and signals are marked */
    b->env = ARENA_NEW(e->arena, struct env);
    b->type_def = signal ? ARENA_NEW(e->arena, struct ast_stmt) : NULL;
}

static void check_names(struct watch *w)
{
    for (const struct wdef *d = w->spec.defs; d; d = d->next)
        for (const struct wdef *o = w->spec.defs; o != d; o = o->next)
            if (o->name == d->name) {
                watch_error(w, d->span, "Multiple definitions of %s in same scope", d->name);
                break;
            }
}

static void put_out(struct watch *w, const char *stream, struct span span)
{
    struct elab *e = w->e;
    struct wx x = {.kind = WX_NAME, .name = stream, .span = span};
    struct wv v = watch_lower(w, NULL, &x, NULL);
    if (v.kind == WV_ERROR)
        return;
    const struct elab_output out = {.name = stream, .node = watch_node(w, v), .span = span};
    for (size_t i = 0; i < e->noutputs; i++)
        if (e->outputs[i].name == stream) {
            diag_warning(e->diags, span, "Conflicting out declaration: %s is put out twice", stream);
            break;
        }
    ARENA_PUSH(e->arena, e->outputs, e->noutputs, e->outputs_cap, out);
}

void watch_spec(struct elab *e, const struct source *text)
{
    struct watch w = {.e = e};
    e->stack_base = __builtin_frame_address(0);
    watch_parse(e->arena, e->diags, text, &w.spec);
    check_names(&w);
    for (const struct win *in = w.spec.ins; in; in = in->next)
        declare_input(&w, in);
    for (struct wdef *d = w.spec.defs; d; d = d->next)
        if (!d->has_params)
            definition(&w, d, NULL, d->span);
    for (const struct wout *o = w.spec.outs; o; o = o->next) {
        if (o->name) {
            put_out(&w, o->name, o->span);
            continue;
        }
        for (const struct win *in = w.spec.ins; in; in = in->next)
            put_out(&w, in->name, in->span);
        for (const struct wdef *d = w.spec.defs; d; d = d->next)
            if (!d->has_params)
                put_out(&w, d->name, o->span);
    }
    elab_close_captures(e);
}
