/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder of one trace ID in a tree: what the tree knows of it, whatever its protocol is. */
#ifndef CT_OPENCSD_DECODER_H
#define CT_OPENCSD_DECODER_H

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

struct ct_ocsd_decoder;
struct ct_ocsd_tree;

enum {
    CT_OCSD_FRAME_DATA = 15, /* bytes of a frame that has no ID */
    CT_OCSD_FRAME_SIZE = 16, /* bytes of a frame with its flags */
};

/* Bytes of one trace ID, which lie side by side in the trace, too; or `framed`: they are those of frames
 * without an ID, one behind the other. */
struct ct_ocsd_piece {
    ocsd_trc_index_t index; /* of the first byte */
    const uint8_t *bytes;
    uint32_t size;
    bool framed;
};

/* Returns the trace index of a byte. */
static inline ocsd_trc_index_t ct_ocsd_piece_index(const struct ct_ocsd_piece *piece, uint32_t at)
{
    return piece->index + at + (piece->framed ? at / CT_OCSD_FRAME_DATA : 0);
}

/* Returns how many bytes from one on lie side by side in the trace. */
static inline uint32_t ct_ocsd_piece_left(const struct ct_ocsd_piece *piece, uint32_t at)
{
    return piece->framed ? CT_OCSD_FRAME_DATA - at % CT_OCSD_FRAME_DATA : piece->size - at;
}

/* What decoders of a protocol do. Each answers as the data path does: WAIT when the client wants a pause;
 * then the rest comes by `flush`. */
struct ct_ocsd_protocol {
    /* Takes bytes that lie side by side from trace index `index` on; *used of them were taken, fewer than all
     * only with WAIT. */
    ocsd_datapath_resp_t (*data)(struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                 const uint8_t *bytes, uint32_t size, uint32_t *used);
    /* Optional: takes a framed piece. *begun: frames of which at least the first byte was looked at. */
    ocsd_datapath_resp_t (*frames)(struct ct_ocsd_decoder *decoder, const struct ct_ocsd_piece *piece,
                                   uint32_t *used, uint32_t *begun);
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
    bool counts; /* its bytes are counted in `stats` */
    ocsd_decode_stats_t stats;
    int flags;           /* OCSD_OPFLG_…, with which it was created */
    bool only_packets;   /* packets are all that is wanted; no elements are made of them */
    bool attached;       /* elements go to a callback or a printer that the tree was given later */
    bool sink_prints;    /* the library's printer takes packets in the place of a sink */
    bool monitor_prints; /* the printer takes packets with their bytes in the place of a monitor */
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
