/* Parser of the watchpoint dialect. Words are operators by their place, not keywords. */
#include <stdio.h>
#include <string.h>

#include "monitor/parse.h"
#include "monitor/watch_ast.h"

struct wp {
    struct parser p; /* lexer, messages, types */
    bool temporal;   /* inside a formula */
};

static struct wx *expr(struct wp *w);

/* Newlines mean nothing here. */
static void next(struct wp *w)
{
    do
        lex_next(&w->p.lx);
    while (w->p.lx.token == T_NEWLINE);
}

static bool is(const struct wp *w, enum token token)
{
    return w->p.lx.token == token;
}

static bool is_word(const struct wp *w, const char *word)
{
    return is(w, T_ID) && !strcmp(w->p.lx.name, word);
}

static bool accept(struct wp *w, enum token token)
{
    if (!is(w, token))
        return false;
    next(w);
    return true;
}

static bool accept_word(struct wp *w, const char *word)
{
    if (!is_word(w, word))
        return false;
    next(w);
    return true;
}

static bool expect(struct wp *w, enum token token, const char *what)
{
    if (w->p.failed || accept(w, token))
        return !w->p.failed;
    parse_error(&w->p, what);
    return false;
}

static struct wx *make(struct wp *w, enum wx_kind kind)
{
    struct wx *x = ARENA_NEW(w->p.arena, struct wx);
    x->kind = kind;
    x->span = lex_span(&w->p.lx);
    return x;
}

static void add(struct wp *w, struct wx *x, struct wx *arg, const char *name)
{
    size_t n = x->nargs;
    ARENA_PUSH(w->p.arena, x->args, n, x->cap, arg);
    ARENA_PUSH(w->p.arena, x->arg_names, x->nargs, x->names_cap, name);
    x->span = span_join(x->span, arg->span);
}

static struct wx *node(struct wp *w, enum wx_kind kind, struct wx *a, struct wx *b)
{
    struct wx *x = make(w, kind);
    x->span = a->span;
    add(w, x, a, NULL);
    if (b)
        add(w, x, b, NULL);
    return x;
}

/* ---- primaries ---- */

static bool string_text(struct wp *w, struct wx *x)
{
    const char *text;
    size_t size;
    enum string_part part;
    x->text = "";
    while ((part = lex_string(&w->p.lx, &text, &size)) != PART_END) {
        if (part != PART_TEXT || x->text_size) {
            parse_error(&w->p, "a string without insertions");
            return false;
        }
        x->text = text;
        x->text_size = size;
    }
    x->span.to = w->p.lx.to;
    next(w);
    return true;
}

/* FILE:N as one word of text, in a string. */
static void split_line(struct wp *w, struct wx *x)
{
    const char *colon = NULL;
    for (size_t i = 0; i < x->text_size; i++)
        if (x->text[i] == ':')
            colon = x->text + i;
    if (!colon) {
        diag_error(w->p.diags, x->span, "Expected FILE:LINE");
        return;
    }
    for (const char *p = colon + 1; p < x->text + x->text_size; p++) {
        if (*p < '0' || *p > '9' || x->integer > 100000000) {
            diag_error(w->p.diags, x->span, "Expected a line number behind ':'");
            return;
        }
        x->integer = x->integer * 10 + (*p - '0');
    }
    x->text_size = (size_t)(colon - x->text);
}

/* "0x2000" in a string. */
static void address(struct wp *w, struct wx *x)
{
    unsigned long long at;
    char rest;
    const char *text = arena_copy(w->p.arena, x->text, x->text_size);
    if (sscanf(text, "0x%llx%c", &at, &rest) == 1 || sscanf(text, "%llu%c", &at, &rest) == 1) {
        x->integer = (int64_t)at;
        x->text = NULL;
    }
}

static void source_place_argument(struct wp *w, struct wx *x)
{
    bool line = !strcmp(x->name, "codeLine"), exec = !strcmp(x->name, "onExecuting");
    if (is(w, T_STRING)) {
        if (!string_text(w, x))
            return;
        if (line)
            split_line(w, x);
        else if (exec)
            address(w, x);
    } else if (exec && is(w, T_INT)) {
        x->integer = (int64_t)w->p.lx.integer;
        x->span.to = w->p.lx.to;
        next(w);
    } else {
        x->text = lex_word(&w->p.lx);
        if (!x->text) {
            parse_error(&w->p, line ? "FILE:LINE" : exec ? "an address" : "a name");
            return;
        }
        x->text_size = strlen(x->text);
        x->span.to = w->p.lx.to;
        next(w);
        if (!line)
            return;
        expect(w, T_COLON, "':' and the line");
        x->integer = (int64_t)w->p.lx.integer;
        x->span.to = w->p.lx.to;
        expect(w, T_INT, "the number of the line");
    }
}

static struct wx *source(struct wp *w, const char *keyword)
{
    struct wx *x = make(w, WX_SOURCE);
    x->name = keyword;
    next(w);
    bool call = is(w, T_LPAREN);
    if (call)
        next(w);
    source_place_argument(w, x);
    if (call)
        expect(w, T_RPAREN, "')'");
    x->text = x->text ? arena_intern(w->p.arena, x->text, x->text_size) : NULL;
    return x;
}

static struct wx *monitor(struct wp *w)
{
    struct wx *x = make(w, WX_MONITOR);
    bool before = w->temporal;
    next(w);
    expect(w, T_LPAREN, "'('");
    w->temporal = true;
    if (is(w, T_STRING)) {
        struct wx *s = make(w, WX_STRING);
        if (string_text(w, s)) {
            struct source *inner = ARENA_NEW(w->p.arena, struct source);
            *inner = (struct source){"formula", arena_copy(w->p.arena, s->text, s->text_size), s->text_size};
            add(w, x, watch_parse_formula(w->p.arena, w->p.diags, inner), NULL);
        }
    } else {
        add(w, x, expr(w), NULL);
    }
    w->temporal = before;
    while (!w->p.failed && accept(w, T_COMMA)) {
        const char *name = w->p.lx.name;
        expect(w, T_ID, "NAME := expression");
        expect(w, T_ASSIGN, "':='");
        if (w->p.failed)
            break;
        if (strcmp(name, "clock") != 0)
            add(w, x, expr(w), name);
        else if (accept(w, T_STAR))
            x->clock_all = true;
        else
            x->clock = expr(w);
    }
    x->span.to = w->p.lx.to;
    expect(w, T_RPAREN, "',' or ')'");
    return x;
}

static const char *source_keyword(const char *name)
{
    static const char *const words[][2] = {
        {"codeLine", "codeLine"},
        {"function_call", "function_call"},
        {"function_calls", "function_call"},
        {"function_return", "function_return"},
        {"function_returns", "function_return"},
        {"onExecuting", "onExecuting"},
        {"instruction_executions", "onExecuting"},
        {"variable_value", "variable_value"},
        {"variable_values", "variable_value"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i][0], name))
            return words[i][1];
    return NULL;
}

static struct wx *name_or_call(struct wp *w)
{
    const char *keyword = source_keyword(w->p.lx.name);
    if (keyword)
        return source(w, keyword);
    if (is_word(w, "monitor"))
        return monitor(w);
    struct wx *x = make(w, WX_NAME);
    x->name = w->p.lx.name;
    next(w);
    if (!is(w, T_LPAREN))
        return x;
    x->kind = WX_CALL;
    bool before = w->temporal;
    w->temporal = false; /* arguments are streams */
    next(w);
    while (!w->p.failed && !is(w, T_RPAREN)) {
        const char *name = NULL;
        if (is(w, T_ID)) {
            struct lexer lx = w->p.lx;
            const char *id = lx.name;
            lx.quiet = true;
            lex_next(&lx);
            if (lx.token == T_ASSIGN) {
                name = id;
                next(w);
                next(w);
            }
        }
        add(w, x, expr(w), name);
        if (!accept(w, T_COMMA))
            break;
    }
    w->temporal = before;
    x->span.to = w->p.lx.to;
    expect(w, T_RPAREN, "',' or ')'");
    return x;
}

static struct wx *prim(struct wp *w)
{
    struct wx *x = make(w, WX_INT);
    switch (w->p.lx.token) {
    case T_INT:
        x->integer = (int64_t)w->p.lx.integer;
        if (w->p.lx.integer_big || w->p.lx.integer > INT64_MAX)
            diag_error(w->p.diags, x->span, "Integer does not fit 63 bits");
        next(w);
        if (is(w, T_ID) && unit_known(w->p.lx.name)) {
            x->kind = WX_TIME;
            x->name = w->p.lx.name;
            x->span.to = w->p.lx.to;
            next(w);
        }
        return x;
    case T_FLOAT:
        x->kind = WX_FLOAT;
        x->real = w->p.lx.real;
        next(w);
        return x;
    case T_STRING:
        x->kind = WX_STRING;
        string_text(w, x);
        return x;
    case T_TRUE:
    case T_FALSE:
        x->kind = WX_BOOL;
        x->integer = is(w, T_TRUE);
        next(w);
        return x;
    case T_LPAREN:
        next(w);
        x = expr(w);
        expect(w, T_RPAREN, "an operator or ')'");
        return x;
    case T_ID:
        return name_or_call(w);
    default:
        parse_error(&w->p, "an expression");
        x->kind = WX_ERROR;
        return x;
    }
}

/* ---- operators, tightest first ---- */

static struct wx *operation(struct wp *w, const char *name, struct wx *a, struct wx *b)
{
    struct wx *x = node(w, WX_OP, a, b);
    x->name = name;
    return x;
}

static struct wx *unary(struct wp *w)
{
    if (!is(w, T_MINUS))
        return prim(w);
    next(w);
    return operation(w, "negate", prim(w), NULL);
}

struct level {
    enum token token;
    const char *name;
};

static struct wx *infix(struct wp *w, const struct level *ops, size_t n, struct wx *(*operand)(struct wp *),
                        bool once)
{
    struct wx *a = operand(w);
    unsigned length = 0;
    for (size_t i = 0; i < n && !w->p.failed; i++) {
        if (!is(w, ops[i].token))
            continue;
        next(w);
        if (++length > 4 * PARSE_DEPTH) {
            parse_error(&w->p, "fewer operators in a row");
            break;
        }
        a = operation(w, ops[i].name, a, operand(w));
        if (once)
            break;
        i = (size_t)-1; /* look at all of them again */
    }
    return a;
}

static struct wx *term(struct wp *w)
{
    static const struct level ops[] = {{T_STAR, "mul"}, {T_SLASH, "div"}, {T_PERCENT, "mod"}};
    return infix(w, ops, 3, unary, false);
}

static struct wx *sum(struct wp *w)
{
    static const struct level ops[] = {{T_PLUS, "add"}, {T_MINUS, "sub"}};
    return infix(w, ops, 2, term, false);
}

static struct wx *comparison(struct wp *w)
{
    static const struct level ops[] = {{T_EQ, "eq"},  {T_NE, "neq"}, {T_LT, "lt"},
                                       {T_LE, "leq"}, {T_GT, "gt"},  {T_GE, "geq"}};
    return infix(w, ops, 6, sum, true);
}

/* [n], [=n], [<=n], [>=n] */
static void bound(struct wp *w, struct wx *x, int64_t most)
{
    expect(w, T_LBRACKET, "'['");
    x->op = T_ASSIGN;
    if (is(w, T_LE) || is(w, T_GE) || is(w, T_ASSIGN)) {
        x->op = w->p.lx.token;
        next(w);
    }
    x->integer = (int64_t)w->p.lx.integer;
    if (is(w, T_INT) && (w->p.lx.integer_big || w->p.lx.integer > (uint64_t)most))
        diag_error(w->p.diags, lex_span(&w->p.lx), "At most %lld steps", (long long)most);
    if (x->integer < 0 || x->integer > most)
        x->integer = 0;
    expect(w, T_INT, "a number of steps");
    expect(w, T_RBRACKET, "']'");
}

static bool followed_by_bracket(const struct wp *w)
{
    struct lexer lx = w->p.lx;
    lx.quiet = true;
    lex_next(&lx);
    return lx.token == T_LBRACKET;
}

static struct wx *prefix(struct wp *w)
{
    static const struct {
        const char *word;
        enum wx_kind kind;
    } words[] = {{"always", WX_ALWAYS}, {"eventually", WX_EVENTUALLY}, {"never", WX_NEVER},
                 {"next", WX_NEXT},     {"holding", WX_HOLDING},       {"within", WX_WITHIN}};
    struct wx *x = make(w, WX_NOT);
    if (!parse_enter(&w->p))
        return x;
    bool found = accept_word(w, "not");
    for (size_t i = 0; i < sizeof words / sizeof *words && w->temporal && !found; i++) {
        if (!is_word(w, words[i].word) || (words[i].kind >= WX_HOLDING && !followed_by_bracket(w)))
            continue;
        found = true;
        x->kind = words[i].kind;
        x->integer = 1;
        next(w);
        if (x->kind >= WX_HOLDING || (x->kind == WX_NEXT && is(w, T_LBRACKET)))
            bound(w, x, 16);
    }
    if (found)
        add(w, x, prefix(w), NULL);
    else
        x = comparison(w);
    w->p.depth--;
    return x;
}

static struct wx *until(struct wp *w)
{
    struct wx *a = prefix(w);
    enum wx_kind kind;
    if (!w->temporal || w->p.failed)
        return a;
    if (accept_word(w, "until"))
        kind = accept_word(w, "weak") ? WX_WEAK_UNTIL : WX_UNTIL;
    else if (accept_word(w, "unless"))
        kind = WX_WEAK_UNTIL;
    else if (accept_word(w, "releases"))
        kind = WX_RELEASES;
    else if (accept_word(w, "before"))
        kind = accept_word(w, "weak") ? WX_WEAK_BEFORE : WX_BEFORE;
    else if (is_word(w, "weak")) {
        next(w);
        if (!accept_word(w, "until"))
            parse_error(&w->p, "'until' behind 'weak'");
        kind = WX_WEAK_UNTIL;
    } else {
        return a;
    }
    if (!parse_enter(&w->p))
        return a;
    struct wx *x = node(w, kind, a, until(w));
    w->p.depth--;
    return x;
}

static struct wx * and (struct wp * w)
{
    struct wx *a = until(w);
    for (unsigned n = 0; n < 4 * PARSE_DEPTH && !w->p.failed && accept_word(w, "and"); n++)
        a = node(w, WX_AND, a, until(w));
    return a;
}

static struct wx * or (struct wp * w)
{
    struct wx *a = and(w);
    for (unsigned n = 0; n < 4 * PARSE_DEPTH && !w->p.failed && accept_word(w, "or"); n++)
        a = node(w, WX_OR, a, and(w));
    return a;
}

static struct wx *implication(struct wp *w)
{
    struct wx *a = or (w);
    bool iff = w->temporal && is_word(w, "iff");
    if (w->p.failed || !(iff || is_word(w, "implies")) || !parse_enter(&w->p))
        return a;
    next(w);
    struct wx *x = node(w, iff ? WX_IFF : WX_IMPLIES, a, implication(w));
    w->p.depth--;
    return x;
}

static struct wx *expr(struct wp *w)
{
    if (!parse_enter(&w->p))
        return make(w, WX_ERROR);
    struct wx *x;
    if (is_word(w, "on")) {
        next(w);
        struct wx *e = expr(w);
        expect(w, T_IF, "'if'");
        x = node(w, WX_ON, e, expr(w));
    } else {
        x = implication(w);
    }
    w->p.depth--;
    return x;
}

/* ---- statements ---- */

/* Signal<T> is Signal[T]; the types themselves are read by the other dialect's parser. */
static struct ast_type *type(struct wp *w)
{
    struct ast_type *t;
    struct lexer lx = w->p.lx;
    lx.quiet = true;
    lex_next(&lx);
    if (is(w, T_ID) && lx.token == T_LT) {
        t = ARENA_NEW(w->p.arena, struct ast_type);
        t->name = w->p.lx.name;
        t->span = lex_span(&w->p.lx);
        next(w);
        next(w);
        size_t cap = 0;
        ARENA_PUSH(w->p.arena, t->args, t->nargs, cap, parse_type(&w->p));
        expect(w, T_GT, "'>'");
    } else {
        t = parse_type(&w->p);
    }
    while (is(w, T_NEWLINE))
        next(w);
    return t;
}

static void define(struct wp *w, struct wspec *out)
{
    struct wdef *d = ARENA_NEW(w->p.arena, struct wdef);
    size_t cap = 0;
    next(w);
    d->name = w->p.lx.name;
    d->span = lex_span(&w->p.lx);
    if (!expect(w, T_ID, "the name of a stream"))
        return;
    if (accept(w, T_LPAREN)) {
        d->has_params = true;
        do {
            const char *name = w->p.lx.name;
            if (!expect(w, T_ID, "the name of a parameter"))
                return;
            ARENA_PUSH(w->p.arena, d->params, d->nparams, cap, name);
        } while (accept(w, T_COMMA));
        expect(w, T_RPAREN, "',' or ')'");
    }
    if (!w->p.failed && accept(w, T_COLON))
        d->type = type(w);
    expect(w, T_ASSIGN, "':='");
    if (w->p.failed)
        return;
    d->body = expr(w);
    *out->defs_tail = d;
    out->defs_tail = &d->next;
}

static void in(struct wp *w, struct wspec *out)
{
    struct win *in = ARENA_NEW(w->p.arena, struct win);
    next(w);
    in->name = w->p.lx.name;
    in->span = lex_span(&w->p.lx);
    expect(w, T_ID, "the name of an input");
    if (!expect(w, T_COLON, "':' and the type of the input"))
        return;
    in->type = type(w);
    *out->ins_tail = in;
    out->ins_tail = &in->next;
}

static void output(struct wp *w, struct wspec *out)
{
    struct wout *o = ARENA_NEW(w->p.arena, struct wout);
    next(w);
    o->span = lex_span(&w->p.lx);
    if (!accept(w, T_STAR)) {
        o->name = w->p.lx.name;
        if (!expect(w, T_ID, "the name of a stream or '*'"))
            return;
    }
    *out->outs_tail = o;
    out->outs_tail = &o->next;
}

static bool begins_statement(const struct wp *w)
{
    return is(w, T_END) || is(w, T_IN) || is(w, T_OUT) || is_word(w, "define");
}

void watch_parse(struct arena *arena, struct diags *diags, const struct source *source_text,
                 struct wspec *out)
{
    struct wp w = {.p = {.arena = arena, .diags = diags}};
    *out = (struct wspec){0};
    out->defs_tail = &out->defs;
    out->ins_tail = &out->ins;
    out->outs_tail = &out->outs;
    lex_init(&w.p.lx, arena, diags, source_text);
    while (is(&w, T_NEWLINE))
        next(&w);
    while (!is(&w, T_END)) {
        if (is_word(&w, "define"))
            define(&w, out);
        else if (is(&w, T_IN))
            in(&w, out);
        else if (is(&w, T_OUT))
            output(&w, out);
        if (!w.p.failed && !begins_statement(&w))
            parse_error(&w.p, "a statement: 'define', 'in' or 'out'");
        if (w.p.failed) {
            w.p.failed = false;
            w.p.depth = 0;
            w.temporal = false;
            next(&w);
            while (!begins_statement(&w))
                next(&w);
        }
    }
}

struct wx *watch_parse_formula(struct arena *arena, struct diags *diags, const struct source *text)
{
    struct wp w = {.p = {.arena = arena, .diags = diags}, .temporal = true};
    lex_init(&w.p.lx, arena, diags, text);
    while (is(&w, T_NEWLINE))
        next(&w);
    struct wx *x = expr(&w);
    if (!w.p.failed && !is(&w, T_END))
        parse_error(&w.p, "the end of the formula");
    return x;
}

bool watch_is(struct arena *arena, const struct source *source_text)
{
    struct diags quiet;
    struct lexer lx;
    diags_init(&quiet, arena);
    lex_init(&lx, arena, &quiet, source_text);
    lx.quiet = true;
    /* only at the start of a statement: the names may mean anything elsewhere */
    for (bool start = true; lx.token != T_END; lex_next(&lx)) {
        if (start && lx.token == T_ID && !strcmp(lx.name, "define"))
            return true;
        if (start && lx.token == T_DEF)
            return false;
        if (lx.token == T_STRING || lx.token == T_FSTRING)
            return false;
        start = lx.token == T_NEWLINE;
    }
    return false;
}
