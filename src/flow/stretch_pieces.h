/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the stretches of a strip that have too many atoms for the table. A piece is up to
 * CT_STRETCH_ATOMS_MOST atoms. Without a return stack its key in the table is where it begins, its atoms and
 * what is behind it:
 *
 * - the first piece begins at an address, any other one at a block: its number << 1 | 1
 * - behind the last piece is an address, behind any other one CT_STRETCH_GOES_ON. Such a piece stores the
 *   block where it ends instead of the block where it begins.
 *
 * With a return stack, ct_stretch_behind stands for the address between two pieces. The same holds for
 * stretches of elements, whose pieces end with an element. None of these values can be taken for an address,
 * because they are odd and addresses of A64 code are not. */
#pragma once

#include "base/bytes.h"
#include "flow/stretch_pass.h"

/* Returns `count` atoms of the strip, at most CT_STRETCH_ATOMS_MOST, from atom number `at` on. */
static inline uint64_t ct_strip_atoms_at(const struct ct_stretches *c, uint32_t at, uint32_t count)
{
    return ct_load64((const uint8_t *)c->atoms + (at >> 3)) >> (at & 7) & ct_mask64(count);
}

/* Prefetches the rows of the pieces of stretch `s`. */
void ct_stretch_fetch_pieces(struct ct_stretches *c, size_t s, uint64_t space);

/* Counts stretch `s` of a strip by its pieces; those that are not in the table are followed and remembered.
 * Returns how many atoms were counted. Sets p->counted when that is all of them, and the edge to the address
 * behind them is counted, too. */
unsigned ct_stretch_count_pieces(struct ct_stretch_pass *p, unsigned s);
