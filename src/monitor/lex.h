/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the stream dialect (docs/tessla-language.md A.5); the watchpoint dialect uses the
 * same lexer and ignores newlines. */
#pragma once

#include "monitor/diag.h"

enum ct_mon_token {
    T_END,
    T_NEWLINE, /* a line break or ';' */
    T_ID,
    T_INT,
    T_FLOAT,
    T_STRING,  /* the opening quote; continue with ct_mon_lex_string */
    T_FSTRING, /* f" */
    T_BAD,     /* was reported already */
    /* keywords */
    T_DEF,
    T_WHERE,
    T_INCLUDE,
    T_TYPE,
    T_MODULE,
    T_IMPORT,
    T_IN,
    T_OUT,
    T_PRINT,
    T_AS,
    T_STATIC,
    T_IF,
    T_THEN,
    T_ELSE,
    T_RETURN,
    T_BUILTIN,
    T_ROOT,
    T_TRUE,
    T_FALSE,
    /* binary operators first, in the order of STRENGTH in parse_expr.c */
    T_PLUS,
    T_MINUS,
    T_STAR,
    T_SLASH,
    T_PERCENT,
    T_FPLUS,
    T_FMINUS,
    T_FSTAR,
    T_FSLASH,
    T_AMP,
    T_PIPE,
    T_CARET,
    T_SHL,
    T_SHR,
    T_EQ,
    T_NE,
    T_LT,
    T_GT,
    T_LE,
    T_GE,
    T_FLT,
    T_FGT,
    T_FLE,
    T_FGE,
    T_AND,
    T_OR,
    T_NOT,
    T_TILDE,
    T_LPAREN,
    T_RPAREN,
    T_LBRACKET,
    T_RBRACKET,
    T_LBRACE,
    T_DOLLAR_LBRACE,
    T_RBRACE,
    T_COMMA,
    T_COLON,
    T_ASSIGN, /* = or := */
    T_ARROW,
    T_DOT,
    T_DOTDOT,
    T_AT,
    T_DOLLAR,   /* '$', only in words of the watchpoint dialect */
    T_QUESTION, /* '?', only in regular expressions of the watchpoint dialect */
};

struct ct_mon_lexer {
    struct ct_mon_arena *arena;
    struct ct_mon_diags *diags;
    const struct ct_mon_source *source;
    uint32_t pos, end;
    bool quiet; /* look-ahead: report no errors */
    /* the current token */
    enum ct_mon_token token;
    uint32_t from, to;
    uint32_t before;  /* end of the token before, newlines left out */
    const char *name; /* T_ID: interned; T_COLON: the text, ":" or ":=" */
    uint64_t integer;
    bool integer_over; /* the integer does not fit into 64 bits */
    bool integer_big;  /* the integer does not fit into 63 bits; its digits are from..to */
    double real;
};

void ct_mon_lex_init(struct ct_mon_lexer *lx, struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                     const struct ct_mon_source *source);
/* Starts reading tokens at byte `from` of the source, up to byte `to`. */
void ct_mon_lex_part(struct ct_mon_lexer *lx, struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                     const struct ct_mon_source *source, uint32_t from, uint32_t to);
void ct_mon_lex_next(struct ct_mon_lexer *lx);

/* Returns the text of the current integer, for ct_mon_elab_integer, when it does not fit into 63 bits; else
 * NULL. */
const char *ct_mon_lex_big_digits(struct ct_mon_lexer *lx);

/* Describes a token for messages: "identifier", "'+'" and so on. */
const char *ct_mon_token_text(enum ct_mon_token token);

enum ct_mon_string_part {
    PART_TEXT, /* *text and *size */
    PART_NAME, /* $name: *text is the interned name */
    PART_EXPR, /* ${: the caller reads an expression with ct_mon_lex_next, up to its '}' */
    PART_END,
};

/* Reads the next part of a string, after the opening quote or the previous part. The part is from..to. */
enum ct_mon_string_part ct_mon_lex_string(struct ct_mon_lexer *lx, const char **text, size_t *size);

static inline struct ct_mon_span lex_span(const struct ct_mon_lexer *lx)
{
    return (struct ct_mon_span){lx->source, lx->from, lx->to};
}

/* Reads a word of the watchpoint dialect, as after codeLine: letters, digits and _ . / + - $. With `is_path`,
 * for variables, also [ ] and ::. */
const char *ct_mon_lex_word(struct ct_mon_lexer *lx, bool is_path);
