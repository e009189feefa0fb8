/* SPDX-License-Identifier: Apache-2.0 */
/* Takes source addresses. */
#pragma once

#include "flow/walk_records.h"

/* Takes a source address: the instruction there was executed, whatever way led there. The IS0 or IS1 of the
 * packet only says how the address is coded (some A32 captures have IS1), so the instruction set stays.
 * Returns false when the sink is full; call it again with the same element. */
bool ct_walk_on_source(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);
