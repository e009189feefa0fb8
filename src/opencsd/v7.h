/* SPDX-License-Identifier: Apache-2.0 */
/* What the decoders of PTM and ETMv3 have in common: bytes to packets, packets to whoever wants them and to
 * elements; synchronisation by an alignment packet and an i-sync. */
#ifndef CT_OPENCSD_V7_H
#define CT_OPENCSD_V7_H

#include "coretap/packet_etm3.h"
#include "coretap/packet_ptm.h"
#include "opencsd/feed.h"
#include "opencsd/path.h"

enum ct_ocsd_v7_state {
    CT_OCSD_V7_NO_SYNC,    /* the next packet says that synchronisation is missing */
    CT_OCSD_V7_WAIT_SYNC,  /* for an alignment packet */
    CT_OCSD_V7_WAIT_ISYNC, /* for an i-sync */
    CT_OCSD_V7_DECODE,
};

/* A packet of the protocol. */
union ct_ocsd_v7_packet {
    struct ct_ptm_packet ptm;
    struct ct_etm3_packet etm3;
};

/* What ends decoding. */
struct ct_ocsd_failure {
    ocsd_datapath_resp_t answer; /* OCSD_RESP_CONT: nothing does */
    ocsd_err_t code;
    bool has_place; /* the message tells the packet's index and the trace ID */
    const char *message;
};

/* What resets cut of packets, up to the next packet: of a PTM 1.3.3 keeps it, and a trace that ends there has
 * a packet that is cut. */
struct ct_ocsd_v7_cut {
    ocsd_trc_index_t index; /* of the last of them, or behind bytes without synchronisation */
    uint32_t size;
    uint8_t bytes[CT_OCSD_FEED_ROOM];
};

struct ct_ocsd_v7;

/* What a protocol has of its own. */
struct ct_ocsd_v7_kind {
    ct_ocsd_decode_fn *decode;
    /* Tells whether a packet stands for bytes without synchronisation. */
    bool (*is_unsynced)(const union ct_ocsd_v7_packet *packet);
    /* Optional: returns how many of some bytes without synchronisation make the next group, of which the
     * first is told to who takes packets. Else they are a run (struct ct_ocsd_v7_run), and each is told. */
    uint32_t (*unsynced_group)(const uint8_t *bytes, uint32_t size);
    /* What a packet becomes that the end of the trace cuts, without synchronisation or behind a reset; or
     * NULL, where that is not told. */
    const union ct_ocsd_v7_packet *cut;
    /* Tells whether a packet cannot be, and may be left out; or NULL. */
    bool (*is_bad)(const union ct_ocsd_v7_packet *packet);
    /* Returns how many bytes had to be seen before a packet could be told; or NULL: those of the packet. */
    uint32_t (*bytes_seen)(const union ct_ocsd_v7_packet *packet, const uint8_t *bytes);
    /* Looks at a packet that came, and may correct it. `bytes` are the packet's. */
    void (*look)(struct ct_ocsd_v7 *d, union ct_ocsd_v7_packet *packet, const uint8_t *bytes);
    /* Returns the packet as OpenCSD's, which is kept up to the next one. NULL stands for bytes without
     * synchronisation. */
    const void *(*convert)(struct ct_ocsd_v7 *d, const union ct_ocsd_v7_packet *packet, const uint8_t *bytes);
    /* Adds the elements that a packet makes. NULL stands for bytes without synchronisation. */
    void (*take)(struct ct_ocsd_v7 *d, const union ct_ocsd_v7_packet *packet);
    /* Adds what the end of the trace makes besides its element; or NULL. */
    void (*end)(struct ct_ocsd_v7 *d);
    void (*reset)(struct ct_ocsd_v7 *d);
    void (*free)(struct ct_ocsd_v7 *d);
};

enum {
    CT_OCSD_V7_RUN = 16, /* bytes */
};

/* Bytes of an ETMv3 without synchronisation: zeros, and what is none up to the next zero. */
struct ct_ocsd_v7_run {
    ocsd_trc_index_t index; /* of the first */
    uint8_t size;
    bool waits; /* for the next call, since this one ended with the byte behind the zeros */
    uint8_t bytes[CT_OCSD_V7_RUN];
};

/* The first member of each protocol's own struct. */
struct ct_ocsd_v7 {
    struct ct_ocsd_decoder base;
    const struct ct_ocsd_v7_kind *kind;
    void *packets; /* the packet decoder */
    struct ct_ocsd_path path;
    struct ct_ocsd_feed feed;
    ocsd_trc_index_t index; /* of the packet in work */
    uint8_t state;          /* enum ct_ocsd_v7_state */
    uint8_t reason;         /* unsync_info_t, why synchronisation is missing */
    struct ct_ocsd_v7_run run;
    struct ct_ocsd_v7_cut cut;
    bool refused_isa;               /* by the packet in work: its answer is a warning */
    bool unsynced_told;             /* who takes packets knows that synchronisation is missing */
    bool ending;                    /* the trace is over, and the last element is on its way */
    struct ct_ocsd_failure failure; /* behind the elements that are on their way */
};

/* The functions of a decoder (decoder.h), for both protocols. */
ocsd_datapath_resp_t ct_ocsd_v7_data(struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                     const uint8_t *bytes, uint32_t size, uint32_t *used);
ocsd_datapath_resp_t ct_ocsd_v7_flush(struct ct_ocsd_decoder *decoder);
ocsd_datapath_resp_t ct_ocsd_v7_reset(struct ct_ocsd_decoder *decoder);
ocsd_datapath_resp_t ct_ocsd_v7_finish(struct ct_ocsd_decoder *decoder);
void ct_ocsd_v7_free(struct ct_ocsd_decoder *decoder);

/* Fills in `d`, whose own members are there. Returns false without memory; it is to be freed in any case. */
bool ct_ocsd_v7_init(struct ct_ocsd_v7 *d, const struct ct_ocsd_tree *tree, const struct ct_source *source,
                     const struct ct_ocsd_protocol *protocol, const struct ct_ocsd_v7_kind *kind);

/* Loses synchronisation. */
void ct_ocsd_v7_lose(struct ct_ocsd_v7 *d, unsync_info_t reason);

/* Adds an element of the packet in work. */
static inline ocsd_generic_trace_elem *ct_ocsd_v7_add(struct ct_ocsd_v7 *d, ocsd_gen_trc_elem_t type)
{
    return ct_ocsd_output_add(&d->path.output, type, d->index);
}

/* Adds an element that says that synchronisation is missing, where none has yet. */
void ct_ocsd_v7_tell_loss(struct ct_ocsd_v7 *d);

/* Adds the element with which tracing begins, for a reason of enum ct_sync_reason. */
ocsd_generic_trace_elem *ct_ocsd_v7_add_trace_on(struct ct_ocsd_v7 *d, unsigned reason);

/* Tells the code's cache where instructions are read from here on. */
void ct_ocsd_v7_set_code_context(struct ct_ocsd_v7 *d);

/* Returns enum ct_isa of an enum ct_v7_isa, and OpenCSD's word for it. */
uint8_t ct_ocsd_v7_isa(uint8_t isa);
ocsd_isa ct_ocsd_v7_ocsd_isa(uint8_t isa);

/* Tells whether execution is in code of an instruction set that cannot be followed. */
bool ct_ocsd_v7_is_foreign(const struct ct_ocsd_v7 *d);

/* Says that it is, in work on a packet named `packet`. Execution is out of sight then. */
void ct_ocsd_v7_refuse_isa(struct ct_ocsd_v7 *d, const char *packet);

#endif
