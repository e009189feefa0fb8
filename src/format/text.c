/* SPDX-License-Identifier: Apache-2.0 */
#include "format/text.h"

#include "base/digits.h"
#include "base/printable.h"
#include "base/room.h"
#include "base/utf8.h"

const char ct_text_digits[16] = "0123456789abcdef";

void ct_text_init(struct ct_text *text, FILE *out)
{
    text->out = out;
    text->failed = false;
    text->kept = NULL;
    text->kept_size = text->kept_cap = 0;
    text->used = 0;
    text->base = 0;
    text->high_size = 0;
}

static bool keep(struct ct_text *text)
{
    if (!CT_MAKE_ROOM(text->kept, text->kept_cap, text->kept_size + text->used))
        return false;
    memcpy(text->kept + text->kept_size, text->data, text->used);
    text->kept_size += text->used;
    return true;
}

static bool put_out(struct ct_text *text)
{
    return text->out ? fwrite(text->data, 1, text->used, text->out) == text->used : keep(text);
}

bool ct_text_flush(struct ct_text *text)
{
    if (!text->failed && text->used && !put_out(text))
        text->failed = true;
    text->used = 0;
    return !text->failed;
}

void ct_text_dec(struct ct_text *text, uint64_t value)
{
    text->used = (size_t)(ct_digits_dec(text->data + text->used, value) - text->data);
}

void ct_text_offset_anew(struct ct_text *text, uint64_t value)
{
    const uint64_t hundreds = value / 100;
    const uint64_t before = text->base / 100;
    /* If all but the last four digits are the same, only the two cached ones of them change. */
    if (text->high_size > 2 && hundreds / 100 == before / 100) {
        const unsigned low = (unsigned)(hundreds % 100);
        text->high_digits[text->high_size - 2] = (char)('0' + low / 10);
        text->high_digits[text->high_size - 1] = (char)('0' + low % 10);
        text->base = hundreds * 100;
        ct_text_offset(text, value);
        return;
    }
    const size_t start = text->used;
    ct_text_dec(text, value);
    const size_t size = hundreds ? text->used - start - 2 : 0;
    memcpy(text->high_digits, text->data + start, size);
    text->base = hundreds * 100;
    text->high_size = (uint8_t)size;
}

void ct_text_hex(struct ct_text *text, uint64_t value)
{
    text->used = (size_t)(ct_digits_hex(text->data + text->used, value) - text->data);
}

void ct_text_hex_digits(struct ct_text *text, uint64_t value, unsigned count)
{
    char *p = text->data + text->used;
    text->used += count;
    if (count <= 8) {
        ct_digits_put_eight(p, ct_digits_eight_hex((uint32_t)value << (32 - 4 * count) % 32));
        return;
    }
    while (count--) {
        p[count] = ct_text_digits[value & 15];
        value >>= 4;
    }
}

void ct_text_atoms(struct ct_text *text, uint32_t atoms, unsigned count)
{
    /* 'N' is 0x4e, and 'E' is nine less */
    char *p = text->data + text->used;
    for (unsigned i = 0; i < count; i += 8, p += 8, atoms >>= 8) {
        uint64_t bits = (atoms & 255) * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
        bits = (bits + UINT64_C(0x00406070787c7e7f)) >> 7 & UINT64_C(0x0101010101010101);
        ct_digits_put_eight(p, UINT64_C(0x4e4e4e4e4e4e4e4e) - 9 * bits);
    }
    text->used += count;
}

static void put_escaped(struct ct_text *text, const char *s, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ct_text_lit(text, "\\x");
        ct_text_hex_digits(text, (uint8_t)s[i], 2);
    }
}

/* Returns the number of bytes at the beginning that are printable ASCII without escapes in JSON, limited to
 * the room in a line. */
static size_t plain_part(const char *s, size_t left)
{
    size_t size = 0;
    left = left < CT_TEXT_LINE / 2 ? left : CT_TEXT_LINE / 2;
    while (size < left && s[size] >= 0x20 && s[size] < 0x7f && s[size] != '"' && s[size] != '\\')
        size++;
    return size;
}

static void put_printable(struct ct_text *text, const char *s, size_t left)
{
    for (size_t size; left; s += size, left -= size) {
        ct_text_room(text);
        size = plain_part(s, left);
        if (!size)
            size = ct_printable_length(s, left);
        if (size) {
            ct_text_bytes(text, s, size);
        } else {
            ct_utf8_read(s, left, &size);
            put_escaped(text, s, size);
        }
    }
    ct_text_room(text);
}

void ct_text_printable(struct ct_text *text, const char *s)
{
    put_printable(text, s, strlen(s));
}

void ct_text_csv(struct ct_text *text, const char *s)
{
    for (const char *quote; (quote = strchr(s, '"')); s = quote + 1) {
        put_printable(text, s, (size_t)(quote - s));
        ct_text_lit(text, "\"\"");
    }
    ct_text_printable(text, s);
}

/* Appends a character of `size` bytes at `s`. `c` is U+FFFD when the bytes are no character. */
static void json_character(struct ct_text *text, uint32_t c, const char *s, size_t size)
{
    if (*s == '"' || *s == '\\') {
        ct_text_char(text, '\\');
        ct_text_char(text, *s);
    } else if (ct_printable_length(s, size)) {
        ct_text_bytes(text, s, size);
    } else {
        ct_text_lit(text, "\\u");
        ct_text_hex_digits(text, c, 4);
    }
}

void ct_text_json(struct ct_text *text, const char *s)
{
    for (size_t left = strlen(s), size; left; s += size, left -= size) {
        ct_text_room(text);
        size = plain_part(s, left);
        if (size) {
            ct_text_bytes(text, s, size);
            continue;
        }
        const uint32_t c = ct_utf8_read(s, left, &size);
        json_character(text, c, s, size);
    }
    ct_text_room(text);
}

static void json_key(struct ct_text *text, const char *key)
{
    ct_text_lit(text, ",\"");
    ct_text_string(text, key);
    ct_text_lit(text, "\":");
}

void ct_text_json_text(struct ct_text *text, const char *key, const char *value)
{
    json_key(text, key);
    ct_text_char(text, '"');
    ct_text_json(text, value);
    ct_text_char(text, '"');
}

void ct_text_json_number(struct ct_text *text, const char *key, uint64_t value)
{
    json_key(text, key);
    ct_text_dec(text, value);
}

void ct_text_json_address(struct ct_text *text, const char *key, uint64_t addr)
{
    json_key(text, key);
    ct_text_lit(text, "\"0x");
    ct_text_hex(text, addr);
    ct_text_char(text, '"');
}
