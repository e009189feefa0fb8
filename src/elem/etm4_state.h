/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the resolver of ETMv4 and ETE, for the fast path that shares it. */
#pragma once

#include <stdbool.h>

#include "base/etm4_config.h"
#include "elem/held.h"

/* Whether the resolver is synchronised. */
enum ct_etm4_resolver_state {
    CT_ETM4_NO_SYNC,   /* a gap begins; the next packet puts out the GAP element */
    CT_ETM4_WAIT_SYNC, /* waits for an alignment packet */
    CT_ETM4_WAIT_INFO, /* waits for a trace info */
    CT_ETM4_DECODE,
};

/* What a packet demands of the held elements, in the order in which the resolver carries it out. */
struct ct_etm4_demand {
    uint32_t commit;
    uint32_t cancel;
    bool mispredict;
    bool discard;
    bool fail;    /* the packet is invalid: all uncommitted elements are lost */
    bool overrun; /* the packet commits or takes back more elements than there are */
};

/* A resolver: it turns the packets of one stream into elements. */
struct ct_etm4_resolver {
    struct ct_etm4_config config;
    struct ct_held held;
    struct ct_etm4_demand demand;
    enum ct_etm4_resolver_state state;
    uint8_t gap;          /* enum ct_gap: why there is no synchronisation */
    uint32_t depth;       /* number of uncommitted P0 elements, including unseen ones */
    uint32_t unseen;      /* number of uncommitted P0 elements from before the trace began */
    bool pending_address; /* the newest P0 element waits for its address */
    bool doubtful;        /* while trace is discarded: addresses may not be the target of the last branch */
    bool after_overflow;  /* the next trace on packet comes after an overflow */
    bool marker_seen;
    uint8_t last_is; /* instruction set of the last address packet */
    bool ended;
    uint32_t ctxt, vmid;    /* IDs of the last context that was put out */
    uint16_t context_known; /* which of both are known: CT_CONTEXT_CTXT, CT_CONTEXT_VMID */
    uint64_t pos;           /* position of the current packet */
    uint8_t size;           /* length of the current packet, in bytes */
    uint64_t lost;          /* number of bytes that could not be used since the gap began */
};

/* Numbers of the elements, and of atoms in them, that the passed packets would have made. */
struct ct_etm4_passed {
    uint64_t elements;
    uint64_t atoms;
};

/* Counts elements without making them. Takes packets of a source that does not speculate as ct_etm4_resolve
 * does, up to the last atoms before a packet that is about more than where execution went. None of the
 * elements passed over is about a loss. Takes nothing while elements of other kinds are held. Returns the
 * number of packets taken. */
size_t ct_etm4_resolve_past(struct ct_etm4_resolver *resolver, const struct ct_etm4_packet *packets,
                            size_t size, struct ct_etm4_passed *passed);
