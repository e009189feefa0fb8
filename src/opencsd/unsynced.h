/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a PTM or ETMv3 that are of no packet, since nothing is synchronised. Monitors of packets see them
 * in groups of sixteen, or as many as come together. */
#ifndef CT_OPENCSD_UNSYNCED_H
#define CT_OPENCSD_UNSYNCED_H

#include <stdint.h>

/* Returns how many of `size` bytes make the next group. Zeros may begin an alignment packet, and are counted
 * when that is decided. */
uint32_t ct_ocsd_unsynced_group(const uint8_t *bytes, uint32_t size);

#endif
