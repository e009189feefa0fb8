/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/line.h"

#include <stdarg.h>
#include <stdio.h>

void ct_ocsd_line_add(struct ct_ocsd_line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line->text + line->used, line->size - line->used, format, args);
    va_end(args);
    if (n > 0)
        line->used = line->used + (size_t)n < line->size ? line->used + (size_t)n : line->size - 1;
}

void ct_ocsd_line_cut(struct ct_ocsd_line *line, const char *text)
{
    memcpy(line->text + line->used, text, line->size - 1 - line->used);
    line->used = line->size - 1;
    line->text[line->used] = 0;
}
