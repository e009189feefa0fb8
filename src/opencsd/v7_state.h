/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation of PTM and ETMv3: by an alignment packet and an i-sync. */
#ifndef CT_OPENCSD_V7_STATE_H
#define CT_OPENCSD_V7_STATE_H

enum ct_ocsd_v7_state {
    CT_OCSD_V7_NO_SYNC,    /* the next packet says that synchronisation is missing */
    CT_OCSD_V7_WAIT_SYNC,  /* for an alignment packet */
    CT_OCSD_V7_WAIT_ISYNC, /* for an i-sync */
    CT_OCSD_V7_DECODE,
};

#endif
