/* SPDX-License-Identifier: Apache-2.0 */
/* The first one to three units of an STPv2 packet, and what they announce. */
#pragma once

#include "coretap/packet_stm.h"

struct ct_stm_header {
    uint8_t type;  /* enum ct_stm_type; NOT_SYNC: the next unit is part of the header */
    uint8_t units; /* payload units after the header; USER: units of its length field */
    uint8_t flags; /* CT_STM_HAS_TS: a timestamp follows the payload; CT_STM_MARKER */
};

/* Returns the number that a Gray code stands for. */
typedef uint64_t ct_stm_from_gray_fn(uint64_t gray);

/* Makes the decoder treat packets that no Arm STM sends (M16, USER, XSYNC, FREQ with a timestamp, version 2)
 * as reserved, so that only their header is consumed, or as bad. Timestamps are decoded by `from_gray`. */
void ct_stm_decoder_be_arm(struct ct_stm_decoder *decoder, ct_stm_from_gray_fn *from_gray);

/* Indexed by the first unit; by the second after f; by the third after f 0. */
extern const struct ct_stm_header ct_stm_headers_1[16];
extern const struct ct_stm_header ct_stm_headers_2[16];
extern const struct ct_stm_header ct_stm_headers_3[16];
