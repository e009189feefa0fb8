/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes bursts of common packets straight to events in columns: the events that ct_events_from_elems would
 * make of the packets' elements. */
#pragma once

#include <string.h>

#include "analysis/event_columns.h"
#include "etm4/vector.h"
#include "etm4/scan.h"

/* Tables for reading addresses, by CT_SCAN_ROW. The new address is
 *   (the address before & keep) | (the address at `back` from the end & earlier) | the bits in the packet
 * where bit 0 of an address is its instruction set. */
struct ct_address_rows {
#ifdef CT_HAVE_GATHER
    /* `take` chooses bits from the eight bytes from the header on, which go to the bits of `place`. `top`
     * chooses bits from the ninth byte, which only addresses of 64 bits have. */
    uint64_t take[CT_SCAN_ROWS];
    uint64_t place[CT_SCAN_ROWS];
    uint64_t top[CT_SCAN_ROWS];
#else
    /* With x, the eight bytes behind the header, in which the seven bits of the first byte are moved up by
     * one with a 1 below them, the bits in the packet are (x & once) + (x & twice). IS0 has the bits in
     * `twice` one place higher. */
    uint64_t once[CT_SCAN_ROWS];
    uint64_t twice[CT_SCAN_ROWS];
#endif
    uint64_t keep[CT_SCAN_ROWS];
    uint64_t earlier[CT_SCAN_ROWS]; /* all bits are set, or none */
    int64_t back[CT_SCAN_ROWS];     /* -2 or -3; 0 where `earlier` is 0 */
};

/* How a cycle count is read: `base` plus the bits that `take` chooses from the two bytes behind the header,
 * seven of each. */
struct ct_count_row {
    uint32_t take;
    uint32_t base;
};

/* Tables for reading addresses with AVX-512, which has rows of another kind. With x, the eight bytes behind
 * the header, in which the seven bits of the first byte are moved up by one with a 1 below them, the new
 * address is
 *   (the address before & keep) | (the bytes of x, each from the bit in `shifts` on, & take)
 * Rows from CT_WIDE_MATCH on are addresses that equal one of the last three; the row minus CT_WIDE_MATCH says
 * which. */
#define CT_WIDE_ROWS  16u
#define CT_WIDE_MATCH 8u
struct ct_wide_addresses {
    uint8_t rows[2][64]; /* by bit 7 of the first byte of payload, then by the lower six bits of the header */
    uint64_t shifts[CT_WIDE_ROWS];
    uint64_t take[CT_WIDE_ROWS];
    uint64_t keep[CT_WIDE_ROWS];
};

#ifdef CT_HAVE_VECTORS
#ifdef CT_HAVE_GATHER
/* Returns the row of a packet that begins with the bytes in x. */
CT_VECTOR_INLINE size_t ct_row_of(uint64_t x)
{
    return ct_bits_gather(x, CT_SCAN_ROW_BITS);
}

/* Returns the bits of an address that are in its packet, whose row is `row`. `wide`: the address may have 64
 * bits. */
CT_VECTOR_INLINE uint64_t ct_address_bits(const struct ct_address_rows *rows, size_t row,
                                          const uint8_t *packet, bool wide)
{
    const uint64_t bits = ct_bits_gather(ct_load64(packet), rows->take[row]);
    const uint64_t now = ct_bits_scatter(bits, rows->place[row]);
    return wide ? now | (ct_load64(packet + 1) & rows->top[row]) : now;
}

CT_VECTOR_INLINE uint32_t ct_count_bits(uint32_t behind, uint32_t take)
{
    return ct_bits_gather32(behind, take);
}
#else
CT_VECTOR_INLINE size_t ct_row_of(uint64_t x)
{
    return CT_SCAN_ROW(x, x >> 15 & 1);
}

CT_VECTOR_INLINE uint64_t ct_address_bits(const struct ct_address_rows *rows, size_t row,
                                          const uint8_t *packet, bool wide)
{
    (void)wide;
    /* bit 7 of these headers becomes the 1 below the first byte */
    const uint64_t x = (ct_load64(packet + 1) & ~UINT64_C(0xff)) | (uint8_t)(ct_load64(packet) >> 7);
    return (x & rows->once[row]) + (x & rows->twice[row]);
}

CT_VECTOR_INLINE uint32_t ct_count_bits(uint32_t behind, uint32_t take)
{
    const uint32_t x = behind & take;
    return x - (x >> 8 << 7);
}
#endif

/* Returns the address of a packet. past[-3] to past[-1] are the last three addresses; `last` equals past[-1]
 * but is in a register, because reading it from memory would wait for each store. `wide`: the address may
 * have 64 bits. */
CT_VECTOR_INLINE uint64_t ct_address_of(const struct ct_address_rows *rows, const uint8_t *packet,
                                        const uint64_t *past, uint64_t last, bool wide)
{
    const size_t row = ct_row_of(ct_load64(packet));
    const uint64_t earlier = past[rows->back[row]] & rows->earlier[row];
    return ct_address_bits(rows, row, packet, wide) | earlier | (last & rows->keep[row]);
}

CT_VECTOR_INLINE uint32_t ct_count_of(const struct ct_count_row *rows, const uint8_t *packet)
{
    const struct ct_count_row *how = &rows[ct_row_of(ct_load32(packet))];
    return ct_count_bits(ct_load32(packet + 1), how->take) + how->base;
}

/* Copies the three addresses before `past` to `to`. The two ranges may overlap. */
CT_VECTOR_INLINE void ct_past_move(uint64_t *to, const uint64_t *past)
{
    uint64_t third = past[-3];
    uint64_t second = past[-2];
    to[2] = past[-1];
    to[1] = second;
    to[0] = third;
}
#endif

/* The tables that scanning and reading packets need, made from the rows of a burst. */
struct ct_etm4_event_tables {
    struct ct_etm4_scan_table scan;
    struct ct_address_rows addresses;
    struct ct_wide_addresses wide;
    struct ct_count_row counts[CT_SCAN_ROWS];
    uint32_t threshold; /* cycle count threshold, which is added to each count */
};

void ct_etm4_event_tables_init(struct ct_etm4_event_tables *tables, const struct ct_etm4_burst *burst);

/* A burst of events. On entry, `cycle` is the time of its begin, and `branched` says whether the last atom
 * before it was E; on return, both are those behind its last atom, where it ends. */
struct ct_etm4_event_burst {
    const struct ct_etm4_event_tables *tables;
    struct ct_event_columns *columns; /* the columns that events are added to */
    uint64_t cycle;
    bool branched;
    uint64_t packets;   /* on return: number of packets */
    uint64_t addresses; /* on return: number of packets that are addresses */
};

/* Decodes data[0..size) as far as the columns have room. The first byte has the position `pos` in the stream,
 * and the `offset` of a mark is a position too. The event stream must hold nothing back. `plain` has the last
 * addresses, before and afterwards. Returns the number of bytes up to the end of the last atom. Only for
 * machines where ct_etm4_scan_there() is true. */
size_t ct_etm4_burst_events(struct ct_etm4_event_burst *burst, struct ct_etm4_burst *plain,
                            const uint8_t *data, size_t size, uint64_t pos);
