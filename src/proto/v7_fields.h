/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that the packets of ETMv3 and PTM share. */
#pragma once

#include <stdbool.h>

#include "coretap/packet.h"

/* A reader of bytes from `p` up to, not including, `end`. A read beyond the end sets `cut` and returns 0, so
 * that a handler can read all fields and test `cut` once at its end. */
struct ct_v7_cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool cut;
};

uint8_t ct_v7_u8(struct ct_v7_cursor *c);

/* Reads `bytes` little-endian bytes, 0 to 4. */
uint32_t ct_v7_le(struct ct_v7_cursor *c, unsigned bytes);

/* Reads seven bits a byte while bit 7 is set, at most five bytes. */
uint32_t ct_v7_cont(struct ct_v7_cursor *c);

/* Reads a timestamp, seven bits a byte while bit 7 is set. One of 64 bits has at most nine bytes, the ninth
 * with eight bits; one of 48 bits has at most seven, the seventh with six bits. *bits receives its width. */
uint64_t ct_v7_timestamp(struct ct_v7_cursor *c, bool wide, unsigned *bits);

/* Returns the lowest address bit in branch packets of the instruction set. */
unsigned ct_v7_address_shift(unsigned isa);

/* Number of zero bytes that an alignment packet needs before its 0x80. */
#define CT_V7_ASYNC_ZEROS 5
