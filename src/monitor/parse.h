/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of the stream dialect. */
#ifndef CT_MONITOR_PARSE_H
#define CT_MONITOR_PARSE_H

#include "monitor/ast.h"

/* Gives the text of an included file, or NULL. */
typedef const struct source *parse_include_fn(void *user, const struct source *from, const char *name);

struct parser {
    struct lexer lx;
    struct arena *arena;
    struct diags *diags;
    parse_include_fn *include;
    void *include_user;
    unsigned include_depth;
    unsigned depth; /* of nested expressions */
    bool failed;    /* in this statement: skip to the next one */
    bool library;   /* the standard library, which alone may name operations of the engine */
};

/* Nesting of expressions and types beyond this is an error instead of a deep C stack. */
enum {
    PARSE_DEPTH = 200,
    INCLUDE_DEPTH = 32
};

/* The statements of a source, in order; errors are in diags. */
struct ast_stmt *ct_mon_parse_spec(struct arena *arena, struct diags *diags, const struct source *source,
                                   parse_include_fn *include, void *user);
/* Those of a part of the standard library, in which definitions may be operations of the engine. */
struct ast_stmt *ct_mon_parse_library(struct arena *arena, struct diags *diags, const struct source *source,
                                      uint32_t from, uint32_t to);

/* Between the files of the parser. */
bool ct_mon_parse_accept(struct parser *p, enum token token);
bool ct_mon_parse_expect(struct parser *p, enum token token, const char *what);
void ct_mon_parse_skip_nl(struct parser *p);
void ct_mon_parse_error(struct parser *p, const char *expected);
bool ct_mon_parse_enter(struct parser *p);
struct ast_type *ct_mon_parse_type(struct parser *p);
struct ast *ct_mon_parse_expr(struct parser *p);
struct ast_def *ct_mon_parse_def(struct parser *p);
void ct_mon_parse_params(struct parser *p, struct ast_def *def);
/* "a, b, c" up to the closing bracket, which is read too. */
void ct_mon_parse_type_list(struct parser *p, enum token close, struct ast_type ***list, size_t *n);
/* Definitions up to the closing brace or what is no definition. */
void ct_mon_parse_defs(struct parser *p, struct ast *block);

#endif
