/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the decoders of PTM and ETMv3: passes bytes to the packet decoder, and packets to receivers and
 * to elements. Synchronises by an alignment packet and an i-sync. */
#pragma once

#include "coretap/packet_etm3.h"
#include "coretap/packet_ptm.h"
#include "opencsd/feed.h"
#include "opencsd/path.h"

enum ct_ocsd_v7_state {
    CT_OCSD_V7_NO_SYNC,    /* the next packet reports that synchronisation is missing */
    CT_OCSD_V7_WAIT_SYNC,  /* waits for an alignment packet */
    CT_OCSD_V7_WAIT_ISYNC, /* waits for an i-sync */
    CT_OCSD_V7_DECODE,
};

/* A packet of the protocol. */
union ct_ocsd_v7_packet {
    struct ct_ptm_packet ptm;
    struct ct_etm3_packet etm3;
};

/* An error that ends decoding. */
struct ct_ocsd_failure {
    ocsd_datapath_resp_t answer; /* OCSD_RESP_CONT: no error */
    ocsd_err_t code;
    bool has_place; /* the message includes the packet's index and the trace ID */
    const char *message;
};

/* Bytes of packets cut off by resets, until the next packet. For a PTM, 1.3.3 keeps them, and a trace that
 * ends there has an incomplete packet. */
struct ct_ocsd_v7_cut {
    ocsd_trc_index_t index; /* trace index of the last of them, or after unsynchronised bytes */
    uint32_t size;
    uint8_t bytes[CT_OCSD_FEED_ROOM];
};

struct ct_ocsd_v7;

/* Functions of a protocol. */
struct ct_ocsd_v7_kind {
    ct_ocsd_text_fn *text;
    ct_ocsd_decode_fn *decode;
    /* Returns whether a packet stands for unsynchronised bytes. */
    bool (*is_unsynced)(const union ct_ocsd_v7_packet *packet);
    /* Optional: returns how many of `size` unsynchronised bytes form the next group; only the first group is
     * reported to receivers of packets. NULL: the bytes form runs (struct ct_ocsd_v7_run), and each run is
     * reported. */
    uint32_t (*unsynced_group)(const uint8_t *bytes, uint32_t size);
    /* the packet output when the trace ends inside a packet, without synchronisation or after a reset; NULL:
     * none is */
    const union ct_ocsd_v7_packet *cut;
    /* Returns whether a packet is invalid and may be left out; or NULL. */
    bool (*is_bad)(const union ct_ocsd_v7_packet *packet);
    /* Returns how many bytes must be examined to recognise a packet; or NULL: those of the packet. */
    uint32_t (*bytes_seen)(const union ct_ocsd_v7_packet *packet, const uint8_t *bytes);
    /* Examines a packet, and may correct it. `bytes`: the packet's bytes. */
    void (*look)(struct ct_ocsd_v7 *d, union ct_ocsd_v7_packet *packet, const uint8_t *bytes);
    /* Returns OpenCSD's packet, valid until the next call. `packet` is NULL for unsynchronised bytes. */
    const void *(*convert)(struct ct_ocsd_v7 *d, const union ct_ocsd_v7_packet *packet, const uint8_t *bytes);
    /* Adds the elements of a packet. `packet` is NULL for unsynchronised bytes. */
    void (*take)(struct ct_ocsd_v7 *d, const union ct_ocsd_v7_packet *packet);
    /* Adds elements for the end of the trace, besides the usual one; or NULL. */
    void (*end)(struct ct_ocsd_v7 *d);
    void (*reset)(struct ct_ocsd_v7 *d);
    void (*free)(struct ct_ocsd_v7 *d);
};

enum {
    CT_OCSD_V7_RUN = 16, /* most bytes */
};

/* Unsynchronised bytes of an ETMv3: zeros, then other bytes up to the next zero. */
struct ct_ocsd_v7_run {
    ocsd_trc_index_t index; /* trace index of the first */
    uint8_t size;
    bool waits; /* continues in the next call, because this one ended with the byte after the zeros */
    uint8_t bytes[CT_OCSD_V7_RUN];
};

/* A decoder: the first member of each protocol's own struct. */
struct ct_ocsd_v7 {
    struct ct_ocsd_decoder base;
    const struct ct_ocsd_v7_kind *kind;
    void *packets; /* the packet decoder */
    struct ct_ocsd_path path;
    struct ct_ocsd_feed feed;
    ocsd_trc_index_t index; /* trace index of the current packet */
    uint8_t state;          /* enum ct_ocsd_v7_state */
    uint8_t reason;         /* unsync_info_t: reason for the missing synchronisation */
    struct ct_ocsd_v7_run run;
    struct ct_ocsd_v7_cut cut;
    bool refused_isa;               /* the current packet was refused for its instruction set; the response is
                                     * a warning */
    bool unsynced_told;             /* receivers of packets know that synchronisation is missing */
    bool ending;                    /* the trace has ended, and the last element is being output */
    struct ct_ocsd_failure failure; /* takes effect after the pending elements */
};

void ct_ocsd_v7_free(struct ct_ocsd_decoder *decoder);

/* Initialises `d`, whose own members must be set. Returns false when out of memory; it must be freed in any
 * case. */
bool ct_ocsd_v7_init(struct ct_ocsd_v7 *d, const struct ct_ocsd_tree *tree, const struct ct_source *source,
                     const struct ct_ocsd_v7_kind *kind);

/* Loses synchronisation. */
void ct_ocsd_v7_lose(struct ct_ocsd_v7 *d, unsync_info_t reason);

/* Adds an element for the current packet. */
static inline ocsd_generic_trace_elem *ct_ocsd_v7_add(struct ct_ocsd_v7 *d, ocsd_gen_trc_elem_t type)
{
    return ct_ocsd_output_add(&d->path.output, type, d->index);
}

/* Adds an element that reports the missing synchronisation, unless one has. */
void ct_ocsd_v7_tell_loss(struct ct_ocsd_v7 *d);

/* Adds the element at which tracing begins, for a reason of enum ct_sync_reason. */
ocsd_generic_trace_elem *ct_ocsd_v7_add_trace_on(struct ct_ocsd_v7 *d, unsigned reason);

/* Sets the context from which the code cache reads instructions. */
void ct_ocsd_v7_set_code_context(struct ct_ocsd_v7 *d);

/* Convert an enum ct_v7_isa to enum ct_isa, and to OpenCSD's value. */
uint8_t ct_ocsd_v7_isa(uint8_t isa);
ocsd_isa ct_ocsd_v7_ocsd_isa(uint8_t isa);

/* Returns whether execution is in code of an unsupported instruction set. */
bool ct_ocsd_v7_is_foreign(const struct ct_ocsd_v7 *d);

/* Reports that, for a packet named `packet`. The address of execution is unknown afterwards. */
void ct_ocsd_v7_refuse_isa(struct ct_ocsd_v7 *d, const char *packet);
