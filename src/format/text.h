/* SPDX-License-Identifier: Apache-2.0 */
/* Builds lines of text quickly: appends them to a buffer, which is written when it is full. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CT_TEXT_SIZE 65536u

/* bytes that may be appended between two calls of ct_text_room */
#define CT_TEXT_LINE 2048u

/* bytes behind the end of the text that functions may overwrite */
#define CT_TEXT_SLACK 32u

struct ct_text {
    FILE *out;   /* NULL: the text stays in memory */
    bool failed; /* a write failed; later text is dropped */
    char *kept;  /* text in memory, to be freed by the caller */
    size_t kept_size, kept_cap;
    size_t used;
    uint64_t base;     /* last number of ct_text_offset, without its last two digits */
    uint8_t high_size; /* number of cached digits before those two; 0: none */
    char high_digits[CT_TEXT_SLACK];
    char data[CT_TEXT_SIZE + CT_TEXT_SLACK];
};

/* Prepares a text. With `out` NULL it stays in memory. */
void ct_text_init(struct ct_text *text, FILE *out);

/* Writes the buffer. Returns false when a write failed, now or earlier. */
bool ct_text_flush(struct ct_text *text);

/* Makes room for CT_TEXT_LINE bytes. */
static inline void ct_text_room(struct ct_text *text)
{
    if (CT_TEXT_SIZE - text->used < CT_TEXT_LINE)
        ct_text_flush(text);
}

static inline void ct_text_char(struct ct_text *text, char c)
{
    text->data[text->used++] = c;
}

static inline void ct_text_bytes(struct ct_text *text, const char *s, size_t n)
{
    memcpy(text->data + text->used, s, n);
    text->used += n;
}

/* Appends a string literal, whose length is known at compile time. Without parentheses, so that nothing but a
 * literal compiles. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define ct_text_lit(text, literal) ct_text_bytes((text), "" literal, sizeof literal - 1)

static inline void ct_text_string(struct ct_text *text, const char *s)
{
    ct_text_bytes(text, s, strlen(s));
}

/* A word with its length, padded so that it can be copied with a constant size. */
struct ct_word {
    uint8_t size;
    char text[CT_TEXT_SLACK - 1];
};

/* Initialises a word from a literal, which cannot stand in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define CT_WORD(literal)                                                                                     \
    {                                                                                                        \
        sizeof literal - 1, literal                                                                          \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

static inline void ct_text_word(struct ct_text *text, const struct ct_word *word)
{
    memcpy(text->data + text->used, word->text, sizeof word->text);
    text->used += word->size;
}

/* the sixteen hexadecimal digits */
extern const char ct_text_digits[16];

/* Append a number: in decimal; in lower-case hexadecimal without leading zeros; in `count` hexadecimal
 * digits. */
void ct_text_dec(struct ct_text *text, uint64_t value);
void ct_text_hex(struct ct_text *text, uint64_t value);
void ct_text_hex_digits(struct ct_text *text, uint64_t value, unsigned count);

/* Appends a number as ct_text_dec does, but faster for slowly ascending numbers: reuses all but the last two
 * digits of the previous one. */
void ct_text_offset_anew(struct ct_text *text, uint64_t value);
static inline void ct_text_offset(struct ct_text *text, uint64_t value)
{
    const uint64_t low = value - text->base;
    if (low >= 100 || !text->high_size) {
        ct_text_offset_anew(text, value);
        return;
    }
    char *p = text->data + text->used;
    memcpy(p, text->high_digits, sizeof text->high_digits);
    const unsigned tens = (unsigned)low * 103 >> 10;
    p[text->high_size] = (char)('0' + tens);
    p[text->high_size + 1] = (char)('0' + low - 10 * tens);
    text->used += text->high_size + 2u;
}

/* Appends `count` atoms, the oldest in bit 0: E for 1, N for 0. */
void ct_text_atoms(struct ct_text *text, uint32_t atoms, unsigned count);

/* Appends text of any length from outside, made printable (base/printable.h), and makes room for a line
 * behind it. */
void ct_text_printable(struct ct_text *text, const char *s);

/* Appends such text for the inside of CSV quotes. */
void ct_text_csv(struct ct_text *text, const char *s);

/* Appends such text for the inside of a JSON string: escapes quotes, backslashes and control characters, and
 * replaces bytes that are no UTF-8 by U+FFFD. */
void ct_text_json(struct ct_text *text, const char *s);

/* Append a member of a JSON object behind others: ,"key":"value"; a number; or an address as a string,
 * because JSON numbers do not hold all addresses exactly. */
void ct_text_json_text(struct ct_text *text, const char *key, const char *value);
void ct_text_json_number(struct ct_text *text, const char *key, uint64_t value);
void ct_text_json_address(struct ct_text *text, const char *key, uint64_t addr);
