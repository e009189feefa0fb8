/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a chunk (etm4_scan.h) that say where execution went: atoms and addresses, one behind the
 * other, without the cycle counts and events between them. */
#ifndef CT_ETM4_CUTS_H
#define CT_ETM4_CUTS_H

#include "base/bytes.h"
#include "etm4/events.h"

/* Bytes behind the last one that may be read. */
#define CT_CUTS_SLACK 64u

struct ct_etm4_cuts {
    unsigned count;                         /* bytes */
    unsigned raw;                           /* bytes of the chunk that they stem from */
    unsigned before[CT_SCAN_BLOCKS + 1];    /* how many of them are of the blocks before each one */
    uint64_t kept[CT_SCAN_BLOCKS];          /* bit i: byte i of the block is one of them */
    uint64_t atoms[CT_SCAN_BLOCKS + 2];     /* bit i: byte i is an atom packet … */
    uint64_t addresses[CT_SCAN_BLOCKS + 2]; /* … the header of an address */
    uint64_t starts[CT_SCAN_BLOCKS + 2];    /* … either of both */
    uint8_t bytes[CT_SCAN_BYTES + CT_CUTS_SLACK];
};

/* The bits of a mask from byte `at` on: 57 of them. */
static inline uint64_t ct_cuts_bits(const uint64_t *mask, unsigned at)
{
    return ct_load64((const uint8_t *)mask + (at >> 3)) >> (at & 7);
}

/* `raw`: bytes that the scan went over, from data[0] on, of which those before
 * `entry` belong to a packet before. */
void ct_etm4_cuts_make(struct ct_etm4_cuts *cuts, const struct ct_etm4_chunk *chunk, const uint8_t *data,
                       unsigned raw);

/* A cycle count, of what is between the one before and it. */
struct ct_cut_count {
    uint32_t cycles; /* or CT_CUT_NO_COUNT: it is not known, or no step may have so many */
    uint16_t at;     /* how many bytes of the cuts are before it */
    uint16_t place;  /* in the chunk */
};

#define CT_CUT_NO_COUNT UINT32_MAX

/* The cycle counts of a chunk, with the rows of etm4_events.h. Result: how many. */
unsigned ct_etm4_cuts_counts(const struct ct_etm4_cuts *cuts, const struct ct_etm4_chunk *chunk,
                             const uint8_t *data, const struct ct_count_row rows[64],
                             struct ct_cut_count counts[CT_SCAN_BYTES]);

/* The place in the chunk of byte `at`, which is one of them. */
unsigned ct_etm4_cuts_place(const struct ct_etm4_cuts *cuts, unsigned at);

/* Packets that are neither atoms nor addresses. */
struct ct_cut_others {
    uint64_t events;
    uint64_t counts, format1, format3; /* cycle counts, and those of them in two of their formats */
};

/* Counts those of the first `size` bytes of a chunk. */
void ct_etm4_cuts_others(const struct ct_etm4_chunk *chunk, const uint8_t *data, size_t size,
                         struct ct_cut_others *others);

/* What was counted, by a header of the same type. Result: how many; they are 0 then. */
size_t ct_etm4_cuts_tell(struct ct_cut_others *others, uint64_t packets[256]);

#endif
