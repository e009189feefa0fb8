/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the watchpoint dialect's parser. */
#pragma once

#include <string.h>

#include "monitor/parse.h"
#include "monitor/watch_ast.h"

struct ct_mon_wp {
    struct ct_mon_parser p; /* lexer, messages, types */
    bool temporal;          /* inside a formula */
    bool regular;           /* inside a regular expression: ';' is a token */
};

/* Returns whether the current token is a ';'. */
static inline bool watch_at_semicolon(const struct ct_mon_lexer *lx)
{
    return lx->token == T_NEWLINE && lx->source->text[lx->from] == ';';
}

/* Reads the next token. Skips newlines, which have no meaning here. */
static inline void watch_next(struct ct_mon_wp *w)
{
    do
        ct_mon_lex_next(&w->p.lx);
    while (w->p.lx.token == T_NEWLINE && !(w->regular && watch_at_semicolon(&w->p.lx)));
}

static inline bool watch_at(const struct ct_mon_wp *w, enum ct_mon_token token)
{
    return w->p.lx.token == token;
}

static inline bool watch_is_word(const struct ct_mon_wp *w, const char *word)
{
    return watch_at(w, T_ID) && !strcmp(w->p.lx.name, word);
}

static inline bool watch_accept(struct ct_mon_wp *w, enum ct_mon_token token)
{
    if (!watch_at(w, token))
        return false;
    watch_next(w);
    return true;
}

static inline bool watch_accept_word(struct ct_mon_wp *w, const char *word)
{
    if (!watch_is_word(w, word))
        return false;
    watch_next(w);
    return true;
}

static inline bool watch_expect(struct ct_mon_wp *w, enum ct_mon_token token, const char *what)
{
    if (w->p.failed || watch_accept(w, token))
        return !w->p.failed;
    ct_mon_parse_error(&w->p, what);
    return false;
}

/* Reads the name of something that is defined here. */
static inline bool watch_expect_name(struct ct_mon_wp *w, const char *what)
{
    if (watch_at(w, T_ID)) {
        watch_next(w);
        return true;
    }
    return ct_mon_parse_name(&w->p, what);
}

struct ct_mon_wx *ct_mon_watch_expr(struct ct_mon_wp *w);

/* Adds the words that begin a source to a list. */
void ct_mon_watch_source_words(struct ct_mon_arena *arena, struct ct_mon_names *names);
/* Returns whether a name or literal follows in the same line, where only an operator could. */
bool ct_mon_watch_at_operand(const struct ct_mon_wp *w);

/* Makes a tree node at the current token. */
struct ct_mon_wx *ct_mon_watch_make(struct ct_mon_wp *w, enum ct_mon_wx_kind kind);
/* Adds an argument to a node. `name`: name of the argument or binding, or NULL. */
void ct_mon_watch_add(struct ct_mon_wp *w, struct ct_mon_wx *x, struct ct_mon_wx *arg, const char *name);
/* Makes a node with one or two arguments; b is NULL for one. */
struct ct_mon_wx *ct_mon_watch_pair(struct ct_mon_wp *w, enum ct_mon_wx_kind kind, struct ct_mon_wx *a,
                                    struct ct_mon_wx *b);
struct ct_mon_wx *ct_mon_watch_comparison(struct ct_mon_wp *w);
struct ct_mon_wx *ct_mon_watch_implication(struct ct_mon_wp *w);
/* Parses an operand of arithmetic: a name, a call, a number, or an expression in parentheses. */
struct ct_mon_wx *ct_mon_watch_prim(struct ct_mon_wp *w);
/* Reads the range of an operator: [n], [=n], [<n], [<=n], [>n], [>=n] or [n..m]. */
void ct_mon_watch_range(struct ct_mon_wp *w, struct ct_mon_wx *x);
/* Parses a regular expression; the current token is its first '/' (watch_parse_regular.c). */
struct ct_mon_wx *ct_mon_watch_regular(struct ct_mon_wp *w);
/* Parses the temporal operators that bind tighter than "and" (watch_parse_formula.c). */
struct ct_mon_wx *ct_mon_watch_scope(struct ct_mon_wp *w);
