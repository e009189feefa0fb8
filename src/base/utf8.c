/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

size_t ct_utf8_length(const unsigned char *s, size_t size)
{
    static const struct {
        unsigned char first, last; /* of the first byte */
        unsigned char low, high;   /* of the second */
        unsigned char length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    if (size == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (s[0] < forms[i].first || s[0] > forms[i].last)
            continue;
        if (size < forms[i].length || s[1] < forms[i].low || s[1] > forms[i].high)
            return 0;
        for (size_t k = 2; k < forms[i].length; k++) {
            if ((s[k] & 0xc0) != 0x80)
                return 0;
        }
        return forms[i].length;
    }
    return 0;
}

uint32_t ct_utf8_read(const char *s, size_t size, size_t *length)
{
    const unsigned char *bytes = (const unsigned char *)s;
    *length = ct_utf8_length(bytes, size);
    if (!*length) {
        *length = 1;
        return 0xfffd;
    }
    uint32_t c = *length == 1 ? bytes[0] : bytes[0] & 0xffu >> (*length + 1);
    for (size_t i = 1; i < *length; i++)
        c = c << 6 | (bytes[i] & 0x3f);
    return c;
}
