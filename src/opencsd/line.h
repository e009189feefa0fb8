/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is put together in a buffer of the caller's, cut where that ends. */
#ifndef CT_OPENCSD_LINE_H
#define CT_OPENCSD_LINE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct ct_ocsd_line {
    char *text;
    size_t size; /* of the buffer */
    size_t used;
};

/* Adds text in the manner of printf. */
__attribute__((format(printf, 2, 3))) static inline void ct_ocsd_line_add(struct ct_ocsd_line *line,
                                                                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line->text + line->used, line->size - line->used, format, args);
    va_end(args);
    if (n > 0)
        line->used = line->used + (size_t)n < line->size ? line->used + (size_t)n : line->size - 1;
}

/* Adds `size` bytes of text as they are. Packets are printed by the million, and printf takes most of the
 * time of their text. */
static inline void ct_ocsd_line_put(struct ct_ocsd_line *line, const char *text, size_t size)
{
    const size_t room = line->size - 1 - line->used;
    const size_t n = size < room ? size : room;
    memcpy(line->text + line->used, text, n);
    line->used += n;
    line->text[line->used] = 0;
}

/* Adds a string as it is. */
static inline void ct_ocsd_line_say(struct ct_ocsd_line *line, const char *text)
{
    ct_ocsd_line_put(line, text, strlen(text));
}

/* Adds a number in at least `digits` hexadecimal digits, at most 16. `alphabet` has the sixteen of them. */
static inline void ct_ocsd_line_hex(struct ct_ocsd_line *line, uint64_t value, unsigned digits,
                                    const char *alphabet)
{
    char text[16];
    unsigned n = 0;
    while (n < sizeof text && (n < digits || value)) {
        text[sizeof text - ++n] = alphabet[value & 15];
        value >>= 4;
    }
    ct_ocsd_line_put(line, text + sizeof text - n, n);
}

#endif
