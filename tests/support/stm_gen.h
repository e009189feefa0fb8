/* SPDX-License-Identifier: Apache-2.0 */
/* STM streams for tests: an independent encoder and random packets, with the fields that a decoder has to
 * find. */
#pragma once

#include "support/rng.h"
#include "coretap/packet_stm.h"

/* A writer of 4-bit units into bytes that were zeroed before. */
struct stm_writer {
    uint8_t *bytes;
    size_t units;
    /* State of the protocol. */
    uint64_t timestamp;
    uint16_t master, channel;
    uint8_t version;
};

void stm_put_unit(struct stm_writer *w, unsigned unit);
void stm_put_number(struct stm_writer *w, uint64_t value, unsigned units);

/* Encodes a packet and sets the fields that a decoder would. The caller sets type, value, units (USER), ts
 * and all flags but HALF. A timestamp has `more` units more than it needs, if that many fit. */
void stm_put_packet(struct stm_writer *w, struct ct_stm_packet *packet, unsigned more);

enum stm_gen_kind {
    STM_GEN_ALL, /* STPv2 */
    STM_GEN_ARM, /* only packets that an Arm STM sends */
};

/* Returns a random packet that may follow what has been written. */
struct ct_stm_packet stm_gen_packet(struct rng *rng, const struct stm_writer *w, enum stm_gen_kind kind);
