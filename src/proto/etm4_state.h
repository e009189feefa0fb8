/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the ETMv4/ETE packet decoder, for the fast path that shares it. */
#pragma once

#include "proto/etm4_fields.h"
#include "proto/etm4_header.h"
#include "proto/unsynced.h"

struct ct_etm4_decoder {
    struct ct_etm4_header headers[256];
    struct ct_etm4_config config;
    /* The contents of the trace unit's compression registers. */
    struct ct_etm4_address history[3];
    uint64_t timestamp;
    uint32_t cc_threshold;
    uint32_t packet_max; /* maximal size of a packet; a longer one is bad */
    bool sf;             /* the last context was 64-bit */
    bool info_seen;
    bool synced;
    /* A run of bytes without synchronisation that is not a packet yet. */
    struct ct_unsynced run;
};
