/* SPDX-License-Identifier: Apache-2.0 */
/* printf conversions in the manner of java.util.Formatter. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "monitor/big.h"
#include "base/c_locale.h"
#include "monitor/print.h"

struct conversion {
    bool left, plus, space, zero, group, paren, alternate;
    int width, precision; /* -1: not given */
    char letter;
};

enum {
    WIDTH_MOST = 1000,
    PRECISION_MOST = 300,
    FLOAT_WORK = 800, /* units of work, enough for PRECISION_MOST digits */
};

static bool number(const char *p, size_t size, size_t *i, int most, int *out)
{
    int n = 0;
    while (*i < size && p[*i] >= '0' && p[*i] <= '9') {
        n = n * 10 + (p[(*i)++] - '0');
        if (n > most)
            return false;
    }
    *out = n;
    return true;
}

static bool parse(const char *p, size_t size, struct conversion *c)
{
    *c = (struct conversion){.width = -1, .precision = -1};
    size_t i = 1;
    if (size < 2 || p[0] != '%')
        return false;
    for (; i < size; i++) {
        if (p[i] == '-')
            c->left = true;
        else if (p[i] == '+')
            c->plus = true;
        else if (p[i] == ' ')
            c->space = true;
        else if (p[i] == '0')
            c->zero = true;
        else if (p[i] == ',')
            c->group = true;
        else if (p[i] == '(')
            c->paren = true;
        else if (p[i] == '#')
            c->alternate = true;
        else
            break;
    }
    if (i < size && p[i] >= '1' && p[i] <= '9' && !number(p, size, &i, WIDTH_MOST, &c->width))
        return false;
    if (i < size && p[i] == '.') {
        size_t begin = ++i;
        if (!number(p, size, &i, PRECISION_MOST, &c->precision) || i == begin)
            return false;
    }
    if (i + 1 != size)
        return false;
    c->letter = p[i];
    /* combinations of flags that java.util.Formatter refuses */
    return !((c->left || c->zero) && c->width < 0) && !(c->left && c->zero) && !(c->plus && c->space);
}

enum ct_mon_format_need ct_mon_format_check(const char *format, size_t size)
{
    struct conversion c;
    if (!parse(format, size, &c))
        return FORMAT_BAD;
    if (strchr("doxX", c.letter))
        return c.precision < 0 ? FORMAT_INT : FORMAT_BAD;
    if (strchr("eEfgGaA", c.letter))
        return FORMAT_FLOAT;
    return strchr("sShH", c.letter) ? FORMAT_ANY : FORMAT_BAD;
}

/* Appends the integer part with a comma between groups of three digits. */
static void group_digits(struct ct_mon_text *t, const char *digits)
{
    size_t whole = strspn(digits, "0123456789");
    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % 3 == 0)
            ct_mon_text_add(t, ",", 1);
        ct_mon_text_add(t, digits + i, 1);
    }
    ct_mon_text_add_z(t, digits + whole);
}

static void pad(struct ct_mon_text *t, const struct conversion *c, const char *prefix, const char *body)
{
    size_t columns = strlen(prefix);
    for (const char *p = body; *p; p++)
        columns += ((unsigned char)*p & 0xc0) != 0x80;
    size_t fill = c->width > 0 && (size_t)c->width > columns ? (size_t)c->width - columns : 0;
    if (!c->left && !c->zero)
        for (size_t i = 0; i < fill; i++)
            ct_mon_text_add(t, " ", 1);
    ct_mon_text_add_z(t, prefix);
    if (c->zero)
        for (size_t i = 0; i < fill; i++)
            ct_mon_text_add(t, "0", 1);
    ct_mon_text_add_z(t, body);
    if (c->left)
        for (size_t i = 0; i < fill; i++)
            ct_mon_text_add(t, " ", 1);
}

static void signed_body(struct ct_mon_text *t, const struct conversion *c, bool negative, const char *prefix,
                        const char *digits)
{
    struct ct_mon_text body = {0};
    char front[8];
    snprintf(front, sizeof front, "%s%s",
             negative   ? (c->paren ? "(" : "-")
             : c->plus  ? "+"
             : c->space ? " "
                        : "",
             prefix);
    if (c->group)
        group_digits(&body, digits);
    else
        ct_mon_text_add_z(&body, digits);
    if (negative && c->paren)
        ct_mon_text_add(&body, ")", 1);
    if (body.p)
        pad(t, c, front, body.p);
    ct_mon_text_free(&body);
}

static void upper(char *p)
{
    for (; *p; p++)
        if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 32);
}

static void format_int(struct ct_mon_text *t, const struct conversion *c, const struct ct_mon_cell *cell)
{
    struct ct_mon_text digits = {.limit = t->limit, .payer = t->payer};
    const char *prefix = "";
    if (cell_is_big(cell)) {
        ct_mon_big_print(&digits, cell, c->letter == 'd' ? 10 : c->letter == 'o' ? 8 : 16);
    } else {
        const int64_t i = cell->v.i;
        const unsigned long long u = i < 0 ? -(uint64_t)i : (uint64_t)i;
        ct_mon_text_printf(&digits, c->letter == 'd' ? "%llu" : c->letter == 'o' ? "%llo" : "%llx", u);
    }
    if (c->letter == 'X' && digits.p)
        upper(digits.p);
    if (c->alternate)
        prefix = c->letter == 'o' ? "0" : c->letter == 'x' ? "0x" : c->letter == 'X' ? "0X" : "";
    if (digits.failed || !digits.p)
        t->failed = true;
    else
        signed_body(t, c, int_is_negative(cell), prefix, digits.p);
    ct_mon_text_free(&digits);
}

/* Rewrites a hexadecimal number from C's format to Java's: 0x1.8p+2 becomes 0x1.8p2, 0x1p+0 becomes
 * 0x1.0p0. */
static void hex_float(const char *in, char *out)
{
    bool point = strchr(in, '.');
    for (; *in; in++) {
        if ((*in == 'p' || *in == 'P') && !point) {
            *out++ = '.';
            *out++ = '0';
        }
        if (*in != '+')
            *out++ = *in;
    }
    *out = 0;
}

static void format_float(struct ct_mon_text *t, const struct conversion *c, double f)
{
    CT_C_LOCALE;
    char digits[800], hex[800];
    if (t->payer)
        heap_spend(t->payer, FLOAT_WORK);
    bool negative = signbit(f) && !isnan(f);
    double a = fabs(f);
    struct conversion plain = *c;
    if (isnan(f) || isinf(f)) {
        plain.zero = plain.group = false;
        signed_body(t, &plain, negative, "", isnan(f) ? "NaN" : "Infinity");
        return;
    }
    int precision = c->precision >= 0 ? c->precision : 6;
    if ((c->letter | 0x20) == 'a') {
        if (c->precision >= 0)
            snprintf(digits, sizeof digits, c->letter == 'a' ? "%.*a" : "%.*A", precision, a);
        else
            snprintf(digits, sizeof digits, c->letter == 'a' ? "%a" : "%A", a);
        hex_float(digits, hex);
        signed_body(t, &plain, negative, "", hex);
        return;
    }
    if (c->letter == 'f')
        snprintf(digits, sizeof digits, c->alternate ? "%#.*f" : "%.*f", precision, a);
    else if ((c->letter | 0x20) == 'e')
        snprintf(digits, sizeof digits, c->letter == 'e' ? "%.*e" : "%.*E", precision, a);
    else
        snprintf(digits, sizeof digits, c->letter == 'g' ? "%#.*g" : "%#.*G", precision ? precision : 1, a);
    size_t n = strlen(digits);
    if (n && digits[n - 1] == '.' && !c->alternate)
        digits[n - 1] = 0;
    signed_body(t, &plain, negative, "", digits);
}

static void format_any(struct ct_mon_text *t, const struct conversion *c, const struct ct_mon_cell *cell,
                       const struct ct_mon_type *type)
{
    struct ct_mon_text body = {.limit = t->limit, .payer = t->payer};
    ct_mon_print_value(&body, cell, type, true);
    if ((c->letter | 0x20) == 'h' && body.p) { /* the hash of java.lang.String */
        uint32_t hash = 0;
        for (size_t i = 0; i < body.n; i++)
            hash = hash * 31 + (unsigned char)body.p[i];
        body.n = 0;
        ct_mon_text_printf(&body, "%x", hash);
    }
    if (c->precision >= 0 && (size_t)c->precision < body.n)
        body.p[c->precision] = 0;
    if (c->letter < 'a' && body.p)
        upper(body.p);
    struct conversion plain = *c;
    plain.zero = false;
    pad(t, &plain, "", body.p ? body.p : "");
    ct_mon_text_free(&body);
}

void ct_mon_format_value(struct ct_mon_text *t, const char *format, size_t size,
                         const struct ct_mon_cell *cell, const struct ct_mon_type *type)
{
    struct conversion c;
    if (!parse(format, size, &c))
        return;
    if (strchr("doxX", c.letter))
        format_int(t, &c, cell);
    else if (strchr("eEfgGaA", c.letter))
        format_float(t, &c, cell->v.f);
    else
        format_any(t, &c, cell, type);
}
