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
    unsigned depth; /* nesting of expressions */
    bool failed;    /* the current statement has an error: skip to the next one */
    bool library;   /* parsing the standard library, the only source that may name operations of the engine */
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
void ct_mon_parse_error(struct ct_mon_parser *p, const char *expected);
bool ct_mon_parse_enter(struct ct_mon_parser *p);
struct ct_mon_ast_type *ct_mon_parse_type(struct ct_mon_parser *p);
struct ct_mon_ast *ct_mon_parse_expr(struct ct_mon_parser *p);
struct ct_mon_ast_def *ct_mon_parse_def(struct ct_mon_parser *p);
/* Skips "lazy" and "strict", by which newer sources say when an argument is evaluated. Here an argument is
 * always evaluated where it is needed. */
void ct_mon_parse_skip_evaluation(struct ct_mon_parser *p);
void ct_mon_parse_params(struct ct_mon_parser *p, struct ct_mon_ast_def *def);
/* Reads "a, b, c" and the closing bracket. */
void ct_mon_parse_type_list(struct ct_mon_parser *p, enum ct_mon_token close, struct ct_mon_ast_type ***list,
                            size_t *n);
/* Reads definitions up to the closing brace, or to a token that does not begin one. */
void ct_mon_parse_defs(struct ct_mon_parser *p, struct ct_mon_ast *block);
