/* SPDX-License-Identifier: Apache-2.0 */
/* Syntax trees of the watchpoint dialect (docs/tessla-language.md B.2). */
#pragma once

#include "monitor/elab.h"
#include "monitor/ltl.h"
#include "monitor/watch.h"

enum ct_mon_wx_kind {
    WX_ERROR,
    WX_INT,  /* integer; or text: the digits, when it has more than 63 bits */
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
    WX_NEXT,
    WX_HOLDING,
    WX_OCCURRING,
    WX_WITHIN,
    WX_UNTIL,
    WX_RELEASES,
    WX_BEFORE,
    WX_UPTO,    /* args: formula, end of the scope */
    WX_FROM,    /* args: formula, start of the scope */
    WX_BETWEEN, /* args: formula, start, end of the scope */
    WX_ACCEPTON,
    WX_REJECTON,
    WX_IF,       /* args: condition, then-branch, and optional else-branch */
    WX_EACH,     /* each; name: the variable; args[0]: the body, then the values of the variable */
    WX_REGULAR,  /* args[0]: the regular expression; all kinds but the following are one step of it */
    WX_SEQUENCE, /* args[0], then args[1] from the next step on */
    WX_OVERLAP,  /* args[0], and args[1] from its last step on */
    WX_EITHER,
    WX_REPEAT, /* args[0] at consecutive steps, as many as the range says */
};

/* Whether the end of an operator must occur. */
enum ct_mon_need {
    NEED_REQUIRED,
    NEED_WEAK,     /* the end need not occur if the operand holds for ever */
    NEED_OPTIONAL, /* if the end does not occur, nothing is required */
};

/* The modifiers of the end of an until or of a scope. */
struct ct_mon_ending {
    enum ct_mon_need need;
    bool inclusive;
};

enum ct_mon_each {
    EACH_ALL,
    EACH_SOME,
    EACH_NONE,
    EACH_ONE,
};

struct ct_mon_wx {
    enum ct_mon_wx_kind kind;
    struct ct_mon_span span;
    const char *name, *text;
    size_t text_size;
    const char *core; /* of a source: the core after the @, or NULL */
    int64_t integer;
    double real;
    enum ct_mon_token op;
    struct ct_mon_wx **args;
    const char **arg_names; /* of calls and bindings: the name of each argument, or NULL */
    size_t nargs, cap, names_cap;
    struct ct_mon_wx *clock; /* monitor */
    bool clock_all;          /* clock := * */
    /* in formulas */
    bool past;
    enum ct_mon_each each;
    struct ct_mon_ending ending, start; /* start: the start of a scope */
    enum ct_mon_token time_op;          /* comparison of timed[..]: T_LT, T_LE, T_ASSIGN, T_GT, T_GE */
    struct ct_mon_wx *time;             /* NULL: not timed */
    struct ct_mon_wx *low, *high; /* the range of steps; if op is T_ASSIGN, T_LT, T_LE, T_GT or T_GE, only low
                                   * is used */
};

struct ct_mon_wdef {
    struct ct_mon_wdef *next;
    const char *name;
    struct ct_mon_span span;
    const char **params;
    size_t nparams;
    bool has_params;
    struct ct_mon_ast_type *type; /* Signal[..] or Events[..], or NULL */
    struct ct_mon_wx *body;
    bool active; /* being lowered: a reference to it is a recursion */
    enum {
        TEMPORAL_UNKNOWN,
        TEMPORAL_NOT, /* not a formula; also the value while this is being determined */
        TEMPORAL
    } temporal; /* whether it is a formula, which has a value only inside monitor(...) */
    struct ct_mon_wmemo *memos;
};

struct ct_mon_win {
    struct ct_mon_win *next;
    const char *name;
    struct ct_mon_span span;
    struct ct_mon_ast_type *type;
};

struct ct_mon_wout {
    struct ct_mon_wout *next;
    const char *name; /* NULL: all streams */
    struct ct_mon_span span;
};

struct ct_mon_wspec {
    struct ct_mon_wdef *defs, **defs_tail;
    struct ct_mon_win *ins, **ins_tail;
    struct ct_mon_wout *outs, **outs_tail;
};

void ct_mon_watch_parse(struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                        const struct ct_mon_source *source, struct ct_mon_wspec *out);
/* Parses a formula in a string: bytes from..to of `text`. */
struct ct_mon_wx *ct_mon_watch_parse_formula(struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                                             const struct ct_mon_source *text, uint32_t from, uint32_t to);

/* Kind of a lowered expression. */
enum ct_mon_wv_kind {
    WV_ERROR,
    WV_CONST, /* ir */
    WV_EVENTS,
    WV_SIGNAL, /* has events only at 0 and when it changes */
};

struct ct_mon_wv {
    enum ct_mon_wv_kind kind;
    struct ct_mon_ir *ir;
    struct ct_mon_node *node;
};

struct ct_mon_wenv {
    const char *name;
    struct ct_mon_wx *x;
    struct ct_mon_wenv *of; /* environment of x */
    struct ct_mon_wenv *next;
    bool stream; /* bound by monitor(...): always taken as a whole stream */
};

/* deepest nesting of macros and definitions; more is an error */
enum {
    WATCH_DEPTH_MOST = 200
};

struct ct_mon_watch {
    struct ct_mon_elab *e;
    struct ct_mon_wspec spec;
    struct ct_mon_name_map definitions; /* struct ct_mon_wdef by name */
    struct ct_mon_name_map sources;     /* inputs of watchpoints by key: struct ct_mon_node */
    unsigned depth;
};

/* Lowers an expression. With `trigger`, only values at the trigger's events matter, and the result has events
 * exactly there, so that conditions need no timers. NULL: the value is needed at all times. */
struct ct_mon_wv ct_mon_watch_lower(struct ct_mon_watch *w, struct ct_mon_wenv *env,
                                    const struct ct_mon_wx *x, struct ct_mon_node *trigger);
struct ct_mon_wv ct_mon_watch_call(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x,
                                   struct ct_mon_node *trigger);
struct ct_mon_wv ct_mon_watch_monitor(struct ct_mon_watch *w, struct ct_mon_wenv *env,
                                      const struct ct_mon_wx *x);

/* Binds the arguments of a macro to its parameters. Returns false after an error. */
bool ct_mon_watch_bind(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x,
                       const struct ct_mon_wdef *d, struct ct_mon_wenv **inner);
/* Returns whether an expression is a temporal formula, which has a value only inside monitor(...). */
bool ct_mon_watch_is_temporal(struct ct_mon_watch *w, struct ct_mon_wenv *env, const struct ct_mon_wx *x);

/* Reports an unknown name. `kind`: "variable" or "function". */
struct ct_mon_wv ct_mon_watch_undefined(struct ct_mon_watch *w, const struct ct_mon_wx *x, const char *kind);
/* Add the names of all functions, and the words of formulas and sources, to a list. */
void ct_mon_watch_function_names(struct ct_mon_arena *arena, struct ct_mon_names *names);
void ct_mon_watch_words(struct ct_mon_arena *arena, struct ct_mon_names *names);
struct ct_mon_wdef *ct_mon_watch_find(const struct ct_mon_watch *w, const char *name);
struct ct_mon_wv ct_mon_watch_error(struct ct_mon_watch *w, struct ct_mon_span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
const struct ct_mon_type *ct_mon_watch_type(struct ct_mon_wv v);
/* Calls a library function: of the module, or a global one when `module` is NULL. */
struct ct_mon_wv ct_mon_watch_library(struct ct_mon_watch *w, const char *module, const char *name,
                                      struct ct_mon_wv *args, size_t n, enum ct_mon_wv_kind kind,
                                      struct ct_mon_span at);
