/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the resolvers of PTM and ETMv3 between two packets. */
#ifndef CT_ELEM_V7_SEAM_H
#define CT_ELEM_V7_SEAM_H

#include "base/seam.h"

/* Saves the state on which the elements of later packets depend. `resolver` is one of the protocol's. */
void ct_ptm_resolver_seam(const void *resolver, struct ct_seam *seam);
void ct_etm3_resolver_seam(const void *resolver, struct ct_seam *seam);

#endif
