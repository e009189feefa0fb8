/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of an STM. */
#ifndef CT_OPENCSD_STM_H
#define CT_OPENCSD_STM_H

#include "opencsd/software.h"

struct ct_ocsd_stm {
    struct ct_ocsd_software software;
    ocsd_stm_pkt packet;  /* the last one, for who wants packets */
    uint64_t timestamp;   /* the last one */
    ocsd_swt_info_t info; /* source of elements */
    ocsd_stm_pkt element; /* its payload is that of the last element */
    bool has_row; /* bytes without synchronisation ended with units f in front of an alignment packet */
    ocsd_trc_index_t row;             /* where those units f begin */
    uint8_t bytes[CT_STM_PACKET_MAX]; /* of a packet that begins inside of a byte */
};

/* Makes a decoder of the source. OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_stm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out);

/* Gives OpenCSD's packet the payload of another one. */
void ct_ocsd_stm_set_payload(const struct ct_stm_packet *in, ocsd_stm_pkt *out);

/* Tells whether the timestamp of a packet that cannot be has a length that is none. */
bool ct_ocsd_stm_is_length_bad(const struct ct_stm_packet *packet, const uint8_t *bytes);

/* Adds the elements that a packet makes. */
void ct_ocsd_stm_take(struct ct_ocsd_stm *d, const struct ct_stm_packet *packet);

/* Begins d->packet anew, but for what packets have in common. */
void ct_ocsd_stm_begin(struct ct_ocsd_stm *d, ocsd_stm_pkt_type type);

/* Fills in d->packet, which keeps what a packet has in common with those before. */
void ct_ocsd_stm_convert(struct ct_ocsd_stm *d, const struct ct_stm_packet *in,
                         const struct ct_ocsd_software_place *place);

#endif
