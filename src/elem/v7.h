/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the resolvers of ETMv3 and PTM: an array for the elements, synchronisation by an
 * alignment packet and an i-sync, security state and identifiers. */
#pragma once

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/elem.h"

/* Whether the resolver is synchronised. */
enum ct_v7_state {
    CT_V7_NO_SYNC,    /* a gap begins; the next packet puts out the GAP element */
    CT_V7_WAIT_SYNC,  /* waits for an alignment packet */
    CT_V7_WAIT_ISYNC, /* waits for an i-sync */
    CT_V7_DECODE,
};

/* The state of a stream, and the output array of one call. */
struct ct_v7_stream {
    struct ct_elem *elems;
    size_t count;
    size_t cap;
    enum ct_v7_state state;
    uint8_t gap; /* enum ct_gap: why there is no synchronisation */
    bool ended;
    bool ns, hyp;
    uint32_t ctxt, vmid;
    uint16_t known;       /* known IDs: CT_CONTEXT_CTXT, CT_CONTEXT_VMID */
    uint64_t pos;         /* position of the current packet */
    uint64_t lost;        /* number of bytes that could not be used since the gap began */
    uint64_t lost_cycles; /* cycles counted by the packets that could not be used */
};

/* Sets the array that elements go to. */
void ct_v7_output(struct ct_v7_stream *stream, struct ct_elem *elems, size_t cap);

struct ct_elem ct_v7_elem(const struct ct_v7_stream *stream, enum ct_elem_kind kind, unsigned n, unsigned aux,
                          uint64_t v);
void ct_v7_put(struct ct_v7_stream *stream, enum ct_elem_kind kind, unsigned n, unsigned aux, uint64_t v);

/* Puts out a context: the known IDs and security state, and instruction set `select`. `flags` are more flags
 * of enum ct_elem_context. */
void ct_v7_put_context(struct ct_v7_stream *stream, unsigned select, unsigned flags);

/* Takes over the security state and mode. Returns whether either changed. */
bool ct_v7_take_security(struct ct_v7_stream *stream, bool ns, bool hyp);

/* Takes over the context ID (CT_CONTEXT_CTXT) or the VMID (CT_CONTEXT_VMID). Returns whether it changed or
 * was unknown before. */
bool ct_v7_take_id(struct ct_v7_stream *stream, uint16_t which, uint32_t value);

/* Puts out the cycles that were counted while nothing could be decoded, if there were any. */
void ct_v7_put_lost_cycles(struct ct_v7_stream *stream);

/* Puts out that tracing is on, for a reason of enum ct_sync_reason. `first`: a GAP element has already
 * reported that trace before it is missing. */
void ct_v7_put_trace_on(struct ct_v7_stream *stream, unsigned reason, bool first);

/* Counts the bytes and cycles of a packet that cannot be used because there is no synchronisation. */
void ct_v7_lose(struct ct_v7_stream *stream, uint64_t bytes, uint64_t cycles);

void ct_v7_end(struct ct_v7_stream *stream);

/* Saves the state that the elements of later packets depend on. */
void ct_v7_stream_seam(const struct ct_v7_stream *stream, struct ct_seam *seam);
