/* SPDX-License-Identifier: Apache-2.0 */
/* One trace through packets and elements, whole or in pieces of any size, whatever its protocol. */
#ifndef CT_TEST_PIECES_H
#define CT_TEST_PIECES_H

#include "chain/protocol.h"
#include "support/rng.h"

/* Decodes all of `bytes` into `packets`, which has room for all. `cuts` NULL: in one call; else in random
 * pieces, each in memory of just its size, and with random room for packets. Result: packets. Aborts when a
 * rule of the decode functions is broken. */
size_t pieces_decode(const struct ct_protocol_ops *ops, const struct ct_source *source, const uint8_t *bytes,
                     size_t size, struct rng *cuts, uint8_t *packets, size_t room);

/* The same from packets to elements. */
size_t pieces_resolve(const struct ct_protocol_ops *ops, const struct ct_source *source,
                      const uint8_t *packets, size_t count, struct rng *cuts, struct ct_elem *elems,
                      size_t room);

#endif
