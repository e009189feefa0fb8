/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of an ETMv3's or PTM's packets, from its registers. ARM IHI 0014Q and IHI 0035B, chapters on
 * the programmers' model: ETMCR, ETMCCER, ETMIDR. */
#pragma once

#include <stdbool.h>

#include "coretap/input.h"

struct ct_v7_config {
    uint8_t version;     /* of the architecture: minor of ETMv3, PFTv1 */
    bool cycle_accurate; /* ETMCR bit 12 */
    uint8_t ctxt_bytes;  /* ETMCR bits 15:14: 0, 1, 2, 4 */
    bool ts_64bit;       /* ETMCCER bit 29: timestamps of 64 bits, not 48 */
    bool alt_branch;     /* ETMv3, ETMIDR bit 20: alternative encoding of branch packets */
    bool data_values;    /* ETMv3, ETMCR bit 2: values of data transfers */
    bool data_addresses; /* ETMv3, ETMCR bit 3: addresses of data transfers */
    bool data_only;      /* ETMv3, ETMCR bit 20: no instructions are traced */
    bool return_stack;   /* PTM: ETMCR bit 29, if ETMCCER bit 23 says that a return stack exists */
    bool dsb_waypoint;   /* PTM, ETMCCER bit 24: DMB and DSB are waypoints */
    bool virtualization; /* ETMCCER bit 26: i-sync packets have a Hyp bit */
    bool m_profile;
};

/* Reads the configuration from the registers of a source. CT_ERR_ARG: the source is of another kind. */
int ct_v7_config_init(struct ct_ctx *ctx, const struct ct_source *source, struct ct_v7_config *config);
