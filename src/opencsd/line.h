/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is put together in a buffer of the caller's, cut where that ends. */
#ifndef CT_OPENCSD_LINE_H
#define CT_OPENCSD_LINE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

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

#endif
