/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of an ITM, including its DWT. */
#pragma once

#include "coretap/elem.h"
#include "opencsd/itm_types.h"
#include "opencsd/software.h"

enum {
    CT_OCSD_ITM_GTS_1_SIZE =
        5, /* bytes of the first part of a global timestamp, when all of its bits are present */
};

struct ct_ocsd_itm {
    struct ct_ocsd_software software;
    struct ct_ocsd_itm_packet packet; /* the last packet, for clients that want packets */
    struct ct_itm_resolver *resolver;
    uint8_t bytes[CT_OCSD_ITM_GTS_1_SIZE]; /* bytes of a global timestamp, as a monitor sees them */
    uint8_t channel;                       /* port of the next stimulus, including its page */
    bool waits;                            /* waits for an alignment packet after an invalid packet */
    bool clock_changed;                    /* the clock changed since the last global timestamp */
};

/* Creates a decoder for the source. Error: OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_itm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out);

/* Fills in a packet of OpenCSD; `in` is NULL for unsynchronised bytes. */
void ct_ocsd_itm_convert(const struct ct_itm_packet *in, struct ct_ocsd_itm_packet *out);

/* Adds the elements of a packet to the output. */
void ct_ocsd_itm_take(struct ct_ocsd_itm *d, const struct ct_itm_packet *packet);
