/* SPDX-License-Identifier: Apache-2.0 */
/* Syntax trees of the stream dialect (docs/tessla-language.md A.7). */
#ifndef CT_MONITOR_AST_H
#define CT_MONITOR_AST_H

#include "monitor/lex.h"

enum ast_kind {
    A_ERROR,
    A_INT,  /* integer; or digits */
    A_TIME, /* integer, unit in name */
    A_FLOAT,
    A_STRING, /* parts */
    A_BOOL,
    A_NAME,
    A_ROOT,   /* __root__.name */
    A_TUPLE,  /* args; none: the unit */
    A_RECORD, /* args with names */
    A_BLOCK,  /* defs, a: the result */
    A_CALL,   /* a(args) */
    A_TYPED,  /* a[types] */
    A_MEMBER, /* a.name */
    A_UNARY,  /* op a */
    A_BINARY, /* a op b */
    A_IF,     /* if a then b else c; flag: static */
    A_LAMBDA, /* lambda */
    A_BUILTIN,
};

struct ast_type;
struct ast_def;

struct ast_arg {
    const char *name; /* NULL: by position */
    struct span name_span;
    struct ast *value;
};

/* A piece of a string: text, or an inserted expression with the conversion that applies to it. */
struct ast_part {
    struct ast *value; /* NULL: text */
    const char *text;
    size_t size;
    const char *format; /* f"": "%5d" and the like behind an insertion, or NULL */
};

struct ast {
    enum ast_kind kind;
    struct span span;
    const char *name;
    struct span name_span;
    enum token op;
    bool flag;
    int64_t integer;
    const char *digits; /* A_INT: of an integer of more than 63 bits; else NULL */
    double real;
    struct ast *a, *b, *c;
    struct ast_arg *args;
    size_t nargs;
    struct ast_type **types;
    size_t ntypes;
    struct ast_part *parts;
    size_t nparts;
    struct ast_def **defs;
    size_t ndefs;
    struct ast_def *lambda;
};

enum ast_type_kind {
    AT_NAME, /* name[args] */
    AT_TUPLE,
    AT_FUN, /* args, last: the result */
    AT_RECORD,
};

struct ast_type {
    enum ast_type_kind kind;
    struct span span;
    const char *name;
    struct ast_type **args;
    const char **names; /* records */
    size_t nargs;
    bool open;
};

struct ast_param {
    const char *name;
    struct span span;
    struct ast_type *type;
};

/* A definition or a lambda. */
struct ast_def {
    const char *name; /* NULL: lambda */
    struct span span, name_span;
    const char **type_params;
    size_t ntype_params;
    struct ast_param *params;
    size_t nparams;
    bool has_params; /* def f() differs from def f */
    bool liftable;
    struct ast_type *type;
    struct ast *body;
    unsigned active;        /* expansions under way: how recursion is noticed */
    uint64_t static_params; /* bits of parameters that a 'static if' in a recursive function depends on */
};

enum stmt_kind {
    S_DEF,
    S_TYPE,
    S_MODULE,
    S_IN,
    S_OUT,
    S_OUT_ALL,
    S_PRINT,
    S_ANNOTATION, /* def @name */
};

/* @name(…) before a statement. */
struct ast_annotation {
    struct ast_annotation *next;
    const char *name;
    struct span span;
};

struct ast_stmt {
    struct ast_stmt *next;
    enum stmt_kind kind;
    struct span span;
    const char *name;
    struct span name_span;
    struct ast_def *def;
    struct ast_type *type;
    const char **type_params;
    size_t ntype_params;
    struct ast *value;
    bool raw;
    struct ast_stmt *body; /* module */
    struct ast_annotation *annotations;
};

#endif
