/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of a fixed size, which are cut when they become too long. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

/* Appends to a text of `room` bytes, of which *used are used, as much as there is room for. */
__attribute__((format(printf, 4, 5))) static inline void ct_append(char *text, size_t room, size_t *used,
                                                                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int size = vsnprintf(text + *used, room - *used, format, args);
    va_end(args);
    *used += size > 0 ? (size_t)size : 0;
    *used = *used < room ? *used : room - 1;
}
