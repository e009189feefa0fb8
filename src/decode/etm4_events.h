/* Bursts of common packets straight to events in columns: what ct_events_from_elems says of their elements. */
#ifndef CT_DECODE_ETM4_EVENTS_H
#define CT_DECODE_ETM4_EVENTS_H

#include <string.h>

#include "analysis/event_columns.h"
#include "decode/avx2.h"
#include "decode/etm4_scan.h"

/* The addresses by CT_SCAN_ROW: with x, the eight bytes behind the header, the new one is
 *   (the last but `back` - 1 & keep) | ((bits of x chosen by `take`, side by side) << shift + is)
 * where bit 0 of an address is its instruction set. */
struct ct_address_row {
    uint64_t take;
    uint64_t keep;
    uint64_t is;
    uint64_t shift;
    int64_t back; /* 1 to 3 */
    uint64_t pad[3];
};

#ifdef CT_HAVE_AVX2
/* `past` is behind the last address, with two more before it. */
CT_AVX2_INLINE uint64_t ct_address_of(const struct ct_address_row *row, const uint8_t *payload,
                                      const uint64_t *past)
{
    uint64_t x;
    memcpy(&x, payload, sizeof x);
    return ((_pext_u64(x, row->take) << row->shift) + row->is) | (past[-row->back] & row->keep);
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

/* Cycle counts: base, and of the four bytes behind the header what `take` chooses. */
struct ct_count_row {
    uint32_t take;
    uint32_t base;
};

struct ct_etm4_event_tables {
    struct ct_etm4_scan_table scan;
    struct ct_address_row addresses[64];
    struct ct_count_row counts[64];
};

void ct_etm4_event_tables_init(struct ct_etm4_event_tables *tables, const struct ct_etm4_burst *burst);

/* A burst of events. In: the cycles up to it, whether the last atom before it was E. Out: the same behind its last atom,
 * where it ends. */
struct ct_etm4_event_burst {
    const struct ct_etm4_event_tables *tables;
    struct ct_event_columns *columns; /* events are added */
    uint64_t cycle;
    bool branched;
    uint64_t packets;   /* out: how many there were … */
    uint64_t addresses; /* … and of them addresses */
};

/* Decodes data[0..size), whose first byte has the position `pos`, as far as the columns have room; `offset` of marks is
 * their position. Nothing must be waiting in the event stream. `plain` has the last addresses, before and afterwards.
 * Result: bytes up to the end of the last atom. Only where ct_etm4_scan_there. */
size_t ct_etm4_burst_events(struct ct_etm4_event_burst *burst, struct ct_etm4_burst *plain,
                            const uint8_t *data, size_t size, uint64_t pos);

#endif
