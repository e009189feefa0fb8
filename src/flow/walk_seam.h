/* SPDX-License-Identifier: Apache-2.0 */
/* The walk between two elements. */
#ifndef CT_FLOW_WALK_SEAM_H
#define CT_FLOW_WALK_SEAM_H

#include "base/seam.h"
#include "coretap/flow.h"

/* All that what comes depends on. */
void ct_walk_seam(const struct ct_walk *walk, struct ct_seam *seam);

/* What comes is of another place of the stream: nothing is known until the trace says it. */
void ct_walk_jump(struct ct_walk *walk);

#endif
