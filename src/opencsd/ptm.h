/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of a PTM. */
#ifndef CT_OPENCSD_PTM_H
#define CT_OPENCSD_PTM_H

#include "coretap/packet_ptm.h"
#include "opencsd/feed.h"
#include "opencsd/path.h"
#include "opencsd/unsynced.h"
#include "opencsd/v7_state.h"

struct ct_ocsd_ptm {
    struct ct_ocsd_decoder base;
    struct ct_ptm_decoder *packets;
    struct ct_ocsd_path path;
    struct ct_ocsd_feed feed;
    struct ct_ocsd_unsynced unsynced;
    ocsd_ptm_pkt packet;    /* the last one, for who wants packets */
    ocsd_trc_index_t index; /* of the packet in work */
    uint8_t state;          /* enum ct_ocsd_v7_state */
    uint8_t reason;         /* unsync_info_t, why synchronisation is missing */
    bool ending;            /* the trace is over, and the last element is on its way */
    bool lacks_return;      /* the return stack was empty: decoding is over */
    bool alt_isa;           /* T32 addresses of branches and waypoints are ThumbEE */
};

/* Makes a decoder of the source. OCSD_ERR_HW_CFG_UNSUPP for registers that cannot be, OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_ptm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out);

/* Loses synchronisation. */
void ct_ocsd_ptm_lose(struct ct_ocsd_ptm *d, unsync_info_t reason);

/* Takes one packet, of which `d->index` says where it is, and adds the elements that it makes. */
void ct_ocsd_ptm_take(struct ct_ocsd_ptm *d, const struct ct_ptm_packet *packet);

/* Gives a branch or waypoint packet the instruction set that 1.3.3 takes for it: it does not see the ThumbEE
 * bit of i-syncs. `bytes` are the packet's. */
void ct_ocsd_ptm_correct_isa(struct ct_ocsd_ptm *d, struct ct_ptm_packet *packet, const uint8_t *bytes);

/* Fills in d->packet, which keeps what a packet has in common with those before. `bytes` are the packet's. */
void ct_ocsd_ptm_convert(struct ct_ocsd_ptm *d, const struct ct_ptm_packet *packet, const uint8_t *bytes);

#endif
