/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the stretches of a strip that have too many atoms for the table. A piece is up to
 * CT_STRETCH_ATOMS_MOST atoms. Without a return stack the table tells it by where it begins, its atoms, and
 * what is behind it:
 *
 * - the first piece begins at an address, any other one at a block: the number of it << 1 | 1
 * - behind the last piece is an address, behind any other one CT_STRETCH_GOES_ON. That one keeps the block
 *   where it ends in place of the block where it begins.
 *
 * With a return stack ct_stretch_behind stands for the address between two pieces, as it does in stretches of
 * elements, whose pieces end with an element. No address of A64 code is odd, so none of these is taken for
 * one. */
#ifndef CT_FLOW_STRETCH_PIECES_H
#define CT_FLOW_STRETCH_PIECES_H

#include "base/bytes.h"
#include "flow/stretch_pass.h"

/* Returns `count` atoms of the strip from number `at` on, at most CT_STRETCH_ATOMS_MOST. */
static inline uint64_t ct_strip_atoms_at(const struct ct_stretches *c, uint32_t at, uint32_t count)
{
    return ct_load64((const uint8_t *)c->atoms + (at >> 3)) >> (at & 7) & ct_mask64(count);
}

/* Fetches the rows of the pieces of stretch `s`. */
void ct_stretch_fetch_pieces(struct ct_stretches *c, size_t s, uint64_t space);

/* Counts stretch `s` of a strip by its pieces; those that the table has not are followed and remembered.
 * Result: how many atoms were counted. The pass has `counted` set when that is all of them, with the edge to
 * the address behind them. */
unsigned ct_stretch_count_pieces(struct ct_stretch_pass *p, unsigned s);

#endif
