/* SPDX-License-Identifier: Apache-2.0 */
/* ITM streams for tests: random packets, with the fields that a decoder has to find. */
#pragma once

#include "support/rng.h"
#include "coretap/packet_itm.h"

/* Encodes a packet at bytes + at and returns its size in bytes. The caller sets type, value, source, bits and
 * flags; the function sets pos, size and header. Where the protocol leaves a choice (timestamps, alignment)
 * the packet has `length` bytes. */
size_t itm_put_packet(uint8_t *bytes, size_t at, struct ct_itm_packet *packet, unsigned length);

/* Returns a random packet, and in *length the length to pass to itm_put_packet. */
struct ct_itm_packet itm_gen_packet(struct rng *rng, unsigned *length);
