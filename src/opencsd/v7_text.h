/* SPDX-License-Identifier: Apache-2.0 */
/* Text shared by the packets of PTM and ETMv3, in the words of OpenCSD 1.3.3. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

#include "opencsd/line.h"

const char *ct_ocsd_v7_isa_word(ocsd_isa isa);
const char *ct_ocsd_v7_exception_word(ocsd_armv7_exception exception);

/* Adds an address, and the bits that its packet contained. */
void ct_ocsd_v7_add_address(struct ct_ocsd_line *line, const ocsd_pkt_vaddr *addr);

/* Adds the reason and the address of an i-sync; `addr` is NULL if it has none. */
void ct_ocsd_v7_add_sync(struct ct_ocsd_line *line, ocsd_iSync_reason reason, const ocsd_pkt_vaddr *addr);

/* Adds a timestamp, and its `bits` low bits that the packet contained. */
void ct_ocsd_v7_add_timestamp(struct ct_ocsd_line *line, uint64_t timestamp, unsigned bits);
