/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the state of the resolvers of PTM and ETMv3 between two packets. */
#pragma once

#include "base/seam.h"

/* Save the state that the elements of later packets depend on. `resolver` is that of the protocol. */
void ct_ptm_resolver_seam(const void *resolver, struct ct_seam *seam);
void ct_etm3_resolver_seam(const void *resolver, struct ct_seam *seam);
