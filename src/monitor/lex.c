/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/lex.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/digits.h"
#include "base/utf8.h"

static const struct {
    const char *text;
    enum ct_mon_token token;
} KEYWORDS[] = {
    {"def", T_DEF},
    {"where", T_WHERE},
    {"include", T_INCLUDE},
    {"type", T_TYPE},
    {"module", T_MODULE},
    {"import", T_IMPORT},
    {"imexport", T_IMPORT},
    {"in", T_IN},
    {"out", T_OUT},
    {"print", T_PRINT},
    {"as", T_AS},
    {"static", T_STATIC},
    {"if", T_IF},
    {"then", T_THEN},
    {"else", T_ELSE},
    {"return", T_RETURN},
    {"true", T_TRUE},
    {"__root__", T_ROOT},
    {"__builtin__", T_BUILTIN},
    {"false", T_FALSE},
};

/* operators, longest first: the first match is the token */
static const struct {
    char text[4];
    enum ct_mon_token token;
} OPERATORS[] = {
    {"<=.", T_FLE},    {">=.", T_FGE},  {"+.", T_FPLUS},  {"-.", T_FMINUS}, {"*.", T_FSTAR},
    {"/.", T_FSLASH},  {"<<", T_SHL},   {">>", T_SHR},    {"==", T_EQ},     {"!=", T_NE},
    {"<=", T_LE},      {">=", T_GE},    {"<.", T_FLT},    {">.", T_FGT},    {"&&", T_AND},
    {"||", T_OR},      {"=>", T_ARROW}, {":=", T_ASSIGN}, {"..", T_DOTDOT}, {"${", T_DOLLAR_LBRACE},
    {"+", T_PLUS},     {"-", T_MINUS},  {"*", T_STAR},    {"/", T_SLASH},   {"%", T_PERCENT},
    {"&", T_AMP},      {"|", T_PIPE},   {"^", T_CARET},   {"~", T_TILDE},   {"<", T_LT},
    {">", T_GT},       {"!", T_NOT},    {"(", T_LPAREN},  {")", T_RPAREN},  {"[", T_LBRACKET},
    {"]", T_RBRACKET}, {"{", T_LBRACE}, {"}", T_RBRACE},  {",", T_COMMA},   {":", T_COLON},
    {"=", T_ASSIGN},   {".", T_DOT},    {"@", T_AT},      {"$", T_DOLLAR},  {"?", T_QUESTION},
};

const char *ct_mon_token_text(enum ct_mon_token token)
{
    switch (token) {
    case T_END:
        return "end of input";
    case T_NEWLINE:
        return "end of line";
    case T_ID:
        return "name";
    case T_INT:
        return "integer";
    case T_FLOAT:
        return "number";
    case T_STRING:
    case T_FSTRING:
        return "string";
    case T_BAD:
        return "invalid character";
    case T_ASSIGN:
        return "'='";
    default:
        break;
    }
    static const char quoted[][16] = {"'def'",         "'where'",    "'include'", "'type'",  "'module'",
                                      "'import'",      "'in'",       "'out'",     "'print'", "'as'",
                                      "'static'",      "'if'",       "'then'",    "'else'",  "'return'",
                                      "'__builtin__'", "'__root__'", "'true'",    "'false'"};
    if (token >= T_DEF && token <= T_FALSE)
        return quoted[token - T_DEF];
    static const char ops[][6] = {"'+'",  "'-'",  "'*'",  "'/'",  "'%'",   "'+.'",  "'-.'", "'*.'", "'/.'",
                                  "'&'",  "'|'",  "'^'",  "'<<'", "'>>'",  "'=='",  "'!='", "'<'",  "'>'",
                                  "'<='", "'>='", "'<.'", "'>.'", "'<=.'", "'>=.'", "'&&'", "'||'", "'!'",
                                  "'~'",  "'('",  "')'",  "'['",  "']'",   "'{'",   "'${'", "'}'",  "','",
                                  "':'",  "'='",  "'=>'", "'.'",  "'..'",  "'@'",   "'$'",  "'?'"};
    return token >= T_PLUS ? ops[token - T_PLUS] : "?";
}

void ct_mon_lex_init(struct ct_mon_lexer *lx, struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                     const struct ct_mon_source *source)
{
    ct_mon_lex_part(lx, arena, diags, source, 0, (uint32_t)source->size);
}

void ct_mon_lex_part(struct ct_mon_lexer *lx, struct ct_mon_arena *arena, struct ct_mon_diags *diags,
                     const struct ct_mon_source *source, uint32_t from, uint32_t to)
{
    *lx = (struct ct_mon_lexer){
        .arena = arena, .diags = diags, .source = source, .pos = from, .end = to, .to = from};
    ct_mon_lex_next(lx);
}

static int at(const struct ct_mon_lexer *lx, uint32_t pos)
{
    return pos < lx->end ? (unsigned char)lx->source->text[pos] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Returns whether the byte can be part of a word of the watchpoint dialect. */
static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

/* signs and blanks beyond ASCII that no name contains, and what to write instead (NULL: unknown). Editors and
 * web pages put many of them in the place of the ASCII characters that were meant. */
static const struct {
    uint32_t first, last;
    const char *instead;
} SIGNS[] = {
    {0x0080, 0x009f, NULL},   {0x00a0, 0x00a0, "a blank"}, {0x00a1, 0x00a9, NULL},
    {0x00ab, 0x00ab, NULL},   {0x00ac, 0x00ac, "'!'"},     {0x00ad, 0x00b4, NULL},
    {0x00b6, 0x00b9, NULL},   {0x00bb, 0x00bf, NULL},      {0x00d7, 0x00d7, "'*'"},
    {0x00f7, 0x00f7, "'/'"},  {0x2000, 0x200c, "a blank"}, {0x2010, 0x2015, "'-'"},
    {0x2016, 0x2019, NULL},   {0x201a, 0x201a, "','"},     {0x201b, 0x201b, NULL},
    {0x201c, 0x201f, "'\"'"}, {0x2020, 0x202e, NULL},      {0x202f, 0x202f, "a blank"},
    {0x2030, 0x206f, NULL},   {0x2190, 0x2191, NULL},      {0x2192, 0x2192, "'=>'"},
    {0x2193, 0x2211, NULL},   {0x2212, 0x2212, "'-'"},     {0x2213, 0x2226, NULL},
    {0x2227, 0x2227, "'&&'"}, {0x2228, 0x2228, "'||'"},    {0x2229, 0x225f, NULL},
    {0x2260, 0x2260, "'!='"}, {0x2261, 0x2263, NULL},      {0x2264, 0x2264, "'<='"},
    {0x2265, 0x2265, "'>='"}, {0x2266, 0x22ff, NULL},      {0x3000, 0x3000, "a blank"},
    {0xfeff, 0xfeff, NULL},   {0xfffd, 0xfffd, NULL},
};

/* Returns the bytes of the letter at a position, or 0 when no name may contain what is there. Letters and
 * emoji beyond ASCII need no tables: all but SIGNS are letters. */
static uint32_t letter(const struct ct_mon_lexer *lx, uint32_t pos)
{
    const int c = at(lx, pos);
    if (c < 0x80)
        return is_letter(c);
    size_t length;
    const uint32_t character = ct_utf8_read(lx->source->text + pos, lx->end - pos, &length);
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (character >= SIGNS[i].first && character <= SIGNS[i].last)
            return 0;
    return (uint32_t)length;
}

/* Returns the end of the name at a position. */
static uint32_t name_end(const struct ct_mon_lexer *lx, uint32_t pos)
{
    for (uint32_t length; is_digit(at(lx, pos)) || letter(lx, pos); pos += length)
        length = is_digit(at(lx, pos)) ? 1 : letter(lx, pos);
    return pos;
}

static void error(struct ct_mon_lexer *lx, uint32_t from, uint32_t to, const char *text)
{
    if (!lx->quiet)
        ct_mon_diag_error(lx->diags, (struct ct_mon_span){lx->source, from, to}, "%s", text);
}

static void skip_blank(struct ct_mon_lexer *lx)
{
    for (;;) {
        int c = at(lx, lx->pos);
        if (c == ' ' || c == '\t' || c == '\r') {
            lx->pos++;
        } else if (c == '\\' && at(lx, lx->pos + 1) == '\n') {
            lx->pos += 2;
        } else if (c == '\\' && at(lx, lx->pos + 1) == '\r' && at(lx, lx->pos + 2) == '\n') {
            lx->pos += 3;
        } else if (c == '#' || (c == '-' && at(lx, lx->pos + 1) == '-')) {
            while (at(lx, lx->pos) >= 0 && at(lx, lx->pos) != '\n')
                lx->pos++;
        } else {
            return;
        }
    }
}

static void lex_integer(struct ct_mon_lexer *lx, uint32_t from, uint32_t to, unsigned base)
{
    lx->token = T_INT;
    lx->integer = 0;
    lx->integer_over = false;
    for (uint32_t p = from; p < to; p++) {
        uint64_t digit = (uint64_t)ct_hex_digit_any_case(at(lx, p));
        if (__builtin_mul_overflow(lx->integer, (uint64_t)base, &lx->integer) ||
            __builtin_add_overflow(lx->integer, digit, &lx->integer))
            lx->integer_over = true;
    }
    lx->integer_big = lx->integer_over || lx->integer > INT64_MAX;
}

const char *ct_mon_lex_big_digits(struct ct_mon_lexer *lx)
{
    return lx->integer_big ? ct_mon_arena_copy(lx->arena, lx->source->text + lx->from, lx->to - lx->from)
                           : NULL;
}

static void lex_number(struct ct_mon_lexer *lx)
{
    CT_C_LOCALE;
    uint32_t from = lx->pos, p = from;
    if (at(lx, p) == '0' && (at(lx, p + 1) | 0x20) == 'x' && ct_hex_digit_any_case(at(lx, p + 2)) < 0) {
        lx->token = T_BAD;
        lx->pos = name_end(lx, p + 1);
        error(lx, p, lx->pos, "Expected hexadecimal digits after '0x'");
        return;
    }
    if (at(lx, p) == '0' && (at(lx, p + 1) | 0x20) == 'x' && ct_hex_digit_any_case(at(lx, p + 2)) >= 0) {
        for (p += 2; ct_hex_digit_any_case(at(lx, p)) >= 0;)
            p++;
        lex_integer(lx, from + 2, p, 16);
        lx->pos = p;
        return;
    }
    while (is_digit(at(lx, p)))
        p++;
    bool real = false;
    if (at(lx, p) == '.' && is_digit(at(lx, p + 1))) {
        real = true;
        for (p++; is_digit(at(lx, p));)
            p++;
    }
    if (at(lx, p) == 'e') {
        uint32_t q = p + 1;
        if (at(lx, q) == '+' || at(lx, q) == '-')
            q++;
        if (is_digit(at(lx, q))) {
            real = true;
            for (p = q; is_digit(at(lx, p));)
                p++;
        }
    }
    lx->pos = p;
    if (!real) {
        lex_integer(lx, from, p, 10);
        return;
    }
    lx->token = T_FLOAT;
    lx->real = strtod(ct_mon_arena_copy(lx->arena, lx->source->text + from, p - from), NULL);
}

static void lex_name(struct ct_mon_lexer *lx)
{
    const uint32_t p = name_end(lx, lx->pos);
    const char *text = lx->source->text + lx->pos;
    size_t n = p - lx->pos;
    lx->name = ct_mon_arena_intern(lx->arena, text, n);
    lx->pos = p;
    lx->token = T_ID;
    for (size_t i = 0; i < sizeof KEYWORDS / sizeof *KEYWORDS; i++)
        if (*lx->name == *KEYWORDS[i].text && !strcmp(lx->name, KEYWORDS[i].text))
            lx->token = KEYWORDS[i].token;
}

/* Reports a character that begins no token. */
static void bad_character(struct ct_mon_lexer *lx)
{
    size_t length;
    const uint32_t character = ct_utf8_read(lx->source->text + lx->pos, lx->end - lx->pos, &length);
    const char *text = "Invalid character; a name, number, string or operator was expected";
    if (character == 0xfffd)
        text = "A byte that is not UTF-8; write the specification as UTF-8 text";
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (character >= SIGNS[i].first && character <= SIGNS[i].last && SIGNS[i].instead)
            text = ct_mon_arena_printf(lx->arena, "Invalid character U+%04X; write %s instead",
                                       (unsigned)character, SIGNS[i].instead);
    lx->token = T_BAD;
    lx->pos += (uint32_t)length;
    error(lx, lx->from, lx->pos, text);
}

static void lex_operator(struct ct_mon_lexer *lx)
{
    const char *text = lx->source->text + lx->pos;
    size_t left = lx->end - lx->pos;
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        const char *op = OPERATORS[i].text;
        if (op[0] != text[0])
            continue;
        size_t n = strlen(op);
        if (n <= left && !memcmp(text, op, n)) {
            lx->token = OPERATORS[i].token;
            lx->name = op;
            lx->pos += (uint32_t)n;
            return;
        }
    }
    bad_character(lx);
}

void ct_mon_lex_next(struct ct_mon_lexer *lx)
{
    if (lx->token != T_NEWLINE)
        lx->before = lx->to;
    skip_blank(lx);
    lx->from = lx->pos;
    int c = at(lx, lx->pos);
    if (c < 0) {
        lx->token = T_END;
    } else if (c == '\n' || c == ';') {
        lx->token = T_NEWLINE;
        lx->pos++;
    } else if (c == '"' || (c == 'f' && at(lx, lx->pos + 1) == '"')) {
        lx->token = c == 'f' ? T_FSTRING : T_STRING;
        lx->pos += c == 'f' ? 2 : 1;
    } else if (is_digit(c)) {
        lex_number(lx);
    } else if (letter(lx, lx->pos)) {
        lex_name(lx);
    } else {
        lex_operator(lx);
    }
    lx->to = lx->pos;
}

static int escape(int c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'a':
        return '\a';
    case '"':
    case '\\':
    case '$':
        return c;
    default:
        return -1;
    }
}

enum ct_mon_string_part ct_mon_lex_string(struct ct_mon_lexer *lx, const char **text, size_t *size)
{
    lx->from = lx->pos;
    int c = at(lx, lx->pos);
    if (c == '"') {
        lx->to = ++lx->pos;
        return PART_END;
    }
    if (c == '$' && at(lx, lx->pos + 1) == '{') {
        lx->pos += 2;
        lx->to = lx->pos;
        return PART_EXPR;
    }
    if (c == '$' && letter(lx, lx->pos + 1)) {
        const uint32_t p = name_end(lx, lx->pos + 1);
        *text = ct_mon_arena_intern(lx->arena, lx->source->text + lx->pos + 1, p - lx->pos - 1);
        lx->to = lx->pos = p;
        return PART_NAME;
    }
    size_t n = 0;
    uint32_t p = lx->pos;
    const char *eol = memchr(lx->source->text + p, '\n', lx->end - p);
    char *out = ct_mon_arena_alloc(lx->arena, (eol ? (size_t)(eol - lx->source->text) : lx->end) - p + 2);
    for (; (c = at(lx, p)) >= 0 && c != '\n' && c != '"'; p++) {
        if (c == '$' && p > lx->from && (at(lx, p + 1) == '{' || letter(lx, p + 1)))
            break;
        if (c == '\\') {
            int e = at(lx, p + 1) == '%' ? '%' : escape(at(lx, p + 1));
            if (e < 0)
                error(lx, p, p + 2, "Invalid escape sequence");
            /* marks an escaped percent sign by a NUL, which no source contains, for the reader of formats */
            if (e == '%')
                out[n++] = '\0';
            c = e < 0 ? '?' : e;
            p += at(lx, p + 1) >= 0 && at(lx, p + 1) != '\n';
        }
        out[n++] = (char)c;
    }
    lx->to = lx->pos = p;
    *text = out;
    *size = n;
    if (c < 0 || c == '\n') {
        if (n == 0) {
            error(lx, lx->from, lx->from + 1,
                  "String is not closed; '\"' was expected before the end of the line");
            return PART_END;
        }
    }
    return PART_TEXT;
}

const char *ct_mon_lex_word(struct ct_mon_lexer *lx, bool is_path)
{
    /* starts at the current token, which may have ended inside the word */
    uint32_t p = lx->from;
    for (int c; (c = at(lx, p)) >= 0; p++) {
        const bool is_scope = is_path && c == ':' && at(lx, p + 1) == ':';
        if (!is_scope && !is_letter(c) && !is_digit(c) && !(c && strchr(is_path ? "./+-$[]" : "./+-$", c)))
            break;
        p += is_scope;
    }
    if (p == lx->from)
        return NULL;
    const char *word = ct_mon_arena_intern(lx->arena, lx->source->text + lx->from, p - lx->from);
    lx->to = lx->pos = p;
    return word;
}
