/* SPDX-License-Identifier: Apache-2.0 */
/* The state that a decoder keeps between packets, and so the encoder, too. */
#pragma once

#include "coretap/encode.h"

struct ct_etm4_said {
    uint64_t value;
    uint8_t is;
};

struct ct_etm4_state {
    struct ct_etm4_said history[3]; /* the last three addresses, newest first */
    uint64_t ts;
    uint32_t ccthr;
    uint8_t sf; /* the last context was 64-bit */
};

const struct ct_etm4_state *ct_etm4_encoder_state(const struct ct_etm4_encoder *encoder);
