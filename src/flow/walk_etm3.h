/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the elements of an ETMv3: atoms that stand for single instructions, and data transfers. */
#pragma once

#include "flow/walk_records.h"

/* Takes atoms, each of which is one instruction with its share of the cycles. Returns what ct_walk_on_atoms
 * does. */
bool ct_walk_on_insn_atoms(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);

/* Takes a data transfer. It belongs to the last instruction, or to the one whose placeholder had the same tag
 * (IHI 0014Q 7.8). */
void ct_walk_on_data(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);
