/* SPDX-License-Identifier: Apache-2.0 */
/* Where streams of PTM and ETMv3 may be cut; rows of struct ct_protocol_ops. */
#ifndef CT_CHAIN_SEAM_V7_H
#define CT_CHAIN_SEAM_V7_H

#include <stddef.h>
#include <stdint.h>

/* Alignment and an i-sync. */
size_t ct_ptm_find_sync(const uint8_t *data, size_t size, size_t from);
size_t ct_etm3_find_sync(const uint8_t *data, size_t size, size_t from);

#endif
