/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the numbers that people write in names of places: watchpoints, loop bounds. */
#pragma once

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Reads a number, decimal or hexadecimal with 0x, and moves *text behind it. Returns false when the text does
 * not begin with a digit, or when the number exceeds 64 bits. */
static inline bool ct_number_take(const char **text, uint64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *value = strtoull(*text, &end, 0);
    *text = end;
    return !errno;
}

/* Reads a text that is one such number and nothing else. */
static inline bool ct_number_read(const char *text, uint64_t *value)
{
    return ct_number_take(&text, value) && !*text;
}
