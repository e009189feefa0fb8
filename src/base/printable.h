/* SPDX-License-Identifier: Apache-2.0 */
/* Makes untrusted text from files printable. A terminal obeys control characters, a line break would begin a
 * new record in line-based formats, and direction marks show another order than that of the bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "coretap/base.h"

/* bytes for an escaped text of `size` bytes, including its NUL */
#define CT_PRINTABLE_ROOM(size) (4 * (size))

/* Returns the number of bytes in the first character of the `size` bytes at `s`; 0 when it is not printable
 * or not UTF-8. */
size_t ct_printable_length(const char *s, size_t size);

/* Returns whether the whole text can be printed as it is. */
bool ct_is_printable(const char *text);

/* Writes the text to `out`, which has CT_PRINTABLE_ROOM bytes. Each byte that cannot be printed becomes
 * \xHH. */
void ct_escape(const char *text, char *out);

/* Writes the text, escaped like ct_escape, to a receiver. Returns the receiver's result. */
int ct_write_printable(const char *text, ct_write_fn *write, void *user);

/* Writes the text, escaped like ct_escape, to a file. */
void ct_put_printable(FILE *out, const char *text);

/* A receiver that writes to the FILE `file`. CT_ERR_IO. */
int ct_write_file(void *file, const void *data, size_t size);

/* Writes a source line of `size` bytes to a file, escaped like ct_escape except for tabs. */
void ct_put_printable_line(FILE *out, const char *text, size_t size);

/* Writes the text to `out`, which has CT_PRINTABLE_ROOM bytes, such that it can be read back: backslashes
 * become \xHH, too. */
void ct_escape_to_read(const char *text, char *out);

/* Reverses ct_escape_to_read in place. Returns false when the result would contain a NUL. */
bool ct_unescape(char *text);

/* Returns the text itself when it is printable, else an escaped copy in the arena; NULL when out of
 * memory. */
const char *ct_printable(struct ct_arena *arena, const char *text);
