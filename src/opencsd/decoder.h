/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder of one trace ID in a tree, in the form that the tree uses for all protocols. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

struct ct_ocsd_decoder;
struct ct_ocsd_tree;

enum {
    CT_OCSD_FRAME_DATA = 15, /* data bytes of a frame without an ID */
    CT_OCSD_FRAME_SIZE = 16, /* bytes of a frame, including its flags */
};

/* Bytes of one trace ID that are contiguous in the trace. `framed`: the data of consecutive frames without an
 * ID, contiguous in memory. */
struct ct_ocsd_piece {
    ocsd_trc_index_t index; /* trace index of the first byte */
    const uint8_t *bytes;
    uint32_t size;
    bool framed;
};

/* Returns the trace index of a byte. */
static inline ocsd_trc_index_t ct_ocsd_piece_index(const struct ct_ocsd_piece *piece, uint32_t at)
{
    return piece->index + at + (piece->framed ? at / CT_OCSD_FRAME_DATA : 0);
}

/* Returns how many bytes from `at` on are contiguous in the trace. */
static inline uint32_t ct_ocsd_piece_left(const struct ct_ocsd_piece *piece, uint32_t at)
{
    return piece->framed ? CT_OCSD_FRAME_DATA - at % CT_OCSD_FRAME_DATA : piece->size - at;
}

/* Writes the text of a packet, a struct of the protocol, NUL-terminated and cut to `size` bytes. Returns its
 * length. */
typedef size_t ct_ocsd_text_fn(const void *packet, char *text, size_t size);

/* Operations of a protocol's decoders. Each returns a datapath response: WAIT when the client wants a pause;
 * the rest then comes by `flush`. */
struct ct_ocsd_protocol {
    /* Takes bytes that are contiguous from trace index `index` on. Sets *used to how many were taken: fewer
     * than all only with WAIT. */
    ocsd_datapath_resp_t (*data)(struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                 const uint8_t *bytes, uint32_t size, uint32_t *used);
    /* Optional: takes a framed piece. *begun: number of frames of which at least the first byte was read. */
    ocsd_datapath_resp_t (*frames)(struct ct_ocsd_decoder *decoder, const struct ct_ocsd_piece *piece,
                                   uint32_t *used, uint32_t *begun);
    ocsd_datapath_resp_t (*flush)(struct ct_ocsd_decoder *decoder);
    ocsd_datapath_resp_t (*reset)(struct ct_ocsd_decoder *decoder);
    ocsd_datapath_resp_t (*finish)(struct ct_ocsd_decoder *decoder);
    /* Optional: called after a sink or monitor of packets was set. */
    void (*watch)(struct ct_ocsd_decoder *decoder);
    void (*free)(struct ct_ocsd_decoder *decoder);
};

/* A decoder: the first member of each protocol's own struct. */
struct ct_ocsd_decoder {
    const struct ct_ocsd_protocol *protocol;
    ct_ocsd_text_fn *text; /* NULL: its packets have no text */
    const struct ct_ocsd_tree *tree;
    ocsd_trace_protocol_t kind;
    uint8_t id;
    bool counts; /* its bytes are counted in `stats` */
    ocsd_decode_stats_t stats;
    int flags;           /* OCSD_OPFLG_…, given at creation */
    bool only_packets;   /* only packets are wanted, no elements */
    bool attached;       /* elements go to a callback or printer that the tree got later */
    bool sink_prints;    /* the library's printer receives packets instead of a sink */
    bool monitor_prints; /* the printer receives packets with their bytes instead of a monitor */
    uint8_t sink_id;     /* trace ID that the printer shows, given by the client */
    uint8_t monitor_id;
    char packet_name[32];       /* name of the packet processor in messages */
    char name[64];              /* name of the decoder in messages */
    FnDefPktDataIn packet_sink; /* callback of the client, or NULL */
    const void *packet_sink_context;
    FnDefPktDataMon packet_monitor; /* callback of the client, or NULL */
    const void *packet_monitor_context;
};
