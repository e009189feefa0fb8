/* SPDX-License-Identifier: Apache-2.0 */
/* Syntax trees of the stream dialect (docs/tessla-language.md A.7). */
#pragma once

#include "monitor/lex.h"

enum ct_mon_ast_kind {
    A_ERROR,
    A_INT,  /* integer, or digits when it does not fit */
    A_TIME, /* integer; the unit is in name */
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
    A_EXTERN, /* extern("name"): a function of another program */
};

struct ct_mon_ast_type;
struct ct_mon_ast_def;

struct ct_mon_ast_arg {
    const char *name; /* NULL: positional */
    struct ct_mon_span name_span;
    struct ct_mon_ast *value;
};

/* A piece of a string: literal text, or an inserted expression with its conversion. */
struct ct_mon_ast_part {
    struct ct_mon_ast *value; /* NULL: literal text */
    const char *text;
    size_t size;
    const char *format; /* in f"": the conversion after an insertion, such as "%5d"; else NULL */
};

struct ct_mon_ast {
    enum ct_mon_ast_kind kind;
    struct ct_mon_span span;
    const char *name;
    struct ct_mon_span name_span;
    enum ct_mon_token op;
    bool flag;
    int64_t integer;
    const char *digits; /* A_INT: the digits of an integer of more than 63 bits; else NULL */
    double real;
    struct ct_mon_ast *a, *b, *c;
    struct ct_mon_ast_arg *args;
    size_t nargs;
    struct ct_mon_ast_type **types;
    size_t ntypes;
    struct ct_mon_ast_part *parts;
    size_t nparts;
    struct ct_mon_ast_def **defs;
    size_t ndefs;
    struct ct_mon_ast_def *lambda;
};

enum ct_mon_ast_type_kind {
    AT_NAME, /* name[args] */
    AT_TUPLE,
    AT_FUN, /* args; the last is the result */
    AT_RECORD,
};

struct ct_mon_ast_type {
    enum ct_mon_ast_type_kind kind;
    struct ct_mon_span span;
    const char *name;
    struct ct_mon_ast_type **args;
    const char **names; /* names of a record's members */
    size_t nargs;
    bool open;
};

struct ct_mon_ast_param {
    const char *name;
    struct ct_mon_span span;
    struct ct_mon_ast_type *type;
};

/* A definition or a lambda. */
struct ct_mon_ast_def {
    const char *name; /* NULL: a lambda */
    struct ct_mon_span span, name_span;
    const char **type_params;
    size_t ntype_params;
    struct ct_mon_ast_param *params;
    size_t nparams;
    bool has_params; /* distinguishes def f() from def f */
    bool liftable;
    struct ct_mon_ast_type *type;
    struct ct_mon_ast *body;
    unsigned active;        /* how many expansions are in progress, which detects recursion */
    uint64_t static_params; /* bitmask of the parameters on which a 'static if' in a recursive function
                             * depends */
};

enum ct_mon_stmt_kind {
    S_DEF,
    S_TYPE,
    S_MODULE,
    S_IN,
    S_OUT,
    S_OUT_ALL,
    S_PRINT,
    S_IMPORT,     /* value: the path, as arguments with names */
    S_ANNOTATION, /* def @name, or def @@name with the name "@name" */
    S_GLOBAL,     /* @@name(…): an annotation of the whole specification */
};

/* An annotation before a statement: @name(…). */
struct ct_mon_ast_annotation {
    struct ct_mon_ast_annotation *next;
    const char *name;
    struct ct_mon_span span;
};

struct ct_mon_ast_stmt {
    struct ct_mon_ast_stmt *next;
    enum ct_mon_stmt_kind kind;
    struct ct_mon_span span;
    const char *name;
    struct ct_mon_span name_span;
    struct ct_mon_ast_def *def;
    struct ct_mon_ast_type *type;
    const char **type_params;
    size_t ntype_params;
    struct ct_mon_ast *value;
    bool raw;
    struct ct_mon_ast_stmt *body; /* module */
    struct ct_mon_ast_annotation *annotations;
};
