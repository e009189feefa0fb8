/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of the watchpoint dialect. */
#include "monitor/watch_parse.h"

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

static void define(struct ct_mon_wp *w, struct ct_mon_wspec *out)
{
    struct ct_mon_wdef *d = ARENA_NEW(w->p.arena, struct ct_mon_wdef);
    size_t cap = 0;
    watch_next(w);
    d->name = w->p.lx.name;
    d->span = lex_span(&w->p.lx);
    if (!watch_expect(w, T_ID, "the name of a stream"))
        return;
    if (watch_accept(w, T_LPAREN)) {
        d->has_params = true;
        do {
            const char *name = w->p.lx.name;
            if (!watch_expect(w, T_ID, "the name of a parameter"))
                return;
            ARENA_PUSH(w->p.arena, d->params, d->nparams, cap, name);
        } while (watch_accept(w, T_COMMA));
        watch_expect(w, T_RPAREN, "',' or ')'");
    }
    if (!w->p.failed && watch_accept(w, T_COLON))
        d->type = type(w);
    watch_expect(w, T_ASSIGN, "':='");
    if (w->p.failed)
        return;
    d->body = ct_mon_watch_expr(w);
    *out->defs_tail = d;
    out->defs_tail = &d->next;
}

static void in(struct ct_mon_wp *w, struct ct_mon_wspec *out)
{
    struct ct_mon_win *in = ARENA_NEW(w->p.arena, struct ct_mon_win);
    watch_next(w);
    in->name = w->p.lx.name;
    in->span = lex_span(&w->p.lx);
    watch_expect(w, T_ID, "the name of an input");
    if (!watch_expect(w, T_COLON, "':' and the type of the input"))
        return;
    in->type = type(w);
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
    *out->outs_tail = o;
    out->outs_tail = &o->next;
}

static bool begins_statement(const struct ct_mon_wp *w)
{
    return watch_at(w, T_END) || watch_at(w, T_IN) || watch_at(w, T_OUT) || watch_is_word(w, "define");
}

void ct_mon_watch_parse(struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                        const struct ct_mon_source *source_text, struct ct_mon_wspec *out)
{
    struct ct_mon_wp w = {.p = {.arena = arena, .diags = diags}};
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
        if (!w.p.failed && !begins_statement(&w))
            ct_mon_parse_error(&w.p, "a statement: 'define', 'in' or 'out'");
        if (w.p.failed) {
            w.p.failed = false;
            w.p.depth = 0;
            w.temporal = false;
            watch_next(&w);
            while (!begins_statement(&w))
                watch_next(&w);
        }
    }
}

struct ct_mon_wx *ct_mon_watch_parse_formula(struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                                             const struct ct_mon_source *text, uint32_t from, uint32_t to)
{
    struct ct_mon_wp w = {.p = {.arena = arena, .diags = diags}, .temporal = true};
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
