/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a line of a recorded message stream, whether it has a message or a flit. */
#ifndef CT_FRACTAL_LINE_FIELDS_H
#define CT_FRACTAL_LINE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

/* A cursor over one line of text. */
struct ct_line_fields {
    const char *at, *end;
};

/* What is wrong with a field. */
#define CT_LINE_NO_TIME  "time: a number is expected"
#define CT_LINE_NO_ADDR  "addr: a number is expected"
#define CT_LINE_NO_VALUE "value: a number is expected"
#define CT_LINE_TOO_LONG "characters after the last field"

/* Returns the value of a hexadecimal digit; -1: it is none. */
int ct_line_hex_digit(char c);

/* Reads a number, decimal or, after 0x, hexadecimal. 0: there is none, or it has more than 64 bits. */
int ct_line_number(struct ct_line_fields *t, uint64_t *out);

int ct_line_comma(struct ct_line_fields *t);

/* Reads up to the next comma, or as much as `word` holds. */
void ct_line_word(struct ct_line_fields *t, char *word, size_t size);

/* Reads initiator and kind, with the commas behind them. Returns what is wrong with them; NULL: nothing. */
const char *ct_line_origin(struct ct_line_fields *t, uint8_t *initiator, uint8_t *kind);

/* Returns the letter of a kind (enum ct_fractal_kind). */
char ct_line_kind(unsigned kind);

#endif
