/* SPDX-License-Identifier: Apache-2.0 */
/* Source addresses: the instruction there was executed, whatever way led there. */
#ifndef CT_FLOW_WALK_SOURCE_H
#define CT_FLOW_WALK_SOURCE_H

#include "flow/walk_records.h"

/* Takes a source address: the instruction there was executed. The IS0 or IS1 of the packet only says how its
 * address is coded (there are A32 captures with IS1 in it), so the instruction set stays. Returns false when
 * the sink is full; then it is called again with the same element. */
bool ct_walk_on_source(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);

#endif
