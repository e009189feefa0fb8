/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of the watchpoint dialect. */
#include "monitor/watch_parse.h"

#include <strings.h>

#include "coretap/base.h"

/* Reads a type. Signal<T> means Signal[T]; the other dialect's parser reads all other types. */
static struct ct_mon_ast_type *type(struct ct_mon_wp *w)
{
    struct ct_mon_ast_type *t;
    struct ct_mon_lexer lx = w->p.lx;
    lx.quiet = true;
    ct_mon_lex_next(&lx);
    if (watch_at(w, T_ID) && lx.token == T_LT) {
        t = ARENA_NEW(w->p.arena, struct ct_mon_ast_type);
        t->name = w->p.lx.name;
        t->span = lex_span(&w->p.lx);
        watch_next(w);
        watch_next(w);
        size_t cap = 0;
        ARENA_PUSH(w->p.arena, t->args, t->nargs, cap, ct_mon_parse_type(&w->p));
        watch_expect(w, T_GT, "'>'");
    } else {
        t = ct_mon_parse_type(&w->p);
    }
    while (watch_at(w, T_NEWLINE))
        watch_next(w);
    return t;
}

static bool begins_statement(const struct ct_mon_wp *w)
{
    return watch_at(w, T_END) || watch_at(w, T_IN) || watch_at(w, T_OUT) || watch_is_word(w, "define");
}

/* Adds a definition without a meaning, which it keeps when its statement has an error, so that its uses are
 * no errors. */
static struct ct_mon_wdef *add_definition(struct ct_mon_wp *w, struct ct_mon_wspec *out, const char *name,
                                          struct ct_mon_span at)
{
    struct ct_mon_wdef *d = ARENA_NEW(w->p.arena, struct ct_mon_wdef);
    d->name = name;
    d->span = at;
    d->body = ct_mon_watch_make(w, WX_ERROR);
    *out->defs_tail = d;
    out->defs_tail = &d->next;
    return d;
}

/* Reports what stands where a statement should begin. A name that it probably defines gets no meaning. */
static void statement_expected(struct ct_mon_wp *w, struct ct_mon_wspec *out, const char *hint)
{
    static const char *const keywords[] = {"define", "in", "out", NULL};
    struct ct_mon_lexer next = w->p.lx;
    next.quiet = true;
    ct_mon_lex_next(&next);
    const char *near = watch_at(w, T_ID) ? ct_nearest_name(w->p.lx.name, keywords) : NULL;
    const bool first = ct_mon_parse_begins_line(&w->p.lx);
    if (first && watch_at(w, T_DEF))
        hint = "; 'def' is of the other dialect: write 'define NAME := …'";
    else if (first && near)
        hint = ct_mon_arena_printf(w->p.arena, "; did you mean '%s'?", near);
    else if (!*hint && watch_at(w, T_SLASH))
        hint = ct_mon_parse_instead(&w->p);
    ct_mon_parse_error_with(&w->p, "a statement: 'define', 'in' or 'out'", hint);
    if (first && next.token == T_ID && !(near && near[0] == 'o'))
        add_definition(w, out, next.name, lex_span(&next));
}

static void define(struct ct_mon_wp *w, struct ct_mon_wspec *out)
{
    size_t cap = 0;
    watch_next(w);
    const char *name = w->p.lx.name;
    const struct ct_mon_span at = lex_span(&w->p.lx);
    if (!watch_expect_name(w, "the name of a stream"))
        return;
    struct ct_mon_wdef *d = add_definition(w, out, name, at);
    if (watch_accept(w, T_LPAREN)) {
        d->has_params = true;
        do {
            const char *param = w->p.lx.name;
            if (!watch_expect_name(w, "the name of a parameter"))
                return;
            ARENA_PUSH(w->p.arena, d->params, d->nparams, cap, param);
        } while (watch_accept(w, T_COMMA));
        watch_expect(w, T_RPAREN, "',' or ')'");
    }
    if (!w->p.failed && watch_accept(w, T_COLON))
        d->type = type(w);
    watch_expect(w, T_ASSIGN, "':='");
    if (w->p.failed)
        return;
    struct ct_mon_wx *body = ct_mon_watch_expr(w);
    if (!w->p.failed && !begins_statement(w))
        statement_expected(w, out, "");
    else if (!w->p.failed)
        d->body = body;
}

static void in(struct ct_mon_wp *w, struct ct_mon_wspec *out)
{
    struct ct_mon_win *in = ARENA_NEW(w->p.arena, struct ct_mon_win);
    watch_next(w);
    in->name = w->p.lx.name;
    in->span = lex_span(&w->p.lx);
    if (!watch_expect_name(w, "the name of an input"))
        return;
    if (watch_expect(w, T_COLON, "':' and the type of the input"))
        in->type = type(w);
    if (!w->p.failed && !begins_statement(w))
        statement_expected(w, out, "");
    if (w->p.failed) {
        add_definition(w, out, in->name, in->span);
        return;
    }
    *out->ins_tail = in;
    out->ins_tail = &in->next;
}

static void output(struct ct_mon_wp *w, struct ct_mon_wspec *out)
{
    struct ct_mon_wout *o = ARENA_NEW(w->p.arena, struct ct_mon_wout);
    watch_next(w);
    o->span = lex_span(&w->p.lx);
    if (!watch_accept(w, T_STAR)) {
        o->name = w->p.lx.name;
        if (!watch_expect(w, T_ID, "the name of a stream or '*'"))
            return;
    }
    if (!begins_statement(w)) {
        statement_expected(w, out,
                           watch_at(w, T_COMMA) ? "; write an 'out' for each stream"
                                                : "; 'out' takes a name: write 'define NAME := …' before it");
        return;
    }
    *out->outs_tail = o;
    out->outs_tail = &o->next;
}

/* Skips what follows an error, up to the next statement. */
static void skip_statement(struct ct_mon_wp *w)
{
    w->p.lx.quiet = true; /* one error is enough for a statement */
    while (!begins_statement(w))
        watch_next(w);
    w->p.lx.quiet = false;
    w->p.failed = false;
    w->p.depth = 0;
    w->temporal = w->regular = false;
}

void ct_mon_watch_parse(struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                        const struct ct_mon_source *source_text, struct ct_mon_wspec *out)
{
    struct ct_mon_wp w = {.p = {.arena = arena, .diags = diags, .watchpoints = true}};
    *out = (struct ct_mon_wspec){0};
    out->defs_tail = &out->defs;
    out->ins_tail = &out->ins;
    out->outs_tail = &out->outs;
    ct_mon_lex_init(&w.p.lx, arena, diags, source_text);
    while (watch_at(&w, T_NEWLINE))
        watch_next(&w);
    while (!watch_at(&w, T_END)) {
        if (watch_is_word(&w, "define"))
            define(&w, out);
        else if (watch_at(&w, T_IN))
            in(&w, out);
        else if (watch_at(&w, T_OUT))
            output(&w, out);
        else
            statement_expected(&w, out, "");
        if (w.p.failed)
            skip_statement(&w);
    }
}

struct ct_mon_wx *ct_mon_watch_parse_formula(struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                                             const struct ct_mon_source *text, uint32_t from, uint32_t to)
{
    struct ct_mon_wp w = {.p = {.arena = arena, .diags = diags, .watchpoints = true}, .temporal = true};
    ct_mon_lex_part(&w.p.lx, arena, diags, text, from, to);
    while (watch_at(&w, T_NEWLINE))
        watch_next(&w);
    struct ct_mon_wx *x = ct_mon_watch_expr(&w);
    if (!w.p.failed && !watch_at(&w, T_END))
        ct_mon_parse_error(&w.p, "the end of the formula");
    return x;
}

bool ct_mon_watch_is(struct ct_mon_arena *arena, const struct ct_mon_source *source_text)
{
    struct ct_mon_diags quiet;
    struct ct_mon_lexer lx;
    ct_mon_diags_init(&quiet, arena);
    ct_mon_lex_init(&lx, arena, &quiet, source_text);
    lx.quiet = true;
    /* only at the start of a statement: elsewhere the words may be names */
    for (bool start = true; lx.token != T_END; ct_mon_lex_next(&lx)) {
        if (start && lx.token == T_ID && !strcasecmp(lx.name, "define"))
            return true;
        if (start && lx.token == T_DEF)
            return false;
        if (lx.token == T_STRING || lx.token == T_FSTRING)
            return false;
        start = lx.token == T_NEWLINE;
    }
    return false;
}
