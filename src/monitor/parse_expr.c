/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of the stream dialect: precedence climbing over one table. */
#include "monitor/parse.h"

#include <string.h>

/* binding strength of infix operators, in the order of enum ct_mon_token from T_PLUS on */
static const unsigned char STRENGTH[] = {
    [T_STAR - T_PLUS] = 9,  [T_SLASH - T_PLUS] = 9,  [T_PERCENT - T_PLUS] = 9,
    [T_FSTAR - T_PLUS] = 9, [T_FSLASH - T_PLUS] = 9, [0] = 8,
    [T_MINUS - T_PLUS] = 8, [T_FPLUS - T_PLUS] = 8,  [T_FMINUS - T_PLUS] = 8,
    [T_SHL - T_PLUS] = 7,   [T_SHR - T_PLUS] = 7,    [T_AMP - T_PLUS] = 6,
    [T_PIPE - T_PLUS] = 5,  [T_CARET - T_PLUS] = 5,  [T_EQ - T_PLUS] = 4,
    [T_NE - T_PLUS] = 4,    [T_LT - T_PLUS] = 4,     [T_GT - T_PLUS] = 4,
    [T_LE - T_PLUS] = 4,    [T_GE - T_PLUS] = 4,     [T_FLT - T_PLUS] = 4,
    [T_FGT - T_PLUS] = 4,   [T_FLE - T_PLUS] = 4,    [T_FGE - T_PLUS] = 4,
    [T_AND - T_PLUS] = 3,   [T_OR - T_PLUS] = 2,
};

static struct ct_mon_ast *ast_new(struct ct_mon_parser *p, enum ct_mon_ast_kind kind)
{
    struct ct_mon_ast *e = ARENA_NEW(p->arena, struct ct_mon_ast);
    e->kind = kind;
    e->span = lex_span(&p->lx);
    return e;
}

/* Ends the span after `last`, the last token read, so that it includes no trailing blanks. */
static struct ct_mon_ast *close_span(struct ct_mon_ast *e, struct ct_mon_span last)
{
    e->span = span_join(e->span, last);
    return e;
}

static struct ct_mon_ast *integer(struct ct_mon_parser *p)
{
    struct ct_mon_ast *e = ast_new(p, A_INT);
    e->integer = (int64_t)p->lx.integer;
    e->digits = ct_mon_lex_big_digits(&p->lx);
    ct_mon_lex_next(&p->lx);
    if (p->lx.token == T_ID) {
        if (e->digits)
            ct_mon_diag_error(p->diags, e->span, "Time literal does not fit 63 bits");
        e->kind = A_TIME;
        e->name = p->lx.name;
        e->name_span = lex_span(&p->lx);
        close_span(e, e->name_span);
        ct_mon_lex_next(&p->lx);
    }
    return e;
}

/* Copies a conversion such as %-5.2f from text[*i] and moves *i past it. */
static const char *conversion(struct ct_mon_parser *p, const char *text, size_t size, size_t *i)
{
    size_t k = *i + 1;
    while (k < size && strchr("-+ 0#,(", text[k]) && text[k])
        k++;
    while (k < size && text[k] >= '0' && text[k] <= '9')
        k++;
    if (k < size && text[k] == '.')
        for (k++; k < size && text[k] >= '0' && text[k] <= '9';)
            k++;
    if (k < size && ((text[k] | 0x20) >= 'a' && (text[k] | 0x20) <= 'z'))
        k++;
    else if (k < size && text[k] == '%')
        k++;
    const char *format = ct_mon_arena_copy(p->arena, text + *i, k - *i);
    *i = k;
    return format;
}

/* Splits the text of an f-string. A conversion directly after an insertion belongs to it; %% and %n are
 * literal anywhere. */
static void format_text(struct ct_mon_parser *p, struct ct_mon_ast *e, size_t *cap, const char *text,
                        size_t size)
{
    char *out = ct_mon_arena_alloc(p->arena, size + 1);
    size_t n = 0;
    for (size_t i = 0; i < size;) {
        if (text[i] == '\0' && i + 1 < size) {
            out[n++] = text[i + 1];
            i += 2;
            continue;
        }
        if (text[i] != '%') {
            out[n++] = text[i++];
            continue;
        }
        size_t begin = i;
        const char *format = conversion(p, text, size, &i);
        char last = format[strlen(format) - 1];
        struct ct_mon_ast_part *before = e->nparts ? &e->parts[e->nparts - 1] : NULL;
        if (!strcmp(format, "%%")) {
            out[n++] = '%';
        } else if (last == 'n') {
            out[n++] = '\n';
        } else if (begin == 0 && before && before->value && !before->format) {
            before->format = format;
        } else {
            ct_mon_diag_error(p->diags, lex_span(&p->lx),
                              "Format conversion %s needs an argument: put $name or ${expression} before it",
                              format);
        }
    }
    if (n) {
        struct ct_mon_ast_part part = {.text = out, .size = n};
        ARENA_PUSH(p->arena, e->parts, e->nparts, *cap, part);
    }
}

static void plain_text(struct ct_mon_parser *p, struct ct_mon_ast *e, size_t *cap, const char *text,
                       size_t size)
{
    char *out = ct_mon_arena_alloc(p->arena, size + 1);
    struct ct_mon_ast_part part = {.text = out};
    for (size_t i = 0; i < size; i++)
        if (text[i])
            out[part.size++] = text[i];
    ARENA_PUSH(p->arena, e->parts, e->nparts, *cap, part);
}

static struct ct_mon_ast *string(struct ct_mon_parser *p)
{
    struct ct_mon_ast *e = ast_new(p, A_STRING);
    bool format = p->lx.token == T_FSTRING;
    size_t cap = 0;
    for (;;) {
        const char *text = NULL;
        size_t size = 0;
        enum ct_mon_string_part kind = ct_mon_lex_string(&p->lx, &text, &size);
        struct ct_mon_ast_part part = {0};
        close_span(e, lex_span(&p->lx));
        if (kind == PART_END)
            break;
        if (kind == PART_TEXT) {
            (format ? format_text : plain_text)(p, e, &cap, text, size);
            continue;
        }
        if (kind == PART_NAME) {
            part.value = ast_new(p, A_NAME);
            part.value->name = text;
        } else {
            ct_mon_lex_next(&p->lx);
            ct_mon_parse_skip_nl(p);
            part.value = ct_mon_parse_expr(p);
            ct_mon_parse_skip_nl(p);
            if (p->failed)
                return e;
            if (p->lx.token != T_RBRACE) {
                ct_mon_parse_error(p, "'}' after the inserted expression");
                return e;
            }
        }
        ARENA_PUSH(p->arena, e->parts, e->nparts, cap, part);
    }
    ct_mon_lex_next(&p->lx);
    return e;
}

/* Returns whether the parameters of a lambda follow after '(': only they have "name :", or end in ") =>". */
static bool is_lambda(struct ct_mon_parser *p)
{
    struct ct_mon_lexer lx = p->lx;
    lx.quiet = true;
    while (lx.token == T_NEWLINE)
        ct_mon_lex_next(&lx);
    while (lx.token == T_ID) {
        ct_mon_lex_next(&lx);
        if (lx.token == T_COLON)
            return true;
        if (lx.token == T_COMMA)
            ct_mon_lex_next(&lx);
        while (lx.token == T_NEWLINE)
            ct_mon_lex_next(&lx);
    }
    if (lx.token != T_RPAREN)
        return false;
    ct_mon_lex_next(&lx);
    return lx.token == T_ARROW;
}

static struct ct_mon_ast *lambda(struct ct_mon_parser *p, struct ct_mon_span begin)
{
    struct ct_mon_ast *e = ast_new(p, A_LAMBDA);
    e->span = begin;
    e->lambda = ARENA_NEW(p->arena, struct ct_mon_ast_def);
    e->lambda->name_span = begin;
    ct_mon_parse_params(p, e->lambda);
    ct_mon_parse_expect(p, T_ARROW, "'=>'");
    ct_mon_parse_skip_nl(p);
    e->lambda->body = ct_mon_parse_expr(p);
    e->lambda->span = close_span(e, e->lambda->body->span)->span;
    return e;
}

static struct ct_mon_ast *parenthesis(struct ct_mon_parser *p)
{
    struct ct_mon_span begin = lex_span(&p->lx);
    ct_mon_lex_next(&p->lx);
    if (is_lambda(p))
        return lambda(p, begin);
    struct ct_mon_ast *e = ast_new(p, A_TUPLE);
    size_t cap = 0;
    bool comma = false;
    ct_mon_parse_skip_nl(p);
    while (!p->failed && p->lx.token != T_RPAREN) {
        struct ct_mon_ast_arg arg = {.value = ct_mon_parse_expr(p)};
        ARENA_PUSH(p->arena, e->args, e->nargs, cap, arg);
        comma = ct_mon_parse_comma(p);
        if (!comma)
            break;
    }
    e->span = span_join(begin, lex_span(&p->lx));
    ct_mon_parse_expect(p, T_RPAREN, "an operator, ',' or ')'");
    if (e->nargs == 1 && !comma && !p->failed) {
        struct ct_mon_ast *inner = e->args[0].value;
        inner->span = e->span;
        return inner;
    }
    return e;
}

static void record_members(struct ct_mon_parser *p, struct ct_mon_ast *e)
{
    size_t cap = 0;
    e->kind = A_RECORD;
    while (!p->failed && p->lx.token != T_RBRACE) {
        struct ct_mon_ast_arg arg = {.name = p->lx.name, .name_span = lex_span(&p->lx)};
        if (p->lx.token != T_ID) {
            ct_mon_parse_error(p, "the name of a member");
            return;
        }
        arg.value = ast_new(p, A_NAME);
        arg.value->name = arg.name;
        ct_mon_lex_next(&p->lx);
        if (p->lx.token == T_ASSIGN || p->lx.token == T_COLON) {
            ct_mon_lex_next(&p->lx);
            ct_mon_parse_skip_nl(p);
            arg.value = ct_mon_parse_expr(p);
        }
        ARENA_PUSH(p->arena, e->args, e->nargs, cap, arg);
        if (!ct_mon_parse_comma(p))
            break;
    }
}

/* Parses a record or a block after '{'. It is a record if "name =", "name :", "name ," or "}" follows. */
static struct ct_mon_ast *brace(struct ct_mon_parser *p)
{
    struct ct_mon_ast *e = ast_new(p, A_BLOCK);
    struct ct_mon_span begin = lex_span(&p->lx);
    if (p->lx.token == T_DOLLAR_LBRACE)
        ct_mon_diag_warning(p->diags, begin, "'${' is deprecated; write '{' instead");
    bool record = p->lx.token == T_DOLLAR_LBRACE;
    ct_mon_lex_next(&p->lx);
    ct_mon_parse_skip_nl(p);
    if (p->lx.token == T_RBRACE) {
        record = true;
    } else if (p->lx.token == T_ID) {
        struct ct_mon_lexer lx = p->lx;
        lx.quiet = true;
        ct_mon_lex_next(&lx);
        while (lx.token == T_NEWLINE)
            ct_mon_lex_next(&lx);
        record |= lx.token == T_ASSIGN || lx.token == T_COLON || lx.token == T_COMMA || lx.token == T_RBRACE;
    }
    if (record) {
        record_members(p, e);
    } else {
        ct_mon_parse_defs(p, e);
        if (p->lx.token == T_RETURN) {
            ct_mon_diag_warning(p->diags, lex_span(&p->lx),
                                "'return' is deprecated; the last expression is the result");
            ct_mon_lex_next(&p->lx);
        }
        e->a = ct_mon_parse_expr(p);
    }
    ct_mon_parse_skip_nl(p);
    e->span = span_join(begin, lex_span(&p->lx));
    ct_mon_parse_expect(p, T_RBRACE, record ? "',' or '}'" : "'}'");
    return e;
}

static struct ct_mon_ast *if_expr(struct ct_mon_parser *p)
{
    struct ct_mon_ast *e = ast_new(p, A_IF);
    e->flag = ct_mon_parse_accept(p, T_STATIC);
    ct_mon_parse_expect(p, T_IF, "'if'");
    e->a = ct_mon_parse_expr(p);
    ct_mon_parse_skip_nl(p);
    ct_mon_parse_expect(p, T_THEN, "'then'");
    ct_mon_parse_skip_nl(p);
    e->b = ct_mon_parse_expr(p);
    ct_mon_parse_skip_nl(p);
    ct_mon_parse_expect(p, T_ELSE, "'else'");
    ct_mon_parse_skip_nl(p);
    e->c = ct_mon_parse_expr(p);
    return close_span(e, e->c->span);
}

static struct ct_mon_ast *primary(struct ct_mon_parser *p)
{
    struct ct_mon_ast *e;
    struct ct_mon_lexer before;
    switch (p->lx.token) {
    case T_INT:
        return integer(p);
    case T_FLOAT:
        e = ast_new(p, A_FLOAT);
        e->real = p->lx.real;
        ct_mon_lex_next(&p->lx);
        return e;
    case T_STRING:
    case T_FSTRING:
        return string(p);
    case T_TRUE:
    case T_FALSE:
        e = ast_new(p, A_BOOL);
        e->flag = p->lx.token == T_TRUE;
        ct_mon_lex_next(&p->lx);
        return e;
    case T_ID:
        e = ast_new(p, A_NAME);
        e->name = p->lx.name;
        before = p->lx;
        ct_mon_lex_next(&p->lx);
        if (!strcmp(e->name, "not") &&
            (p->lx.token == T_ID || p->lx.token == T_TRUE || p->lx.token == T_FALSE)) {
            p->lx = before;
            ct_mon_parse_error(p, "an expression");
        }
        return e;
    case T_ROOT:
        e = ast_new(p, A_ROOT);
        ct_mon_lex_next(&p->lx);
        ct_mon_parse_expect(p, T_DOT, "'.'");
        close_span(e, lex_span(&p->lx));
        e->name = p->lx.name;
        ct_mon_parse_expect(p, T_ID, "a name");
        return e;
    case T_LPAREN:
        return parenthesis(p);
    case T_LBRACE:
    case T_DOLLAR_LBRACE:
        return brace(p);
    case T_IF:
    case T_STATIC:
        return if_expr(p);
    default:
        p->failed |= p->lx.token < 64 && p->reserved >> p->lx.token & 1;
        ct_mon_parse_error(p, "an expression");
        return ast_new(p, A_ERROR);
    }
}

static void call_args(struct ct_mon_parser *p, struct ct_mon_ast *e)
{
    size_t cap = 0;
    ct_mon_lex_next(&p->lx);
    ct_mon_parse_skip_nl(p);
    while (!p->failed && p->lx.token != T_RPAREN) {
        struct ct_mon_ast_arg arg = {0};
        if (p->lx.token == T_ID) {
            struct ct_mon_lexer lx = p->lx;
            lx.quiet = true;
            ct_mon_lex_next(&lx);
            if (lx.token == T_ASSIGN) {
                arg.name = p->lx.name;
                arg.name_span = lex_span(&p->lx);
                ct_mon_lex_next(&p->lx);
                ct_mon_lex_next(&p->lx);
                ct_mon_parse_skip_nl(p);
            }
        }
        arg.value = ct_mon_parse_expr(p);
        ARENA_PUSH(p->arena, e->args, e->nargs, cap, arg);
        if (!ct_mon_parse_comma(p))
            break;
    }
    close_span(e, lex_span(&p->lx));
    ct_mon_parse_expect(p, T_RPAREN, "an operator, ',' or ')'");
}

static struct ct_mon_ast *postfix(struct ct_mon_parser *p)
{
    struct ct_mon_ast *e = primary(p);
    /* the chain is parsed by a loop, but its tree is as deep as the chain is long */
    unsigned length = 0;
    while (!p->failed) {
        if (p->lx.token != T_LPAREN && p->lx.token != T_LBRACKET && p->lx.token != T_DOT)
            return e;
        if (++length > PARSE_DEPTH) {
            ct_mon_diag_error(p->diags, lex_span(&p->lx), "Nested more than %d levels deep", PARSE_DEPTH);
            p->failed = true;
            return e;
        }
        struct ct_mon_ast *outer = ast_new(p, A_CALL);
        outer->a = e;
        outer->span = e->span;
        if (p->lx.token == T_LPAREN) {
            call_args(p, outer);
        } else if (p->lx.token == T_LBRACKET) {
            outer->kind = A_TYPED;
            ct_mon_lex_next(&p->lx);
            ct_mon_parse_type_list(p, T_RBRACKET, &outer->types, &outer->ntypes);
            outer->span.to = p->lx.from;
        } else {
            outer->kind = A_MEMBER;
            ct_mon_lex_next(&p->lx);
            ct_mon_parse_skip_nl(p);
            outer->name = p->lx.name;
            outer->name_span = lex_span(&p->lx);
            close_span(outer, outer->name_span);
            if (!ct_mon_parse_expect(p, T_ID, "the name of a member"))
                outer->kind = A_ERROR;
        }
        e = outer;
    }
    return e;
}

static struct ct_mon_ast *unary(struct ct_mon_parser *p)
{
    enum ct_mon_token op = p->lx.token;
    if (op != T_NOT && op != T_TILDE && op != T_MINUS && op != T_FMINUS)
        return postfix(p);
    if (!ct_mon_parse_enter(p))
        return ast_new(p, A_ERROR);
    struct ct_mon_ast *e = ast_new(p, A_UNARY);
    e->op = op;
    ct_mon_lex_next(&p->lx);
    ct_mon_parse_skip_nl(p);
    e->a = unary(p);
    close_span(e, e->a->span);
    p->depth--;
    return e;
}

static unsigned strength(enum ct_mon_token token)
{
    return token >= T_PLUS && token <= T_OR ? STRENGTH[token - T_PLUS] : 0;
}

static struct ct_mon_ast *binary(struct ct_mon_parser *p, unsigned least)
{
    struct ct_mon_ast *left = unary(p);
    unsigned length = 0;
    while (!p->failed && strength(p->lx.token) >= least) {
        struct ct_mon_ast *e = ast_new(p, A_BINARY);
        if (++length > PARSE_DEPTH * 4) {
            ct_mon_diag_error(p->diags, e->span, "Expression of more than %d operators in a row",
                              PARSE_DEPTH * 4);
            p->failed = true;
            return left;
        }
        e->op = p->lx.token;
        e->span = left->span;
        ct_mon_lex_next(&p->lx);
        ct_mon_parse_skip_nl(p);
        e->a = left;
        e->b = binary(p, strength(e->op) + 1);
        left = close_span(e, e->b->span);
    }
    return left;
}

struct ct_mon_ast *ct_mon_parse_expr(struct ct_mon_parser *p)
{
    if (!ct_mon_parse_enter(p))
        return ast_new(p, A_ERROR);
    struct ct_mon_ast *e = binary(p, 1);
    p->depth--;
    return e;
}
