/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of common packets straight to events in columns. They are the events that ct_events_from_elems makes
 * of the packets' elements. */
#ifndef CT_ETM4_EVENTS_H
#define CT_ETM4_EVENTS_H

#include <string.h>

#include "analysis/event_columns.h"
#include "etm4/vector.h"
#include "etm4/scan.h"

/* How addresses are read, by CT_SCAN_ROW. The new address is
 *   (the one before it & keep) | (the one at `back` from the end & earlier) | the bits that the packet has
 * where bit 0 of an address is its instruction set. */
struct ct_address_rows {
#ifdef CT_HAVE_GATHER
    /* Of the eight bytes from the header on, the bits chosen by `take`, put to those of `place`. `top` are
     * the bits of the ninth byte, which only addresses of 64 bits have. */
    uint64_t take[CT_SCAN_ROWS];
    uint64_t place[CT_SCAN_ROWS];
    uint64_t top[CT_SCAN_ROWS];
#else
    /* Of the eight bytes behind the header, in which the seven bits of the first one are moved up by one with
     * a 1 below them, those of `once` and again those of `twice`, which IS0 has one place higher. */
    uint64_t once[CT_SCAN_ROWS];
    uint64_t twice[CT_SCAN_ROWS];
#endif
    uint64_t keep[CT_SCAN_ROWS];
    uint64_t earlier[CT_SCAN_ROWS]; /* all bits or none */
    int64_t back[CT_SCAN_ROWS];     /* -2 or -3; 0 where it does not matter */
};

/* How cycle counts are read: base plus the bits that `take` chooses of the two bytes behind the header, seven
 * of each. */
struct ct_count_row {
    uint32_t take;
    uint32_t base;
};

/* How AVX-512 reads addresses, by rows of another kind. With x, the eight bytes behind the header, in which
 * the seven bits of the first byte are moved up by one with a 1 below them, the new address is
 *   (the one before & keep) | (the bytes of x from the bits that `shifts` says & take)
 * Rows from CT_WIDE_MATCH on are addresses that equal one of the last three, and say which. */
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
/* Returns the row of a packet that begins with the bytes x. */
CT_VECTOR_INLINE size_t ct_row_of(uint64_t x)
{
    return ct_bits_gather(x, CT_SCAN_ROW_BITS);
}

/* Returns the bits of an address that its packet, of row `row`, has. `wide`: it may have 64 bits. */
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
    /* bit 7 of these headers is the 1 below the first byte */
    const uint64_t x = (ct_load64(packet + 1) & ~UINT64_C(0xff)) | (uint8_t)(ct_load64(packet) >> 7);
    return (x & rows->once[row]) + (x & rows->twice[row]);
}

CT_VECTOR_INLINE uint32_t ct_count_bits(uint32_t behind, uint32_t take)
{
    const uint32_t x = behind & take;
    return x - (x >> 8 << 7);
}
#endif

/* Reads an address. `past` points behind the last address, which has two more before it. `last` is that
 * address in a register, because a chain through memory would wait for each store. `wide`: it may have 64
 * bits. */
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

/* Moves the three addresses before `past` to `to`. The two ranges may overlap. */
CT_VECTOR_INLINE void ct_past_move(uint64_t *to, const uint64_t *past)
{
    uint64_t third = past[-3];
    uint64_t second = past[-2];
    to[2] = past[-1];
    to[1] = second;
    to[0] = third;
}
#endif

struct ct_etm4_event_tables {
    struct ct_etm4_scan_table scan;
    struct ct_address_rows addresses;
    struct ct_wide_addresses wide;
    struct ct_count_row counts[CT_SCAN_ROWS];
    uint32_t threshold; /* added to each count */
};

void ct_etm4_event_tables_init(struct ct_etm4_event_tables *tables, const struct ct_etm4_burst *burst);

/* A burst of events. On entry, the cycles up to it and whether the last atom before it was E; on return, the
 * same behind its last atom, where it ends. */
struct ct_etm4_event_burst {
    const struct ct_etm4_event_tables *tables;
    struct ct_event_columns *columns; /* where events are added */
    uint64_t cycle;
    bool branched;
    uint64_t packets;   /* on return: how many packets there were */
    uint64_t addresses; /* on return: how many of these were addresses */
};

/* Decodes data[0..size), whose first byte has the position `pos`, as far as the columns have room; the
 * `offset` of a mark is its position. The event stream must hold nothing back. `plain` has the last
 * addresses, before and afterwards. Result: bytes up to the end of the last atom. Only for machines where
 * ct_etm4_scan_there. */
size_t ct_etm4_burst_events(struct ct_etm4_event_burst *burst, struct ct_etm4_burst *plain,
                            const uint8_t *data, size_t size, uint64_t pos);

#endif
