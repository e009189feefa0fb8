/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of regular expressions over steps: /a; b*; c/ (docs/tessla-language.md B.5). */
#include "monitor/watch_parse.h"

/* Returns whether a token can occur only in a regular expression. `star`: the token before it is '*' or '+',
 * after which arithmetic would have a right operand. */
static bool is_regular(const struct ct_mon_lexer *lx, bool star)
{
    const enum ct_mon_token t = lx->token;
    const bool joins = watch_at_semicolon(lx) || t == T_PIPE || t == T_QUESTION || t == T_COLON;
    return joins || (star && (t == T_RPAREN || t == T_LBRACKET || t == T_SLASH));
}

/* Returns whether the current '(' opens a part of a regular expression rather than of a single step. */
static bool opens_regular(const struct ct_mon_wp *w)
{
    struct ct_mon_lexer lx = w->p.lx;
    unsigned depth = 1;
    bool star = false;
    lx.quiet = true;
    for (ct_mon_lex_next(&lx); lx.token != T_END && lx.token != T_STRING; ct_mon_lex_next(&lx)) {
        if (is_regular(&lx, star))
            return true;
        if (lx.token != T_NEWLINE)
            star = lx.token == T_STAR || lx.token == T_PLUS;
        depth += lx.token == T_LPAREN;
        depth -= lx.token == T_RPAREN;
        if (!depth)
            return false;
    }
    return false;
}

static struct ct_mon_wx *alternatives(struct ct_mon_wp *w);

/* Parses one step, or an expression in parentheses. */
static struct ct_mon_wx *step(struct ct_mon_wp *w)
{
    struct ct_mon_wx *x = ct_mon_watch_make(w, WX_NOT);
    if (!ct_mon_parse_enter(&w->p))
        return x;
    if (watch_accept_word(w, "not")) {
        ct_mon_watch_add(w, x, step(w), NULL);
    } else if (watch_at(w, T_LPAREN) && opens_regular(w)) {
        watch_next(w);
        x = alternatives(w);
        if (!w->p.failed && !watch_at(w, T_RPAREN))
            ct_mon_parse_error(&w->p, "an operator of regular expressions or ')'");
        watch_next(w);
    } else {
        x = ct_mon_watch_prim(w);
    }
    w->p.depth--;
    return x;
}

/* Makes the range of '*', '+' or '?' */
static void make_range(struct ct_mon_wp *w, struct ct_mon_wx *x, enum ct_mon_token mark)
{
    x->op = mark == T_QUESTION ? T_LE : T_GE;
    x->low = ct_mon_watch_make(w, WX_INT);
    x->low->integer = mark != T_STAR;
}

static struct ct_mon_wx *repeated(struct ct_mon_wp *w)
{
    struct ct_mon_wx *x = step(w);
    const enum ct_mon_token mark = w->p.lx.token;
    if (w->p.failed || (mark != T_STAR && mark != T_PLUS && mark != T_QUESTION))
        return x;
    struct ct_mon_wx *r = ct_mon_watch_pair(w, WX_REPEAT, x, NULL);
    watch_next(w);
    if (mark == T_STAR && watch_at(w, T_LBRACKET)) {
        ct_mon_watch_range(w, r);
    } else {
        make_range(w, r, mark);
    }
    return r;
}

static struct ct_mon_wx *sequence(struct ct_mon_wp *w)
{
    struct ct_mon_wx *x = repeated(w);
    for (unsigned n = 0; n < PARSE_DEPTH && !w->p.failed; n++) {
        const bool overlap = watch_at(w, T_COLON);
        if (!overlap && !watch_at_semicolon(&w->p.lx))
            return x;
        watch_next(w);
        x = ct_mon_watch_pair(w, overlap ? WX_OVERLAP : WX_SEQUENCE, x, repeated(w));
    }
    if (!w->p.failed)
        ct_mon_parse_error(&w->p, "fewer operators in a row");
    return x;
}

static struct ct_mon_wx *alternatives(struct ct_mon_wp *w)
{
    struct ct_mon_wx *x = sequence(w);
    for (unsigned n = 0; n < PARSE_DEPTH && !w->p.failed && watch_at(w, T_PIPE); n++) {
        watch_next(w);
        x = ct_mon_watch_pair(w, WX_EITHER, x, sequence(w));
    }
    return x;
}

struct ct_mon_wx *ct_mon_watch_regular(struct ct_mon_wp *w)
{
    const bool before = w->regular;
    w->regular = true;
    watch_next(w);
    struct ct_mon_wx *x = ct_mon_watch_pair(w, WX_REGULAR, alternatives(w), NULL);
    w->regular = before;
    watch_expect(w, T_SLASH, "an operator of regular expressions or '/'");
    return x;
}
