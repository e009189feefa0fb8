/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of an STM. */
#pragma once

#include "opencsd/software.h"

/* The search for the first alignment packet. 1.3.3 counts units in bytes, which overflow. */
struct ct_ocsd_stm_search {
    uint8_t count;        /* units of the call, and of the row f before it */
    uint8_t ones;         /* units of the row f that ends here */
    bool in_row;          /* there is such a row */
    ocsd_trc_index_t row; /* trace index where it begins */
};

struct ct_ocsd_stm {
    struct ct_ocsd_software software;
    ocsd_stm_pkt packet;  /* the last packet, for clients that want packets */
    uint64_t timestamp;   /* the last timestamp */
    ocsd_swt_info_t info; /* source of the elements */
    ocsd_stm_pkt element; /* its payload is that of the last element */
    struct ct_ocsd_stm_search search;
    uint8_t bytes[CT_STM_PACKET_MAX]; /* bytes of a packet that begins or ends inside a byte */
};

/* Creates a decoder for the source. Error: OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_stm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out);

/* Copies a packet's payload to OpenCSD's packet. */
void ct_ocsd_stm_set_payload(const struct ct_stm_packet *in, ocsd_stm_pkt *out);

/* Returns whether the timestamp of an invalid packet has an invalid length. */
bool ct_ocsd_stm_is_length_bad(const struct ct_stm_packet *packet, const uint8_t *bytes);

/* Adds the elements of a packet to the output. */
void ct_ocsd_stm_take(struct ct_ocsd_stm *d, const struct ct_stm_packet *packet);

/* Resets d->packet to a type, keeping the fields that packets share. */
void ct_ocsd_stm_begin(struct ct_ocsd_stm *d, ocsd_stm_pkt_type type);

/* Fills in d->packet, which keeps fields that packets share with earlier ones. */
void ct_ocsd_stm_convert(struct ct_ocsd_stm *d, const struct ct_stm_packet *in,
                         const struct ct_ocsd_software_place *place);

/* Searches the bytes of a call for the first alignment packet (struct ct_ocsd_software_kind). */
void ct_ocsd_stm_search(struct ct_ocsd_software *software, ocsd_trc_index_t call, const uint8_t *bytes,
                        uint32_t size, struct ct_ocsd_software_found *found);
