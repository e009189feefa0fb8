/* SPDX-License-Identifier: Apache-2.0 */
/* Which streams may grow: texts and collections that are made of what they were before, and of more. */
#ifndef CT_MONITOR_GROWTH_H
#define CT_MONITOR_GROWTH_H

#include "monitor/program.h"

/* Sets grows[i] for each stream of the order that may grow. All others are of a size that has an end: numbers
 * have 65536 bits at most. A collection that is made smaller elsewhere counts as growing, too. False: no
 * memory. */
bool ct_mon_growth_find(const struct ct_mon_elab *e, const struct ct_mon_order *order, bool *grows);

#endif
