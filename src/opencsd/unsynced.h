/* SPDX-License-Identifier: Apache-2.0 */
/* Unsynchronised bytes of a PTM. OpenCSD passes them on in groups: sixteen, or as many as come in a call.
 * Zeros may begin an alignment packet. */
#pragma once

#include <stdint.h>

/* Returns how many of `size` bytes of a PTM form the next group. Counts zeros only when their meaning is
 * decided. */
uint32_t ct_ocsd_unsynced_ptm(const uint8_t *bytes, uint32_t size);
