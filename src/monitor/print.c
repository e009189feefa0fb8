/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "monitor/big.h"
#include "monitor/collection.h"

enum {
    FLOAT_WORK = 200 /* units of work for the digits of a Float */
};

void ct_mon_text_free(struct ct_mon_text *t)
{
    free(t->p);
    *t = (struct ct_mon_text){0};
}

/* Makes room for n more bytes. Returns false when memory, limit or work is used up. */
static bool reserve(struct ct_mon_text *t, size_t n)
{
    if (t->payer && !heap_spend(t->payer, n + 2)) {
        t->failed = true;
        return false;
    }
    if (t->cap - t->n > n)
        return true;
    size_t cap = t->cap ? t->cap : 256;
    while (cap - t->n <= n)
        cap *= 2;
    const bool too_long = t->limit && cap > 2 * t->limit;
    char *p = too_long ? NULL : realloc(t->p, cap);
    if (!p) {
        t->failed = true;
        t->lacked_memory = !too_long;
        return false;
    }
    t->p = p;
    t->cap = cap;
    return true;
}

void ct_mon_text_add(struct ct_mon_text *t, const char *p, size_t n)
{
    if (t->failed || !reserve(t, n))
        return;
    memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}

void ct_mon_text_add_z(struct ct_mon_text *t, const char *p)
{
    ct_mon_text_add(t, p, strlen(p));
}

/* Appends an unprintable character, escaped. */
static void add_escaped(struct ct_mon_text *t, const char *p, size_t size)
{
    static const char from[] = "\n\r\t\a", to[] = "nrta";
    const char *known = *p ? strchr(from, *p) : NULL;
    if (known)
        ct_mon_text_printf(t, "\\%c", to[known - from]);
    for (size_t i = 0; !known && i < size; i++)
        ct_mon_text_printf(t, "\\x%02x", (unsigned char)p[i]);
}

void ct_mon_text_add_printable(struct ct_mon_text *t, const char *p, size_t n, bool lines)
{
    for (size_t size; n; p += size, n -= size) {
        ct_utf8_read(p, n, &size);
        if (ct_printable_length(p, size) || (lines && (*p == '\n' || *p == '\t')))
            ct_mon_text_add(t, p, size);
        else
            add_escaped(t, p, size);
    }
}

void ct_mon_text_printf(struct ct_mon_text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || t->failed || !reserve(t, (size_t)n + 1))
        return;
    va_start(ap, fmt);
    vsnprintf(t->p + t->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    t->n += (size_t)n;
}

char *ct_mon_print_u64(char *p, uint64_t i)
{
    char digits[20];
    size_t n = sizeof digits;
    do {
        digits[--n] = (char)('0' + i % 10);
        i /= 10;
    } while (i);
    memcpy(p, digits + n, sizeof digits - n);
    return p + (sizeof digits - n);
}

char *ct_mon_print_int(char *p, int64_t i)
{
    if (i >= 0)
        return ct_mon_print_u64(p, (uint64_t)i);
    *p++ = '-';
    return ct_mon_print_u64(p, -(uint64_t)i);
}

/* Finds the fewest decimal digits of |f|, without point, that read back as f. *exp is the power of ten of the
 * first digit. */
static int shortest(double f, char digits[24], int *exp)
{
    CT_C_LOCALE;
    char e[40];
    for (int precision = 14; precision <= 16; precision++) {
        snprintf(e, sizeof e, "%.*e", precision, f);
        if (strtod(e, NULL) == f)
            break;
    }
    char *mark = strchr(e, 'e');
    *exp = (int)strtol(mark + 1, NULL, 10);
    int n = 0;
    for (char *p = e; p < mark; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = 0;
    return n;
}

/* Prints a number as Java's Double.toString does. */
static void print_float(struct ct_mon_text *t, double f)
{
    char d[24];
    int exp = 0;
    if (t->payer)
        heap_spend(t->payer, FLOAT_WORK);
    if (isnan(f)) {
        ct_mon_text_add_z(t, "NaN");
        return;
    }
    if (signbit(f))
        ct_mon_text_add(t, "-", 1);
    f = fabs(f);
    if (isinf(f)) {
        ct_mon_text_add_z(t, "Infinity");
        return;
    }
    if (f == 0) {
        ct_mon_text_add_z(t, "0.0");
        return;
    }
    int n = shortest(f, d, &exp);
    if (f >= 1e7 || f < 1e-3) {
        ct_mon_text_printf(t, "%c.%sE%d", d[0], n > 1 ? d + 1 : "0", exp);
    } else if (exp < 0) {
        ct_mon_text_printf(t, "0.%.*s%s", -exp - 1, "00", d);
    } else if (exp + 1 >= n) {
        ct_mon_text_printf(t, "%s%.*s.0", d, exp + 1 - n, "0000000");
    } else {
        ct_mon_text_printf(t, "%.*s.%s", exp + 1, d, d + exp + 1);
    }
}

static void print_elements(struct ct_mon_text *t, const struct ct_mon_cell *c, const struct ct_mon_type *type)
{
    static const char *const names[] = {[TY_LIST] = "List(", [TY_SET] = "Set(", [TY_MAP] = "Map("};
    ct_mon_text_add_z(t, names[type->kind]);
    uint64_t n = ct_mon_collection_size(c->v.o);
    for (uint64_t i = 0; i < n && !t->failed; i++) {
        struct ct_mon_cell key, x;
        ct_mon_collection_at(c->v.o, i, &key, &x);
        if (i)
            ct_mon_text_add(t, ", ", 2);
        if (type->kind != TY_LIST)
            ct_mon_print_value(t, &key, type->args[0], false);
        if (type->kind == TY_MAP)
            ct_mon_text_add(t, " -> ", 4);
        if (type->kind != TY_SET)
            ct_mon_print_value(t, &x, type->args[type->n - 1], false);
    }
    ct_mon_text_add(t, ")", 1);
}

static void print_record(struct ct_mon_text *t, const struct ct_mon_cell *c, const struct ct_mon_type *type)
{
    if (!type->n) {
        ct_mon_text_add(t, "()", 2);
        return;
    }
    const struct ct_mon_obj_cells *r = (const struct ct_mon_obj_cells *)c->v.o;
    bool tuple = ct_mon_type_is_tuple(type);
    ct_mon_text_add(t, tuple ? "(" : "{", 1);
    for (uint32_t i = 0; i < type->n && !t->failed; i++) {
        if (i)
            ct_mon_text_add(t, ", ", 2);
        if (!tuple) {
            ct_mon_text_add_z(t, type->names[i]);
            ct_mon_text_add(t, " = ", 3);
        }
        ct_mon_print_value(t, &r->cells[i], type->args[i], false);
    }
    ct_mon_text_add(t, tuple ? ")" : "}", 1);
}

void ct_mon_print_value(struct ct_mon_text *t, const struct ct_mon_cell *c, const struct ct_mon_type *type,
                        bool bare)
{
    char digits[24];
    enum ct_mon_value_error e = cell_err(c);
    if (t->failed)
        return;
    if (e) {
        ct_mon_text_printf(t, "<error: %s>", ct_mon_value_error_text(e));
        return;
    }
    switch (type->kind) {
    case TY_INT:
        if (cell_is_big(c)) {
            if (c->v.o->negative)
                ct_mon_text_add(t, "-", 1);
            ct_mon_big_print(t, c, 10);
            break;
        }
        ct_mon_text_add(t, digits, (size_t)(ct_mon_print_int(digits, c->v.i) - digits));
        break;
    case TY_FLOAT:
        print_float(t, c->v.f);
        break;
    case TY_BOOL:
        ct_mon_text_add_z(t, c->v.i ? "true" : "false");
        break;
    case TY_VERDICT: {
        static const char *const verdicts[] = {"unknown", "true", "false", "none"};
        ct_mon_text_add_z(t, verdicts[c->v.i & 3]);
        break;
    }
    case TY_STRING:
        if (!bare)
            ct_mon_text_add(t, "\"", 1);
        ct_mon_text_add(t, cell_string(c)->text, c->v.o->size);
        if (!bare)
            ct_mon_text_add(t, "\"", 1);
        break;
    case TY_OPTION: {
        if (!(c->meta & META_SOME)) {
            ct_mon_text_add_z(t, "None");
            break;
        }
        struct ct_mon_cell inner = *c;
        inner.meta -= META_SOME_ONE;
        ct_mon_text_add_z(t, "Some(");
        ct_mon_print_value(t, &inner, type->args[0], false);
        ct_mon_text_add(t, ")", 1);
        break;
    }
    case TY_LIST:
    case TY_SET:
    case TY_MAP:
        print_elements(t, c, type);
        break;
    default:
        print_record(t, c, type);
        break;
    }
}
