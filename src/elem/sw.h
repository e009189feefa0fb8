/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the resolvers of STM and ITM: an array for the elements, and synchronisation by
 * alignment packets. */
#pragma once

#include <stdbool.h>

#include "coretap/elem.h"

/* Most elements that one packet may make, including those that are put out before its own. */
#define CT_SW_STEP 6

_Static_assert(CT_SW_STEP <= CT_RESOLVE_MIN, "a packet fits in the smallest array");

/* The state of a stream, and the output array of one call. */
struct ct_sw_stream {
    struct ct_elem *elems;
    size_t count;
    size_t cap;
    uint64_t pos;  /* position of the current packet */
    uint64_t lost; /* number of bytes that could not be used since the GAP */
    uint8_t gap;   /* enum ct_gap: why there is no synchronisation */
    bool told;     /* a GAP element has reported the loss */
    bool synced;
    bool ended;
    /* The last SW_SOURCE element, if `source_put`. */
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

/* Puts out the source of the elements that follow, unless it is the same as before. `known` is false when the
 * trace does not tell the source. */
void ct_sw_put_source(struct ct_sw_stream *stream, bool known, uint16_t master, uint16_t channel);

/* Records the position and length in bytes of a packet, and synchronises when elements may begin with it.
 * Returns false when the packet cannot be used because there is no synchronisation yet. */
bool ct_sw_begin(struct ct_sw_stream *stream, uint64_t pos, uint64_t bytes, bool synchronises);

/* Loses synchronisation because of an invalid packet; later packets are not used until an alignment
 * packet. */
void ct_sw_lose_sync(struct ct_sw_stream *stream);

void ct_sw_end(struct ct_sw_stream *stream);
