/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is put together in a buffer of the caller's, cut where that ends. */
#ifndef CT_OPENCSD_LINE_H
#define CT_OPENCSD_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ct_ocsd_line {
    char *text;
    size_t size; /* of the buffer */
    size_t used;
};

/* Adds text in the manner of printf. */
__attribute__((format(printf, 2, 3))) void ct_ocsd_line_add(struct ct_ocsd_line *line, const char *format,
                                                            ...);

/* Adds what there is room for of text that is longer. */
void ct_ocsd_line_cut(struct ct_ocsd_line *line, const char *text);

/* Adds `size` bytes of text as they are. Packets are printed by the million, and printf takes most of the
 * time of their text. */
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

/* Adds a string as it is. In line, so that the size of a constant one is known. */
__attribute__((always_inline)) static inline void ct_ocsd_line_say(struct ct_ocsd_line *line,
                                                                   const char *text)
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

/* Adds a number in decimal digits. */
static inline void ct_ocsd_line_decimal(struct ct_ocsd_line *line, uint64_t value)
{
    char text[20];
    unsigned n = 0;
    do
        text[sizeof text - ++n] = (char)('0' + value % 10);
    while (value /= 10);
    ct_ocsd_line_put(line, text + sizeof text - n, n);
}

/* Adds the name of a memory space (OCSD_MEM_SPACE_…), in the words of the version that the program was built
 * for; of several spaces that have no common name, each with a comma. */
void ct_ocsd_line_space(struct ct_ocsd_line *line, uint32_t space);

#endif
