/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/cursor.h"

uint64_t ct_cursor_timestamp(struct ct_cursor *c, bool wide, unsigned *bits)
{
    unsigned most = wide ? 9 : 7;
    uint64_t value = 0;
    *bits = 0;
    for (unsigned i = 1; i <= most; i++) {
        uint8_t byte = ct_cursor_u8(c);
        unsigned count = i < most ? 7 : wide ? 8 : 6;
        value |= (uint64_t)(byte & ((1u << count) - 1)) << *bits;
        *bits += count;
        if (!(byte & 0x80))
            break;
    }
    return value;
}
