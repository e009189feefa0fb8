/* SPDX-License-Identifier: Apache-2.0 */
/* What the elements of ETMv3 and PTM have in common: an array to fill, synchronisation by an alignment packet
 * and an i-sync, security state and identifiers. */
#ifndef CT_ELEM_V7_H
#define CT_ELEM_V7_H

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/elem.h"

enum ct_v7_state {
    CT_V7_NO_SYNC,    /* a gap begins; the next packet tells of it */
    CT_V7_WAIT_SYNC,  /* for an alignment packet */
    CT_V7_WAIT_ISYNC, /* for an i-sync */
    CT_V7_DECODE,
};

/* State and output of one call. */
struct ct_v7_stream {
    struct ct_elem *elems;
    size_t count;
    size_t cap;
    enum ct_v7_state state;
    uint8_t gap; /* enum ct_gap: why there is no synchronisation */
    bool ended;
    bool ns, hyp;
    uint32_t ctxt, vmid;
    uint16_t known;       /* CT_CONTEXT_CTXT, CT_CONTEXT_VMID */
    uint64_t pos;         /* of the packet in work */
    uint64_t lost;        /* bytes of packets that could not be used since the gap began */
    uint64_t lost_cycles; /* cycles that the packets in `lost` counted */
};

/* Sets the array that elements go to. */
void ct_v7_output(struct ct_v7_stream *stream, struct ct_elem *elems, size_t cap);

struct ct_elem ct_v7_elem(const struct ct_v7_stream *stream, enum ct_elem_kind kind, unsigned n, unsigned aux,
                          uint64_t v);
void ct_v7_put(struct ct_v7_stream *stream, enum ct_elem_kind kind, unsigned n, unsigned aux, uint64_t v);

/* Puts out a context: all that is known, and instruction set `select`. `flags` are further ones of enum
 * ct_elem_context. */
void ct_v7_put_context(struct ct_v7_stream *stream, unsigned select, unsigned flags);

/* Takes the security state and mode. True: they are others than before. */
bool ct_v7_take_security(struct ct_v7_stream *stream, bool ns, bool hyp);

/* Takes the context ID (CT_CONTEXT_CTXT) or the VMID (CT_CONTEXT_VMID). True when it changes or was not
 * known. */
bool ct_v7_take_id(struct ct_v7_stream *stream, uint16_t which, uint32_t value);

/* Puts out the cycles that were counted while nothing could be decoded, if there were any. */
void ct_v7_put_lost_cycles(struct ct_v7_stream *stream);

/* Puts out that tracing is on, for a reason of enum ct_sync_reason. `first`: a GAP told already that trace
 * before it is missing. */
void ct_v7_put_trace_on(struct ct_v7_stream *stream, unsigned reason, bool first);

/* Counts what a packet loses that cannot be used for want of synchronisation. */
void ct_v7_lose(struct ct_v7_stream *stream, uint64_t bytes, uint64_t cycles);

void ct_v7_end(struct ct_v7_stream *stream);

/* Saves the state on which the elements of later packets depend. */
void ct_v7_stream_seam(const struct ct_v7_stream *stream, struct ct_seam *seam);

#endif
