/* SPDX-License-Identifier: Apache-2.0 */
/* ITM streams for tests: random packets, with what a decoder has to make of them. */
#ifndef CT_TEST_ITM_GEN_H
#define CT_TEST_ITM_GEN_H

#include "support/rng.h"
#include "coretap/packet_itm.h"

/* Encodes a packet at bytes + at, of which type, value, source, bits and flags are given, in
 * `length` bytes where the protocol leaves a choice (timestamps, alignment), and fills in pos,
 * size and header. Result: bytes. */
size_t itm_put_packet(uint8_t *bytes, size_t at, struct ct_itm_packet *packet, unsigned length);

/* A random packet; *length is for itm_put_packet. */
struct ct_itm_packet itm_gen_packet(struct rng *rng, unsigned *length);

#endif
