/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that the packets of ETMv3 and PTM have in common. */
#ifndef CT_PROTO_V7_FIELDS_H
#define CT_PROTO_V7_FIELDS_H

#include <stdbool.h>

#include "coretap/packet.h"

/* Bytes that can be read: from `p` on, up to but not including `end`. A reader that needs more sets `cut`
 * and gives 0, so that a handler reads on without a test after each field and tests once at its end. */
struct ct_v7_cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool cut;
};

uint8_t ct_v7_u8(struct ct_v7_cursor *c);

/* A number of `bytes` little-endian bytes, 0 to 4. */
uint32_t ct_v7_le(struct ct_v7_cursor *c, unsigned bytes);

/* Seven bits a byte while bit 7 is set, five bytes at most. */
uint32_t ct_v7_cont(struct ct_v7_cursor *c);

/* Timestamp: seven bits a byte while bit 7 is set; of 64 bits: nine bytes at most, all bits of the ninth
 * count; of 48 bits: seven bytes at most, six bits of the seventh. *bits: how many there were. */
uint64_t ct_v7_timestamp(struct ct_v7_cursor *c, bool wide, unsigned *bits);

/* The low bits of an address in the form that branch packets have them, `bits` of them with those below the
 * first byte; the instruction set says where they begin. */
unsigned ct_v7_address_shift(unsigned isa);

/* The zeros of a row of them that an alignment packet asks for, before its 0x80. */
#define CT_V7_ASYNC_ZEROS 5

#endif
