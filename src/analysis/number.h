/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the numbers in what people write of places: watchpoints, loop bounds. */
#ifndef CT_ANALYSIS_NUMBER_H
#define CT_ANALYSIS_NUMBER_H

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Reads a number, decimal or 0x and hexadecimal, and moves behind it. False: the text does not begin with a
 * digit, or the number has more than 64 bits. */
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

/* Reads a text that is such a number and nothing else. */
static inline bool ct_number_read(const char *text, uint64_t *value)
{
    return ct_number_take(&text, value) && !*text;
}

#endif
