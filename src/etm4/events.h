/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of common packets straight to events in columns: what
 * ct_events_from_elems says of their elements. */
#ifndef CT_ETM4_EVENTS_H
#define CT_ETM4_EVENTS_H

#include <string.h>

#include "analysis/event_columns.h"
#include "etm4/avx2.h"
#include "etm4/scan.h"

/* The addresses by CT_SCAN_ROW: with x, the eight bytes from the header on, the new one is
 *   (the one before it & keep) | (the one at `back` from the end & earlier) |
 *   (the bits of x chosen by `take`, put to those of `place`)
 * where bit 0 of an address is its instruction set. `top` are the bits of the ninth byte, which only
 * addresses of 64 bits have. */
struct ct_address_rows {
    uint64_t take[CT_SCAN_ROWS];
    uint64_t place[CT_SCAN_ROWS];
    uint64_t keep[CT_SCAN_ROWS];
    uint64_t earlier[CT_SCAN_ROWS]; /* all or nothing */
    uint64_t top[CT_SCAN_ROWS];
    int64_t back[CT_SCAN_ROWS]; /* -2, -3, or 0 where it does not matter */
};

/* Cycle counts: base, and of the four bytes behind the header what `take` chooses. */
struct ct_count_row {
    uint32_t take;
    uint32_t base;
};

/* The same for AVX-512, by rows of another kind, of x, the eight bytes behind the header with the seven
 * bits of the first one moved up by one, and a 1 below them:
 *   (the one before & keep) | (the bytes of x from the bits that `shifts` says & take)
 * From CT_WIDE_MATCH on a row is that of an address that was among the last three, and says which. */
#define CT_WIDE_ROWS  16u
#define CT_WIDE_MATCH 8u
struct ct_wide_addresses {
    uint8_t rows[2][64]; /* by whether the first byte has bit 7 set, and the lower six bits of the header */
    uint64_t shifts[CT_WIDE_ROWS];
    uint64_t take[CT_WIDE_ROWS];
    uint64_t keep[CT_WIDE_ROWS];
};

#ifdef CT_HAVE_AVX2
/* The row of a packet that begins with the bytes x. */
CT_AVX2_INLINE size_t ct_row_of(uint64_t x)
{
    return _pext_u64(x, CT_SCAN_ROW_BITS);
}

/* `past` is behind the last address, with two more before it; `last` is that address, in a register: a chain
 * through memory would wait for each store. `wide`: it may be one of 64 bits. */
CT_AVX2_INLINE uint64_t ct_address_of(const struct ct_address_rows *rows, const uint8_t *packet,
                                      const uint64_t *past, uint64_t last, bool wide)
{
    uint64_t x;
    uint64_t behind;
    memcpy(&x, packet, sizeof x);
    const size_t row = ct_row_of(x);
    uint64_t now = _pdep_u64(_pext_u64(x, rows->take[row]), rows->place[row]);
    if (wide) {
        memcpy(&behind, packet + 1, sizeof behind);
        now |= behind & rows->top[row];
    }
    now |= past[rows->back[row]] & rows->earlier[row];
    return now | (last & rows->keep[row]);
}

CT_AVX2_INLINE uint32_t ct_count_of(const struct ct_count_row *rows, const uint8_t *packet)
{
    uint32_t x;
    uint32_t behind;
    memcpy(&x, packet, sizeof x);
    memcpy(&behind, packet + 1, sizeof behind);
    const struct ct_count_row *how = &rows[ct_row_of(x)];
    return _pext_u32(behind, how->take) + how->base;
}

/* The three before `past` to the beginning; they may lie in one another's way. */
CT_AVX2_INLINE void ct_past_move(uint64_t *to, const uint64_t *past)
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
    uint32_t threshold; /* in each count */
};

void ct_etm4_event_tables_init(struct ct_etm4_event_tables *tables, const struct ct_etm4_burst *burst);

/* A burst of events. In: the cycles up to it, whether the last atom before it was E. Out: the same behind its
 * last atom, where it ends. */
struct ct_etm4_event_burst {
    const struct ct_etm4_event_tables *tables;
    struct ct_event_columns *columns; /* events are added */
    uint64_t cycle;
    bool branched;
    uint64_t packets;   /* out: how many there were … */
    uint64_t addresses; /* … and of them addresses */
};

/* Decodes data[0..size), whose first byte has the position `pos`, as far as the columns have room; `offset`
 * of marks is their position. Nothing must be waiting in the event stream. `plain` has the last addresses,
 * before and afterwards. Result: bytes up to the end of the last atom. Only where ct_etm4_scan_there. */
size_t ct_etm4_burst_events(struct ct_etm4_event_burst *burst, struct ct_etm4_burst *plain,
                            const uint8_t *data, size_t size, uint64_t pos);

#endif
