/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of a PTM. */
#pragma once

#include "opencsd/v7.h"

struct ct_ocsd_ptm {
    struct ct_ocsd_v7 v7;
    ocsd_ptm_pkt packet; /* the last packet, for clients that want packets */
    uint8_t isa;         /* enum ct_v7_isa of the last address */
    bool alt_isa;        /* T32 addresses of branches and waypoints are ThumbEE */
};

/* Creates a decoder for the source. Error: OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_ptm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out);

/* Takes one packet, and adds its elements to the output. */
void ct_ocsd_ptm_take(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *packet);

/* Sets the instruction set of an address packet to what 1.3.3 assumes: branches and waypoints ignore the
 * ThumbEE bit of i-syncs. Also sets whether it changed. `bytes`: the packet's bytes. */
void ct_ocsd_ptm_correct_isa(struct ct_ocsd_ptm *d, struct ct_ptm_packet *packet, const uint8_t *bytes);

/* Fills in d->packet, which keeps fields that packets share with earlier ones. `bytes`: the packet's
 * bytes. */
void ct_ocsd_ptm_convert(struct ct_ocsd_ptm *d, const struct ct_ptm_packet *in, const uint8_t *bytes);
