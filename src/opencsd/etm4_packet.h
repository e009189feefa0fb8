/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of packet.h as those of OpenCSD. */
#ifndef CT_OPENCSD_ETM4_PACKET_H
#define CT_OPENCSD_ETM4_PACKET_H

#include <opencsd/c_api/opencsd_c_api.h>

#include "coretap/packet.h"

/* Fills in *out of a packet with the bytes `bytes`. It keeps what a packet has in common with those before:
 * address, context, timestamp. `version` is that of the trace unit, 0x45 for ETMv4.5 and 0x50 for ETE 1.0;
 * `m_profile` says of what profile its core is. */
void ct_ocsd_etm4_convert(const struct ct_etm4_packet *in, const uint8_t *bytes, uint8_t version,
                          int m_profile, ocsd_etmv4_i_pkt *out);

#endif
