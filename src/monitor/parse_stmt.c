/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of the stream dialect. */
#include "monitor/parse.h"

#include <string.h>

#include "coretap/base.h"

/* Reads the name after the current word. */
static void statement_name(struct ct_mon_parser *p, struct ct_mon_ast_stmt *s, const char *what)
{
    ct_mon_lex_next(&p->lx);
    ct_mon_parse_skip_nl(p);
    s->name = p->lx.token == T_ID ? p->lx.name : NULL;
    s->name_span = lex_span(&p->lx);
    ct_mon_parse_name(p, what);
}

static void type_statement(struct ct_mon_parser *p, struct ct_mon_ast_stmt *s)
{
    s->kind = S_TYPE;
    statement_name(p, s, "the name of the type");
    if (ct_mon_parse_accept(p, T_LBRACKET))
        s->type_params = ct_mon_parse_type_params(p, &s->ntype_params);
    ct_mon_parse_expect(p, T_ASSIGN, "'='");
    ct_mon_parse_skip_nl(p);
    s->type = p->failed ? NULL : ct_mon_parse_type(p);
}

static void in_statement(struct ct_mon_parser *p, struct ct_mon_ast_stmt *s)
{
    s->kind = S_IN;
    statement_name(p, s, "the name of the input stream");
    ct_mon_parse_skip_nl(p);
    if (p->lx.token == T_COMMA)
        ct_mon_parse_error_with(p, "':' and the type of the input stream", "; write an 'in' for each stream");
    ct_mon_parse_expect(p, T_COLON, "':' and the type of the input stream");
    ct_mon_parse_skip_nl(p);
    s->type = p->failed ? NULL : ct_mon_parse_type(p);
}

static void out_statement(struct ct_mon_parser *p, struct ct_mon_ast_stmt *s)
{
    bool print = p->lx.token == T_PRINT;
    s->kind = print ? S_PRINT : S_OUT;
    if (print)
        ct_mon_diag_warning(p->diags, lex_span(&p->lx), "'print' is deprecated; write '@raw out' instead");
    ct_mon_lex_next(&p->lx);
    ct_mon_parse_skip_nl(p);
    if (!print && ct_mon_parse_accept(p, T_STAR)) {
        s->kind = S_OUT_ALL;
        return;
    }
    s->value = ct_mon_parse_expr(p);
    /* without a name, the source text of the expression is the name */
    const struct ct_mon_source *src = s->value->span.source;
    if (src)
        s->name = ct_mon_arena_intern(p->arena, src->text + s->value->span.from,
                                      s->value->span.to - s->value->span.from);
    s->name_span = s->value->span;
    if (!print && !p->failed && p->lx.token == T_AS)
        statement_name(p, s, "the name of the output");
}

static struct ct_mon_ast_stmt *statements(struct ct_mon_parser *p, bool module);

static void module_statement(struct ct_mon_parser *p, struct ct_mon_ast_stmt *s)
{
    s->kind = S_MODULE;
    statement_name(p, s, "the name of the module");
    ct_mon_parse_skip_nl(p);
    ct_mon_parse_expect(p, T_LBRACE, "'{'");
    if (!p->failed && ct_mon_parse_enter(p)) {
        s->body = statements(p, true);
        p->depth--;
    }
    ct_mon_parse_expect(p, T_RBRACE, "a statement or '}'");
}

/* Reads the path of a module: a.b.c. */
static void import_statement(struct ct_mon_parser *p, struct ct_mon_ast_stmt *s)
{
    size_t cap = 0;
    s->kind = S_IMPORT;
    s->value = ARENA_NEW(p->arena, struct ct_mon_ast);
    ct_mon_lex_next(&p->lx);
    do {
        struct ct_mon_ast_arg part = {.name = p->lx.name, .name_span = lex_span(&p->lx)};
        ct_mon_parse_expect(p, T_ID, "the name of a module");
        ARENA_PUSH(p->arena, s->value->args, s->value->nargs, cap, part);
    } while (!p->failed && ct_mon_parse_accept(p, T_DOT));
    if (p->failed)
        s->value->nargs = 0;
}

/* Reads @name(…) or @@name(…). Returns the name, with the second '@'. */
static const char *annotation_name(struct ct_mon_parser *p)
{
    ct_mon_lex_next(&p->lx);
    const bool global = ct_mon_parse_accept(p, T_AT);
    const char *name = p->lx.name;
    if (!ct_mon_parse_expect(p, T_ID, "the name of the annotation"))
        return NULL;
    ct_mon_parse_skip_annotation(p);
    return global ? ct_mon_arena_intern_z(p->arena, ct_mon_arena_printf(p->arena, "@%s", name)) : name;
}

/* Reads an annotation of the whole specification, if one begins here. */
static bool global_annotation(struct ct_mon_parser *p, struct ct_mon_ast_stmt *s)
{
    struct ct_mon_lexer next = p->lx;
    next.quiet = true;
    if (p->lx.token == T_AT)
        ct_mon_lex_next(&next);
    if (p->lx.token != T_AT || next.token != T_AT)
        return false;
    s->kind = S_GLOBAL;
    s->annotations = ARENA_NEW(p->arena, struct ct_mon_ast_annotation);
    s->annotations->span = s->span;
    s->annotations->name = annotation_name(p);
    if (p->failed)
        s->annotations = NULL;
    return true;
}

static void def_statement(struct ct_mon_parser *p, struct ct_mon_ast_stmt *s)
{
    struct ct_mon_lexer before = p->lx;
    ct_mon_lex_next(&p->lx);
    if (p->lx.token == T_AT) { /* def @name(params): declares an annotation */
        s->kind = S_ANNOTATION;
        s->name = annotation_name(p);
        return;
    }
    p->lx = before;
    s->kind = S_DEF;
    s->def = ct_mon_parse_def(p);
    s->name = s->def->name;
    s->name_span = s->def->name_span;
}

static struct ct_mon_ast_stmt *include(struct ct_mon_parser *p)
{
    const char *text = "";
    size_t size = 0;
    ct_mon_lex_next(&p->lx);
    if (p->lx.token != T_STRING) {
        ct_mon_parse_error(p, "the name of a file in quotes");
        return NULL;
    }
    struct ct_mon_span at = lex_span(&p->lx);
    if (ct_mon_lex_string(&p->lx, &text, &size) == PART_TEXT &&
        ct_mon_lex_string(&p->lx, &(const char *){NULL}, &(size_t){0}) != PART_END) {
        ct_mon_parse_error(p, "the end of the string");
        return NULL;
    }
    const char *name = ct_mon_arena_intern(p->arena, text, size);
    ct_mon_lex_next(&p->lx);
    const struct ct_mon_source *source = NULL;
    if (p->include_depth < INCLUDE_DEPTH && p->include)
        source = p->include(p->include_user, p->lx.source, name);
    if (!source) {
        ct_mon_diag_error(
            p->diags, at,
            !p->include
                ? "%s: files cannot be included here; copy the text of the file into the specification"
            : p->include_depth < INCLUDE_DEPTH ? "Could not find a TeSSLa file named %s"
                                               : "%s: the file includes itself, directly or through other "
                                                 "files; remove one of these includes",
            name);
        return NULL;
    }
    struct ct_mon_parser inner = *p;
    inner.include_depth++;
    ct_mon_lex_init(&inner.lx, p->arena, p->diags, source);
    return statements(&inner, false);
}

/* Returns how far the line of a byte is indented. */
static uint32_t indentation(const struct ct_mon_source *s, uint32_t at)
{
    while (at && s->text[at - 1] != '\n')
        at--;
    return (uint32_t)strspn(s->text + at, " \t");
}

/* Skips the rest of a statement with an error: up to a line that is indented no further than its first one
 * and can begin a statement, or to a ';' outside of braces. */
static void skip_statement(struct ct_mon_parser *p, struct ct_mon_span begin)
{
    const char *text = begin.source->text;
    const uint32_t indent = indentation(begin.source, begin.from);
    p->lx.quiet = true; /* one error is enough for a statement */
    for (; p->lx.token != T_END; ct_mon_lex_next(&p->lx)) {
        if (p->lx.token == T_NEWLINE && text[p->lx.from] == ';' &&
            !memchr(text + begin.from, '{', p->lx.from - begin.from))
            break;
        if (p->lx.from == begin.from || !ct_mon_parse_begins_line(&p->lx))
            continue;
        const uint32_t own = indentation(begin.source, p->lx.from);
        const bool begins = p->lx.token == T_ID || p->lx.token == T_AT ||
                            (p->lx.token >= T_DEF && p->lx.token <= T_PRINT && p->lx.token != T_WHERE);
        if (own < indent || (own == indent && begins))
            break;
    }
    p->lx.quiet = false;
    p->failed = false;
}

/* Makes a statement with an error define its name, without a meaning, so that its uses are no errors. */
static void define_failed(struct ct_mon_parser *p, struct ct_mon_ast_stmt *s)
{
    s->type = NULL;
    s->value = NULL;
    if (s->kind != S_DEF || !s->name)
        return;
    s->def = ARENA_NEW(p->arena, struct ct_mon_ast_def);
    s->def->name = s->name;
    s->def->span = s->def->name_span = s->name_span;
    s->def->body = ARENA_NEW(p->arena, struct ct_mon_ast);
    s->def->body->span = s->name_span;
}

/* Reports a statement that begins with no keyword. Its name is the one that it probably defines. */
static void unknown_statement(struct ct_mon_parser *p, struct ct_mon_ast_stmt *s, bool module)
{
    static const char *const keywords[] = {"def", "in", "out", "type", "module", "include", NULL};
    const char *hint = ct_mon_parse_instead(p), *expected =
                                                    "a statement: 'def', 'in', 'out', 'type', 'module' or "
                                                    "'include'";
    struct ct_mon_lexer next = p->lx;
    next.quiet = true;
    ct_mon_lex_next(&next);
    const struct ct_mon_lexer *name = NULL;
    if (p->lx.token == T_ID && (next.token == T_ASSIGN || next.token == T_COLON)) {
        name = &p->lx;
        hint = ct_mon_arena_printf(p->arena,
                                   next.token == T_ASSIGN          ? "; write 'def %s = …'"
                                   : next.name[0] == ':' && module ? "; write 'def %s: …'"
                                                                   : "; write 'in %s: …' for an input",
                                   p->lx.name);
    } else if (p->lx.token == T_ID) {
        const char *near = ct_nearest_name(p->lx.name, keywords);
        if (near)
            hint = ct_mon_arena_printf(p->arena, "; did you mean '%s'?", near);
        if (next.token == T_ID && !(near && (near[0] == 'o' || !strcmp(near, "include"))))
            name = &next;
    } else if (p->lx.token == T_WHERE || p->lx.token == T_THEN || p->lx.token == T_ELSE) {
        hint = "; it belongs at the end of the line before";
    } else if (!*hint && p->lx.token >= T_PLUS && p->lx.token <= T_OR) {
        hint = "; an operator stands at the end of the line before";
    }
    if (name) {
        s->kind = S_DEF;
        s->name = name->name;
        s->name_span = lex_span(name);
    }
    ct_mon_parse_error_with(p, expected, hint);
}

static struct ct_mon_ast_stmt *statement(struct ct_mon_parser *p, bool module)
{
    if (p->lx.token == T_INCLUDE && !module)
        return include(p);
    struct ct_mon_ast_stmt *s = ARENA_NEW(p->arena, struct ct_mon_ast_stmt);
    s->span = lex_span(&p->lx);
    if (!module && global_annotation(p, s))
        return s;
    bool liftable;
    s->annotations = ct_mon_parse_annotations(p, &liftable);
    switch (p->failed ? T_BAD : p->lx.token) {
    case T_DEF:
        def_statement(p, s);
        break;
    case T_TYPE:
        type_statement(p, s);
        break;
    case T_MODULE:
        module_statement(p, s);
        break;
    case T_IMPORT:
        import_statement(p, s);
        break;
    case T_IN:
    case T_OUT:
    case T_PRINT:
        if (module)
            ct_mon_parse_error(p, "a definition: a module has no inputs and outputs");
        else if (p->lx.token == T_IN)
            in_statement(p, s);
        else
            out_statement(p, s);
        break;
    default:
        unknown_statement(p, s, module);
        break;
    }
    for (const struct ct_mon_ast_annotation *a = s->annotations; a; a = a->next)
        s->raw |= !strcmp(a->name, "raw");
    if (s->def)
        s->def->liftable = liftable;
    return s;
}

/* Reports what stands behind a complete statement. */
static void end_expected(struct ct_mon_parser *p, const struct ct_mon_ast_stmt *s)
{
    const char *hint = ct_mon_parse_instead(p);
    const bool out = s && (s->kind == S_OUT || s->kind == S_PRINT);
    if (p->lx.token == T_COMMA && out)
        hint = "; write an 'out' for each stream";
    else if (p->lx.token == T_ASSIGN && s && s->kind == S_IN)
        hint = "; an input has no value of its own: write 'default(NAME, VALUE)' where it is used";
    else if (p->lx.token == T_ASSIGN)
        hint = out ? "; '==' compares, and 'as' names an output" : "; '==' compares";
    ct_mon_parse_error_with(p, "the end of the statement", hint);
}

static struct ct_mon_ast_stmt *statements(struct ct_mon_parser *p, bool module)
{
    struct ct_mon_ast_stmt *first = NULL, **tail = &first;
    for (;;) {
        ct_mon_parse_skip_nl(p);
        if (p->lx.token == T_END || (module && p->lx.token == T_RBRACE))
            return first;
        const struct ct_mon_span begin = lex_span(&p->lx);
        p->begin = begin.from;
        struct ct_mon_ast_stmt *s = statement(p, module);
        if (!p->failed && p->lx.token != T_NEWLINE && p->lx.token != T_END &&
            !(module && p->lx.token == T_RBRACE))
            end_expected(p, s);
        bool failed = p->failed;
        if (failed && s)
            define_failed(p, s);
        if (failed)
            skip_statement(p, begin);
        if (s && !(failed && !s->name)) {
            *tail = s;
            while (*tail)
                tail = &(*tail)->next;
        }
    }
}

struct ct_mon_ast_stmt *ct_mon_parse_spec(struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                                          const struct ct_mon_source *source, parse_include_fn *include_fn,
                                          void *user)
{
    struct ct_mon_parser p = {.arena = arena, .diags = diags, .include = include_fn, .include_user = user};
    ct_mon_lex_init(&p.lx, arena, diags, source);
    return statements(&p, false);
}

struct ct_mon_ast_stmt *ct_mon_parse_library(struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                                             const struct ct_mon_source *source, uint32_t from, uint32_t to)
{
    struct ct_mon_parser p = {.arena = arena, .diags = diags, .library = true};
    ct_mon_lex_part(&p.lx, arena, diags, source, from, to);
    return statements(&p, false);
}
