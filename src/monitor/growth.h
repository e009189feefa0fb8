/* SPDX-License-Identifier: Apache-2.0 */
/* Finds streams that may grow: texts and collections that contain their own old value and more. */
#pragma once

#include "monitor/program.h"

/* Sets grows[i] for each stream of the order that may grow. All others are bounded: numbers have 65536 bits
 * at most. A collection that is made smaller elsewhere counts as growing, too. Returns false when out of
 * memory. */
bool ct_mon_growth_find(const struct ct_mon_elab *e, const struct ct_mon_order *order, bool *grows);
