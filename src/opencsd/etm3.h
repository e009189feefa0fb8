/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of an ETMv3. */
#ifndef CT_OPENCSD_ETM3_H
#define CT_OPENCSD_ETM3_H

#include "opencsd/v7.h"

enum {
    CT_OCSD_ETM3_HELD = 2, /* elements that a branch may take back */
};

struct ct_ocsd_etm3 {
    struct ct_ocsd_v7 v7;
    ocsd_etmv3_pkt packet; /* the last one, for who wants packets */
    uint64_t timestamp_mask;
    bool cycle_accurate;
    bool m_profile;
    bool alt_branch;  /* the alternative encoding of branches */
    bool traces_data; /* of which 1.3.3 makes no elements */
    bool lost_told;   /* an element said that instructions ran where nobody knows */
    uint8_t held_count;
    ocsd_generic_trace_elem held[CT_OCSD_ETM3_HELD];
    ocsd_trc_index_t held_indices[CT_OCSD_ETM3_HELD];
};

/* Makes a decoder of the source. OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_etm3_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                            struct ct_ocsd_decoder **out);

/* Takes one packet, and adds the elements that it makes. */
void ct_ocsd_etm3_take(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *packet);

/* Adds the elements that are held. */
void ct_ocsd_etm3_release(struct ct_ocsd_etm3 *d);

/* Fills in d->packet, which keeps what a packet has in common with those before. `bytes` are the packet's. */
void ct_ocsd_etm3_convert(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *in, const uint8_t *bytes);

#endif
