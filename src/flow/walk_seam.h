/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and resets the state of the walk between two elements. */
#pragma once

#include "base/seam.h"
#include "coretap/flow.h"

/* Saves all state on which later records depend. */
void ct_walk_seam(const struct ct_walk *walk, struct ct_seam *seam);

/* Forgets where execution was, because the elements that follow come from another place of the stream. */
void ct_walk_jump(struct ct_walk *walk);
