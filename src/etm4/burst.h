/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the common packets of an ETMv4 or ETE straight to elements: atoms, addresses without a context,
 * cycle counts and events. A burst ends at the first packet of another kind, called rare. It can only be used
 * for trace without speculation (MAXSPEC 0), and while the resolver holds nothing. */
#pragma once

#include "coretap/elem.h"
#include "proto/etm4_state.h"

/* The form of a packet: what follows its header. */
enum ct_etm4_burst_form {
    CT_BURST_RARE,  /* rare: bursts do not decode it */
    CT_BURST_PLAIN, /* nothing follows the header: atoms, cycle count format 3, event */
    CT_BURST_SHORT, /* address in one or two bytes */
    CT_BURST_LONG,  /* address in four or eight bytes */
    CT_BURST_MATCH, /* address that is one of the last three */
    CT_BURST_COUNT, /* cycle count format 1: 7 bits a byte */
    CT_BURST_COUNT4 /* cycle count format 2: 4 bits */
};

/* A row: how to make an element from a packet with a certain header. With x, the eight bytes behind the
 * header, the value of the element is
 *   (address[source] & keep) + (bits of x chosen by `take`, side by side) << shift + base
 * where bit 0 of an address is its instruction set. Each header has two rows: the first for its shorter
 * packet, the second for the packet that is one byte longer. */
struct ct_etm4_row {
    uint64_t take;
    uint64_t keep;
    uint64_t base;
    uint32_t head; /* kind, n and aux of the element, as they lie in memory on a little-endian machine */
    uint8_t shift;
    uint8_t source;
    uint8_t form;    /* enum ct_etm4_burst_form */
    uint8_t address; /* 1: the packet is an address */
};

/* The state of bursts: how headers are read, the last addresses, and the packets decoded so far. */
struct ct_etm4_burst {
    struct ct_etm4_row rows[256][2];
    uint32_t threshold; /* the cycle count threshold that the rows have in `base` */
    bool sf; /* the rows are those of 64-bit state, in which 32-bit addresses keep the upper half of the
                address before */
    uint64_t address[3];    /* the last three addresses, newest first, with the instruction set in bit 0 */
    uint64_t address_count; /* number of addresses decoded so far */
    uint64_t packets[256];  /* number of packets decoded, by header */
};

void ct_etm4_burst_init(struct ct_etm4_burst *burst, const struct ct_etm4_decoder *decoder);

/* Makes the rows read addresses as in 64-bit state, or as in 32-bit state, independent of the decoder. */
void ct_etm4_burst_set_sf(struct ct_etm4_burst *burst, bool sf);

/* Copy the state of the decoder into the burst, and back. ct_etm4_burst_enter returns false when bursts
 * cannot decode in that state. */
bool ct_etm4_burst_enter(struct ct_etm4_burst *burst, const struct ct_etm4_decoder *decoder);
void ct_etm4_burst_leave(const struct ct_etm4_burst *burst, struct ct_etm4_decoder *decoder);

/* number of bytes behind the last packet that a burst may read */
#define CT_ETM4_BURST_AHEAD 16

/* Decodes data[0..size) into at most `cap` elements; the first byte has the position `pos` in the stream.
 * *count is set to the number of elements. Returns the number of bytes decoded. */
size_t ct_etm4_burst_elems(struct ct_etm4_burst *burst, const uint8_t *data, size_t size, uint32_t pos,
                           struct ct_elem *elems, size_t cap, size_t *count);

/* distance of two timestamps, in elements, from which on scanning is quicker */
#define CT_ETM4_STAMPS_APART 32u

static inline bool ct_etm4_is_stamp(uint8_t header)
{
    return (header & 0xfe) == 0x02;
}

/* Does what ct_etm4_burst_elems does, and also decodes timestamp packets, which change the timestamp of the
 * decoder. Only where a timestamp makes an element. *dense is set to false when it ended because timestamps
 * became rare. */
size_t ct_etm4_burst_stamped(struct ct_etm4_burst *burst, struct ct_etm4_decoder *decoder,
                             const uint8_t *data, size_t size, uint32_t pos, struct ct_elem *elems,
                             size_t cap, size_t *count, bool *dense);
