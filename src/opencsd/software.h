/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the decoders of software trace: passes bytes to the packet decoder, and packets to receivers and
 * to elements. Synchronises by an alignment packet. */
#pragma once

#include "coretap/packet_itm.h"
#include "coretap/packet_stm.h"
#include "opencsd/decoder.h"
#include "opencsd/feed.h"
#include "opencsd/output.h"

/* A packet of the protocol. */
union ct_ocsd_software_packet {
    struct ct_stm_packet stm;
    struct ct_itm_packet itm;
};

/* The bytes of a packet, and their index. */
struct ct_ocsd_software_place {
    ocsd_trc_index_t index;
    const uint8_t *bytes; /* bytes as a monitor sees them */
    uint32_t size;
    bool ends_inside; /* the packet ends inside a byte; the next packet has the rest */
};

/* Result of the search for the first alignment packet in the bytes of a call. */
struct ct_ocsd_software_found {
    bool is_told;    /* receivers of packets are told that synchronisation is missing */
    bool is_aligned; /* the alignment packet ends in this call: */
    union ct_ocsd_software_packet packet;
    struct ct_ocsd_software_place place;
    uint32_t shown; /* bytes at the begin of the call that a monitor sees as unsynchronised */
    uint32_t used;  /* bytes up to the packet's end, without one that the next packet shares */
};

/* The message of 1.3.3 for an invalid packet. */
struct ct_ocsd_complaint {
    ocsd_err_t code;
    const char *message;
};

struct ct_ocsd_software;

/* Functions of a protocol. */
struct ct_ocsd_software_kind {
    ct_ocsd_text_fn *text;
    ct_ocsd_decode_fn *decode;
    /* Optional: searches the bytes of a call for the first alignment packet. NULL: `decode` does. */
    void (*search)(struct ct_ocsd_software *d, ocsd_trc_index_t call, const uint8_t *bytes, uint32_t size,
                   struct ct_ocsd_software_found *found);
    /* Without `search`: returns whether a packet stands for unsynchronised bytes. */
    bool (*is_unsynced)(const union ct_ocsd_software_packet *packet);
    /* Optional: returns how many of `size` unsynchronised bytes a monitor sees at a time. NULL: all bytes of
     * a call. */
    uint32_t (*unsynced_group)(const uint8_t *bytes, uint32_t size);
    /* Corrects the place of a packet, whose `size` counts bytes that no later packet shares; or NULL. */
    void (*set_place)(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                      struct ct_ocsd_software_place *place);
    /* Returns OpenCSD's packet, valid until the next call. Both arguments are NULL for unsynchronised
     * bytes. */
    const void *(*convert)(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                           const struct ct_ocsd_software_place *place);
    /* Returns what is wrong with a packet; its code is OCSD_OK when the packet is valid. */
    struct ct_ocsd_complaint (*complaint)(const union ct_ocsd_software_packet *packet,
                                          const struct ct_ocsd_software_place *place);
    /* Optional: takes an invalid packet, after which there are no elements until the next alignment packet.
     * Returns whether it is the first since the last alignment. NULL: invalid packets change nothing. */
    bool (*spoil)(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet);
    /* Optional: makes the packet decoder look for an alignment packet, for
     * OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS. */
    void (*unsync)(struct ct_ocsd_software *d);
    /* Adds the elements of a valid packet. */
    void (*take)(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet);
    void (*reset)(struct ct_ocsd_software *d);
    void (*free)(struct ct_ocsd_software *d);
};

/* A decoder: the first member of each protocol's own struct. */
struct ct_ocsd_software {
    struct ct_ocsd_decoder base;
    const struct ct_ocsd_software_kind *kind;
    void *packets; /* the packet decoder */
    struct ct_ocsd_feed feed;
    struct ct_ocsd_output output;
    ocsd_trc_index_t index; /* trace index of the current packet */
    ocsd_trc_index_t call;  /* trace index of the last bytes passed in */
    bool half;              /* the next packet has the rest of a kept byte */
    ocsd_trc_index_t rest;  /* trace index of that packet */
    bool has_delayed;       /* the last call ended with a packet that the next one passes on */
    union ct_ocsd_software_packet delayed_packet;
    struct ct_ocsd_software_place delayed_place;
    bool synced;
    bool told;      /* receivers of packets were told in this call that synchronisation is missing */
    bool lost;      /* no element has reported the missing synchronisation yet */
    bool ending;    /* the trace has ended, and the last element is being output */
    uint8_t reason; /* unsync_info_t: reason for the missing synchronisation */
};

void ct_ocsd_software_free(struct ct_ocsd_decoder *decoder);

/* Initialises `d`, whose packet decoder must exist. Returns false when out of memory; it must be freed in any
 * case. */
bool ct_ocsd_software_init(struct ct_ocsd_software *d, const struct ct_ocsd_tree *tree,
                           const struct ct_source *source, const struct ct_ocsd_software_kind *kind);

/* Adds an element for the current packet. */
static inline ocsd_generic_trace_elem *ct_ocsd_software_add(struct ct_ocsd_software *d,
                                                            ocsd_gen_trc_elem_t type)
{
    return ct_ocsd_output_add(&d->output, type, d->index);
}
