/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of an ETMv4's or ETE's packets, from its registers. ARM IHI 0064H, chapter 7 (TRCIDR0 to
 * TRCIDR13, TRCCONFIGR); Arm ARM DDI 0487, D19 for ETE. */
#pragma once

#include <stdbool.h>

#include "coretap/input.h"

struct ct_etm4_config {
    uint8_t version; /* major in 7:4, minor in 3:0: 0x40 to 0x46 ETMv4, 0x50 and up ETE */
    bool ete;
    bool m_profile;
    bool v7m;            /* M profile before v8-M */
    uint8_t cc_bits;     /* width of the cycle counter */
    uint8_t vmid_bytes;  /* 0, 1, 2, 4 */
    uint8_t ctxt_bytes;  /* 0, 4 */
    uint32_t max_spec;   /* TRCIDR8.MAXSPEC: maximal number of speculative P0 elements */
    bool comm_opt;       /* TRCIDR0.COMMOPT: cycle count packets do not commit */
    bool q_elements;     /* TRCIDR0.QSUPP != 0 */
    bool conditional;    /* conditional non-branch tracing exists and is on */
    bool data_trace;     /* data trace exists and is on */
    bool cycle_count;    /* TRCCONFIGR.CCI */
    bool return_stack;   /* TRCCONFIGR.RS */
    bool wfi_branch;     /* TRCIDR2.WFXMODE: WFI and WFE are P0 instructions (4.3 and up) */
    bool trans_start_p0; /* TRCIDR0.COMMTRANS is 0 */
    bool ts_markers;     /* TRCIDR0.TSMARK, ETE 1.1 and up */
};

/* Reads the registers of a source. CT_ERR_CONFIG or CT_ERR_ARG name a register with an impossible value. */
int ct_etm4_config_init(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm4_config *config);
