/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation points and saved state of ETMv4 and ETE, for struct ct_protocol_ops. */
#pragma once

#include <stddef.h>

#include "base/seam.h"

/* Returns the place of the first alignment packet at or behind `from` that a trace info packet follows;
 * SIZE_MAX when there is none. */
size_t ct_etm4_find_sync(const uint8_t *data, size_t size, size_t from);

void ct_etm4_decoder_seam(const void *decoder, struct ct_seam *seam);
void ct_etm4_resolver_seam(const void *resolver, struct ct_seam *seam);
