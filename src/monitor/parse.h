/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of the stream dialect. */
#pragma once

#include "monitor/ast.h"

/* Returns the text of an included file, or NULL. */
typedef const struct ct_mon_source *parse_include_fn(void *user, const struct ct_mon_source *from,
                                                     const char *name);

struct ct_mon_parser {
    struct ct_mon_lexer lx;
    struct ct_mon_arena *arena;
    struct ct_mon_diags *diags;
    parse_include_fn *include;
    void *include_user;
    unsigned include_depth;
    unsigned depth;    /* nesting of expressions */
    uint32_t begin;    /* byte at which the current statement begins; unused in the watchpoint dialect */
    uint64_t reserved; /* bit mask of words of the language that were used as names, which was reported */
    bool watchpoints;  /* parsing the watchpoint dialect */
    bool failed;       /* the current statement has an error: skip to the next one */
    bool library; /* parsing the standard library, the only source that may name operations of the engine */
};

/* deepest nesting of expressions and types, and of included files; more is an error, which bounds the C
 * stack */
enum {
    PARSE_DEPTH = 200,
    INCLUDE_DEPTH = 32
};

/* Parses a source into its statements, in order. Reports errors to diags. */
struct ct_mon_ast_stmt *ct_mon_parse_spec(struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                                          const struct ct_mon_source *source, parse_include_fn *include,
                                          void *user);
/* Parses bytes from..to of the standard library, whose definitions may be operations of the engine. */
struct ct_mon_ast_stmt *ct_mon_parse_library(struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                                             const struct ct_mon_source *source, uint32_t from, uint32_t to);

/* Reads a token if it is the current one. Returns whether it was. */
bool ct_mon_parse_accept(struct ct_mon_parser *p, enum ct_mon_token token);
bool ct_mon_parse_expect(struct ct_mon_parser *p, enum ct_mon_token token, const char *what);
void ct_mon_parse_skip_nl(struct ct_mon_parser *p);
/* Skips new lines, and a comma with those behind it. Returns whether there was a comma. */
bool ct_mon_parse_comma(struct ct_mon_parser *p);
/* Reports that the statement has a token other than the expected one. */
void ct_mon_parse_error(struct ct_mon_parser *p, const char *expected);
/* The same, with what to write instead: "; write 'x'", or "". */
void ct_mon_parse_error_with(struct ct_mon_parser *p, const char *expected, const char *hint);
/* Returns what to write instead of the current token, where other languages have it, or "". */
const char *ct_mon_parse_instead(const struct ct_mon_parser *p);
/* Returns whether the current token is the first of its line. */
bool ct_mon_parse_begins_line(const struct ct_mon_lexer *lx);
/* Reads the name of something that is defined here. */
bool ct_mon_parse_name(struct ct_mon_parser *p, const char *what);
bool ct_mon_parse_enter(struct ct_mon_parser *p);
struct ct_mon_ast_type *ct_mon_parse_type(struct ct_mon_parser *p);
struct ct_mon_ast *ct_mon_parse_expr(struct ct_mon_parser *p);
struct ct_mon_ast_def *ct_mon_parse_def(struct ct_mon_parser *p);
/* Skips "lazy" and "strict", by which newer sources say when an argument is evaluated. Here an argument is
 * always evaluated where it is needed. */
void ct_mon_parse_skip_evaluation(struct ct_mon_parser *p);
/* Reads the names of type parameters and the closing bracket. */
const char **ct_mon_parse_type_params(struct ct_mon_parser *p, size_t *count);
/* Reads the annotations before a statement. Sets *liftable to whether they make a function liftable. */
struct ct_mon_ast_annotation *ct_mon_parse_annotations(struct ct_mon_parser *p, bool *liftable);
/* Skips the arguments of an annotation, which other tools use. */
void ct_mon_parse_skip_annotation(struct ct_mon_parser *p);
void ct_mon_parse_params(struct ct_mon_parser *p, struct ct_mon_ast_def *def);
/* Reads "a, b, c" and the closing bracket. */
void ct_mon_parse_type_list(struct ct_mon_parser *p, enum ct_mon_token close, struct ct_mon_ast_type ***list,
                            size_t *n);
/* Reads definitions up to the closing brace, or to a token that does not begin one. */
void ct_mon_parse_defs(struct ct_mon_parser *p, struct ct_mon_ast *block);
