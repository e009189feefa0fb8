/* SPDX-License-Identifier: Apache-2.0 */
#include "input/text_dump.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* A position in the text. */
struct reader {
    const char *p, *end;
};

static size_t skip_digits(struct reader *r)
{
    const char *begin = r->p;
    while (r->p < r->end && isxdigit((unsigned char)*r->p))
        r->p++;
    return (size_t)(r->p - begin);
}

static void skip_blanks(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t'))
        r->p++;
}

/* Skips a number, with or without 0x. Returns how many digits it has. */
static size_t skip_number(struct reader *r)
{
    if (r->end - r->p > 2 && r->p[0] == '0' && (r->p[1] == 'x' || r->p[1] == 'X'))
        r->p += 2;
    return skip_digits(r);
}

/* Skips what follows an address: a colon, after the name that a debugger may add, or only blanks. Returns
 * whether there is a colon. */
static bool skip_colon(struct reader *r)
{
    skip_blanks(r);
    if (r->p < r->end && *r->p == '<')
        while (r->p < r->end && *r->p != '\n' && *r->p++ != '>')
            ;
    const bool colon = r->p < r->end && *r->p == ':';
    r->p += colon;
    skip_blanks(r);
    return colon;
}

/* Returns whether a line begins with an address and a few bytes or words after it. Without a colon, the
 * address is the longer number. */
static bool has_address(struct reader r)
{
    const size_t address = skip_number(&r);
    const bool colon = skip_colon(&r);
    const size_t first = skip_number(&r);
    skip_blanks(&r);
    const size_t second = skip_number(&r);
    return address >= 4 && first && first % 2 == 0 && (second == first || (colon && !second)) &&
           (colon || address > first);
}

/* Returns whether there is nothing but digits and what tools write between them. */
static bool is_digits(struct reader r)
{
    size_t digits = 0;
    const size_t size = (size_t)(r.end - r.p);
    for (; r.p < r.end; r.p++) {
        if (!isxdigit((unsigned char)*r.p) && !isspace((unsigned char)*r.p) && !memchr("xX,;:", *r.p, 5))
            return false;
        digits += isxdigit((unsigned char)*r.p) != 0;
    }
    return digits > size / 2;
}

/* Returns whether the text begins with a record of `head` characters and at least four bytes. */
static bool is_record(struct reader r, size_t head)
{
    r.p += head;
    return skip_digits(&r) >= 8 && (r.p == r.end || *r.p == '\r' || *r.p == '\n');
}

const char *ct_text_dump_kind(const char *text, size_t size)
{
    const struct reader r = {text, text + size};
    if (size > 9 && text[0] == ':' && is_record(r, 1))
        return "this is memory as text (Intel HEX), but trace is read as bytes; convert it with 'objcopy -I "
               "ihex -O binary'";
    if (size > 9 && text[0] == 'S' && isdigit((unsigned char)text[1]) && is_record(r, 2))
        return "this is memory as text (S-records), but trace is read as bytes; convert it with 'objcopy -I "
               "srec -O binary'";
    if (has_address(r))
        return "this is memory as text with addresses, but trace is read as bytes; write the memory as "
               "bytes, "
               "in gdb with 'dump binary memory', in OpenOCD with 'dump_image', or convert the output of xxd "
               "with 'xxd -r'";
    if (is_digits(r))
        return "this is text with hexadecimal digits, but trace is read as bytes; convert it, for instance "
               "with 'xxd -r -p'";
    return NULL;
}
