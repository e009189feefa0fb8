/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the watchpoint dialect's parser. */
#ifndef CT_MONITOR_WATCH_PARSE_H
#define CT_MONITOR_WATCH_PARSE_H

#include <string.h>

#include "monitor/parse.h"
#include "monitor/watch_ast.h"

struct ct_mon_wp {
    struct ct_mon_parser p; /* lexer, messages, types */
    bool temporal;          /* inside a formula */
};

/* Reads the next token, skipping newlines, which mean nothing here. */
static inline void watch_next(struct ct_mon_wp *w)
{
    do
        ct_mon_lex_next(&w->p.lx);
    while (w->p.lx.token == T_NEWLINE);
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

struct ct_mon_wx *ct_mon_watch_expr(struct ct_mon_wp *w);

#endif
