/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of the stream dialect. */
#include "monitor/parse.h"

#include <string.h>

bool ct_mon_parse_accept(struct ct_mon_parser *p, enum ct_mon_token token)
{
    if (p->lx.token != token)
        return false;
    ct_mon_lex_next(&p->lx);
    return true;
}

bool ct_mon_parse_comma(struct ct_mon_parser *p)
{
    ct_mon_parse_skip_nl(p);
    const bool more = ct_mon_parse_accept(p, T_COMMA);
    if (more)
        ct_mon_parse_skip_nl(p);
    return more;
}

bool ct_mon_parse_begins_line(const struct ct_mon_lexer *lx)
{
    const char *text = lx->source->text;
    uint32_t from = lx->from;
    while (from && (text[from - 1] == ' ' || text[from - 1] == '\t'))
        from--;
    return !from || text[from - 1] == '\n';
}

/* Returns whether the statement before ends too early: at the end of its line, or before the keyword of a
 * statement in another line. */
static bool ends_early(const struct ct_mon_parser *p)
{
    const struct ct_mon_lexer *lx = &p->lx;
    switch (lx->token) {
    case T_NEWLINE:
        return lx->source->text[lx->from] == '\n';
    case T_END:
        return true;
    case T_DEF:
    case T_TYPE:
    case T_MODULE:
    case T_IMPORT:
    case T_INCLUDE:
    case T_PRINT:
    case T_AT:
        return !p->watchpoints && lx->from != p->begin && ct_mon_parse_begins_line(lx);
    case T_IN:
    case T_OUT:
        return lx->from != p->begin && ct_mon_parse_begins_line(lx);
    case T_ID:
        return p->watchpoints && !strcmp(lx->name, "define") && ct_mon_parse_begins_line(lx);
    default:
        return false;
    }
}

/* Returns whether the text up to `end` ends in a number with a fraction and blanks. */
static bool ends_in_fraction(const char *text, size_t end)
{
    while (end && text[end - 1] == ' ')
        end--;
    const size_t digits = end;
    while (end && text[end - 1] >= '0' && text[end - 1] <= '9')
        end--;
    return end < digits && end > 1 && text[end - 1] == '.' && text[end - 2] >= '0' && text[end - 2] <= '9';
}

const char *ct_mon_parse_instead(const struct ct_mon_parser *p)
{
    static const struct {
        enum ct_mon_token token;
        const char *text, *hint; /* of names: only this one */
    } foreign[] = {
        {T_ID, "and", "; write '&&'"},
        {T_ID, "or", "; write '||'"},
        {T_ID, "not", "; write '!'"},
        {T_ID, "mod", "; write '%'"},
        {T_QUESTION, NULL, "; write 'if CONDITION then VALUE else VALUE'"},
    };
    const struct ct_mon_lexer *lx = &p->lx;
    const char *text = lx->source->text + lx->from, before = lx->from ? text[-1] : '\0';
    if ((lx->token == T_SLASH && (before == '/' || text[1] == '/' || text[1] == '*')) ||
        (lx->token == T_STAR && before == '/'))
        return "; a comment begins with '--' and ends with its line";
    if (lx->token == T_GT && before == '<')
        return "; write '!='";
    if (lx->token == T_ID && ends_in_fraction(lx->source->text, lx->from))
        return "; a time is a whole number of its unit: write 1500us for 1.5 ms";
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign && !p->watchpoints; i++)
        if (lx->token == foreign[i].token && (lx->token != T_ID || !strcmp(lx->name, foreign[i].text)))
            return foreign[i].hint;
    return "";
}

void ct_mon_parse_error_with(struct ct_mon_parser *p, const char *expected, const char *hint)
{
    const bool early = ends_early(p);
    const struct ct_mon_span end = {p->lx.source, p->lx.before, p->lx.before};
    const enum ct_mon_token found = early && p->lx.token != T_END ? T_NEWLINE : p->lx.token;
    if (!p->failed && p->lx.token != T_BAD)
        ct_mon_diag_error(p->diags, early ? end : lex_span(&p->lx), "Expected %s, found %s%s", expected,
                          found == T_ID ? ct_mon_arena_printf(p->arena, "name '%s'", p->lx.name)
                                        : ct_mon_token_text(found),
                          hint);
    p->failed = true;
}

void ct_mon_parse_error(struct ct_mon_parser *p, const char *expected)
{
    ct_mon_parse_error_with(p, expected, ct_mon_parse_instead(p));
}

bool ct_mon_parse_name(struct ct_mon_parser *p, const char *what)
{
    const enum ct_mon_token token = p->lx.token;
    if (p->failed || token < T_DEF || token > T_FALSE || ends_early(p))
        return ct_mon_parse_expect(p, T_ID, what);
    ct_mon_parse_error_with(p, what, "; a word of the language cannot be a name");
    p->reserved |= UINT64_C(1) << token;
    return false;
}

bool ct_mon_parse_expect(struct ct_mon_parser *p, enum ct_mon_token token, const char *what)
{
    if (p->failed)
        return false;
    if (ct_mon_parse_accept(p, token))
        return true;
    ct_mon_parse_error(p, what);
    return false;
}

void ct_mon_parse_skip_nl(struct ct_mon_parser *p)
{
    while (p->lx.token == T_NEWLINE)
        ct_mon_lex_next(&p->lx);
}

bool ct_mon_parse_enter(struct ct_mon_parser *p)
{
    if (p->depth >= PARSE_DEPTH) {
        if (!p->failed)
            ct_mon_diag_error(p->diags, lex_span(&p->lx), "Nested more than %d levels deep", PARSE_DEPTH);
        p->failed = true;
        return false;
    }
    p->depth++;
    return !p->failed || (p->depth--, false);
}

const char **ct_mon_parse_type_params(struct ct_mon_parser *p, size_t *count)
{
    const char **names = NULL;
    size_t cap = 0;
    *count = 0;
    do {
        ct_mon_parse_skip_nl(p);
        const char *name = p->lx.name;
        if (!ct_mon_parse_expect(p, T_ID, "a name"))
            return names;
        ARENA_PUSH(p->arena, names, *count, cap, name);
        ct_mon_parse_skip_nl(p);
    } while (ct_mon_parse_accept(p, T_COMMA));
    ct_mon_parse_expect(p, T_RBRACKET, "',' or a closing bracket");
    return names;
}

void ct_mon_parse_skip_evaluation(struct ct_mon_parser *p)
{
    while (p->lx.token == T_ID && (!strcmp(p->lx.name, "lazy") || !strcmp(p->lx.name, "strict"))) {
        const struct ct_mon_lexer before = p->lx;
        ct_mon_lex_next(&p->lx);
        if (p->lx.token != T_ID && p->lx.token != T_LPAREN && p->lx.token != T_LBRACE) {
            p->lx = before;
            return;
        }
    }
}

void ct_mon_parse_params(struct ct_mon_parser *p, struct ct_mon_ast_def *def)
{
    size_t cap = 0;
    def->has_params = true;
    ct_mon_parse_skip_nl(p);
    while (!p->failed && p->lx.token != T_RPAREN) {
        ct_mon_parse_skip_evaluation(p);
        struct ct_mon_ast_param param = {.name = p->lx.name, .span = lex_span(&p->lx)};
        if (!ct_mon_parse_name(p, "the name of a parameter"))
            return;
        if (ct_mon_parse_accept(p, T_COLON)) {
            ct_mon_parse_skip_nl(p);
            param.type = ct_mon_parse_type(p);
        } else {
            ct_mon_diag_error(p->diags, param.span, "Parameter %s needs a type annotation; write '%s: TYPE'",
                              param.name, param.name);
        }
        ARENA_PUSH(p->arena, def->params, def->nparams, cap, param);
        if (!ct_mon_parse_comma(p))
            break;
    }
    ct_mon_parse_expect(p, T_RPAREN, "',' or ')'");
}

static struct ct_mon_ast *builtin(struct ct_mon_parser *p)
{
    struct ct_mon_ast *e = ARENA_NEW(p->arena, struct ct_mon_ast);
    e->kind = p->library ? A_BUILTIN : A_ERROR; /* its declared signature is trusted */
    e->span = lex_span(&p->lx);
    if (!p->library)
        ct_mon_diag_error(p->diags, e->span, "__builtin__ is for the standard library alone");
    ct_mon_lex_next(&p->lx);
    ct_mon_parse_expect(p, T_LPAREN, "'('");
    e->name = p->lx.name;
    ct_mon_parse_expect(p, T_ID, "the name of a builtin");
    if (ct_mon_parse_accept(p, T_COMMA))
        e->a = ct_mon_parse_expr(p);
    ct_mon_parse_expect(p, T_RPAREN, "')'");
    return e;
}

/* Reads extern("name"), or extern("name", body), whose body stands where there is no such function. */
static struct ct_mon_ast *external(struct ct_mon_parser *p)
{
    struct ct_mon_ast *e = ARENA_NEW(p->arena, struct ct_mon_ast);
    e->kind = A_EXTERN;
    e->span = lex_span(&p->lx);
    ct_mon_lex_next(&p->lx);
    ct_mon_parse_expect(p, T_LPAREN, "'('");
    if (p->lx.token != T_STRING)
        ct_mon_parse_error(p, "the name of a function in quotes");
    if (p->failed)
        return e;
    ct_mon_parse_expr(p);
    struct ct_mon_ast *body = ct_mon_parse_accept(p, T_COMMA) ? ct_mon_parse_expr(p) : e;
    ct_mon_parse_expect(p, T_RPAREN, "',' or ')'");
    return body;
}

/* Returns whether the body of a definition begins with extern( here. */
static bool is_external(const struct ct_mon_parser *p)
{
    struct ct_mon_lexer next = p->lx;
    if (p->lx.token != T_ID || strcmp(p->lx.name, "extern") != 0)
        return false;
    next.quiet = true;
    ct_mon_lex_next(&next);
    return next.token == T_LPAREN;
}

void ct_mon_parse_skip_annotation(struct ct_mon_parser *p)
{
    if (!ct_mon_parse_accept(p, T_LPAREN))
        return;
    unsigned open = 1;
    const char *text;
    size_t size;
    while (open && p->lx.token != T_END) {
        open += p->lx.token == T_LPAREN;
        open -= p->lx.token == T_RPAREN;
        if (p->lx.token == T_STRING || p->lx.token == T_FSTRING)
            while (ct_mon_lex_string(&p->lx, &text, &size) != PART_END)
                ;
        ct_mon_lex_next(&p->lx);
    }
    if (open)
        ct_mon_parse_error(p, "')'");
}

/* Reads "liftable" and "extern" before "def", the syntax of newer sources. */
static bool modifiers(struct ct_mon_parser *p)
{
    struct ct_mon_lexer lx = p->lx;
    bool liftable = false;
    lx.quiet = true;
    while (lx.token == T_ID && (!strcmp(lx.name, "liftable") || !strcmp(lx.name, "extern"))) {
        liftable |= lx.name[0] == 'l';
        do
            ct_mon_lex_next(&lx);
        while (lx.token == T_NEWLINE);
    }
    if (lx.token != T_DEF)
        return false;
    lx.quiet = p->lx.quiet;
    p->lx = lx;
    return liftable;
}

struct ct_mon_ast_annotation *ct_mon_parse_annotations(struct ct_mon_parser *p, bool *liftable)
{
    struct ct_mon_ast_annotation *first = NULL;
    *liftable = false;
    while (!p->failed && p->lx.token == T_AT) {
        struct ct_mon_ast_annotation *a = ARENA_NEW(p->arena, struct ct_mon_ast_annotation);
        ct_mon_lex_next(&p->lx);
        a->name = p->lx.name;
        a->span = lex_span(&p->lx);
        if (!ct_mon_parse_expect(p, T_ID, "the name of an annotation"))
            break;
        ct_mon_parse_skip_annotation(p);
        ct_mon_parse_skip_nl(p);
        *liftable |= !strcmp(a->name, "liftable");
        a->next = first;
        first = a;
    }
    *liftable |= modifiers(p);
    return first;
}

void ct_mon_parse_defs(struct ct_mon_parser *p, struct ct_mon_ast *block)
{
    size_t cap = 0;
    bool liftable;
    ct_mon_parse_skip_nl(p);
    while (!p->failed && (ct_mon_parse_annotations(p, &liftable) || p->lx.token == T_DEF)) {
        struct ct_mon_ast_def *def = ct_mon_parse_def(p);
        def->liftable = liftable;
        ARENA_PUSH(p->arena, block->defs, block->ndefs, cap, def);
        if (p->lx.token != T_NEWLINE && p->lx.token != T_RBRACE)
            ct_mon_parse_error(p, "the end of the definition");
        ct_mon_parse_skip_nl(p);
    }
}

static struct ct_mon_ast *body(struct ct_mon_parser *p)
{
    if (p->lx.token == T_BUILTIN)
        return builtin(p);
    struct ct_mon_ast *e = is_external(p) ? external(p) : ct_mon_parse_expr(p);
    if (p->lx.token != T_WHERE || p->failed)
        return e;
    struct ct_mon_ast *block = ARENA_NEW(p->arena, struct ct_mon_ast);
    block->kind = A_BLOCK;
    block->a = e;
    ct_mon_lex_next(&p->lx);
    ct_mon_parse_skip_nl(p);
    ct_mon_parse_expect(p, T_LBRACE, "'{'");
    ct_mon_parse_defs(p, block);
    block->span = span_join(e->span, lex_span(&p->lx));
    ct_mon_parse_expect(p, T_RBRACE, "a definition or '}'");
    return block;
}

struct ct_mon_ast_def *ct_mon_parse_def(struct ct_mon_parser *p)
{
    struct ct_mon_ast_def *def = ARENA_NEW(p->arena, struct ct_mon_ast_def);
    def->span = lex_span(&p->lx);
    ct_mon_parse_expect(p, T_DEF, "'def'");
    ct_mon_parse_skip_nl(p);
    def->name = p->lx.token == T_ID ? p->lx.name : NULL;
    def->name_span = lex_span(&p->lx);
    ct_mon_parse_name(p, "a name");
    if (ct_mon_parse_accept(p, T_LBRACKET))
        def->type_params = ct_mon_parse_type_params(p, &def->ntype_params);
    if (!p->failed && ct_mon_parse_accept(p, T_LPAREN))
        ct_mon_parse_params(p, def);
    if (!p->failed && ct_mon_parse_accept(p, T_COLON)) {
        ct_mon_parse_skip_nl(p);
        def->type = ct_mon_parse_type(p);
    }
    ct_mon_parse_expect(p, T_ASSIGN, def->type ? "'='" : "':' or '='");
    ct_mon_parse_skip_nl(p);
    def->body = p->failed ? NULL : body(p);
    if (!def->body) {
        def->body = ARENA_NEW(p->arena, struct ct_mon_ast);
        def->body->span = def->name_span;
    }
    def->span = span_join(def->span, def->body->span);
    return def;
}
