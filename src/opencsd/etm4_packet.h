/* SPDX-License-Identifier: Apache-2.0 */
/* Converts packets of packet.h to those of OpenCSD. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

#include "coretap/packet.h"

enum {
    CT_OCSD_ETM4_ADDRESSES = 3, /* addresses that an address match packet can refer to */
};

/* What is known of an address. */
struct ct_ocsd_etm4_width {
    uint8_t size;  /* ocsd_pkt_va_size */
    uint8_t valid; /* low bits that are known */
};

/* Fills in *out from a packet and its bytes. Fields that packets share with earlier ones keep their values:
 * address, context, timestamp. `widths`: of the last three addresses, newest first; the packet's own is
 * added. `version`: version of the trace unit, 0x45 for ETMv4.5, 0x50 for ETE 1.0; `m_profile`: the core has
 * the M profile. */
void ct_ocsd_etm4_convert(const struct ct_etm4_packet *in, const uint8_t *bytes, uint8_t version,
                          int m_profile, struct ct_ocsd_etm4_width *widths, ocsd_etmv4_i_pkt *out);

/* Makes all addresses of the history 64 bits wide, as before the first one and behind a trace info. */
void ct_ocsd_etm4_init_widths(struct ct_ocsd_etm4_width *widths);
