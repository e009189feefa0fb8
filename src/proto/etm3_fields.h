/* SPDX-License-Identifier: Apache-2.0 */
/* The packets of ETMv3 with more than a header. Each handler reads from after the header; when the cursor is
 * `cut` at the end, the state has not changed. */
#pragma once

#include "base/v7_config.h"
#include "coretap/packet_etm3.h"
#include "proto/v7_fields.h"

/* The contents of the trace unit's compression registers. */
struct ct_etm3_state {
    struct ct_v7_config config;
    uint32_t addr;
    uint32_t data_addr;
    uint8_t addr_valid; /* low bits known */
    uint8_t data_addr_valid;
    uint8_t isa;
    uint8_t reason;  /* of the last i-sync */
    bool alt_isa;    /* T32 addresses are ThumbEE */
    bool big_endian; /* data transfers */
    bool ns, hyp;
    uint32_t ctxt;
    uint8_t vmid;
    uint64_t timestamp;
};

void ct_etm3_i_sync(struct ct_etm3_state *s, struct ct_cursor *c, struct ct_etm3_packet *packet);
void ct_etm3_p_header(const struct ct_etm3_state *s, uint8_t header, struct ct_etm3_packet *packet);
void ct_etm3_branch(struct ct_etm3_state *s, struct ct_cursor *c, uint8_t header,
                    struct ct_etm3_packet *packet);
void ct_etm3_context_id(struct ct_etm3_state *s, struct ct_cursor *c, struct ct_etm3_packet *packet);
void ct_etm3_vmid(struct ct_etm3_state *s, struct ct_cursor *c, struct ct_etm3_packet *packet);
void ct_etm3_timestamp(struct ct_etm3_state *s, struct ct_cursor *c, struct ct_etm3_packet *packet);
void ct_etm3_data(struct ct_etm3_state *s, struct ct_cursor *c, uint8_t header,
                  struct ct_etm3_packet *packet);

/* Fills in a packet that the end of the trace cuts, from what was known before (docs/listing.md). */
void ct_etm3_cut(const struct ct_etm3_state *s, struct ct_etm3_packet *packet);
