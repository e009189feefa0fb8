/* SPDX-License-Identifier: Apache-2.0 */
/* Packets on their way to the client: printed, or passed to its callbacks. */
#pragma once

#include "opencsd/decoder.h"

/* Returns whether anything receives the packets of a decoder. */
static inline bool ct_ocsd_packets_wanted(const struct ct_ocsd_decoder *decoder)
{
    return decoder->only_packets || decoder->packet_sink || decoder->packet_monitor || decoder->sink_prints ||
           decoder->monitor_prints;
}

/* Returns whether monitors see a packet; `bad`: it is invalid. */
static inline bool ct_ocsd_packet_is_shown(const struct ct_ocsd_decoder *decoder, bool bad)
{
    return !bad || !(decoder->flags & OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS);
}

/* Returns whether a packet is passed to the client's sink and to elements; `bad`: it is invalid. */
static inline bool ct_ocsd_packet_goes_on(const struct ct_ocsd_decoder *decoder, bool bad)
{
    return !(decoder->flags & OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS) || !bad;
}

/* Prints a packet, a struct of the protocol, with its bytes unless `bytes` is NULL. */
void ct_ocsd_packet_print(const struct ct_ocsd_decoder *decoder, uint8_t id, ocsd_trc_index_t index,
                          const void *packet, const uint8_t *bytes, uint32_t size);

/* Passes a packet to the client's monitor, which must exist. */
void ct_ocsd_packet_to_monitor(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                               const void *packet, const uint8_t *bytes, uint32_t size);

/* Passes a packet to the client's sink, which must exist. Returns the client's response. */
ocsd_datapath_resp_t ct_ocsd_packet_to_sink(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                            const void *packet);

/* Shows a packet, a struct of the protocol, to the client's monitor, or prints it with its bytes. Inline,
 * like the next function: after a client's system call for each line, the processor mispredicts the return of
 * every function on the way here. */
static inline void ct_ocsd_packet_show(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                       const void *packet, const uint8_t *bytes, uint32_t size)
{
    if (decoder->packet_monitor)
        ct_ocsd_packet_to_monitor(decoder, index, packet, bytes, size);
    if (decoder->monitor_prints)
        ct_ocsd_packet_print(decoder, decoder->monitor_id, index, packet, bytes, size);
}

/* Passes a packet to the client's sink, or prints it without bytes. Returns the client's response. */
static inline ocsd_datapath_resp_t ct_ocsd_packet_give(const struct ct_ocsd_decoder *decoder,
                                                       ocsd_trc_index_t index, const void *packet)
{
    if (decoder->sink_prints)
        ct_ocsd_packet_print(decoder, decoder->sink_id, index, packet, NULL, 0);
    return decoder->packet_sink ? ct_ocsd_packet_to_sink(decoder, index, packet) : OCSD_RESP_CONT;
}

/* Passes a datapath operation other than data to all receivers of packets. */
ocsd_datapath_resp_t ct_ocsd_operation_out(const struct ct_ocsd_decoder *decoder, ocsd_datapath_op_t op);
