/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/parse.h"

static struct ct_mon_ast_type *type_new(struct ct_mon_parser *p, enum ct_mon_ast_type_kind kind)
{
    struct ct_mon_ast_type *t = ARENA_NEW(p->arena, struct ct_mon_ast_type);
    t->kind = kind;
    t->span = lex_span(&p->lx);
    return t;
}

void ct_mon_parse_type_list(struct ct_mon_parser *p, enum ct_mon_token close, struct ct_mon_ast_type ***list,
                            size_t *n)
{
    size_t cap = 0;
    ct_mon_parse_skip_nl(p);
    while (!p->failed && p->lx.token != close) {
        ARENA_PUSH(p->arena, *list, *n, cap, ct_mon_parse_type(p));
        if (!ct_mon_parse_comma(p))
            break;
    }
    ct_mon_parse_expect(p, close, "',' or a closing bracket");
}

static struct ct_mon_ast_type *record_type(struct ct_mon_parser *p)
{
    struct ct_mon_ast_type *t = type_new(p, AT_RECORD);
    size_t cap = 0, n = 0, name_cap = 0;
    ct_mon_lex_next(&p->lx);
    ct_mon_parse_skip_nl(p);
    while (!p->failed && p->lx.token != T_RBRACE) {
        if (ct_mon_parse_accept(p, T_DOTDOT)) {
            t->open = true;
            ct_mon_parse_skip_nl(p);
            break;
        }
        const char *name = p->lx.name;
        if (!ct_mon_parse_expect(p, T_ID, "the name of a member"))
            break;
        ct_mon_parse_expect(p, T_COLON, "':' and the type of the member");
        ct_mon_parse_skip_nl(p);
        ARENA_PUSH(p->arena, t->names, n, name_cap, name);
        ARENA_PUSH(p->arena, t->args, t->nargs, cap, ct_mon_parse_type(p));
        if (!ct_mon_parse_comma(p))
            break;
    }
    ct_mon_parse_expect(p, T_RBRACE, "',' or '}'");
    return t;
}

struct ct_mon_ast_type *ct_mon_parse_type(struct ct_mon_parser *p)
{
    ct_mon_parse_skip_evaluation(p);
    struct ct_mon_ast_type *t = type_new(p, AT_NAME);
    if (!ct_mon_parse_enter(p))
        return t;
    struct ct_mon_span begin = lex_span(&p->lx);
    if (p->lx.token == T_ID) {
        t->name = p->lx.name;
        ct_mon_lex_next(&p->lx);
        if (ct_mon_parse_accept(p, T_LBRACKET))
            ct_mon_parse_type_list(p, T_RBRACKET, &t->args, &t->nargs);
        else if (p->lx.token == T_LT)
            ct_mon_parse_error_with(p, "'[' and the type of the elements", "; write Events[Int]");
    } else if (p->lx.token == T_LPAREN) {
        ct_mon_lex_next(&p->lx);
        t->kind = AT_TUPLE;
        ct_mon_parse_type_list(p, T_RPAREN, &t->args, &t->nargs);
        if (ct_mon_parse_accept(p, T_ARROW)) {
            ct_mon_parse_skip_nl(p);
            size_t cap = 0;
            struct ct_mon_ast_type *result = ct_mon_parse_type(p), **args = NULL;
            size_t n = 0;
            for (size_t i = 0; i < t->nargs; i++)
                ARENA_PUSH(p->arena, args, n, cap, t->args[i]);
            ARENA_PUSH(p->arena, args, n, cap, result);
            t->kind = AT_FUN;
            t->args = args;
            t->nargs = n;
        } else if (t->nargs == 1) {
            t = t->args[0];
        }
    } else if (p->lx.token == T_LBRACE || p->lx.token == T_DOLLAR_LBRACE) {
        t = record_type(p);
    } else {
        ct_mon_parse_error(p, "a type");
    }
    t->span = span_join(begin, (struct ct_mon_span){begin.source, begin.from, p->lx.from});
    p->depth--;
    return t;
}
