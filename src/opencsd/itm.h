/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of an ITM and of the DWT behind it. */
#ifndef CT_OPENCSD_ITM_H
#define CT_OPENCSD_ITM_H

#include "coretap/elem.h"
#include "opencsd/itm_types.h"
#include "opencsd/software.h"

enum {
    CT_OCSD_ITM_GTS_1_SIZE =
        5, /* bytes of the first part of a global timestamp, when all its bits are there */
};

struct ct_ocsd_itm {
    struct ct_ocsd_software software;
    struct ct_ocsd_itm_packet packet; /* the last one, for who wants packets */
    struct ct_itm_resolver *resolver;
    uint8_t bytes[CT_OCSD_ITM_GTS_1_SIZE]; /* of a global timestamp, as a monitor sees them */
    uint8_t channel;                       /* port of the next stimulus, with its page */
    bool waits;                            /* for an alignment packet, behind one that cannot be */
    bool clock_changed;                    /* which no global timestamp told of yet */
};

/* Makes a decoder of the source. OCSD_ERR_MEM. */
ocsd_err_t ct_ocsd_itm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out);

/* Fills in a packet of OpenCSD's; NULL stands for bytes without synchronisation. */
void ct_ocsd_itm_convert(const struct ct_itm_packet *in, struct ct_ocsd_itm_packet *out);

/* Adds the elements that a packet makes. */
void ct_ocsd_itm_take(struct ct_ocsd_itm *d, const struct ct_itm_packet *packet);

#endif
