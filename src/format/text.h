/* SPDX-License-Identifier: Apache-2.0 */
/* Text lines, built fast: appended to a buffer that is written when it is full. */
#ifndef CT_FORMAT_TEXT_H
#define CT_FORMAT_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CT_TEXT_SIZE 65536u

/* What can be appended between two looks at the room left (ct_text_room). */
#define CT_TEXT_LINE 2048u

/* How far behind the end of the text a function may write what it does not count. */
#define CT_TEXT_SLACK 32u

struct ct_text {
    FILE *out;   /* NULL: what is written is kept */
    bool failed; /* a write did not succeed; what follows is dropped */
    char *kept;  /* the caller's to free */
    size_t kept_size, kept_cap;
    size_t used;
    uint64_t high;     /* what ct_text_offset wrote last, divided by 10000 … */
    uint8_t high_size; /* … its number of digits, 0 for none … */
    char high_digits[CT_TEXT_SLACK];
    char data[CT_TEXT_SIZE + CT_TEXT_SLACK];
};

/* With `out` NULL what is written is kept in memory. */
void ct_text_init(struct ct_text *text, FILE *out);

/* Writes what is there. False when a write failed, now or before. */
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

/* A string literal, whose length is known when this is compiled; parentheses would let other pointers pass.
 * NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define ct_text_lit(text, literal) ct_text_bytes((text), "" literal, sizeof literal - 1)

static inline void ct_text_string(struct ct_text *text, const char *s)
{
    ct_text_bytes(text, s, strlen(s));
}

/* A word with its length, in room that can be copied without looking at it. */
struct ct_word {
    uint8_t size;
    char text[CT_TEXT_SLACK - 1];
};

/* Initialises one by a literal, which cannot stand in parentheses. */
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

/* The sixteen hexadecimal digits. */
extern const char ct_text_digits[16];

/* Decimal; hexadecimal in lower case without leading zeros; so many hexadecimal digits. */
void ct_text_dec(struct ct_text *text, uint64_t value);
void ct_text_offset(struct ct_text *text,
                    uint64_t value); /* as ct_text_dec, for numbers that ascend slowly */
void ct_text_hex(struct ct_text *text, uint64_t value);
void ct_text_hex_digits(struct ct_text *text, uint64_t value, unsigned count);

/* `count` atoms, oldest in bit 0: E for 1, N for 0. */
void ct_text_atoms(struct ct_text *text, uint32_t atoms, unsigned count);

/* Text of any length from elsewhere, as it can be printed (base/printable.h); behind it
 * there is room for a line again. */
void ct_text_printable(struct ct_text *text, const char *s);

/* The same inside of the quotes of CSV. */
void ct_text_csv(struct ct_text *text, const char *s);

/* The same inside of a JSON string: quotes, backslashes and control characters
 * escaped, what is no UTF-8 as U+FFFD. */
void ct_text_json(struct ct_text *text, const char *s);

#endif
