/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of the bytes of one packet. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads from `p` up to, not including, `end`. A read beyond the end sets `cut` and returns 0, so that a
 * handler can read all fields and test `cut` once at its end. */
struct ct_cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool cut;
};

static inline uint8_t ct_cursor_u8(struct ct_cursor *c)
{
    if (c->p < c->end)
        return *c->p++;
    c->cut = true;
    return 0;
}

/* Reads `bytes` little-endian bytes, 0 to 8. */
static inline uint64_t ct_cursor_le(struct ct_cursor *c, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)ct_cursor_u8(c) << (8 * i);
    return value;
}

/* Reads `bytes` little-endian bytes, 0 to 4. */
static inline uint32_t ct_cursor_le32(struct ct_cursor *c, unsigned bytes)
{
    return (uint32_t)ct_cursor_le(c, bytes);
}

/* Reads a timestamp, seven bits a byte while bit 7 is set. One of 64 bits has at most nine bytes, the ninth
 * with eight bits; one of 48 bits has at most seven, the seventh with six bits. *bits receives its width. */
uint64_t ct_cursor_timestamp(struct ct_cursor *c, bool wide, unsigned *bits);
