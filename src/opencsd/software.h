/* SPDX-License-Identifier: Apache-2.0 */
/* What the decoders of software trace have in common: bytes to packets, packets to whoever wants them and to
 * elements; synchronisation by an alignment packet. */
#ifndef CT_OPENCSD_SOFTWARE_H
#define CT_OPENCSD_SOFTWARE_H

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

/* A packet that came, and where. */
struct ct_ocsd_software_place {
    ocsd_trc_index_t index;
    const uint8_t *bytes; /* as a monitor sees them */
    uint32_t size;
    bool ends_inside;             /* of a byte, of which the next packet has the rest */
    const uint8_t *begins_inside; /* of this byte, whose other half is of no packet; or NULL */
};

/* What 1.3.3 says of a packet that cannot be. */
struct ct_ocsd_complaint {
    ocsd_err_t code;
    const char *message;
};

struct ct_ocsd_software;

/* What a protocol has of its own. */
struct ct_ocsd_software_kind {
    ct_ocsd_decode_fn *decode;
    /* Tells whether a packet stands for bytes without synchronisation. */
    bool (*is_unsynced)(const union ct_ocsd_software_packet *packet);
    /* Optional: returns how many of `size` bytes without synchronisation a monitor sees at a time. NULL when
     * it sees all that come together. */
    uint32_t (*unsynced_group)(const uint8_t *bytes, uint32_t size);
    /* Corrects the place of a packet, of which `size` are the bytes that no later packet has a part of; or
     * NULL. */
    void (*set_place)(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                      struct ct_ocsd_software_place *place);
    /* Returns the packet as OpenCSD's, which is kept up to the next one. Both are NULL for bytes without
     * synchronisation. */
    const void *(*convert)(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                           const struct ct_ocsd_software_place *place);
    /* Returns what is wrong with a packet, with the code OCSD_OK when nothing is. */
    struct ct_ocsd_complaint (*complaint)(const union ct_ocsd_software_packet *packet,
                                          const struct ct_ocsd_software_place *place);
    /* Optional: takes a packet that cannot be, behind which there are no elements up to the next alignment
     * packet. Returns false when it is not the first since the last one. NULL when it changes nothing. */
    bool (*spoil)(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet);
    /* Optional: makes the packet decoder look for an alignment packet, with
     * OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS. */
    void (*unsync)(struct ct_ocsd_software *d);
    /* Adds the elements that a sound packet makes. */
    void (*take)(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet);
    void (*reset)(struct ct_ocsd_software *d);
    void (*free)(struct ct_ocsd_software *d);
};

/* The first member of each protocol's own struct. */
struct ct_ocsd_software {
    struct ct_ocsd_decoder base;
    const struct ct_ocsd_software_kind *kind;
    void *packets; /* the packet decoder */
    struct ct_ocsd_feed feed;
    struct ct_ocsd_output output;
    ocsd_trc_index_t index; /* of the packet in work */
    ocsd_trc_index_t call;  /* index of the bytes that came last */
    bool half;              /* the next packet has the rest of a byte that is kept */
    ocsd_trc_index_t rest;  /* index of that packet */
    bool synced;
    bool told;      /* that it is not, in this call, to who takes packets */
    bool lost;      /* no element said yet that synchronisation is missing */
    bool ending;    /* the trace is over, and the last element is on its way */
    uint8_t reason; /* unsync_info_t, why it is missing */
};

/* The functions of a decoder (decoder.h), for all protocols. */
ocsd_datapath_resp_t ct_ocsd_software_data(struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                           const uint8_t *bytes, uint32_t size, uint32_t *used);
ocsd_datapath_resp_t ct_ocsd_software_flush(struct ct_ocsd_decoder *decoder);
ocsd_datapath_resp_t ct_ocsd_software_reset(struct ct_ocsd_decoder *decoder);
ocsd_datapath_resp_t ct_ocsd_software_finish(struct ct_ocsd_decoder *decoder);
void ct_ocsd_software_free(struct ct_ocsd_decoder *decoder);

/* Fills in `d`, whose packet decoder is there. Returns false without memory; it is to be freed in any
 * case. */
bool ct_ocsd_software_init(struct ct_ocsd_software *d, const struct ct_ocsd_tree *tree,
                           const struct ct_source *source, const struct ct_ocsd_protocol *protocol,
                           const struct ct_ocsd_software_kind *kind);

/* Adds an element of the packet in work. */
static inline ocsd_generic_trace_elem *ct_ocsd_software_add(struct ct_ocsd_software *d,
                                                            ocsd_gen_trc_elem_t type)
{
    return ct_ocsd_output_add(&d->output, type, d->index);
}

#endif
