/* SPDX-License-Identifier: Apache-2.0 */
/* STM streams for tests: an encoder of its own and random packets, with what
 * a decoder has to make of them. */
#ifndef CT_TEST_STM_GEN_H
#define CT_TEST_STM_GEN_H

#include "support/rng.h"
#include "coretap/packet_stm.h"

/* Writes units into bytes that are 0 before. */
struct stm_writer {
    uint8_t *bytes;
    size_t units;
    /* What the protocol keeps. */
    uint64_t timestamp;
    uint16_t master, channel;
    uint8_t version;
};

void stm_put_unit(struct stm_writer *w, unsigned unit);
void stm_put_number(struct stm_writer *w, uint64_t value, unsigned units);

/* Encodes a packet of which type, value, units (USER), ts and flags but HALF are given, with `more` units of
 * timestamp than it needs if there are as many, and fills in the rest as a decoder would. */
void stm_put_packet(struct stm_writer *w, struct ct_stm_packet *packet, unsigned more);

enum stm_gen_kind {
    STM_GEN_ALL, /* STPv2 */
    STM_GEN_ARM, /* what an Arm STM sends */
};

/* A random packet that may follow what was written. */
struct ct_stm_packet stm_gen_packet(struct rng *rng, const struct stm_writer *w, enum stm_gen_kind kind);

#endif
