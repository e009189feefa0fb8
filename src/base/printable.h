/* SPDX-License-Identifier: Apache-2.0 */
/* Text from files that are not trusted, as it can be printed. A terminal obeys control characters, a line
 * break makes a record of its own in formats that are lines, and marks of direction show another order than
 * the bytes have. */
#ifndef CT_BASE_PRINTABLE_H
#define CT_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "coretap/base.h"

/* Room for a text of `size` bytes, its zero included, when all of it is escaped. */
#define CT_PRINTABLE_ROOM(size) (4 * (size))

/* Whether a character is not to be printed as it is: controls of ASCII and C1, line and paragraph separators,
 * and what changes the direction of text. */
bool ct_is_control(uint32_t c);

/* Bytes of the character that the `size` bytes at `s` begin with, when it can be printed as it is. 0: it is a
 * control character or no UTF-8. */
size_t ct_printable_length(const char *s, size_t size);

/* Whether all of the text can be printed as it is. */
bool ct_is_printable(const char *text);

/* Writes the text into `out`, which has CT_PRINTABLE_ROOM; each byte of what
 * cannot be printed becomes \xHH. */
void ct_escape(const char *text, char *out);

/* Gives the text to a receiver in the same way. Returns what the receiver did. */
int ct_write_printable(const char *text, ct_write_fn *write, void *user);

/* The same to a file. */
void ct_put_printable(FILE *out, const char *text);

/* Receives text for the FILE `file`. CT_ERR_IO. */
int ct_write_file(void *file, const void *data, size_t size);

/* The same for a line of source, of `size` bytes: its tabs stay. */
void ct_put_printable_line(FILE *out, const char *text, size_t size);

/* Writes the text into `out`, which has CT_PRINTABLE_ROOM, so that it can be read
 * back: backslashes become \xHH, too. */
void ct_escape_to_read(const char *text, char *out);

/* Reads back in place what ct_escape_to_read wrote. False: a zero byte is in it. */
bool ct_unescape(char *text);

/* Returns the text itself when it can be printed as it is, else a copy in the arena that is escaped; NULL
 * without memory. */
const char *ct_printable(struct ct_arena *arena, const char *text);

#endif
