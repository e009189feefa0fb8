/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digits.h"
#include "base/printable.h"
#include "base/utf8.h"

#include <string.h>

/* Returns whether a character may not be printed as it is: controls of ASCII and C1, line and paragraph
 * separators, and marks that change the direction of text. */
static bool is_control(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } controls[] = {
        {0, 0x1f}, {0x7f, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
    };
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (c >= controls[i].first && c <= controls[i].last)
            return true;
    return false;
}

size_t ct_printable_length(const char *s, size_t size)
{
    if (!size || (*s >= 0x20 && *s < 0x7f))
        return size != 0;
    size_t length;
    const uint32_t c = ct_utf8_read(s, size, &length);
    return length > 1 && !is_control(c) ? length : 0;
}

/* Counts the bytes at the start of the text that can be printed as they are. */
static size_t printable_part(const char *text, size_t size)
{
    size_t part = 0;
    for (size_t length; part < size; part += length) {
        length = ct_printable_length(text + part, size - part);
        if (!length)
            break;
    }
    return part;
}

bool ct_is_printable(const char *text)
{
    const size_t size = strlen(text);
    return printable_part(text, size) == size;
}

static void escape_byte(char byte, char out[4])
{
    static const char digits[] = "0123456789abcdef";
    out[0] = '\\';
    out[1] = 'x';
    out[2] = digits[(uint8_t)byte >> 4];
    out[3] = digits[(uint8_t)byte & 15];
}

void ct_escape(const char *text, char *out)
{
    for (size_t left = strlen(text), part; left; text += part, left -= part) {
        part = printable_part(text, left);
        memcpy(out, text, part);
        out += part;
        if (part)
            continue;
        ct_utf8_read(text, left, &part);
        for (size_t i = 0; i < part; i++, out += 4)
            escape_byte(text[i], out);
    }
    *out = '\0';
}

static void put_escaped_bytes(FILE *out, const char *text, size_t size)
{
    char escaped[4];
    for (size_t i = 0; i < size; i++) {
        escape_byte(text[i], escaped);
        fwrite(escaped, 1, sizeof escaped, out);
    }
}

int ct_write_file(void *file, const void *data, size_t size)
{
    return fwrite(data, 1, size, file) == size ? CT_OK : CT_ERR_IO;
}

/* Writes one character, of `size` bytes, with each byte as \xHH. */
static int write_escaped(const char *text, size_t size, ct_write_fn *write, void *user)
{
    char escaped[4 * 4]; /* a character has at most four bytes */
    for (size_t i = 0; i < size; i++)
        escape_byte(text[i], escaped + 4 * i);
    return write(user, escaped, 4 * size);
}

int ct_write_printable(const char *text, ct_write_fn *write, void *user)
{
    int rc = CT_OK;
    for (size_t left = strlen(text), part; left && !rc; text += part, left -= part) {
        part = printable_part(text, left);
        if (part) {
            rc = write(user, text, part);
            continue;
        }
        ct_utf8_read(text, left, &part);
        rc = write_escaped(text, part, write, user);
    }
    return rc;
}

void ct_put_printable(FILE *out, const char *text)
{
    (void)ct_write_printable(text, ct_write_file, out);
}

void ct_put_printable_line(FILE *out, const char *text, size_t size)
{
    for (size_t length; size; text += length, size -= length) {
        ct_utf8_read(text, size, &length);
        if (*text == '\t' || ct_printable_length(text, length))
            fwrite(text, 1, length, out);
        else
            put_escaped_bytes(out, text, length);
    }
}

void ct_escape_to_read(const char *text, char *out)
{
    for (size_t left = strlen(text), size; left; text += size, left -= size) {
        ct_utf8_read(text, left, &size);
        const bool plain = *text != '\\' && ct_printable_length(text, size);
        for (size_t i = 0; i < size; i++, out += plain ? 1 : 4) {
            if (plain)
                *out = text[i];
            else
                escape_byte(text[i], out);
        }
    }
    *out = '\0';
}

bool ct_unescape(char *text)
{
    char *to = text;
    for (; *text; to++) {
        const int high = text[0] == '\\' && text[1] == 'x' ? ct_hex_digit(text[2]) : -1;
        const int low = high >= 0 ? ct_hex_digit(text[3]) : -1;
        *to = low >= 0 ? (char)(high << 4 | low) : *text;
        text += low >= 0 ? 4 : 1;
        if (!*to)
            return false;
    }
    *to = '\0';
    return true;
}

const char *ct_printable(struct ct_arena *arena, const char *text)
{
    if (ct_is_printable(text))
        return text;
    char *copy = ct_arena_alloc(arena, CT_PRINTABLE_ROOM(strlen(text) + 1));
    if (copy)
        ct_escape(text, copy);
    return copy;
}
