/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a scanned chunk (scan.h) that decide where execution goes: atoms and addresses side by side,
 * without the cycle counts and events between them. */
#pragma once

#include "base/bytes.h"
#include "coretap/steps.h"
#include "etm4/events.h"

/* bytes behind the last kept one that may be read */
#define CT_CUTS_SLACK 64u

/* The kept bytes of a chunk. */
struct ct_etm4_cuts {
    unsigned count;                         /* number of kept bytes */
    unsigned raw;                           /* number of bytes of the chunk that they come from */
    unsigned before[CT_SCAN_BLOCKS + 1];    /* before[i]: number of kept bytes in the blocks before block i */
    uint64_t kept[CT_SCAN_BLOCKS];          /* bit i: byte i of the block was kept */
    uint64_t atoms[CT_SCAN_BLOCKS + 2];     /* bit i: kept byte i is an atom packet */
    uint64_t addresses[CT_SCAN_BLOCKS + 2]; /* bit i: kept byte i is the header of an address */
    uint64_t starts[CT_SCAN_BLOCKS + 2];    /* bit i: kept byte i begins an atom packet or an address */
    uint8_t bytes[CT_SCAN_BYTES + CT_CUTS_SLACK];
};

/* Returns the 57 bits of a mask from bit `at` on. */
static inline uint64_t ct_cuts_bits(const uint64_t *mask, unsigned at)
{
    return ct_load64((const uint8_t *)mask + (at >> 3)) >> (at & 7);
}

/* Keeps the atoms and addresses in the first `raw` bytes of a chunk, whose bytes begin at data[0]. */
void ct_etm4_cuts_make(struct ct_etm4_cuts *cuts, const struct ct_etm4_chunk *chunk, const uint8_t *data,
                       unsigned raw);

/* A cycle count: the cycles since the count before it. */
struct ct_cut_count {
    uint32_t cycles; /* CT_CUT_NO_COUNT when it is unknown or more than a step may have */
    uint16_t at;     /* number of kept bytes before it */
    uint16_t place;  /* its offset in the chunk */
};

#define CT_CUT_NO_COUNT UINT32_MAX

/* the header of an unknown cycle count */
#define CT_CUT_UNKNOWN 0x0fu

#ifdef CT_HAVE_VECTORS

/* Returns the cycles of a cycle count packet, or CT_CUT_NO_COUNT when they are unknown or too many. */
CT_VECTOR_INLINE uint32_t ct_cut_cycles(const struct ct_count_row *rows, const uint8_t *packet)
{
    const uint32_t cycles = ct_count_of(rows, packet);
    return *packet == CT_CUT_UNKNOWN || cycles >= CT_STEP_CYCLES ? CT_CUT_NO_COUNT : cycles;
}

#endif

/* Returns the number of bytes of a cycle count packet. */
static inline unsigned ct_cut_count_size(const uint8_t *packet)
{
    return *packet & 0x10 ? 1 : 2u + (*packet & 2 && packet[1] & 0x80);
}

/* Lists the cycle counts of a chunk, read with the rows of events.h, and returns their number. */
unsigned ct_etm4_cuts_counts(const struct ct_etm4_cuts *cuts, const struct ct_etm4_chunk *chunk,
                             const uint8_t *data, const struct ct_count_row rows[64],
                             struct ct_cut_count counts[CT_SCAN_BYTES]);

/* Returns the offset in the chunk of kept byte `at`. */
unsigned ct_etm4_cuts_place(const struct ct_etm4_cuts *cuts, unsigned at);

/* Numbers of packets that are neither atoms nor addresses. */
struct ct_cut_others {
    uint64_t events;
    uint64_t counts, format1, format3; /* all cycle counts, and those in formats 1 and 3 */
};

/* Adds to `others` the packets in the first `size` bytes of a chunk that are neither atoms nor addresses. */
void ct_etm4_cuts_others(const struct ct_etm4_chunk *chunk, const uint8_t *data, size_t size,
                         struct ct_cut_others *others);

/* Adds the numbers to `packets`, each at a header of that kind, sets them to zero and returns their sum. */
size_t ct_etm4_cuts_tell(struct ct_cut_others *others, uint64_t packets[256]);
