/* SPDX-License-Identifier: Apache-2.0 */
/* Elaboration: names, types and macros are worked out while definitions are expanded into the core. */
#ifndef CT_MONITOR_ELAB_H
#define CT_MONITOR_ELAB_H

#include "monitor/ast.h"
#include "monitor/node.h"

enum cv_kind {
    CV_ERROR,
    CV_VALUE,  /* ir: a constant, or a value of the function under construction */
    CV_STREAM, /* node; type is Events[..] */
    CV_CLOSURE,
    CV_RECORD, /* members, by the type's order */
    CV_FUN,    /* while macros are checked: some function of the type */
    CV_CHOICE, /* ir ? members[0] : members[1], of functions */
    CV_MODULE, /* env */
};

/* What an expression is at compile time. */
struct cv {
    enum cv_kind kind;
    const struct type *type; /* closures: NULL, see ct_mon_elab_fun_type */
    union {
        struct ir *ir;
        struct node *node;
        struct closure *closure;
        struct env *env;
    };
    struct cv *members;
};

struct closure {
    struct ast_def *def;
    struct env *env;
    struct type_bind *given; /* explicit type arguments */
    size_t ngiven;
    const struct type *type;
};

enum binding_state {
    BIND_LAZY,
    BIND_ACTIVE,
    BIND_DONE,
};

struct binding {
    struct binding *next; /* in its environment */
    const char *name;
    struct span span;
    enum binding_state state;
    bool used_early; /* referred to while active: `early` stands for it */
    bool is_type;
    struct cv cv, early;
    struct ast_def *def;
    struct ast_stmt *type_def; /* is_type */
    const struct type *type;   /* is_type: a parameter's meaning */
    struct env *env;
};

struct env {
    struct env *up;
    struct fn *fn; /* the function whose values live here */
    bool check;    /* made while a macro was checked */
    bool library;
    struct binding *first, **tail;
    struct binding **table; /* the global one: by hash of the name */
    size_t table_cap;
    struct library *lazy; /* the global one: what is declared when it is looked up */
};

struct residual;

/* Bits of ast_def.static_params; parameters behind them are not known to be
 * constant in a recursive function. */
enum {
    STATIC_PARAMS = 64
};

struct elab_input {
    const char *name;
    const struct type *type; /* of the elements */
    struct node *node;
    struct span span;
    const char *source_kind, *source_arg; /* watchpoint dialect: "codeLine", "main.c:32" */
    uint64_t source_number;
};

struct elab_output {
    const char *name;
    struct node *node;
    bool raw;
    struct span span;
};

struct elab {
    struct arena *arena;
    struct diags *diags;
    struct types types;
    struct heap constants;
    struct ir_pool pool;
    struct graph graph;
    struct env *global;
    const char *time_unit; /* NULL: none given */
    bool changes_only;
    struct elab_input *inputs;
    size_t ninputs, inputs_cap;
    struct elab_output *outputs;
    size_t noutputs, outputs_cap;
    /* state of the expansion */
    unsigned check;       /* > 0: calls are not expanded, types only */
    struct fn *fn;        /* function under construction, NULL in streams */
    unsigned depth;       /* of macros in macros */
    struct span type_use; /* where the type with parameters stands whose definition is being elaborated */
    uint64_t fuel;
    const char *stack_base;
    struct residual *residuals;
    struct residual *building; /* the innermost of those whose bodies are being elaborated */
    unsigned deferred;         /* conditions of 'static if' that made a function be elaborated once more */
    struct fn *fns, *fns_tail;
    uint32_t nfns;
};

enum {
    MACRO_DEPTH = 1000,
    LIFT_MOST = 5,
};

void ct_mon_elab_init(struct elab *e, struct arena *arena, struct diags *diags, const char *time_unit);
/* Adds statements to a scope. */
void ct_mon_elab_declare(struct elab *e, struct env *env, struct ast_stmt *stmts);
void ct_mon_elab_spec(struct elab *e, struct ast_stmt *stmts);

/* environments and names: elab_env.c */
struct env *ct_mon_env_new(struct elab *e, struct env *up);
struct binding *ct_mon_env_add(struct elab *e, struct env *env, const char *name, struct span span);
struct binding *ct_mon_env_find(const struct env *env, const char *name, bool is_type);
struct binding *ct_mon_env_lookup(const struct env *env, const char *name, bool is_type);
void ct_mon_env_bind_value(struct elab *e, struct env *env, const char *name, struct span span, struct cv cv);
void ct_mon_env_bind_type(struct elab *e, struct env *env, const char *name, const struct type *type);
void ct_mon_env_bind_def(struct elab *e, struct env *env, struct ast_def *def);
struct cv ct_mon_elab_force(struct elab *e, struct binding *b, struct span at);
const struct type *ct_mon_elab_type(struct elab *e, const struct env *env, const struct ast_type *t);
/* Is it the name of a type of the language, such as Int? */
bool ct_mon_elab_has_type(const char *name);

/* expressions: elab_expr.c */
struct cv ct_mon_elab_expr(struct elab *e, struct env *env, const struct ast *x);
/* The library's definition, such as "Operators.add". */
struct cv ct_mon_elab_library_name(struct elab *e, const char *module, const char *name);

/* calls: elab_call.c */
struct cv_arg {
    const char *name;
    struct span name_span, span;
    struct cv cv;
};
struct cv ct_mon_elab_call(struct elab *e, struct cv f, const struct cv_arg *args, size_t n, struct span at);
/* Calls with values of the right number, by position. */
struct cv ct_mon_elab_apply(struct elab *e, struct cv f, struct cv *args, size_t n, struct span at);
const struct type *ct_mon_elab_fun_type(struct elab *e, struct cv f);
/* Reports a macro whose type parameters nothing binds: ct_mon_elab_fun_type gave NULL. */
void ct_mon_elab_generic(struct elab *e, struct cv f, struct span at);
/* Makes cv fit the type (a constant becomes a stream); false if it cannot. */
bool ct_mon_elab_adapt(struct elab *e, struct cv *cv, const struct type *pattern, struct type_binds *binds,
                       bool liftable, bool *lift, struct span at);
void ct_mon_elab_check_def(struct elab *e, struct ast_def *def, struct env *env);
struct cv ct_mon_elab_dummy(struct elab *e, const struct type *type, uint32_t index);

/* functions: elab_fn.c */
bool ct_mon_elab_wants_residual(const struct elab *e, const struct ast_def *def, const struct cv *args,
                                size_t n, const struct type *result);
struct cv ct_mon_elab_residual(struct elab *e, struct closure *c, struct env *env, struct cv *args, size_t n,
                               const struct type *result, struct span at);
/* The condition of a 'static if' is not constant. True when it depends on parameters of recursive functions
 * that are called with constants: they are then elaborated once more, for these constants, and nothing is to
 * be reported. */
bool ct_mon_elab_defer_static(struct elab *e, const struct ir *condition);
struct fn *ct_mon_elab_fn_new(struct elab *e, struct fn *up, uint32_t nparams, const struct type *result);
/* The body of f applied to parameters of these types; those with a node that
 * is constant are that constant. */
struct ir *ct_mon_elab_kernel(struct elab *e, struct cv f, const struct type **types, struct node **consts,
                              size_t n, struct span at);
/* The constant of an integer literal: its digits, with "0x" if they are hexadecimal, or, where these are
 * NULL, `integer`. */
struct cv ct_mon_elab_integer(struct elab *e, int64_t integer, const char *digits, struct span at);
/* A value for use at run time, or NULL after an error. */
struct ir *ct_mon_elab_materialise(struct elab *e, struct cv cv, struct span at);
void ct_mon_elab_close_captures(struct elab *e);

/* builtins: elab_builtin.c */
struct elab_signature {
    const char *name, *signature; /* as ct_mon_type_text writes it */
};
/* The i-th operation that the library may declare, or NULL behind the last one. */
const struct elab_signature *ct_mon_elab_signature(size_t i);
/* Reports a declaration whose types are not those of its operation, which is
 * then an error wherever it is used. */
void ct_mon_elab_check_builtin(struct elab *e, struct ast_def *def, struct env *env);
struct cv ct_mon_elab_builtin(struct elab *e, const char *name, struct cv *args, size_t n,
                              const struct type *result, struct span at);
/* Signal lift of f over streams. */
struct cv ct_mon_elab_slift(struct elab *e, struct cv f, struct node **streams, size_t n, struct span at);

/* time units: units.c */
/* integer * unit in base units; false after reporting. */
bool ct_mon_unit_convert(struct elab *e, int64_t integer, const char *unit, struct span at, int64_t *out);
/* Femtoseconds of a unit as decimal exponent and factor; false: unknown. */
bool ct_mon_unit_known(const char *unit);

/* Is there fuel and C stack left? Reports once when not. */
bool ct_mon_elab_step(struct elab *e, struct span at);

static inline struct cv cv_error(struct elab *e)
{
    return (struct cv){.kind = CV_ERROR, .type = e->types.error};
}

static inline struct cv cv_value(struct ir *ir)
{
    return (struct cv){.kind = CV_VALUE, .type = ir->type, .ir = ir};
}

static inline struct cv cv_stream(struct elab *e, struct node *node)
{
    return (struct cv){.kind = CV_STREAM, .type = type_events(&e->types, node->type), .node = node};
}

static inline struct cv cv_cell(struct elab *e, const struct type *type, struct cell c)
{
    return cv_value(ct_mon_ir_const(&e->pool, type, c));
}

#endif
