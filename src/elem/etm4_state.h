/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the resolver of ETMv4 and ETE, for the fast path that shares it. */
#ifndef CT_ELEM_ETM4_STATE_H
#define CT_ELEM_ETM4_STATE_H

#include <stdbool.h>

#include "base/etm4_config.h"
#include "elem/held.h"

enum ct_etm4_resolver_state {
    CT_ETM4_NO_SYNC,   /* a gap begins; the next packet tells of it */
    CT_ETM4_WAIT_SYNC, /* for an alignment packet */
    CT_ETM4_WAIT_INFO, /* for a trace info */
    CT_ETM4_DECODE,
};

/* What packets demand of the held elements, in the order in which it is carried out. */
struct ct_etm4_demand {
    uint32_t commit;
    uint32_t cancel;
    bool mispredict;
    bool discard;
    bool fail;    /* the packet cannot be: all that is uncommitted is lost */
    bool overrun; /* the packet commits or takes back more elements than there are */
};

struct ct_etm4_resolver {
    struct ct_etm4_config config;
    struct ct_held held;
    struct ct_etm4_demand demand;
    enum ct_etm4_resolver_state state;
    uint8_t gap;          /* enum ct_gap: why there is no synchronisation */
    uint32_t depth;       /* P0 elements that are uncommitted, unseen ones included */
    uint32_t unseen;      /* uncommitted P0 elements from before the trace began */
    bool pending_address; /* the newest P0 element waits for its address */
    bool doubtful;        /* while trace is discarded: addresses no longer tell where the last branch went */
    bool after_overflow;  /* the next trace on comes after an overflow */
    bool marker_seen;
    uint8_t last_is; /* of the last address packet */
    bool ended;
    uint32_t ctxt, vmid;    /* last ones that left */
    uint16_t context_known; /* CT_CONTEXT_CTXT, CT_CONTEXT_VMID */
    uint64_t pos;           /* of the packet in work */
    uint8_t size;           /* its bytes */
    uint64_t lost;          /* bytes of packets that could not be used since the gap began */
};

/* What the elements of packets that were passed over would have been. */
struct ct_etm4_passed {
    uint64_t elements;
    uint64_t atoms;
};

/* Counts elements without making them: takes packets of a source that does not speculate as ct_etm4_resolve
 * does, up to the last atoms before a packet that says more than where execution went. None of the elements
 * passed over tells of a loss. Takes nothing while something else waits. Result: packets taken. */
size_t ct_etm4_resolve_past(struct ct_etm4_resolver *resolver, const struct ct_etm4_packet *packets,
                            size_t size, struct ct_etm4_passed *passed);

#endif
