/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/unsynced.h"

#include <string.h>

size_t ct_unsynced_find(const uint8_t *data, size_t size, size_t zeros, bool final, bool *found)
{
    static const uint8_t none[16];
    size_t from = 0;
    for (;;) {
        const uint8_t *end = from < size ? memchr(data + from, 0x80, size - from) : NULL;
        if (!end)
            break;
        size_t at = (size_t)(end - data);
        if (at >= zeros && !memcmp(end - zeros, none, zeros)) {
            *found = true;
            return at - zeros;
        }
        from = at + 1;
    }
    if (final)
        return size;
    size_t held = 0;
    while (held < zeros && held < size && data[size - 1 - held] == 0)
        held++;
    return size - held;
}
