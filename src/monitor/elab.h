/* SPDX-License-Identifier: Apache-2.0 */
/* Elaboration: resolves names and types, and expands macros and definitions into the core. */
#pragma once

#include "monitor/ast.h"
#include "monitor/name_map.h"
#include "monitor/node.h"

enum ct_mon_cv_kind {
    CV_ERROR,
    CV_VALUE,  /* ir: a constant, or a value of the function being built */
    CV_STREAM, /* node; the type is Events[..] */
    CV_CLOSURE,
    CV_RECORD, /* members, in the order of the type */
    CV_FUN,    /* during the check of a macro: an unknown function of the type */
    CV_CHOICE, /* ir ? members[0] : members[1], both functions */
    CV_MODULE, /* env */
};

/* The compile-time value of an expression. */
struct ct_mon_cv {
    enum ct_mon_cv_kind kind;
    const struct ct_mon_type *type; /* NULL for a closure: see ct_mon_elab_fun_type */
    union {
        struct ct_mon_ir *ir;
        struct ct_mon_node *node;
        struct ct_mon_closure *closure;
        struct ct_mon_env *env;
    };
    struct ct_mon_cv *members;
};

struct ct_mon_closure {
    struct ct_mon_ast_def *def;
    struct ct_mon_env *env;
    struct ct_mon_type_bind *given; /* explicit type arguments */
    size_t ngiven;
    const struct ct_mon_type *type;
};

enum ct_mon_binding_state {
    BIND_LAZY,
    BIND_ACTIVE,
    BIND_DONE,
};

struct ct_mon_binding {
    struct ct_mon_binding *next; /* next in its environment */
    struct ct_mon_binding *next_deferred;
    const char *name;
    struct ct_mon_span span;
    enum ct_mon_binding_state state;
    bool used_early; /* something referred to it while it was active, and got `early` */
    bool is_type;
    struct ct_mon_cv cv, early;
    struct ct_mon_ast_def *def;
    struct ct_mon_ast_stmt *type_def; /* the definition, if is_type */
    const struct ct_mon_type *type;   /* meaning of a type parameter, if is_type */
    struct ct_mon_env *env;
};

struct ct_mon_env {
    struct ct_mon_env *up;
    const char *name; /* of a module; NULL for other scopes */
    struct ct_mon_import *imports, **last_import;
    struct ct_mon_env *next_listed; /* next in a list of modules while a name is searched for */
    bool listed;
    struct ct_mon_fn *fn; /* the function that its values belong to */
    bool check;           /* created while a macro was checked */
    bool library;
    struct ct_mon_binding *first, **tail;
    struct ct_mon_binding **table; /* library and global environment: hash table by name */
    size_t table_cap;
    struct ct_mon_library *lazy; /* library environment only: definitions that are declared on first lookup */
    unsigned untyped; /* how many of its definitions without a type annotation are being elaborated */
    struct ct_mon_binding *deferred; /* definitions to be elaborated when `untyped` is 0 again */
};

/* An import of a scope. */
struct ct_mon_import {
    struct ct_mon_import *next;
    const struct ct_mon_ast_stmt *stmt;
    struct ct_mon_env *env; /* the module; NULL while it is not known */
};

struct ct_mon_residual;

/* bits of ast_def.static_params; later parameters are never treated as constant in a recursive function */
enum {
    STATIC_PARAMS = 64
};

struct ct_mon_elab_input {
    const char *name;
    const struct ct_mon_type *type; /* type of the elements */
    struct ct_mon_node *node;
    struct ct_mon_span span;
    const char *source_kind, *source_arg; /* watchpoint dialect: such as "codeLine" and "main.c:32" */
    const char *source_core;              /* the core after an @, or NULL */
    uint64_t source_number;
};

struct ct_mon_elab_output {
    const char *name;
    struct ct_mon_node *node;
    bool raw;
    struct ct_mon_span span;
};

/* A definition of a type whose right side is being elaborated. */
struct ct_mon_type_in_use {
    const struct ct_mon_ast_stmt *definition;
    const struct ct_mon_type_in_use *outer;
};

struct ct_mon_elab {
    struct ct_mon_arena *arena;
    struct ct_mon_diags *diags;
    struct ct_mon_types types;
    struct ct_mon_heap constants;
    struct ct_mon_ir_pool pool;
    struct ct_mon_graph graph;
    struct ct_mon_env *library; /* names of the standard library, which those of `global` hide */
    struct ct_mon_env *global;
    const char *time_unit; /* NULL: not given */
    bool changes_only;
    struct ct_mon_elab_input *inputs;
    size_t ninputs, inputs_cap;
    struct ct_mon_elab_output *outputs;
    size_t noutputs, outputs_cap;
    struct ct_mon_name_map outputs_by_name; /* the node of the first output of each name */
    /* state of the expansion */
    unsigned check;                                /* > 0: only types are computed, calls are not expanded */
    struct ct_mon_fn *fn;                          /* function being built; NULL in streams */
    unsigned depth;                                /* nesting of macro expansions in progress */
    unsigned stepped;                              /* `depth` when a step was last counted */
    const struct ct_mon_type_in_use *types_in_use; /* innermost definition of a type being elaborated */
    struct ct_mon_span
        type_use; /* place that uses the parameterised type whose definition is being elaborated */
    uint64_t fuel;
    const char *stack_base;
    struct ct_mon_residual *residuals;
    struct ct_mon_residual *building; /* innermost function whose body is being elaborated */
    unsigned deferred; /* how many 'static if' conditions made a function be elaborated again */
    struct ct_mon_fn *fns, *fns_tail;
    uint32_t nfns;
};

enum {
    MACRO_DEPTH = 1000,
    LIFT_MOST = 5,
};

void ct_mon_elab_init(struct ct_mon_elab *e, struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                      const char *time_unit);
/* Adds statements to a scope. */
void ct_mon_elab_declare(struct ct_mon_elab *e, struct ct_mon_env *env, struct ct_mon_ast_stmt *stmts);
void ct_mon_elab_spec(struct ct_mon_elab *e, struct ct_mon_ast_stmt *stmts);
/* Adds an output. Warns when there is one of the same name. */
void ct_mon_elab_add_output(struct ct_mon_elab *e, const struct ct_mon_elab_output *out);

/* ---- environments and names: elab_env.c ---- */
struct ct_mon_env *ct_mon_env_new(struct ct_mon_elab *e, struct ct_mon_env *up);
struct ct_mon_binding *ct_mon_env_add(struct ct_mon_elab *e, struct ct_mon_env *env, const char *name,
                                      struct ct_mon_span span);
/* Finds a name in the scope alone. */
struct ct_mon_binding *ct_mon_env_find(const struct ct_mon_env *env, const char *name, bool is_type);
/* Finds a name in the scope or in the modules that it imports. Reports a name with two meanings. */
struct ct_mon_binding *ct_mon_env_member(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                         const char *name, bool is_type, struct ct_mon_span at);
/* Finds a name in the scope, in those around it, and in the modules that they import. */
struct ct_mon_binding *ct_mon_env_lookup(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                         const char *name, bool is_type, struct ct_mon_span at);
/* Makes the names of a module visible in the scope, once ct_mon_elab_resolve_imports has found it. */
void ct_mon_env_add_import(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast_stmt *stmt);
void ct_mon_elab_resolve_imports(struct ct_mon_elab *e, struct ct_mon_env *env,
                                 const struct ct_mon_ast_stmt *stmts);
/* Adds the names of an environment to a list: of its types or of its values. */
void ct_mon_env_names(struct ct_mon_elab *e, const struct ct_mon_env *env, bool is_type,
                      struct ct_mon_names *names);
void ct_mon_env_bind_value(struct ct_mon_elab *e, struct ct_mon_env *env, const char *name,
                           struct ct_mon_span span, struct ct_mon_cv cv);
void ct_mon_env_bind_type(struct ct_mon_elab *e, struct ct_mon_env *env, const char *name,
                          const struct ct_mon_type *type);
void ct_mon_env_bind_def(struct ct_mon_elab *e, struct ct_mon_env *env, struct ct_mon_ast_def *def);
/* Reports that a recursive definition has no type. */
void ct_mon_elab_needs_type(struct ct_mon_elab *e, const struct ct_mon_ast_def *def);
/* Reports a second definition of a name. `old` is the place of the first one. */
void ct_mon_elab_defined_twice(struct ct_mon_elab *e, const char *name, struct ct_mon_span at,
                               struct ct_mon_span old);
/* Returns whether a number of arguments is wrong, after reporting it. `what`: "arguments" or "type
 * arguments". */
bool ct_mon_elab_wrong_number(struct ct_mon_elab *e, struct ct_mon_span at, const char *what,
                              const char *name, size_t expected, size_t actual);
/* Reports an argument with a name that is no parameter. */
void ct_mon_elab_unknown_argument(struct ct_mon_elab *e, struct ct_mon_span at, const char *name,
                                  const struct ct_mon_names *params);
struct ct_mon_cv ct_mon_elab_force(struct ct_mon_elab *e, struct ct_mon_binding *b, struct ct_mon_span at);
const struct ct_mon_type *ct_mon_elab_type(struct ct_mon_elab *e, const struct ct_mon_env *env,
                                           const struct ct_mon_ast_type *t);
/* Returns whether the language has a type of this name, such as Int. */
bool ct_mon_elab_has_type(const char *name);

/* ---- expressions: elab_expr.c ---- */
struct ct_mon_cv ct_mon_elab_expr(struct ct_mon_elab *e, struct ct_mon_env *env, const struct ct_mon_ast *x);
/* Returns the meaning of a name of the standard library, such as add of the module Operators. */
struct ct_mon_cv ct_mon_elab_library_name(struct ct_mon_elab *e, const char *module, const char *name);

/* ---- calls: elab_call.c ---- */
struct ct_mon_cv_arg {
    const char *name;
    struct ct_mon_span name_span, span;
    struct ct_mon_cv cv;
};
struct ct_mon_cv ct_mon_elab_call(struct ct_mon_elab *e, struct ct_mon_cv f, const struct ct_mon_cv_arg *args,
                                  size_t n, struct ct_mon_span at);
/* Calls f with positional values. Their number must be right. */
struct ct_mon_cv ct_mon_elab_apply(struct ct_mon_elab *e, struct ct_mon_cv f, struct ct_mon_cv *args,
                                   size_t n, struct ct_mon_span at);
const struct ct_mon_type *ct_mon_elab_fun_type(struct ct_mon_elab *e, struct ct_mon_cv f);
/* Reports that nothing binds a type parameter of the macro, after ct_mon_elab_fun_type returned NULL. */
void ct_mon_elab_generic(struct ct_mon_elab *e, struct ct_mon_cv f, struct ct_mon_span at);
/* Adapts cv to the type; a constant may become a stream. Returns false when that is impossible. */
bool ct_mon_elab_adapt(struct ct_mon_elab *e, struct ct_mon_cv *cv, const struct ct_mon_type *pattern,
                       struct ct_mon_type_binds *binds, bool liftable, bool *lift, struct ct_mon_span at);
void ct_mon_elab_check_def(struct ct_mon_elab *e, struct ct_mon_ast_def *def, struct ct_mon_env *env);

/* ---- functions: elab_fn.c ---- */
bool ct_mon_elab_wants_residual(const struct ct_mon_elab *e, const struct ct_mon_ast_def *def,
                                const struct ct_mon_cv *args, size_t n, const struct ct_mon_type *result);
struct ct_mon_cv ct_mon_elab_residual(struct ct_mon_elab *e, struct ct_mon_closure *c, struct ct_mon_env *env,
                                      struct ct_mon_cv *args, size_t n, const struct ct_mon_type *result,
                                      struct ct_mon_span at);
/* Notes that the condition of a 'static if' is not constant. Returns true when it depends on parameters of
 * recursive functions that are called with constants: then those functions are elaborated again for these
 * constants, and the caller must not report an error. */
bool ct_mon_elab_defer_static(struct ct_mon_elab *e, const struct ct_mon_ir *condition);
struct ct_mon_fn *ct_mon_elab_fn_new(struct ct_mon_elab *e, struct ct_mon_fn *up, uint32_t nparams,
                                     const struct ct_mon_type *result);
/* Expands f, for parameters of these types, into the body of a function. Parameters with a value in `fixed`,
 * which may be NULL, are that constant or function. */
struct ct_mon_ir *ct_mon_elab_kernel(struct ct_mon_elab *e, struct ct_mon_cv f,
                                     const struct ct_mon_type **types, const struct ct_mon_cv *fixed,
                                     size_t n, struct ct_mon_span at);
/* Makes the constant of an integer literal from its digits (hexadecimal after "0x"), or from `integer` when
 * `digits` is NULL. */
struct ct_mon_cv ct_mon_elab_integer(struct ct_mon_elab *e, int64_t integer, const char *digits,
                                     struct ct_mon_span at);
/* Makes the value available at run time. Returns NULL after an error. */
struct ct_mon_ir *ct_mon_elab_materialise(struct ct_mon_elab *e, struct ct_mon_cv cv, struct ct_mon_span at);
void ct_mon_elab_close_captures(struct ct_mon_elab *e);

/* ---- builtins: elab_builtin.c ---- */
struct ct_mon_elab_signature {
    const char *name, *signature; /* `signature` is in the format of ct_mon_type_text */
};
/* Returns the i-th operation that the library may declare, or NULL after the last one. */
const struct ct_mon_elab_signature *ct_mon_elab_signature(size_t i);
/* Reports a declaration whose types differ from those of its operation. Every use of it is an error then. */
void ct_mon_elab_check_builtin(struct ct_mon_elab *e, struct ct_mon_ast_def *def, struct ct_mon_env *env);
struct ct_mon_cv ct_mon_elab_builtin(struct ct_mon_elab *e, const char *name, struct ct_mon_cv *args,
                                     size_t n, const struct ct_mon_type *result, struct ct_mon_span at);
/* Lifts f to a signal over its arguments: streams, and functions, which stay the same. */
struct ct_mon_cv ct_mon_elab_slift(struct ct_mon_elab *e, struct ct_mon_cv f, const struct ct_mon_cv *args,
                                   size_t n, struct ct_mon_span at);

/* ---- time units: elab_units.c ---- */
/* Converts a time literal, `integer` times `unit`, into base units. Returns false after reporting an
 * error. */
bool ct_mon_unit_convert(struct ct_mon_elab *e, int64_t integer, const char *unit, struct ct_mon_span at,
                         int64_t *out);
/* Reports an unknown unit. */
void ct_mon_unit_unknown(struct ct_mon_diags *diags, struct ct_mon_span at, const char *unit);
/* Returns whether the unit is known. */
bool ct_mon_unit_known(const char *unit);

/* Counts one step of expansion. Returns false when the steps or the C stack are used up, and reports that
 * once. */
bool ct_mon_elab_step(struct ct_mon_elab *e, struct ct_mon_span at);

static inline struct ct_mon_cv cv_error(struct ct_mon_elab *e)
{
    return (struct ct_mon_cv){.kind = CV_ERROR, .type = e->types.error};
}

static inline struct ct_mon_cv cv_value(struct ct_mon_ir *ir)
{
    return (struct ct_mon_cv){.kind = CV_VALUE, .type = ir->type, .ir = ir};
}

static inline struct ct_mon_cv cv_stream(struct ct_mon_elab *e, struct ct_mon_node *node)
{
    return (struct ct_mon_cv){.kind = CV_STREAM, .type = type_events(&e->types, node->type), .node = node};
}

static inline struct ct_mon_cv cv_cell(struct ct_mon_elab *e, const struct ct_mon_type *type,
                                       struct ct_mon_cell c)
{
    return cv_value(ct_mon_ir_const(&e->pool, type, c));
}
