/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a PTM that are of no packet, since nothing is synchronised. OpenCSD gives them in groups:
 * sixteen, or as many as come together. Zeros may begin an alignment packet. */
#ifndef CT_OPENCSD_UNSYNCED_H
#define CT_OPENCSD_UNSYNCED_H

#include <stdint.h>

/* Returns how many of `size` bytes of a PTM make the next group. Zeros are counted when it is decided what
 * they are. */
uint32_t ct_ocsd_unsynced_ptm(const uint8_t *bytes, uint32_t size);

#endif
