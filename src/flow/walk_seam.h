/* The walk between two elements. */
#ifndef CT_FLOW_WALK_SEAM_H
#define CT_FLOW_WALK_SEAM_H

#include "base/seam.h"
#include "coretap/flow.h"

/* All that what comes depends on. */
void ct_walk_seam(const struct ct_walk *walk, struct ct_seam *seam);

#endif
