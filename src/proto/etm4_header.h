/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte of an ETMv4/ETE packet: what it announces, for a given configuration. */
#pragma once

#include "coretap/packet.h"
#include "base/etm4_config.h"

/* The layout of the rest of a packet. Headers with the same form share one handler. */
enum ct_etm4_form {
    CT_ETM4_FORM_RESERVED,  /* undefined */
    CT_ETM4_FORM_CFG,       /* defined, but not with this configuration */
    CT_ETM4_FORM_PLAIN,     /* only the header */
    CT_ETM4_FORM_ATOM,      /* only the header: atoms */
    CT_ETM4_FORM_EXTENSION, /* alignment, discard, overflow */
    CT_ETM4_FORM_TRACE_INFO,
    CT_ETM4_FORM_TIMESTAMP,
    CT_ETM4_FORM_CONTEXT,
    CT_ETM4_FORM_ADDR_SHORT,
    CT_ETM4_FORM_ADDR_32,
    CT_ETM4_FORM_ADDR_64,
    CT_ETM4_FORM_ADDR_CTXT_32,
    CT_ETM4_FORM_ADDR_CTXT_64,
    CT_ETM4_FORM_ADDR_MATCH,
    CT_ETM4_FORM_Q,
    CT_ETM4_FORM_CCNT_F1,
    CT_ETM4_FORM_CCNT_F2,
    CT_ETM4_FORM_CCNT_F3,
    CT_ETM4_FORM_COUNT, /* commit, cancel format 1: followed by a count */
    CT_ETM4_FORM_SPEC,  /* mispredict, cancel formats 2 and 3: only the header */
    CT_ETM4_FORM_EXCEPTION,
    CT_ETM4_FORM_EVENT,
    CT_ETM4_FORM_ITE,
    CT_ETM4_FORM_COND_KEY,  /* conditional instruction format 1 */
    CT_ETM4_FORM_COND_BYTE, /* followed by one byte: conditional instruction format 3, result format 3 */
    CT_ETM4_FORM_COND_RES1, /* conditional result format 1 */
};

struct ct_etm4_header {
    uint8_t type; /* enum ct_etm4_type */
    uint8_t form; /* enum ct_etm4_form */
    uint8_t natoms;
    uint8_t is; /* IS1 for addresses */
    uint32_t atoms;
};

/* Fills in all 256 headers for a source with this configuration. */
void ct_etm4_headers_init(const struct ct_etm4_config *config, struct ct_etm4_header table[256]);
