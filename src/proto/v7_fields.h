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

/* Reads `bytes` little-endian bytes, 0 to 4. */
uint32_t ct_v7_le(struct ct_v7_cursor *c, unsigned bytes);

/* Reads seven bits a byte while bit 7 is set, five bytes at most. */
uint32_t ct_v7_cont(struct ct_v7_cursor *c);

/* Reads a timestamp, seven bits a byte while bit 7 is set. One of 64 bits has nine bytes at most, all
 * bits of the ninth count; one of 48 bits has seven at most, six bits of the seventh. *bits is how many
 * bits it had. */
uint64_t ct_v7_timestamp(struct ct_v7_cursor *c, bool wide, unsigned *bits);

/* Gives the lowest bit of an address that branch packets of the instruction set have. */
unsigned ct_v7_address_shift(unsigned isa);

/* Zero bytes that an alignment packet needs before its 0x80. */
#define CT_V7_ASYNC_ZEROS 5

#endif
