/* SPDX-License-Identifier: Apache-2.0 */
#include "format/text.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/printable.h"
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
    if (text->kept_size + text->used > text->kept_cap) {
        const size_t cap = 2 * (text->kept_size + text->used);
        char *kept = realloc(text->kept, cap);
        if (!kept)
            return false;
        text->kept = kept;
        text->kept_cap = cap;
    }
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

/* Returns the eight decimal digits of value < 10^8, one in each byte, the lowest digit in the lowest byte.
 * Halves, quarters and eighths are split off side by side, by multiplications that divide exactly for such
 * small numbers. */
static uint64_t eight_digits(uint32_t value)
{
    const uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    const uint64_t hundreds = fours * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    const uint64_t tens = twos * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (twos - 10 * tens) << 8;
}

static void put_eight(char *to, uint64_t digits_low_first)
{
    digits_low_first = ct_le64(digits_low_first);
    memcpy(to, &digits_low_first, sizeof digits_low_first);
}

#define ASCII_ZEROS UINT64_C(0x3030303030303030)

void ct_text_dec(struct ct_text *text, uint64_t value)
{
    char *p = text->data + text->used;
    if (value < 10) {
        *p = (char)('0' + value);
        text->used++;
        return;
    }
    if (value < 100) {
        const unsigned tens = (unsigned)value / 10;
        p[0] = (char)('0' + tens);
        p[1] = (char)('0' + (unsigned)value - 10 * tens);
        text->used += 2;
        return;
    }
    if (value >= 100000000) {
        ct_text_dec(text, value / 100000000);
        put_eight(text->data + text->used, eight_digits((uint32_t)(value % 100000000)) | ASCII_ZEROS);
        text->used += 8;
        return;
    }
    const uint64_t all = eight_digits((uint32_t)value);
    const unsigned zeros = (unsigned)__builtin_ctzll(all) / 8;
    put_eight(p, (all | ASCII_ZEROS) >> 8 * zeros);
    text->used += 8 - zeros;
}

void ct_text_offset_anew(struct ct_text *text, uint64_t value)
{
    const uint64_t hundreds = value / 100;
    const uint64_t before = text->base / 100;
    /* Where all but the last four digits stay, two that are kept are exchanged. */
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

/* Returns the characters of eight hexadecimal digits, the highest digit in the lowest byte. */
static uint64_t eight_hex(uint32_t value)
{
    uint64_t x = __builtin_bswap32(value);
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x >> 4 | x << 8) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    const uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + ASCII_ZEROS + letters * ('a' - '0' - 10);
}

void ct_text_hex(struct ct_text *text, uint64_t value)
{
    const unsigned count = (67 - (unsigned)__builtin_clzll(value | 1)) / 4;
    const uint64_t high_first = value << (64 - 4 * count);
    char *p = text->data + text->used;
    put_eight(p, eight_hex((uint32_t)(high_first >> 32)));
    put_eight(p + 8, eight_hex((uint32_t)high_first));
    text->used += count;
}

void ct_text_hex_digits(struct ct_text *text, uint64_t value, unsigned count)
{
    char *p = text->data + text->used;
    text->used += count;
    if (count <= 8) {
        put_eight(p, eight_hex((uint32_t)value << (32 - 4 * count) % 32));
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
        put_eight(p, UINT64_C(0x4e4e4e4e4e4e4e4e) - 9 * bits);
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

/* Returns how many bytes at the beginning are printable ASCII that JSON does not escape, up to the room in a
 * line. */
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

/* Appends a character of `size` bytes at `s`; c is U+FFFD when the bytes are no character. */
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
