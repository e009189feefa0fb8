/* Names from files that are not trusted, as they can be printed: a terminal obeys control characters, and a line break
 * makes a record of its own in formats that are lines. */
#ifndef CT_BASE_PRINTABLE_H
#define CT_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Room for a text of `size` bytes, its zero included, when all of it is escaped. */
#define CT_PRINTABLE_ROOM(size) (4 * (size))

/* Whether the text has control characters: those of ASCII and, in UTF-8, of C1. */
bool ct_has_controls(const char *text);

/* Writes the text with each byte of a control character as \xHH into `out`, which has CT_PRINTABLE_ROOM. */
void ct_escape_controls(const char *text, char *out);

/* The text itself when it has no control characters, else a copy in the arena with them escaped; NULL without memory. */
const char *ct_printable(struct ct_arena *arena, const char *text);

#endif
