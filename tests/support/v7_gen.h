/* SPDX-License-Identifier: Apache-2.0 */
/* Random trace of PTM and ETMv3: valid packets with random payload. */
#pragma once

#include "support/rng.h"
#include "coretap/input.h"

/* Returns a source with a random configuration. */
struct ct_source v7_gen_source(struct rng *rng, enum ct_protocol protocol);

/* Where the program is, so that addresses make sense. */
struct v7_place {
    uint32_t addr;
    uint32_t size; /* in bytes; 0: anywhere */
    int thumb;
};

/* Writes an alignment packet and an i-sync, then about `packets` more. Returns the number of bytes, at most
 * 24 per packet. */
size_t v7_gen(struct rng *rng, const struct ct_source *source, const struct v7_place *place, unsigned packets,
              uint8_t *out);
