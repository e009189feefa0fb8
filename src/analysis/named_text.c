/* SPDX-License-Identifier: Apache-2.0 */
/* Named events as text. Formats are those of printf (C17 7.21.6.1), but the type of an argument comes from
 * the program's table rather than from the length in the format. So no argument can be read as another
 * type. */
#include "coretap/named_event.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* widest field, which limits the text that the format of a hostile file can make */
#define FIELD_MOST 99

struct writer {
    const struct ct_named_event *event;
    const struct ct_named_table *table;
    uint64_t shift;
    unsigned next; /* index of the next argument */
    char *text;
    size_t size;
    size_t used; /* size of the whole text, which may exceed `size` */
};

/* A conversion as it stands in the format. */
struct conversion {
    char flags[8];
    int width, precision; /* precision: -1 for none */
    char letter;
};

static void put(struct writer *w, const char *bytes, size_t size)
{
    if (w->used < w->size) {
        const size_t room = w->size - w->used;
        memcpy(w->text + w->used, bytes, size < room ? size : room);
    }
    w->used += size;
}

static bool is_real(enum ct_named_type type)
{
    return type == CT_NAMED_FLOAT || type == CT_NAMED_DOUBLE;
}

static bool is_signed(enum ct_named_type type)
{
    return type == CT_NAMED_INT || type == CT_NAMED_LONG;
}

/* Takes the next argument as a width or precision. Returns `otherwise` when there is none or when it is not a
 * number of that range. */
static int take_field(struct writer *w, int otherwise)
{
    const unsigned i = w->next++;
    if (i >= w->event->count || is_real((enum ct_named_type)w->event->entry->types[i]))
        return otherwise;
    const int64_t value = w->event->arguments[i].i;
    return value < -FIELD_MOST || value > FIELD_MOST ? otherwise : (int)value;
}

/* Reads the number or the star of a width or precision. */
static int read_field(struct writer *w, const char **at, int otherwise)
{
    int value = 0;
    if (**at == '*') {
        ++*at;
        return take_field(w, otherwise);
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        value = value > FIELD_MOST ? value : 10 * value + (**at - '0');
    return value > FIELD_MOST ? FIELD_MOST : value;
}

/* Reads a conversion, from behind its `%` on. */
static struct conversion read_conversion(struct writer *w, const char **at)
{
    struct conversion c = {.precision = -1};
    size_t flags = 0;
    for (; **at && strchr("-+ #0", **at); ++*at)
        if (flags + 1 < sizeof c.flags && !strchr(c.flags, **at))
            c.flags[flags++] = **at;
    c.width = read_field(w, at, 0);
    if (c.width < 0 && !strchr(c.flags, '-'))
        c.flags[flags] = '-';
    c.width = c.width < 0 ? -c.width : c.width;
    if (**at == '.') {
        ++*at;
        c.precision = read_field(w, at, -1);
    }
    while (**at && strchr("hljztLq", **at))
        ++*at;
    c.letter = **at;
    *at += c.letter != 0;
    return c;
}

/* Writes to `format` a conversion that is safe for printf, with width and precision as arguments: the flags
 * that the letter allows, `length` and the letter. Returns `format`. */
static const char *printf_format(char format[16], const struct conversion *c, const char *flags,
                                 const char *length, char letter)
{
    char kept[sizeof c->flags];
    size_t n = 0;
    for (const char *flag = c->flags; *flag; flag++)
        if (strchr(flags, *flag))
            kept[n++] = *flag;
    kept[n] = 0;
    snprintf(format, 16, "%%%s*.*%s%c", kept, length, letter);
    return format;
}

/* Writes one value as printf does. */
#define PUT_AS(w, c, flags, length, letter, value)                                                           \
    do {                                                                                                     \
        char format_[16];                                                                                    \
        char text_[FIELD_MOST + 512]; /* the largest double has 309 digits before the point */               \
        const int size_ = snprintf(text_, sizeof text_, printf_format(format_, c, flags, length, letter),    \
                                   (c)->width, (c)->precision, value);                                       \
        put(w, text_, size_ < 0 ? 0 : (size_t)size_);                                                        \
    } while (0)

static void put_real(struct writer *w, const struct conversion *c, double value)
{
    const bool fits = c->letter && strchr("aAeEfFgG", c->letter);
    PUT_AS(w, c, "-+ #0", "", fits ? c->letter : 'g', value);
}

/* Writes a number as an address. */
static void put_address(struct writer *w, const struct conversion *c, uint64_t value)
{
    struct conversion hex = *c;
    if (!strchr(hex.flags, '#') && strlen(hex.flags) + 1 < sizeof hex.flags)
        strcat(hex.flags, "#");
    PUT_AS(w, &hex, "-#0", "ll", 'x', (unsigned long long)value);
}

static void put_integer(struct writer *w, const struct conversion *c, const union ct_named_argument *a,
                        enum ct_named_type type)
{
    /* a negative number of 32 bits has eight hexadecimal digits, not sixteen */
    const uint64_t bits = type == CT_NAMED_INT ? (uint32_t)a->u : a->u;
    if (c->letter == 'x' || c->letter == 'X' || c->letter == 'o')
        PUT_AS(w, c, "-#0", "ll", c->letter, (unsigned long long)bits);
    else if (c->letter == 'p' || type == CT_NAMED_POINTER)
        put_address(w, c, bits);
    else if (c->letter == 'c')
        PUT_AS(w, c, "-", "", 'c', (int)(unsigned char)bits);
    else if (is_signed(type))
        PUT_AS(w, c, "-+ 0", "ll", 'd', (long long)a->i);
    else
        PUT_AS(w, c, "-0", "ll", 'u', (unsigned long long)a->u);
}

/* Writes the text at an address, or the address when the program may have changed the text. */
static void put_string(struct writer *w, const struct conversion *c, uint64_t address)
{
    const char *text = ct_named_table_string(w->table, address - w->shift);
    if (!text) {
        put_address(w, c, address);
        return;
    }
    size_t size = strlen(text);
    if (c->precision >= 0 && (size_t)c->precision < size)
        size = (size_t)c->precision;
    const size_t width = (size_t)c->width;
    const size_t spaces = width > size ? width - size : 0;
    const bool left = strchr(c->flags, '-') != NULL;
    for (size_t i = 0; i < spaces && !left; i++)
        put(w, " ", 1);
    put(w, text, size);
    for (size_t i = 0; i < spaces && left; i++)
        put(w, " ", 1);
}

/* Writes the next argument. */
static void put_argument(struct writer *w, const struct conversion *c)
{
    const unsigned i = w->next++;
    if (i >= w->event->count) {
        put(w, "?", 1);
        return;
    }
    const union ct_named_argument *a = &w->event->arguments[i];
    const enum ct_named_type type = (enum ct_named_type)w->event->entry->types[i];
    if (is_real(type))
        put_real(w, c, a->f);
    else if (c->letter == 's' && type == CT_NAMED_POINTER)
        put_string(w, c, a->u);
    else if (c->letter && strchr("aAeEfFgG", c->letter))
        put_real(w, c, is_signed(type) ? (double)a->i : (double)a->u);
    else
        put_integer(w, c, a, type);
}

static void put_format(struct writer *w, const char *format)
{
    for (const char *at = format; *at;) {
        const size_t plain = strcspn(at, "%");
        put(w, at, plain);
        at += plain;
        if (!*at)
            break;
        at++;
        const struct conversion c = read_conversion(w, &at);
        if (c.letter == '%')
            put(w, "%", 1);
        else
            put_argument(w, &c);
    }
}

size_t ct_named_event_text(const struct ct_named_event *event, const struct ct_named_table *table,
                           uint64_t shift, char *text, size_t size)
{
    if (!event || !event->entry || (!text && size))
        return 0;
    struct writer w = {.event = event, .table = table, .shift = shift, .text = text, .size = size};
    const char *name = event->entry->text;
    if (event->entry->kind == CT_NAMED_TEXT) {
        put_format(&w, name);
    } else {
        put(&w, name, strlen(name));
        if (event->entry->kind == CT_NAMED_VALUE) {
            const struct conversion plain = {.precision = -1};
            put(&w, " = ", 3);
            put_argument(&w, &plain);
        }
    }
    if (size)
        text[w.used < size ? w.used : size - 1] = 0;
    return w.used;
}
