/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of ETMv4/ETE packets: continuation-coded numbers, addresses, contexts. */
#pragma once

#include <stdbool.h>

#include "coretap/packet.h"
#include "proto/cursor.h"
#include "base/etm4_config.h"

/* An address, and how much of it is known. */
struct ct_etm4_address {
    uint64_t value;
    uint8_t valid; /* low bits known */
    uint8_t size;  /* 32 or 64 */
    uint8_t is;
};

/* Reads a field of seven bits a byte, which continues while bit 7 is set. Its first `most` bytes make the
 * value; a longer field is damage, but its bytes still belong to the packet. */
uint32_t ct_etm4_cont(struct ct_cursor *c, unsigned most);

/* Reads the payload of an address packet. Its low bits depend on the instruction set: IS0 addresses are words
 * (A64, A32), IS1 halfwords (T32). `keep_high`: a 32-bit address does not change the high half. */
void ct_etm4_address_short(struct ct_cursor *c, unsigned is, struct ct_etm4_address *address);
void ct_etm4_address_32(struct ct_cursor *c, unsigned is, bool keep_high, struct ct_etm4_address *address);
void ct_etm4_address_64(struct ct_cursor *c, unsigned is, struct ct_etm4_address *address);

/* Copies the information byte of a context into the packet: EL in bits 1:0, NSE in 3 (0 on an ETMv4), SF in
 * 4, NS in 5; V in 6 and C in 7 announce VMID and context ID (IHI 0064H 6.4.13). */
void ct_etm4_context_info(struct ct_etm4_packet *packet, uint8_t info);

/* Reads the information byte of a context, and the fields it announces, into `packet`. */
void ct_etm4_context(struct ct_cursor *c, const struct ct_etm4_config *config, struct ct_etm4_packet *packet);
