/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as values in traces (docs/tessla-language.md A.9): numbers, Bools and strings with their
 * operators. */
#include <string.h>

#include "monitor/text_in.h"

enum {
    LEVELS = 8,
    DEPTH_MOST = 64
};

struct infix {
    const char *text;
    enum ct_mon_op op;
    enum ct_mon_type_kind of, result; /* types of the operands and the result; TY_ERROR: any, both operands
                                       * alike */
};

/* by level, weakest binding first; an operator comes before its prefixes */
static const struct infix levels[LEVELS][11] = {
    {{"||", OP_BITOR, TY_BOOL, TY_BOOL}},
    {{"&&", OP_BITAND, TY_BOOL, TY_BOOL}},
    {{"==", OP_EQ, TY_ERROR, TY_BOOL},
     {"!=", OP_NE, TY_ERROR, TY_BOOL},
     {"<=.", OP_FLE, TY_FLOAT, TY_BOOL},
     {">=.", OP_FGE, TY_FLOAT, TY_BOOL},
     {"<.", OP_FLT, TY_FLOAT, TY_BOOL},
     {">.", OP_FGT, TY_FLOAT, TY_BOOL},
     {"<=", OP_LE, TY_INT, TY_BOOL},
     {">=", OP_GE, TY_INT, TY_BOOL},
     {"<", OP_LT, TY_INT, TY_BOOL},
     {">", OP_GT, TY_INT, TY_BOOL}},
    {{"^", OP_BITXOR, TY_INT, TY_INT}, {"|", OP_BITOR, TY_INT, TY_INT}},
    {{"&", OP_BITAND, TY_INT, TY_INT}},
    {{"<<", OP_SHL, TY_INT, TY_INT}, {">>", OP_SHR, TY_INT, TY_INT}},
    {{"+.", OP_FADD, TY_FLOAT, TY_FLOAT},
     {"-.", OP_FSUB, TY_FLOAT, TY_FLOAT},
     {"+", OP_ADD, TY_INT, TY_INT},
     {"-", OP_SUB, TY_INT, TY_INT}},
    {{"*.", OP_FMUL, TY_FLOAT, TY_FLOAT},
     {"/.", OP_FDIV, TY_FLOAT, TY_FLOAT},
     {"*", OP_MUL, TY_INT, TY_INT},
     {"/", OP_DIV, TY_INT, TY_INT},
     {"%", OP_MOD, TY_INT, TY_INT}},
};

struct scalar {
    enum ct_mon_type_kind kind;
    struct ct_mon_cell cell;
};

static bool expression(struct ct_mon_value_in *in, unsigned level, struct scalar *out);

/* Returns whether the operator is here. Its characters may instead begin a comment or "->", or be half of
 * "||" or "&&". */
static bool is_operator(const struct ct_mon_value_in *in, const char *text)
{
    const size_t n = strlen(text);
    const char *behind = in->p + n;
    if ((size_t)(in->end - in->p) < n || memcmp(in->p, text, n) != 0)
        return false;
    const char next = behind < in->end ? *behind : ' ';
    if (n == 1 && (*text == '|' || *text == '&'))
        return next != *text;
    return !(n == 1 && *text == '-' && (next == '-' || next == '>'));
}

static bool apply(struct ct_mon_value_in *in, enum ct_mon_op op, const struct ct_mon_cell *args, unsigned n,
                  struct scalar *out)
{
    ct_mon_op_eval(op, NULL, in->heap, args, n, &out->cell);
    in->error = cell_err(&out->cell);
    return in->error == E_NONE;
}

static bool prefix(struct ct_mon_value_in *in, struct scalar *out)
{
    static const struct infix all[] = {{"-.", OP_FNEG, TY_FLOAT, TY_FLOAT},
                                       {"-", OP_NEG, TY_INT, TY_INT},
                                       {"!", OP_NOT, TY_BOOL, TY_BOOL},
                                       {"~", OP_BITNOT, TY_INT, TY_INT}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!is_operator(in, all[i].text))
            continue;
        in->p += strlen(all[i].text);
        struct scalar x;
        if (!expression(in, LEVELS, &x) || x.kind != all[i].of)
            return false;
        out->kind = all[i].result;
        return apply(in, all[i].op, &x.cell, 1, out);
    }
    return false;
}

static bool choice(struct ct_mon_value_in *in, struct scalar *out)
{
    struct scalar condition;
    struct scalar branches[2];
    if (!expression(in, 0, &condition) || condition.kind != TY_BOOL ||
        !ct_mon_value_accept_word(in, "then") || !expression(in, 0, &branches[0]) ||
        !ct_mon_value_accept_word(in, "else") || !expression(in, 0, &branches[1]) ||
        branches[0].kind != branches[1].kind)
        return false;
    *out = branches[condition.cell.v.i ? 0 : 1];
    return true;
}

static bool primary(struct ct_mon_value_in *in, struct scalar *out)
{
    static const enum ct_mon_type_kind kinds[] = {TY_FLOAT, TY_INT, TY_BOOL, TY_STRING};
    ct_mon_value_skip_blank(in);
    if (in->p < in->end && *in->p == '(') {
        in->p++;
        if (!expression(in, 0, out))
            return false;
        ct_mon_value_skip_blank(in);
        return in->p < in->end && *in->p++ == ')';
    }
    if (ct_mon_value_accept_word(in, "if"))
        return choice(in, out);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *at = in->p;
        out->kind = kinds[i];
        if (ct_mon_value_literal(in, kinds[i], &out->cell))
            return true;
        in->p = at;
    }
    return prefix(in, out);
}

static const struct infix *operator_at(struct ct_mon_value_in *in, unsigned level)
{
    ct_mon_value_skip_blank(in);
    for (size_t i = 0; i < sizeof *levels / sizeof **levels && levels[level][i].text; i++)
        if (is_operator(in, levels[level][i].text))
            return &levels[level][i];
    return NULL;
}

/* Reads operators of this level and of all levels that bind tighter. All associate to the left. */
static bool expression(struct ct_mon_value_in *in, unsigned level, struct scalar *out)
{
    if (in->depth >= DEPTH_MOST)
        return false;
    if (level == LEVELS) {
        in->depth++;
        const bool fine = primary(in, out);
        in->depth--;
        return fine;
    }
    bool fine = expression(in, level + 1, out);
    const struct infix *o;
    while (fine && (o = operator_at(in, level)) != NULL) {
        struct scalar right;
        in->p += strlen(o->text);
        fine = expression(in, level + 1, &right) && out->kind == right.kind &&
               (o->of == TY_ERROR || o->of == out->kind);
        const struct ct_mon_cell args[] = {out->cell, right.cell};
        out->kind = o->result;
        fine = fine && apply(in, o->op, args, 2, out);
    }
    return fine;
}

bool ct_mon_value_insertion(struct ct_mon_value_in *in, struct ct_mon_text *t)
{
    struct scalar x;
    if (!expression(in, 0, &x))
        return false;
    const struct ct_mon_type type = {.kind = x.kind, .value = true};
    ct_mon_print_value(t, &x.cell, &type, true);
    return !t->failed;
}

bool ct_mon_value_expression(struct ct_mon_value_in *in, enum ct_mon_type_kind kind, struct ct_mon_cell *out)
{
    static const char *const names[] = {
        [TY_INT] = "Int", [TY_FLOAT] = "Float", [TY_BOOL] = "Bool", [TY_STRING] = "String"};
    struct scalar x;
    if (!expression(in, 0, &x))
        return false;
    in->found_type = names[x.kind];
    *out = x.cell;
    return x.kind == kind;
}
