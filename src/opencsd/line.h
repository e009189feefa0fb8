/* SPDX-License-Identifier: Apache-2.0 */
/* Text composed in a buffer of the caller, and cut at its end. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ct_ocsd_line {
    char *text;
    size_t size; /* bytes of the buffer */
    size_t used;
};

/* Appends formatted text. */
__attribute__((format(printf, 2, 3))) void ct_ocsd_line_add(struct ct_ocsd_line *line, const char *format,
                                                            ...);

/* Appends as much of a longer text as fits. */
void ct_ocsd_line_cut(struct ct_ocsd_line *line, const char *text);

/* Appends `size` bytes of text. Millions of packets are printed, and printf would take most of the time. */
static inline void ct_ocsd_line_put(struct ct_ocsd_line *line, const char *text, size_t size)
{
    char *end = line->text + line->used;
    if (size >= line->size - line->used) {
        ct_ocsd_line_cut(line, text);
        return;
    }
    memcpy(end, text, size);
    end[size] = 0;
    line->used += size;
}

/* Appends a string. Inline, so that the size of a constant string is known. */
__attribute__((always_inline)) static inline void ct_ocsd_line_say(struct ct_ocsd_line *line,
                                                                   const char *text)
{
    ct_ocsd_line_put(line, text, strlen(text));
}

/* Appends a number with at least `digits` hexadecimal digits, at most 16. `alphabet`: the sixteen digits. */
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

/* Appends a decimal number. */
static inline void ct_ocsd_line_decimal(struct ct_ocsd_line *line, uint64_t value)
{
    char text[20];
    unsigned n = 0;
    do
        text[sizeof text - ++n] = (char)('0' + value % 10);
    while (value /= 10);
    ct_ocsd_line_put(line, text + sizeof text - n, n);
}

/* Appends the name of a memory space (OCSD_MEM_SPACE_…), in the words of the version that the program was
 * built for. Several spaces without a common name are listed, each with a comma. */
void ct_ocsd_line_space(struct ct_ocsd_line *line, uint32_t space);
