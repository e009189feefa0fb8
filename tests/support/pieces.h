/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a trace of any protocol to packets and elements, whole or in pieces of any size. */
#pragma once

#include "chain/protocol.h"
#include "support/rng.h"

/* Decodes all of `bytes` into `packets`, which has room for `room` packets, and returns their number.
 * With `cuts` NULL it is one call; else random pieces, each in memory of just its size, with random room for
 * packets. Aborts when a rule of the decode functions is broken. */
size_t pieces_decode(const struct ct_protocol_ops *ops, const struct ct_source *source, const uint8_t *bytes,
                     size_t size, struct rng *cuts, uint8_t *packets, size_t room);

/* Resolves packets to elements in the same way and returns the number of elements. */
size_t pieces_resolve(const struct ct_protocol_ops *ops, const struct ct_source *source,
                      const uint8_t *packets, size_t count, struct rng *cuts, struct ct_elem *elems,
                      size_t room);

/* Decodes bytes to elements at once and returns their number. */
size_t pieces_elems(const struct ct_source *source, const uint8_t *bytes, size_t size, struct ct_elem *elems,
                    size_t room);
