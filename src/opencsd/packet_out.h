/* SPDX-License-Identifier: Apache-2.0 */
/* Packets on their way to the client: printed, or given to its callbacks. */
#ifndef CT_OPENCSD_PACKET_OUT_H
#define CT_OPENCSD_PACKET_OUT_H

#include "opencsd/etm4.h"

/* Tells whether anybody wants the packets of a decoder. */
static inline bool ct_ocsd_packets_wanted(const struct ct_ocsd_decoder *decoder)
{
    return decoder->prints || decoder->packet_sink || decoder->packet_monitor || decoder->only_packets;
}

/* Hands a packet of `d`, which has the `size` bytes at `bytes`, to whoever wants packets. */
ocsd_datapath_resp_t ct_ocsd_etm4_packet_out(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet,
                                             const uint8_t *bytes, uint32_t size);

/* Tells whoever wants packets of an operation of the data path that is none of data. */
ocsd_datapath_resp_t ct_ocsd_operation_out(const struct ct_ocsd_decoder *decoder, ocsd_datapath_op_t op);

#endif
