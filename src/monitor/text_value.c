/* SPDX-License-Identifier: Apache-2.0 */
/* Values in traces: literals, options, tuples, records and collections. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/big.h"
#include "base/c_locale.h"
#include "monitor/collection.h"
#include "monitor/text_in.h"

enum {
    DEPTH_MOST = 64
};

void ct_mon_value_skip_blank(struct ct_mon_value_in *in)
{
    while (in->p < in->end && (*in->p == ' ' || *in->p == '\t' || *in->p == '\r'))
        in->p++;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (c & 0x80);
}

static bool accept(struct ct_mon_value_in *in, char c)
{
    ct_mon_value_skip_blank(in);
    if (in->p == in->end || *in->p != c)
        return false;
    in->p++;
    return true;
}

bool ct_mon_value_accept_word(struct ct_mon_value_in *in, const char *word)
{
    size_t n = strlen(word);
    ct_mon_value_skip_blank(in);
    if ((size_t)(in->end - in->p) < n || memcmp(in->p, word, n) != 0 ||
        ((size_t)(in->end - in->p) > n && is_word(in->p[n]) && is_word(word[n - 1])))
        return false;
    in->p += n;
    return true;
}

/* Returns the kind of the value that begins here, for messages. */
static const char *kind_of(const char *p, const char *end)
{
    if (p < end && *p == '-')
        p++;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (p == end)
        return NULL;
    if (*p == '"')
        return "String";
    if (*p >= '0' && *p <= '9') {
        while (p < end && *p >= '0' && *p <= '9')
            p++;
        return p + 1 < end && ((*p == '.' && p[1] >= '0' && p[1] <= '9') || (*p | 32) == 'e') ? "Float"
                                                                                              : "Int";
    }
    if (*p == '(')
        return p + 1 < end && p[1] == ')' ? "Unit" : "Tuple";
    if (*p == '{' || *p == '$')
        return "Record";
    const char *q = p;
    while (q < end && is_word(*q))
        q++;
    size_t n = (size_t)(q - p);
    static const char *const words[][2] = {{"true", "Bool"},   {"false", "Bool"},     {"Some", "Option"},
                                           {"None", "Option"}, {"List", "List"},      {"Set", "Set"},
                                           {"Map", "Map"},     {"Infinity", "Float"}, {"NaN", "Float"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i][0]) == n && !memcmp(p, words[i][0], n))
            return words[i][1];
    return NULL;
}

const char *ct_mon_value_end(const char *p, const char *end)
{
    bool quoted = false;
    unsigned depth = 0;
    const char *from = p;
    for (; p < end; p++) {
        if (quoted && *p == '\\' && p + 1 < end)
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (!quoted && (*p == '(' || *p == '{'))
            depth++;
        else if (!quoted && !depth && (*p == ')' || *p == '}' || *p == ','))
            break;
        else if (!quoted && (*p == ')' || *p == '}'))
            depth--;
    }
    while (p > from && (p[-1] == ' ' || p[-1] == '\r' || p[-1] == '\t'))
        p--;
    return p;
}

static bool wrong(struct ct_mon_value_in *in, const char *at, const struct ct_mon_type *type)
{
    if (in->expected)
        return false;
    in->expected = type;
    if (!in->found_type) /* otherwise the value is an expression and has a type */
        in->found_type = kind_of(at, in->end);
    in->found = at;
    in->found_size = (size_t)(ct_mon_value_end(at, in->end) - at);
    return false;
}

static bool is_digit(char c, unsigned base)
{
    return (c >= '0' && c <= '9') || (base == 16 && (c | 32) >= 'a' && (c | 32) <= 'f');
}

static bool read_int(struct ct_mon_value_in *in, struct ct_mon_cell *out)
{
    const bool negative = accept(in, '-');
    unsigned base = 10;
    ct_mon_value_skip_blank(in);
    const char *p = in->p;
    if (in->end - p > 2 && p[0] == '0' && p[1] == 'x') {
        base = 16;
        p += 2;
    }
    const char *digits = p;
    while (p < in->end && is_digit(*p, base))
        p++;
    if (p == digits || (p < in->end && (is_word(*p) || (*p == '.' && p + 1 < in->end && is_digit(p[1], 10)))))
        return false;
    *out = ct_mon_int_from_digits(in->heap, digits, (size_t)(p - digits), base, negative);
    in->error = cell_err(out);
    in->p = p;
    return in->error == E_NONE;
}

static bool read_float(struct ct_mon_value_in *in, double *out)
{
    CT_C_LOCALE;
    char digits[64], *stop;
    size_t n = 0;
    bool negative = accept(in, '-'), real = false;
    ct_mon_value_skip_blank(in);
    const char *p = in->p;
    if (ct_mon_value_accept_word(in, "NaN") ||
        ct_mon_value_accept_word(in, "Infinity")) { /* in the form that outputs are printed */
        *out = *p == 'N' ? NAN : negative ? -INFINITY : INFINITY;
        return true;
    }
    while (p < in->end && n + 1 < sizeof digits &&
           ((*p >= '0' && *p <= '9') || *p == '.' || *p == 'e' || *p == 'E' ||
            ((*p == '-' || *p == '+') && n && digits[n - 1] == 'e'))) {
        digits[n] = *p == 'E' ? 'e' : *p; /* outputs print reals with 'E' */
        real |= *p == '.' || digits[n] == 'e';
        n++;
        p++;
    }
    digits[n] = 0;
    if (!real || digits[0] == '.' || digits[0] == 'e' || (p < in->end && is_word(*p)))
        return false;
    double f = strtod(digits, &stop);
    if (*stop)
        return false;
    in->p = p;
    *out = negative ? -f : f;
    return true;
}

static bool is_name_start(char c)
{
    return is_word(c) && !(c >= '0' && c <= '9');
}

/* Reads "$t" or "${expression}" in a line whose time is a range. in->p must be at the '$'. */
static bool read_insertion(struct ct_mon_value_in *in, struct ct_mon_text *t)
{
    const char *name = in->p + 1;
    if (*name != '{') {
        const char *p = name;
        while (p < in->end && is_word(*p))
            p++;
        in->unknown = name;
        in->unknown_size = (size_t)(p - name);
        if (!ct_mon_value_accept_word(&(struct ct_mon_value_in){.p = name, .end = p}, in->variable))
            return false;
        in->unknown = NULL;
        ct_mon_text_printf(t, "%lld", (long long)in->bound);
        in->p = p;
        return true;
    }
    in->p = name + 1;
    if (!ct_mon_value_insertion(in, t))
        return false;
    ct_mon_value_skip_blank(in);
    return in->p < in->end && *in->p++ == '}';
}

static bool read_escape(struct ct_mon_value_in *in, struct ct_mon_text *t)
{
    static const char from_to[] = "n\nr\rt\ta\a\"\"\\\\$$%%";
    for (size_t k = 0; k + 1 < sizeof from_to - 1; k += 2) {
        if (from_to[k] == in->p[1]) {
            ct_mon_text_add(t, &from_to[k + 1], 1);
            in->p += 2;
            return true;
        }
    }
    return false;
}

/* Reads a string up to its closing quote. */
static bool read_text(struct ct_mon_value_in *in, struct ct_mon_text *t)
{
    while (in->p < in->end && *in->p != '"') {
        const char next = in->p + 1 < in->end ? in->p[1] : '"';
        bool fine = true;
        if (*in->p == '\\' && in->p + 1 < in->end)
            fine = read_escape(in, t);
        else if (*in->p == '$' && in->variable && (next == '{' || is_name_start(next)))
            fine = read_insertion(in, t);
        else
            ct_mon_text_add(t, in->p++, 1);
        if (!fine)
            return false;
    }
    return in->p < in->end && !t->failed;
}

static bool read_string(struct ct_mon_value_in *in, struct ct_mon_cell *out)
{
    struct ct_mon_text t = {.limit = in->heap->limit};
    const char *p = in->p;
    if (p == in->end || *p != '"')
        return false;
    const char *from = ++p;
    while (p < in->end && *p != '"' && *p != '\\' && *p != '$')
        p++;
    if (p < in->end && *p == '"') { /* fast path: no escapes and no insertions */
        *out = ct_mon_value_string(in->heap, from, (size_t)(p - from));
        in->p = p + 1;
        return true;
    }
    in->p = from;
    const bool closed = read_text(in, &t);
    if (closed) {
        *out = ct_mon_value_string(in->heap, t.p ? t.p : "", t.n);
        in->p++;
    }
    ct_mon_text_free(&t);
    return closed;
}

static bool read_option(struct ct_mon_value_in *in, const struct ct_mon_type *type, struct ct_mon_cell *out)
{
    if (ct_mon_value_accept_word(in, "None")) {
        *out = cell_int(0);
        return true;
    }
    if (!ct_mon_value_accept_word(in, "Some") || !accept(in, '('))
        return false;
    if (!ct_mon_value_read(in, type->args[0], out) || !accept(in, ')'))
        return false;
    out->meta += META_SOME_ONE;
    return true;
}

static bool read_collection(struct ct_mon_value_in *in, const struct ct_mon_type *type,
                            struct ct_mon_cell *out)
{
    static const char *const names[] = {[TY_LIST] = "List", [TY_SET] = "Set", [TY_MAP] = "Map"};
    if (!ct_mon_value_accept_word(in, names[type->kind]) || !accept(in, '('))
        return false;
    struct ct_mon_cell all = type->kind == TY_LIST ? ct_mon_list_empty(in->heap) : ct_mon_map_empty(in->heap);
    if (!accept(in, ')')) {
        do {
            struct ct_mon_cell key, x = {0};
            if (!ct_mon_value_read(in, type->args[0], &key))
                return false;
            if (type->kind == TY_MAP &&
                (!accept(in, '-') || !accept(in, '>') || !ct_mon_value_read(in, type->args[1], &x)))
                return false;
            if (in->heap->exhausted)
                return false;
            all = type->kind == TY_LIST ? ct_mon_list_append(in->heap, &all, &key)
                                        : ct_mon_map_add(in->heap, &all, &key, &x);
        } while (!in->heap->exhausted && accept(in, ','));
        if (!accept(in, ')'))
            return false;
    }
    *out = all;
    return !in->heap->exhausted;
}

/* Reads the name of a member that has no value yet (its stamp is 0), and '=' or ':'. Members may come in any
 * order. Returns its number, or the number of members when the name is unknown. */
static uint32_t read_member(struct ct_mon_value_in *in, const struct ct_mon_type *type,
                            const struct ct_mon_cell *cells)
{
    uint32_t k = 0;
    while (k < type->n && (cells[k].stamp || !ct_mon_value_accept_word(in, type->names[k])))
        k++;
    const bool colon = k < type->n && accept(in, ':');
    return k < type->n && (accept(in, '=') || colon) ? k : type->n;
}

/* Reads the opening bracket of a record: '(' of a tuple by position, '{' or "${" of named members. Returns 0
 * when there is none. */
static char read_bracket(struct ct_mon_value_in *in, bool tuple)
{
    if (tuple && accept(in, '('))
        return '(';
    if (accept(in, '{'))
        return '{';
    if ((size_t)(in->end - in->p) > 1 && in->p[0] == '$' && in->p[1] == '{') {
        in->p += 2;
        return '{';
    }
    return 0;
}

static bool read_record(struct ct_mon_value_in *in, const struct ct_mon_type *type, struct ct_mon_cell *out)
{
    const char bracket = read_bracket(in, ct_mon_type_is_tuple(type));
    const char closing = bracket == '(' ? ')' : '}';
    if (!bracket)
        return false;
    if (!type->n) {
        *out = cell_int(0);
        return accept(in, closing);
    }
    struct ct_mon_obj_cells *r = (struct ct_mon_obj_cells *)ct_mon_heap_alloc(in->heap, OBJ_RECORD, type->n);
    if (!r)
        return false;
    memset(r->cells, 0, type->n * sizeof *r->cells);
    size_t length = strlen(in->path);
    for (uint32_t i = 0; i < type->n; i++) {
        if (i && !accept(in, ','))
            return false;
        const uint32_t k = bracket == '(' ? i : read_member(in, type, r->cells);
        if (k == type->n)
            return false;
        snprintf(in->path + length, sizeof in->path - length, ".%s", type->names[k]);
        if (!ct_mon_value_read(in, type->args[k], &r->cells[k]))
            return false;
        r->cells[k].stamp = 1;
        in->path[length] = 0;
    }
    for (uint32_t i = 0; i < type->n; i++)
        r->cells[i].stamp = 0;
    if (bracket == '(' && type->n == 1)
        accept(in, ',');
    *out = (struct ct_mon_cell){.v.o = &r->o, .meta = META_PTR};
    return accept(in, closing);
}

bool ct_mon_value_literal(struct ct_mon_value_in *in, enum ct_mon_type_kind kind, struct ct_mon_cell *out)
{
    *out = cell_int(0);
    switch (kind) {
    case TY_INT:
        if (!in->variable || !ct_mon_value_accept_word(in, in->variable))
            return read_int(in, out);
        out->v.i = in->bound;
        return true;
    case TY_FLOAT:
        out->meta = META_FLOAT;
        return read_float(in, &out->v.f);
    case TY_BOOL:
        out->v.i = ct_mon_value_accept_word(in, "true");
        return out->v.i || ct_mon_value_accept_word(in, "false");
    default:
        return read_string(in, out);
    }
}

/* Returns whether the value ends here, with no operator after it. */
static bool is_whole(struct ct_mon_value_in *in)
{
    ct_mon_value_skip_blank(in);
    const size_t left = (size_t)(in->end - in->p);
    return !left || strchr(",)}#", *in->p) ||
           (left > 1 && *in->p == '-' && (in->p[1] == '-' || in->p[1] == '>'));
}

static bool read_scalar(struct ct_mon_value_in *in, const struct ct_mon_type *type, struct ct_mon_cell *out)
{
    const char *at = in->p;
    if (ct_mon_value_literal(in, type->kind, out) && is_whole(in))
        return true;
    in->p = at;
    if (in->heap->exhausted || !ct_mon_value_expression(in, type->kind, out))
        return false;
    in->found_type = NULL;
    return true;
}

bool ct_mon_value_read(struct ct_mon_value_in *in, const struct ct_mon_type *type, struct ct_mon_cell *out)
{
    ct_mon_value_skip_blank(in);
    const char *at = in->p;
    bool fine = false;
    *out = cell_int(0);
    if (in->depth >= DEPTH_MOST)
        return wrong(in, at, type);
    in->depth++;
    switch (type->kind) {
    case TY_INT:
    case TY_FLOAT:
    case TY_BOOL:
    case TY_STRING:
        fine = read_scalar(in, type, out);
        break;
    case TY_OPTION:
        fine = read_option(in, type, out);
        break;
    case TY_LIST:
    case TY_SET:
    case TY_MAP:
        fine = read_collection(in, type, out);
        break;
    case TY_RECORD:
        fine = read_record(in, type, out);
        break;
    default:
        break;
    }
    in->depth--;
    return fine || wrong(in, at, type);
}
