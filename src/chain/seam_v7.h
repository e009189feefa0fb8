/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation points and saved state of PTM and ETMv3, for struct ct_protocol_ops. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Finds the first alignment packet at or after `from` that is followed by an i-sync; SIZE_MAX when there is
 * none. */
size_t ct_ptm_find_sync(const uint8_t *data, size_t size, size_t from);
size_t ct_etm3_find_sync(const uint8_t *data, size_t size, size_t from);
