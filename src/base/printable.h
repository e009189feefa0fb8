/* SPDX-License-Identifier: Apache-2.0 */
/* Makes text from files that are not trusted printable. A terminal obeys control characters, a line break
 * makes a record of its own in formats of lines, and marks of direction show another order than that of the
 * bytes. */
#ifndef CT_BASE_PRINTABLE_H
#define CT_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "coretap/base.h"

/* the room that a text of `size` bytes, its zero included, needs when all of it is escaped */
#define CT_PRINTABLE_ROOM(size) (4 * (size))

/* Returns how many bytes the first character of the `size` bytes at `s` has; 0 when it cannot be printed as
 * it is or is no UTF-8. */
size_t ct_printable_length(const char *s, size_t size);

/* Tells whether all of the text can be printed as it is. */
bool ct_is_printable(const char *text);

/* Writes the text to `out`, which has CT_PRINTABLE_ROOM. Each byte that cannot be printed becomes \xHH. */
void ct_escape(const char *text, char *out);

/* Gives the text, escaped as by ct_escape, to a receiver. Returns what the receiver did. */
int ct_write_printable(const char *text, ct_write_fn *write, void *user);

/* Writes the text, escaped as by ct_escape, to a file. */
void ct_put_printable(FILE *out, const char *text);

/* Receives text for the FILE `file`. CT_ERR_IO. */
int ct_write_file(void *file, const void *data, size_t size);

/* Writes a line of source of `size` bytes to a file, escaped as by ct_escape but for its tabs. */
void ct_put_printable_line(FILE *out, const char *text, size_t size);

/* Writes the text to `out`, which has CT_PRINTABLE_ROOM, so that it can be read back: backslashes become \xHH
 * too. */
void ct_escape_to_read(const char *text, char *out);

/* Undoes ct_escape_to_read in place. Returns false when that gives a zero byte. */
bool ct_unescape(char *text);

/* Returns the text itself when it can be printed as it is, else a copy in the arena that is escaped; NULL
 * without memory. */
const char *ct_printable(struct ct_arena *arena, const char *text);

#endif
