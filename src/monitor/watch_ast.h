/* SPDX-License-Identifier: Apache-2.0 */
/* Syntax trees of the watchpoint dialect (docs/tessla-language.md B.2). */
#ifndef CT_MONITOR_WATCH_AST_H
#define CT_MONITOR_WATCH_AST_H

#include "monitor/elab.h"
#include "monitor/ltl.h"
#include "monitor/watch.h"

enum wx_kind {
    WX_ERROR,
    WX_INT,  /* integer; or text: the digits of one of more than 63 bits */
    WX_TIME, /* integer, unit in name */
    WX_FLOAT,
    WX_STRING,
    WX_BOOL,
    WX_NAME,
    WX_SOURCE, /* name: keyword; text: file, function or symbol; integer: line or address */
    WX_CALL,   /* name(args) */
    WX_OP,     /* library operator `name` of args */
    WX_AND,
    WX_OR,
    WX_NOT,
    WX_IMPLIES,
    WX_ON,      /* on args[0] if args[1] */
    WX_MONITOR, /* args[0]: the formula; bindings; clock */
    /* in formulas */
    WX_IFF,
    WX_ALWAYS,
    WX_EVENTUALLY,
    WX_NEVER,
    WX_NEXT,    /* integer: how many steps */
    WX_HOLDING, /* op: T_ASSIGN, T_LE or T_GE; integer */
    WX_WITHIN,  /* integer */
    WX_UNTIL,
    WX_WEAK_UNTIL,
    WX_RELEASES,
    WX_BEFORE,
    WX_WEAK_BEFORE,
};

struct wx {
    enum wx_kind kind;
    struct span span;
    const char *name, *text;
    size_t text_size;
    int64_t integer;
    double real;
    enum token op;
    struct wx **args;
    const char **arg_names; /* calls and bindings: NULL, or the name each was given */
    size_t nargs, cap, names_cap;
    struct wx *clock; /* monitor */
    bool clock_all;   /* clock := * */
};

struct wdef {
    struct wdef *next;
    const char *name;
    struct span span;
    const char **params;
    size_t nparams;
    bool has_params;
    struct ast_type *type; /* Signal[..] or Events[..], or NULL */
    struct wx *body;
    bool active; /* being lowered: a reference now is a recursion */
    struct wmemo *memos;
};

struct win {
    struct win *next;
    const char *name;
    struct span span;
    struct ast_type *type;
};

struct wout {
    struct wout *next;
    const char *name; /* NULL: all */
    struct span span;
};

struct wspec {
    struct wdef *defs, **defs_tail;
    struct win *ins, **ins_tail;
    struct wout *outs, **outs_tail;
};

void ct_mon_watch_parse(struct arena *arena, struct diags *diags, const struct source *source,
                        struct wspec *out);
/* A formula in a string. */
struct wx *ct_mon_watch_parse_formula(struct arena *arena, struct diags *diags, const struct source *text,
                                      uint32_t from, uint32_t to);

/* Lowering: what an expression is. */
enum wv_kind {
    WV_ERROR,
    WV_CONST, /* ir */
    WV_EVENTS,
    WV_SIGNAL, /* an event at 0 and at changes only */
};

struct wv {
    enum wv_kind kind;
    struct ir *ir;
    struct node *node;
};

struct wenv {
    const char *name;
    struct wx *x;
    struct wenv *of; /* the environment of x */
    struct wenv *next;
};

struct watch {
    struct elab *e;
    struct wspec spec;
    unsigned depth;
};

/* `trigger` NULL: the value at every time. Otherwise only the value at the trigger's events counts, and the
 * result is events at just these: conditions then need no timers. */
struct wv ct_mon_watch_lower(struct watch *w, struct wenv *env, const struct wx *x, struct node *trigger);
struct wv ct_mon_watch_call(struct watch *w, struct wenv *env, const struct wx *x, struct node *trigger);
struct wv ct_mon_watch_monitor(struct watch *w, struct wenv *env, const struct wx *x);

struct wdef *ct_mon_watch_find(const struct watch *w, const char *name);
struct wv ct_mon_watch_error(struct watch *w, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
struct cv ct_mon_watch_cv(struct watch *w, struct wv v);
struct node *ct_mon_watch_node(struct watch *w, struct wv v);
const struct type *ct_mon_watch_type(struct wv v);
/* Calls Wp.name of the library. */
struct wv ct_mon_watch_library(struct watch *w, const char *module, const char *name, struct wv *args,
                               size_t n, enum wv_kind kind, struct span at);

#endif
