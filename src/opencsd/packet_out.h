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

/* Prints a packet, a struct of the protocol's, with its bytes unless `bytes` is NULL. */
void ct_ocsd_packet_print(const struct ct_ocsd_decoder *decoder, uint8_t id, ocsd_trc_index_t index,
                          const void *packet, const uint8_t *bytes, uint32_t size);

/* Gives a packet to the client's monitor, which is there. */
void ct_ocsd_packet_to_monitor(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                               const void *packet, const uint8_t *bytes, uint32_t size);

/* Gives a packet to the client's sink, which is there. Returns the client's answer. */
ocsd_datapath_resp_t ct_ocsd_packet_to_sink(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                            const void *packet);

/* Shows a packet, a struct of the protocol's, to the client's monitor, or prints it with its bytes. In line,
 * as the next one is: a client that writes each line at once comes back from the kernel, behind which the
 * processor predicts the return of each function on the way here wrongly. */
static inline void ct_ocsd_packet_show(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                       const void *packet, const uint8_t *bytes, uint32_t size)
{
    if (decoder->packet_monitor)
        ct_ocsd_packet_to_monitor(decoder, index, packet, bytes, size);
    if (decoder->monitor_prints)
        ct_ocsd_packet_print(decoder, decoder->monitor_id, index, packet, bytes, size);
}

/* Gives a packet to the client's sink, or prints it without bytes. Returns the client's answer. */
static inline ocsd_datapath_resp_t ct_ocsd_packet_give(const struct ct_ocsd_decoder *decoder,
                                                       ocsd_trc_index_t index, const void *packet)
{
    if (decoder->sink_prints)
        ct_ocsd_packet_print(decoder, decoder->sink_id, index, packet, NULL, 0);
    return decoder->packet_sink ? ct_ocsd_packet_to_sink(decoder, index, packet) : OCSD_RESP_CONT;
}

/* Tells whoever wants packets of an operation of the data path that is none of data. */
ocsd_datapath_resp_t ct_ocsd_operation_out(const struct ct_ocsd_decoder *decoder, ocsd_datapath_op_t op);

#endif
