/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a line of a recorded message stream; shared by messages and flits. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A cursor over one line of text. */
struct ct_line_fields {
    const char *at, *end;
};

/* error texts of fields */
#define CT_LINE_NO_TIME  "time: a number is expected"
#define CT_LINE_NO_ADDR  "addr: a number is expected"
#define CT_LINE_NO_VALUE "value: a number is expected"
#define CT_LINE_TOO_LONG "characters after the last field"

/* Reads a number: decimal, or hexadecimal after 0x. Returns 0 if there is none, or it exceeds 64 bits. */
int ct_line_number(struct ct_line_fields *t, uint64_t *out);

int ct_line_comma(struct ct_line_fields *t);

/* Reads up to the next comma; cuts what `word` cannot hold. */
void ct_line_word(struct ct_line_fields *t, char *word, size_t size);

/* Reads initiator and kind, with the comma after each. Returns what is wrong with them, or NULL. */
const char *ct_line_origin(struct ct_line_fields *t, uint8_t *initiator, uint8_t *kind);

/* Returns the letter of a kind (enum ct_fractal_kind). */
char ct_line_kind(unsigned kind);
