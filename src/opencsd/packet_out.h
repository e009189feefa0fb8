/* SPDX-License-Identifier: Apache-2.0 */
/* Packets on their way to the client: printed, or given to its callbacks. */
#ifndef CT_OPENCSD_PACKET_OUT_H
#define CT_OPENCSD_PACKET_OUT_H

#include "opencsd/decoder.h"

/* Tells whether anybody wants the packets of a decoder. */
static inline bool ct_ocsd_packets_wanted(const struct ct_ocsd_decoder *decoder)
{
    return decoder->only_packets || decoder->packet_sink || decoder->packet_monitor || decoder->sink_prints ||
           decoder->monitor_prints;
}

/* Tells whether monitors see a packet, of which is known whether it cannot be. */
static inline bool ct_ocsd_packet_is_shown(const struct ct_ocsd_decoder *decoder, bool bad)
{
    return !bad || !(decoder->flags & OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS);
}

/* Tells whether a packet goes on, to the client's sink and to elements. */
static inline bool ct_ocsd_packet_goes_on(const struct ct_ocsd_decoder *decoder, bool bad)
{
    return !(decoder->flags & OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS) || !bad;
}

/* Shows a packet, a struct of the protocol's, to the client's monitor, or prints it with its bytes. */
void ct_ocsd_packet_show(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index, const void *packet,
                         const uint8_t *bytes, uint32_t size);

/* Gives a packet to the client's sink, or prints it without bytes. Returns the client's answer. */
ocsd_datapath_resp_t ct_ocsd_packet_give(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                         const void *packet);

/* Tells whoever wants packets of an operation of the data path that is none of data. */
ocsd_datapath_resp_t ct_ocsd_operation_out(const struct ct_ocsd_decoder *decoder, ocsd_datapath_op_t op);

#endif
