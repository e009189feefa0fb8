/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the watchpoint dialect (docs/tessla-language.md B.4) and its macros. */
#include <string.h>

#include "monitor/big.h"
#include "monitor/watch_ast.h"

struct call {
    struct ct_mon_watch *w;
    struct ct_mon_wenv *env;
    const struct ct_mon_wx *x;
    struct ct_mon_node *trigger;
};

static struct ct_mon_wv arg(const struct call *c, size_t i)
{
    return ct_mon_watch_lower(c->w, c->env, c->x->args[i], NULL);
}

static struct ct_mon_wv wrong_kind(const struct call *c, size_t i, const char *expected, struct ct_mon_wv v)
{
    if (v.kind == WV_ERROR)
        return v;
    return ct_mon_watch_error(c->w, c->x->args[i]->span, "Type mismatch: Expected %s, found %s of %s",
                              expected,
                              v.kind == WV_EVENTS   ? "events"
                              : v.kind == WV_SIGNAL ? "a signal"
                                                    : "a constant",
                              ct_mon_type_text(c->w->e->arena, ct_mon_watch_type(v)));
}

/* Reads arguments by a pattern of letters: E events, S signal or constant, D constant Int, V any constant. */
static bool args(const struct call *c, const char *pattern, struct ct_mon_wv *out)
{
    for (size_t i = 0; pattern[i]; i++) {
        out[i] = arg(c, i);
        enum ct_mon_wv_kind k = out[i].kind;
        bool fine = k == WV_ERROR       ? false
                    : pattern[i] == 'E' ? k == WV_EVENTS
                    : pattern[i] == 'S' ? k != WV_EVENTS
                    : pattern[i] == 'D' ? k == WV_CONST && ct_mon_watch_type(out[i]) == c->w->e->types.integer
                                        : k == WV_CONST;
        if (!fine) {
            out[i] = wrong_kind(c, i,
                                pattern[i] == 'E'   ? "events"
                                : pattern[i] == 'S' ? "a signal"
                                : pattern[i] == 'D' ? "a constant of Int"
                                                    : "a constant",
                                out[i]);
            return false;
        }
    }
    return true;
}

static const struct ct_mon_wv FAILED = {.kind = WV_ERROR};

/* Lowers the test whether E happened in the last d: with a trigger to a comparison of times, else to a signal
 * with a timer. */
static struct ct_mon_wv in_past(const struct call *c, struct ct_mon_wv e, struct ct_mon_wv d)
{
    struct ct_mon_watch *w = c->w;
    if (c->trigger) {
        struct ct_mon_wv list[3] = {{.kind = WV_EVENTS, .node = c->trigger}, e, d};
        return ct_mon_watch_library(w, "Wp", "inPastAt", list, 3, WV_EVENTS, c->x->span);
    }
    if (int_is_negative(&d.ir->value) || !d.ir->value.v.i)
        return (struct ct_mon_wv){.kind = WV_CONST,
                                  .ir = ct_mon_ir_const(&w->e->pool, w->e->types.boolean, cell_int(0))};
    struct ct_mon_wv list[2] = {e, d};
    return ct_mon_watch_library(w, "Wp", "inPast", list, 2, WV_SIGNAL, c->x->span);
}

static struct ct_mon_wv fn_in_past(const struct call *c)
{
    struct ct_mon_wv a = arg(c, 0), b = arg(c, 1);
    if (a.kind == WV_CONST) { /* the arguments are inPast(d, E) */
        struct ct_mon_wv t = a;
        a = b;
        b = t;
    }
    if (a.kind == WV_ERROR || b.kind == WV_ERROR)
        return FAILED;
    if (a.kind != WV_EVENTS || b.kind != WV_CONST || ct_mon_watch_type(b) != c->w->e->types.integer)
        return ct_mon_watch_error(c->w, c->x->span, "Type mismatch: Expected events and a duration");
    return in_past(c, a, b);
}

static struct ct_mon_wv fn_within(const struct call *c)
{
    struct ct_mon_wv list[3];
    if (!args(c, "DDE", list))
        return FAILED;
    int64_t from = list[0].ir->value.v.i, to = list[1].ir->value.v.i, length;
    if (cell_is_big(&list[0].ir->value) || cell_is_big(&list[1].ir->value))
        return ct_mon_watch_error(c->w, c->x->span, "within needs durations of at most 63 bits");
    if (to > 0)
        return ct_mon_watch_error(c->w, c->x->args[1]->span,
                                  "within would look ahead; the second duration must not be positive");
    if (from >= to || __builtin_sub_overflow(to, from, &length) || length == INT64_MAX)
        return ct_mon_watch_error(c->w, c->x->span,
                                  "within needs two durations; the first must be smaller than the second");
    if (to < 0) {
        struct ct_mon_wv shift[2] = {
            list[2],
            {.kind = WV_CONST, .ir = ct_mon_ir_const(&c->w->e->pool, c->w->e->types.integer, cell_int(-to))}};
        list[2] = ct_mon_watch_library(c->w, "Wp", "delayByTime", shift, 2, WV_EVENTS, c->x->span);
        if (list[2].kind == WV_ERROR)
            return list[2];
    }
    struct ct_mon_wv d = {.kind = WV_CONST,
                          .ir =
                              ct_mon_ir_const(&c->w->e->pool, c->w->e->types.integer, cell_int(length + 1))};
    return in_past(c, list[2], d);
}

/* Lowers sample(S, E) and ifThen(E, S), which need S only at E. */
static struct ct_mon_wv fn_sample(const struct call *c)
{
    const size_t event = !strcmp(c->x->name, "sample");
    const struct ct_mon_wv e = arg(c, event);
    if (e.kind != WV_EVENTS)
        return wrong_kind(c, event, "events", e);
    struct ct_mon_wv list[2] = {e, ct_mon_watch_lower(c->w, c->env, c->x->args[!event], e.node)};
    return ct_mon_watch_library(c->w, NULL, "on", list, 2, WV_EVENTS, c->x->span);
}

static struct ct_mon_wv fn_filter(const struct call *c)
{
    struct ct_mon_wx x = *c->x;
    x.kind = WX_ON;
    return ct_mon_watch_lower(c->w, c->env, &x, NULL);
}

static struct ct_mon_wv fn_if_then_else(const struct call *c)
{
    struct ct_mon_wv list[3];
    bool events = false;
    for (size_t i = 0; i < 3; i++) {
        list[i] = ct_mon_watch_lower(c->w, c->env, c->x->args[i], c->trigger);
        events |= list[i].kind == WV_EVENTS;
    }
    return ct_mon_watch_library(c->w, "Operators", "ite", list, 3, events ? WV_EVENTS : WV_SIGNAL,
                                c->x->span);
}

/* Lowers maximum(S) and minimum(S), and their variants with an initial value. */
static struct ct_mon_wv fn_extremum(const struct call *c)
{
    struct ct_mon_wv list[2];
    const bool from = c->x->nargs == 2;
    if (!args(c, from ? "ED" : "S", list))
        return FAILED;
    const char *function = !from                            ? c->x->name
                           : !strcmp(c->x->name, "maximum") ? "maximumFrom"
                                                            : "minimumFrom";
    return ct_mon_watch_library(c->w, "Wp", function, list, c->x->nargs, WV_SIGNAL, c->x->span);
}

static struct ct_mon_wv fn_event_count(const struct call *c)
{
    struct ct_mon_wv list[2];
    if (!args(c, c->x->nargs == 1 ? "E" : "EE", list))
        return FAILED;
    return ct_mon_watch_library(c->w, "Wp", c->x->nargs == 1 ? "eventCount" : "eventCountReset", list,
                                c->x->nargs, WV_SIGNAL, c->x->span);
}

/* functions that map to one library function */
static const struct {
    const char *name, *pattern, *module, *library;
    enum ct_mon_wv_kind kind;
} PLAIN[] = {
    {"sum", "E", "Wp", "sumOf", WV_SIGNAL},
    {"mrv", "EV", "Wp", "recent", WV_SIGNAL},
    {"sma", "ED", "Wp", "sma", WV_EVENTS},
    {"timestamps", "E", NULL, "time", WV_EVENTS},
    {"duration", "EE", NULL, "runtime", WV_EVENTS}, /* the first event of the pair is the start */
    {"changeOf", "S", "Wp", "changeOf", WV_EVENTS},
    {"merge", "EE", NULL, "merge", WV_EVENTS},
    {"occursAny", "EE", NULL, "mergeUnit", WV_EVENTS},
    {"occursAll", "EE", "Wp", "unitBoth", WV_EVENTS},
    {"delayEventByTime", "ED", "Wp", "delayByTime", WV_EVENTS},
    {"delayEventByCount", "ED", "Wp", "delayByCount", WV_EVENTS},
};

static const struct {
    const char *name;
    size_t least, most;
    struct ct_mon_wv (*fn)(const struct call *c);
} SPECIAL[] = {
    {"inPast", 2, 2, fn_in_past},          {"within", 3, 3, fn_within},
    {"sample", 2, 2, fn_sample},           {"ifThen", 2, 2, fn_sample},
    {"ifThenElse", 3, 3, fn_if_then_else}, {"filter", 2, 2, fn_filter},
    {"maximum", 1, 2, fn_extremum},        {"minimum", 1, 2, fn_extremum},
    {"eventCount", 1, 2, fn_event_count},
};

/* operators written as words */
static const struct {
    const char *name;
    enum ct_mon_wx_kind kind;
    const char *op;
    size_t n;
} WORDS[] = {
    {"add", WX_OP, "add", 2},    {"sub", WX_OP, "sub", 2},         {"mul", WX_OP, "mul", 2},
    {"div", WX_OP, "div", 2},    {"eq", WX_OP, "eq", 2},           {"gt", WX_OP, "gt", 2},
    {"geq", WX_OP, "geq", 2},    {"lt", WX_OP, "lt", 2},           {"leq", WX_OP, "leq", 2},
    {"neg", WX_OP, "negate", 1}, {"and", WX_AND, NULL, 2},         {"or", WX_OR, NULL, 2},
    {"not", WX_NOT, NULL, 1},    {"implies", WX_IMPLIES, NULL, 2},
};

void ct_mon_watch_function_names(struct ct_mon_arena *arena, struct ct_mon_names *names)
{
    for (size_t i = 0; i < sizeof SPECIAL / sizeof *SPECIAL; i++)
        ct_mon_names_add(arena, names, SPECIAL[i].name);
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++)
        ct_mon_names_add(arena, names, PLAIN[i].name);
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        ct_mon_names_add(arena, names, WORDS[i].name);
}

static struct ct_mon_wv wrong_number(struct ct_mon_watch *w, const struct ct_mon_wx *x, size_t expected)
{
    ct_mon_elab_wrong_number(w->e, x->span, "arguments", x->name, expected, x->nargs);
    return FAILED;
}

bool ct_mon_watch_bind(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x,
                       const struct ct_mon_wdef *d, struct ct_mon_wenv **inner)
{
    if (ct_mon_elab_wrong_number(w->e, x->span, "arguments", x->name, d->nparams, x->nargs))
        return false;
    for (size_t i = 0; i < d->nparams; i++) {
        size_t k = i;
        if (x->arg_names[i]) {
            for (k = 0; k < d->nparams && d->params[k] != x->arg_names[i]; k++)
                ;
            if (k == d->nparams) {
                struct ct_mon_names names = {0};
                for (k = 0; k < d->nparams; k++)
                    ct_mon_names_add(w->e->arena, &names, d->params[k]);
                ct_mon_elab_unknown_argument(w->e, x->args[i]->span, x->arg_names[i], &names);
                return false;
            }
        }
        struct ct_mon_wenv *b = ARENA_NEW(w->e->arena, struct ct_mon_wenv);
        *b = (struct ct_mon_wenv){.name = d->params[k], .x = x->args[i], .of = env, .next = *inner};
        *inner = b;
    }
    return true;
}

static struct ct_mon_wv macro(const struct call *c, const struct ct_mon_wdef *d)
{
    struct ct_mon_wenv *inner = NULL;
    if (!ct_mon_watch_bind(c->w, c->env, c->x, d, &inner))
        return FAILED;
    return ct_mon_watch_lower(c->w, inner, d->body, c->trigger);
}

struct ct_mon_wv ct_mon_watch_call(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x,
                                   struct ct_mon_node *trigger)
{
    const struct call c = {w, env, x, trigger};
    const struct ct_mon_wdef *d = ct_mon_watch_find(w, x->name);
    if (d && d->body->kind == WX_ERROR)
        return FAILED;
    if (d && d->has_params)
        return macro(&c, d);
    for (size_t i = 0; i < sizeof SPECIAL / sizeof *SPECIAL; i++)
        if (!strcmp(SPECIAL[i].name, x->name))
            return x->nargs < SPECIAL[i].least || x->nargs > SPECIAL[i].most
                       ? wrong_number(w, x, SPECIAL[i].least)
                       : SPECIAL[i].fn(&c);
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++) {
        if (strcmp(PLAIN[i].name, x->name) != 0)
            continue;
        struct ct_mon_wv list[2];
        if (x->nargs != strlen(PLAIN[i].pattern))
            return wrong_number(w, x, strlen(PLAIN[i].pattern));
        if (!args(&c, PLAIN[i].pattern, list))
            return FAILED;
        return ct_mon_watch_library(w, PLAIN[i].module, PLAIN[i].library, list, x->nargs, PLAIN[i].kind,
                                    x->span);
    }
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strcmp(WORDS[i].name, x->name) != 0)
            continue;
        if (x->nargs != WORDS[i].n)
            return wrong_number(w, x, WORDS[i].n);
        struct ct_mon_wx op = *x;
        op.kind = WORDS[i].kind;
        op.name = WORDS[i].op;
        return ct_mon_watch_lower(w, env, &op, trigger);
    }
    return ct_mon_watch_undefined(w, x, "function");
}
