/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder of one trace ID in a tree: what the tree knows of it, whatever its protocol is. */
#ifndef CT_OPENCSD_DECODER_H
#define CT_OPENCSD_DECODER_H

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

struct ct_ocsd_decoder;
struct ct_ocsd_tree;

/* What decoders of a protocol do. Each answers as the data path does: WAIT when the client wants a pause;
 * then the rest comes by `flush`. */
struct ct_ocsd_protocol {
    /* Takes bytes that lie side by side from trace index `index` on; *used of them were taken, fewer than all
     * only with WAIT. */
    ocsd_datapath_resp_t (*data)(struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                 const uint8_t *bytes, uint32_t size, uint32_t *used);
    ocsd_datapath_resp_t (*flush)(struct ct_ocsd_decoder *decoder);
    ocsd_datapath_resp_t (*reset)(struct ct_ocsd_decoder *decoder);
    ocsd_datapath_resp_t (*finish)(struct ct_ocsd_decoder *decoder);
    /* Optional: writes the text of a packet, a struct of the protocol's, cut to `size` bytes with the zero
     * behind it. Returns its length. */
    size_t (*text)(const void *packet, char *text, size_t size);
    /* Optional: takes notice that a sink or a monitor of packets was set. */
    void (*watch)(struct ct_ocsd_decoder *decoder);
    void (*free)(struct ct_ocsd_decoder *decoder);
};

/* The first member of each protocol's own struct. */
struct ct_ocsd_decoder {
    const struct ct_ocsd_protocol *protocol;
    const struct ct_ocsd_tree *tree;
    ocsd_trace_protocol_t kind;
    uint8_t id;
    bool counts; /* its bytes, in … */
    ocsd_decode_stats_t stats;
    int flags;           /* OCSD_OPFLG_…, with which it was created */
    bool only_packets;   /* packets are all that is wanted; no elements are made of them */
    bool attached;       /* elements go to a callback or a printer that the tree was given later */
    bool sink_prints;    /* the library's printer takes packets in the place of a sink … */
    bool monitor_prints; /* … or with their bytes, in the place of a monitor */
    uint8_t sink_id;     /* the trace ID that either prints: what the client said it was */
    uint8_t monitor_id;
    char packet_name[32];       /* of the packet processor, in messages */
    char name[64];              /* of the decoder, in messages */
    FnDefPktDataIn packet_sink; /* the client's, or NULL */
    const void *packet_sink_context;
    FnDefPktDataMon packet_monitor; /* the client's, or NULL */
    const void *packet_monitor_context;
};

#endif
