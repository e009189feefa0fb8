/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the ETMv4/ETE packet decoder, for the fast path that shares it. */
#ifndef CT_PROTO_ETM4_STATE_H
#define CT_PROTO_ETM4_STATE_H

#include "proto/etm4_fields.h"
#include "proto/etm4_header.h"
#include "proto/unsynced.h"

struct ct_etm4_decoder {
    struct ct_etm4_header headers[256];
    struct ct_etm4_config config;
    /* What the trace unit's compression registers hold. */
    struct ct_etm4_address history[3];
    uint64_t timestamp;
    uint32_t cc_threshold;
    uint32_t packet_max; /* bytes of a packet; one that is longer is bad */
    bool sf;             /* the last context said 64 bits */
    bool info_seen;
    bool synced;
    /* A run of bytes without synchronisation that did not become a packet yet. */
    struct ct_unsynced run;
};

#endif
