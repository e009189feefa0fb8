/* SPDX-License-Identifier: Apache-2.0 */
/* What the elements of STM and ITM have in common: an array to fill, and
 * synchronisation by alignment packets. */
#ifndef CT_ELEM_SW_H
#define CT_ELEM_SW_H

#include <stdbool.h>

#include "coretap/elem.h"

/* Elements that one packet may make, those before its first included. */
#define CT_SW_STEP 6

_Static_assert(CT_SW_STEP <= CT_RESOLVE_MIN, "a packet fits in the smallest array");

/* State and output of one call. */
struct ct_sw_stream {
    struct ct_elem *elems;
    size_t count;
    size_t cap;
    uint64_t pos;  /* of the packet in work */
    uint64_t lost; /* bytes since the GAP that could not be used */
    uint8_t gap;   /* enum ct_gap: why there is no synchronisation */
    bool told;     /* a GAP told of the loss */
    bool synced;
    bool ended;
    /* What the last SW_SOURCE said; `source_put`: there was one. */
    bool source_put;
    struct ct_elem source;
};

void ct_sw_init(struct ct_sw_stream *stream, enum ct_gap gap);

/* Sets the array that elements go to. */
void ct_sw_output(struct ct_sw_stream *stream, struct ct_elem *elems, size_t cap);

static inline bool ct_sw_room(const struct ct_sw_stream *stream)
{
    return stream->cap - stream->count >= CT_SW_STEP;
}

void ct_sw_put(struct ct_sw_stream *stream, enum ct_elem_kind kind, uint8_t n, unsigned aux, uint64_t v);

/* Names the source of what follows, if it is another one. `known` 0: the trace does not say. */
void ct_sw_put_source(struct ct_sw_stream *stream, bool known, uint16_t master, uint16_t channel);

/* Takes note of a packet: at `pos`, `bytes` long, perhaps the alignment packet. False when it cannot be used
 * because there is no synchronisation yet. */
bool ct_sw_begin(struct ct_sw_stream *stream, uint64_t pos, uint64_t bytes, bool is_async);

/* Loses synchronisation by a packet that cannot be: what follows waits for an alignment packet. */
void ct_sw_lose_sync(struct ct_sw_stream *stream);

void ct_sw_end(struct ct_sw_stream *stream);

#endif
