/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of a PTM. */
#ifndef CT_OPENCSD_PTM_H
#define CT_OPENCSD_PTM_H

#include "opencsd/v7.h"

struct ct_ocsd_ptm {
    struct ct_ocsd_v7 v7;
    ocsd_ptm_pkt packet; /* the last one, for who wants packets */
    uint8_t isa;         /* enum ct_v7_isa, of the last address */
    bool alt_isa;        /* T32 addresses of branches and waypoints are ThumbEE */
};

/* Makes a decoder of the source. OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_ptm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out);

/* Takes one packet, and adds the elements that it makes. */
void ct_ocsd_ptm_take(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *packet);

/* Gives a packet with an address the instruction set that 1.3.3 takes for it: branches and waypoints do not
 * see the ThumbEE bit of i-syncs. Tells whether that is another one than before. `bytes` are the packet's. */
void ct_ocsd_ptm_correct_isa(struct ct_ocsd_ptm *d, struct ct_ptm_packet *packet, const uint8_t *bytes);

/* Fills in d->packet, which keeps what a packet has in common with those before. `bytes` are the packet's. */
void ct_ocsd_ptm_convert(struct ct_ocsd_ptm *d, const struct ct_ptm_packet *in, const uint8_t *bytes);

#endif
