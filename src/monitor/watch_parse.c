/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of the watchpoint dialect. Words are operators by their position, not keywords. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/watch_parse.h"

#define MOST_PORT 255 /* highest port of an ITM, which has eight pages of 32 (DDI 0403E D4.2.6) */

struct ct_mon_wx *ct_mon_watch_make(struct ct_mon_wp *w, enum ct_mon_wx_kind kind)
{
    struct ct_mon_wx *x = ARENA_NEW(w->p.arena, struct ct_mon_wx);
    x->kind = kind;
    x->span = lex_span(&w->p.lx);
    return x;
}

void ct_mon_watch_add(struct ct_mon_wp *w, struct ct_mon_wx *x, struct ct_mon_wx *arg, const char *name)
{
    size_t n = x->nargs;
    ARENA_PUSH(w->p.arena, x->args, n, x->cap, arg);
    ARENA_PUSH(w->p.arena, x->arg_names, x->nargs, x->names_cap, name);
    x->span = span_join(x->span, arg->span);
}

struct ct_mon_wx *ct_mon_watch_pair(struct ct_mon_wp *w, enum ct_mon_wx_kind kind, struct ct_mon_wx *a,
                                    struct ct_mon_wx *b)
{
    struct ct_mon_wx *x = ct_mon_watch_make(w, kind);
    x->span = a->span;
    ct_mon_watch_add(w, x, a, NULL);
    if (b)
        ct_mon_watch_add(w, x, b, NULL);
    return x;
}

/* ---- primaries ---- */

static bool string_text(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    const char *text;
    size_t size;
    enum ct_mon_string_part part;
    x->text = "";
    while ((part = ct_mon_lex_string(&w->p.lx, &text, &size)) != PART_END) {
        if (part != PART_TEXT || x->text_size) {
            ct_mon_parse_error(&w->p, "a string without insertions");
            return false;
        }
        x->text = text;
        x->text_size = size;
    }
    x->span.to = w->p.lx.to;
    watch_next(w);
    return true;
}

static void check_line(struct ct_mon_wp *w, const struct ct_mon_wx *x, uint64_t line)
{
    if (line > UINT32_MAX)
        ct_mon_diag_error(w->p.diags, x->span, "A line number has at most 32 bits");
}

/* Splits the text "FILE:LINE" in a string. */
static void split_line(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    const char *colon = NULL;
    for (size_t i = 0; i < x->text_size; i++)
        if (x->text[i] == ':')
            colon = x->text + i;
    if (!colon) {
        ct_mon_diag_error(w->p.diags, x->span, "Expected FILE:LINE");
        return;
    }
    for (const char *p = colon + 1; p < x->text + x->text_size; p++) {
        if (*p < '0' || *p > '9') {
            ct_mon_diag_error(w->p.diags, x->span, "Expected a line number after ':'");
            return;
        }
        if (x->integer <= UINT32_MAX)
            x->integer = x->integer * 10 + (*p - '0');
    }
    check_line(w, x, (uint64_t)x->integer);
    x->text_size = (size_t)(colon - x->text);
}

/* Reads an address in a string, such as "0x2000". */
static void address(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    const char *text = ct_mon_arena_copy(w->p.arena, x->text, x->text_size);
    char *end;
    if (*text < '0' || *text > '9')
        return;
    errno = 0;
    const uint64_t at = strtoull(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
    if (*end)
        return;
    if (errno)
        ct_mon_diag_error(w->p.diags, x->span, "An address has at most 64 bits");
    x->integer = (int64_t)at;
    x->text = NULL;
}

static void line_number(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    watch_expect(w, T_COLON, "':' and the line");
    x->integer = (int64_t)w->p.lx.integer;
    x->span.to = w->p.lx.to;
    if (watch_at(w, T_INT))
        check_line(w, x, w->p.lx.integer_over ? UINT64_MAX : w->p.lx.integer);
    watch_expect(w, T_INT, "the number of the line");
}

static void source_place_argument(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    bool line = !strcmp(x->name, "codeLine"), exec = !strcmp(x->name, "onExecuting");
    if (watch_at(w, T_STRING)) {
        if (!string_text(w, x))
            return;
        if (line && watch_at(w, T_COLON))
            line_number(w, x);
        else if (line)
            split_line(w, x);
        else if (exec)
            address(w, x);
    } else if (exec && watch_at(w, T_INT)) {
        x->integer = (int64_t)w->p.lx.integer;
        x->span.to = w->p.lx.to;
        if (w->p.lx.integer_over)
            ct_mon_diag_error(w->p.diags, x->span, "An address has at most 64 bits");
        watch_next(w);
    } else {
        x->text = ct_mon_lex_word(&w->p.lx, !line && !exec);
        if (!x->text) {
            ct_mon_parse_error(&w->p, line ? "FILE:LINE" : exec ? "an address" : "a name");
            return;
        }
        x->text_size = strlen(x->text);
        x->span.to = w->p.lx.to;
        watch_next(w);
        if (line)
            line_number(w, x);
    }
}

/* Reads the number of a stimulus port. */
static void port(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    x->integer = (int64_t)w->p.lx.integer;
    x->span.to = w->p.lx.to;
    if (watch_at(w, T_INT) && (w->p.lx.integer_over || w->p.lx.integer > MOST_PORT))
        ct_mon_diag_error(w->p.diags, x->span, "The number of an ITM stimulus port must be from 0 to %d",
                          MOST_PORT);
    watch_expect(w, T_INT, "the number of a stimulus port");
}

/* Reads an @ and the core directly after it: a word or a string. */
static void source_core(struct ct_mon_wp *w, struct ct_mon_wx *x)
{
    const uint32_t behind = w->p.lx.to;
    watch_next(w);
    if (w->p.lx.from != behind) {
        ct_mon_parse_error(&w->p, "the name of a core, or each, directly after '@'");
        return;
    }
    if (watch_at(w, T_STRING)) {
        struct ct_mon_wx text = {.span = x->span};
        if (string_text(w, &text))
            x->core = ct_mon_arena_intern(w->p.arena, text.text, text.text_size);
        x->span.to = text.span.to;
        return;
    }
    x->core = ct_mon_lex_word(&w->p.lx, false);
    if (!x->core) {
        ct_mon_parse_error(&w->p, "the name of a core, or each");
        return;
    }
    x->span.to = w->p.lx.to;
    watch_next(w);
}

static struct ct_mon_wx *source(struct ct_mon_wp *w, const char *keyword)
{
    struct ct_mon_wx *x = ct_mon_watch_make(w, WX_SOURCE);
    x->name = keyword;
    watch_next(w);
    bool call = watch_at(w, T_LPAREN);
    if (call)
        watch_next(w);
    if (!strcmp(keyword, "itm_trace"))
        port(w, x);
    else
        source_place_argument(w, x);
    if (call)
        watch_expect(w, T_RPAREN, "')'");
    if (watch_at(w, T_AT))
        source_core(w, x);
    x->text = x->text ? ct_mon_arena_intern(w->p.arena, x->text, x->text_size) : NULL;
    return x;
}

/* Parses a formula in a string at its place in the file, so that errors have the right position. A string
 * with escapes is parsed as a separate text. */
static struct ct_mon_wx *quoted_formula(struct ct_mon_wp *w, const struct ct_mon_wx *s)
{
    const uint32_t from = s->span.from + 1, to = s->span.to - 1;
    if (to - from == s->text_size)
        return ct_mon_watch_parse_formula(w->p.arena, w->p.diags, s->span.source, from, to);
    struct ct_mon_source *inner = ARENA_NEW(w->p.arena, struct ct_mon_source);
    *inner =
        (struct ct_mon_source){"formula", ct_mon_arena_copy(w->p.arena, s->text, s->text_size), s->text_size};
    return ct_mon_watch_parse_formula(w->p.arena, w->p.diags, inner, 0, (uint32_t)inner->size);
}

static struct ct_mon_wx *monitor(struct ct_mon_wp *w)
{
    struct ct_mon_wx *x = ct_mon_watch_make(w, WX_MONITOR);
    bool before = w->temporal;
    watch_next(w);
    watch_expect(w, T_LPAREN, "'('");
    w->temporal = true;
    if (watch_at(w, T_STRING)) {
        struct ct_mon_wx *s = ct_mon_watch_make(w, WX_STRING);
        if (string_text(w, s))
            ct_mon_watch_add(w, x, quoted_formula(w, s), NULL);
    } else {
        ct_mon_watch_add(w, x, ct_mon_watch_expr(w), NULL);
    }
    w->temporal = before;
    while (!w->p.failed && watch_accept(w, T_COMMA)) {
        const char *name = w->p.lx.name;
        watch_expect(w, T_ID, "NAME := expression");
        watch_expect(w, T_ASSIGN, "':='");
        if (w->p.failed)
            break;
        if (strcmp(name, "clock") != 0)
            ct_mon_watch_add(w, x, ct_mon_watch_expr(w), name);
        else if (watch_accept(w, T_STAR))
            x->clock_all = true;
        else
            x->clock = ct_mon_watch_expr(w);
    }
    x->span.to = w->p.lx.to;
    watch_expect(w, T_RPAREN, "',' or ')'");
    return x;
}

/* words that begin a source, and its kind */
static const char *const SOURCES[][2] = {
    {"codeLine", "codeLine"},
    {"function_call", "function_call"},
    {"function_calls", "function_call"},
    {"function_return", "function_return"},
    {"function_returns", "function_return"},
    {"onExecuting", "onExecuting"},
    {"instruction_executions", "onExecuting"},
    {"variable_value", "variable_value"},
    {"variable_values", "variable_value"},
    {"itm_trace", "itm_trace"},
};

static const char *source_keyword(const char *name)
{
    for (size_t i = 0; i < sizeof SOURCES / sizeof *SOURCES; i++)
        if (!strcmp(SOURCES[i][0], name))
            return SOURCES[i][1];
    return NULL;
}

void ct_mon_watch_source_words(struct ct_mon_arena *arena, struct ct_mon_names *names)
{
    for (size_t i = 0; i < sizeof SOURCES / sizeof *SOURCES; i++)
        ct_mon_names_add(arena, names, SOURCES[i][0]);
}

/* Reports a mistyped word before an operand, such as "function_cal main". */
static void check_word(struct ct_mon_wp *w, const struct ct_mon_wx *x)
{
    struct ct_mon_names names = {0};
    if (w->p.failed || !ct_mon_watch_at_operand(w))
        return;
    ct_mon_watch_words(w->p.arena, &names);
    const char *hint = ct_mon_did_you_mean(w->p.arena, x->name, &names);
    if (!*hint)
        return;
    ct_mon_diag_error(w->p.diags, x->span, "Undefined source or operator %s%s", x->name, hint);
    w->p.failed = true;
}

static struct ct_mon_wx *name_or_call(struct ct_mon_wp *w)
{
    const char *keyword = source_keyword(w->p.lx.name);
    if (keyword)
        return source(w, keyword);
    if (watch_is_word(w, "monitor"))
        return monitor(w);
    struct ct_mon_wx *x = ct_mon_watch_make(w, WX_NAME);
    x->name = w->p.lx.name;
    watch_next(w);
    if (!watch_at(w, T_LPAREN)) {
        check_word(w, x);
        return x;
    }
    x->kind = WX_CALL;
    bool before = w->temporal;
    w->temporal = false; /* arguments are streams, not formulas */
    watch_next(w);
    while (!w->p.failed && !watch_at(w, T_RPAREN)) {
        const char *name = NULL;
        if (watch_at(w, T_ID)) {
            struct ct_mon_lexer lx = w->p.lx;
            const char *id = lx.name;
            lx.quiet = true;
            ct_mon_lex_next(&lx);
            if (lx.token == T_ASSIGN) {
                name = id;
                watch_next(w);
                watch_next(w);
            }
        }
        ct_mon_watch_add(w, x, ct_mon_watch_expr(w), name);
        if (!watch_accept(w, T_COMMA))
            break;
    }
    w->temporal = before;
    x->span.to = w->p.lx.to;
    watch_expect(w, T_RPAREN, "',' or ')'");
    return x;
}

struct ct_mon_wx *ct_mon_watch_prim(struct ct_mon_wp *w)
{
    struct ct_mon_wx *x = ct_mon_watch_make(w, WX_INT);
    switch (w->p.lx.token) {
    case T_INT:
        x->integer = (int64_t)w->p.lx.integer;
        x->text = ct_mon_lex_big_digits(&w->p.lx);
        watch_next(w);
        if (watch_at(w, T_ID) && ct_mon_unit_known(w->p.lx.name)) {
            if (x->text)
                ct_mon_diag_error(w->p.diags, x->span, "Time literal does not fit 63 bits");
            x->kind = WX_TIME;
            x->name = w->p.lx.name;
            x->span.to = w->p.lx.to;
            watch_next(w);
        } else if (watch_at(w, T_ID) && ct_mon_watch_at_operand(w)) {
            ct_mon_unit_unknown(w->p.diags, span_join(x->span, lex_span(&w->p.lx)), w->p.lx.name);
            w->p.failed = true;
        }
        return x;
    case T_FLOAT:
        x->kind = WX_FLOAT;
        x->real = w->p.lx.real;
        watch_next(w);
        return x;
    case T_STRING:
        x->kind = WX_STRING;
        string_text(w, x);
        return x;
    case T_TRUE:
    case T_FALSE:
        x->kind = WX_BOOL;
        x->integer = watch_at(w, T_TRUE);
        watch_next(w);
        return x;
    case T_LPAREN:
        watch_next(w);
        x = ct_mon_watch_expr(w);
        watch_expect(w, T_RPAREN, "an operator or ')'");
        return x;
    case T_ID:
        return name_or_call(w);
    default:
        ct_mon_parse_error(&w->p, "an expression");
        x->kind = WX_ERROR;
        return x;
    }
}

/* ---- operators, tightest first ---- */

static struct ct_mon_wx *operation(struct ct_mon_wp *w, const char *name, struct ct_mon_wx *a,
                                   struct ct_mon_wx *b)
{
    struct ct_mon_wx *x = ct_mon_watch_pair(w, WX_OP, a, b);
    x->name = name;
    return x;
}

static struct ct_mon_wx *unary(struct ct_mon_wp *w)
{
    if (!watch_at(w, T_MINUS))
        return ct_mon_watch_prim(w);
    watch_next(w);
    return operation(w, "negate", ct_mon_watch_prim(w), NULL);
}

struct level {
    enum ct_mon_token token;
    const char *name;
};

static struct ct_mon_wx *infix(struct ct_mon_wp *w, const struct level *ops, size_t n,
                               struct ct_mon_wx *(*operand)(struct ct_mon_wp *), bool once)
{
    struct ct_mon_wx *a = operand(w);
    unsigned length = 0;
    for (size_t i = 0; i < n && !w->p.failed; i++) {
        if (!watch_at(w, ops[i].token))
            continue;
        watch_next(w);
        if (++length > 4 * PARSE_DEPTH) {
            ct_mon_parse_error(&w->p, "fewer operators in a row");
            break;
        }
        a = operation(w, ops[i].name, a, operand(w));
        if (once)
            break;
        i = (size_t)-1; /* starts over with all operators */
    }
    return a;
}

static struct ct_mon_wx *term(struct ct_mon_wp *w)
{
    static const struct level ops[] = {{T_STAR, "mul"}, {T_SLASH, "div"}, {T_PERCENT, "mod"}};
    return infix(w, ops, 3, unary, false);
}

static struct ct_mon_wx *sum(struct ct_mon_wp *w)
{
    static const struct level ops[] = {{T_PLUS, "add"}, {T_MINUS, "sub"}};
    return infix(w, ops, 2, term, false);
}

struct ct_mon_wx *ct_mon_watch_comparison(struct ct_mon_wp *w)
{
    static const struct level ops[] = {{T_EQ, "eq"},  {T_NE, "neq"}, {T_LT, "lt"},
                                       {T_LE, "leq"}, {T_GT, "gt"},  {T_GE, "geq"}};
    return infix(w, ops, 6, sum, true);
}

static struct ct_mon_wx * and (struct ct_mon_wp * w)
{
    struct ct_mon_wx *a = ct_mon_watch_scope(w);
    for (unsigned n = 0; n < 4 * PARSE_DEPTH && !w->p.failed && watch_accept_word(w, "and"); n++)
        a = ct_mon_watch_pair(w, WX_AND, a, ct_mon_watch_scope(w));
    return a;
}

static struct ct_mon_wx * or (struct ct_mon_wp * w)
{
    struct ct_mon_wx *a = and(w);
    for (unsigned n = 0; n < 4 * PARSE_DEPTH && !w->p.failed && watch_accept_word(w, "or"); n++)
        a = ct_mon_watch_pair(w, WX_OR, a, and(w));
    return a;
}

struct ct_mon_wx *ct_mon_watch_implication(struct ct_mon_wp *w)
{
    struct ct_mon_wx *a = or (w);
    bool iff = watch_is_word(w, "iff") || watch_is_word(w, "equals");
    if (w->p.failed || !(iff || watch_is_word(w, "implies")) || !ct_mon_parse_enter(&w->p))
        return a;
    watch_next(w);
    struct ct_mon_wx *x = ct_mon_watch_pair(w, iff ? WX_IFF : WX_IMPLIES, a, ct_mon_watch_implication(w));
    w->p.depth--;
    return x;
}

struct ct_mon_wx *ct_mon_watch_expr(struct ct_mon_wp *w)
{
    if (!ct_mon_parse_enter(&w->p))
        return ct_mon_watch_make(w, WX_ERROR);
    struct ct_mon_wx *x;
    if (watch_is_word(w, "on")) {
        watch_next(w);
        struct ct_mon_wx *e = ct_mon_watch_expr(w);
        watch_expect(w, T_IF, "'if'");
        x = ct_mon_watch_pair(w, WX_ON, e, ct_mon_watch_expr(w));
    } else {
        x = ct_mon_watch_implication(w);
    }
    w->p.depth--;
    return x;
}
