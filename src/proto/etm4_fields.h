/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of ETMv4/ETE packets: continuation-coded numbers, addresses, contexts. */
#ifndef CT_PROTO_ETM4_FIELDS_H
#define CT_PROTO_ETM4_FIELDS_H

#include <stdbool.h>

#include "coretap/packet.h"
#include "base/etm4_config.h"

/* Bytes that can be read: from `p` on, up to but not including `end`. A reader that needs more sets `cut`
 * and gives 0, so that a handler reads on without a test after each field and tests once at its end. */
struct ct_etm4_cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool cut;
};

/* An address with what is known of it. */
struct ct_etm4_address {
    uint64_t value;
    uint8_t valid; /* low bits known */
    uint8_t size;  /* 32 or 64 */
    uint8_t is;
};

uint8_t ct_etm4_u8(struct ct_etm4_cursor *c);

/* A number of `bytes` little-endian bytes, 0 to 8. */
uint64_t ct_etm4_le(struct ct_etm4_cursor *c, unsigned bytes);

/* Seven bits a byte while bit 7 is set. All bytes up to the one with bit 7 clear belong to the field; the
 * first `most` of them make the value (a longer field is damage, but its end is still the packet's). */
uint32_t ct_etm4_cont(struct ct_etm4_cursor *c, unsigned most);

/* Timestamp: up to nine bytes, the ninth of eight bits. *bits: how many bits were there. */
uint64_t ct_etm4_timestamp(struct ct_etm4_cursor *c, unsigned *bits);

/* Address payloads. The low bits and their arrangement depend on the instruction set: IS0 has words
 * (A64, A32), IS1 halfwords (T32). `keep_high`: a 32-bit address leaves the high half as it is. */
void ct_etm4_address_short(struct ct_etm4_cursor *c, unsigned is, struct ct_etm4_address *address);
void ct_etm4_address_32(struct ct_etm4_cursor *c, unsigned is, bool keep_high,
                        struct ct_etm4_address *address);
void ct_etm4_address_64(struct ct_etm4_cursor *c, unsigned is, struct ct_etm4_address *address);

/* What the information byte of a context says by itself. */
void ct_etm4_context_info(struct ct_etm4_packet *packet, uint8_t info);

/* The information byte of a context and what it announces, into `packet`. */
void ct_etm4_context(struct ct_etm4_cursor *c, const struct ct_etm4_config *config,
                     struct ct_etm4_packet *packet);

#endif
