/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of a PTM to its trace and back, as a recorder and a decoder would. */
#ifndef CT_TEST_PTM_STREAM_H
#define CT_TEST_PTM_STREAM_H

#include "support/rng.h"
#include "coretap/elem.h"

/* A random configuration; with context IDs of any size, with and without virtualization. */
struct ct_source ptm_source(struct rng *rng);

/* Elements to bytes, in pieces of random size. CT_OK, or what the emitter said; then a line says why. */
int ptm_encode(struct rng *rng, const struct ct_source *source, const struct ct_elem *elems, size_t count,
               uint8_t *bytes, size_t room, size_t *size);

/* Bytes to at most `cap` elements, positions included. Result: how many. */
size_t ptm_decode(const struct ct_source *source, const uint8_t *bytes, size_t size, struct ct_elem *out,
                  size_t cap);

#endif
