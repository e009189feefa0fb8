/* SPDX-License-Identifier: Apache-2.0 */
/* Converts elements of a PTM to trace, like a recorder. */
#pragma once

#include "support/rng.h"
#include "coretap/elem.h"

/* Returns a source with a random configuration: context IDs of any size, with and without virtualization. */
struct ct_source ptm_source(struct rng *rng);

/* Encodes elements in pieces of random size. Returns CT_OK, or the error of the emitter after printing
 * why. */
int ptm_encode(struct rng *rng, const struct ct_source *source, const struct ct_elem *elems, size_t count,
               uint8_t *bytes, size_t room, size_t *size);
