/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of an ETMv3. */
#pragma once

#include "opencsd/v7.h"

enum {
    CT_OCSD_ETM3_HELD = 2, /* most elements that a branch may cancel */
};

struct ct_ocsd_etm3 {
    struct ct_ocsd_v7 v7;
    ocsd_etmv3_pkt packet; /* the last packet, for clients that want packets */
    uint64_t timestamp_mask;
    bool cycle_accurate;
    bool m_profile;
    bool alt_branch;  /* branches use the alternative encoding */
    bool traces_data; /* data is traced; 1.3.3 makes no elements of it */
    bool lost_told;   /* an element reported that instructions ran at an unknown address */
    uint8_t held_count;
    ocsd_generic_trace_elem held[CT_OCSD_ETM3_HELD];
    ocsd_trc_index_t held_indices[CT_OCSD_ETM3_HELD];
};

/* Creates a decoder for the source. Error: OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_etm3_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                            struct ct_ocsd_decoder **out);

/* Takes one packet, and adds its elements to the output. */
void ct_ocsd_etm3_take(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *packet);

/* Adds the held elements to the output. */
void ct_ocsd_etm3_release(struct ct_ocsd_etm3 *d);

/* Fills in d->packet, which keeps fields that packets share with earlier ones. `bytes`: the packet's
 * bytes. */
void ct_ocsd_etm3_convert(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *in, const uint8_t *bytes);
