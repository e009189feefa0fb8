/* SPDX-License-Identifier: Apache-2.0 */
/* What bursts of events (etm4_events.c) keep while they go, for their version with AVX-512 too. */
#ifndef CT_ETM4_EVENTS_RUN_H
#define CT_ETM4_EVENTS_RUN_H

#include "etm4/events.h"

#ifdef CT_HAVE_AVX2

/* The columns behind the last atom: nothing that comes changes what is before. */
struct ct_events_settled {
    size_t bytes;
    size_t branches;
    size_t marks;
    uint64_t cycle;
    uint64_t packets;
    uint64_t addresses;
    bool branched;
    uint64_t past[3];
};

/* What becomes of a block of the chunk. */
struct ct_events_block {
    uint64_t starts;  /* addresses that are no targets */
    uint64_t awaited; /* atoms that an address stands before, in this block or an earlier one */
    uint64_t cycle;   /* up to its beginning */
    size_t before;    /* addresses in the blocks of the chunk before it */
    size_t waiting;   /* addresses before it that wait for its first atom */
    bool paired;      /* each address has an atom of its own, and the sums are in `sums` */
    bool large;       /* the sums are in `large_sums` */
    _Alignas(CT_SCAN_BLOCK) uint16_t sums[CT_SCAN_BLOCK / 2]; /* of the counts up to each pair of bytes */
    uint32_t large_sums[CT_SCAN_BLOCK / 2];
};

/* A burst on its way. */
struct ct_events_run {
    struct ct_events_block blocks[CT_SCAN_BLOCKS];
    struct ct_etm4_event_burst *burst;
    const uint8_t *data;
    uint64_t pos;     /* of data[0] */
    uint64_t packets; /* in all chunks before … */
    uint64_t addresses;
    size_t count;   /* addresses of the chunk … */
    size_t removed; /* … and those of them that are no targets */
    struct ct_events_settled settled;
    struct ct_etm4_chunk chunk;
    /* The last three addresses, newest last, and those of the chunk in work. */
    uint64_t past[3 + CT_SCAN_BYTES + CT_COLUMNS_SLACK];
    unsigned since;    /* bytes since the last atom */
    unsigned rare;     /* bits: blocks of the chunk that have marks */
    unsigned most_odd; /* odd counts that a block can have … */
    bool sums16;       /* … for its counts to add up to 16 bits; without one they do */
    uint8_t rows[CT_SCAN_BYTES + CT_SCAN_BLOCK]; /* with AVX-512: of the addresses */
};

CT_AVX2_INLINE unsigned ct_bits_set(uint64_t mask)
{
    return (unsigned)__builtin_popcountll(mask);
}

/* Bits below bit i, i from 0 to 63. */
CT_AVX2_INLINE uint64_t ct_bits_below(unsigned i)
{
    return (UINT64_C(1) << i) - 1;
}

CT_AVX2_INLINE unsigned ct_lowest_bit(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask);
}

/* Addresses that are targets: the last atom before them ended with an E, and no other address took it. A
 * carry runs from each such atom up to the next atom or address. */
CT_AVX2_INLINE uint64_t ct_find_targets(const struct ct_etm4_masks *m, bool *branched)
{
    uint64_t others = ~(m->atoms | m->addresses);
    unsigned long long sum;
    bool carry = __builtin_uaddll_overflow(m->taken << 1 | *branched, others, &sum);
    *branched = carry | m->taken >> 63;
    return sum & m->addresses;
}

/* The atoms that addresses wait for: a carry runs from each address to the next atom. *carry: one waits,
 * before the block and behind it. */
CT_AVX2_INLINE uint64_t ct_find_awaited(const struct ct_etm4_masks *m, bool *carry)
{
    unsigned long long sum;
    bool over = __builtin_uaddll_overflow(m->addresses, ~m->atoms, &sum);
    over |= __builtin_uaddll_overflow(sum, *carry, &sum);
    *carry = over;
    return sum & m->atoms;
}

/* Looks through the chunk at `at` and adds its addresses as branches behind those that are in the columns;
 * cycles, and what the run knows of its blocks. False: there is something in it that wants the other way, and
 * nothing was done. */
bool ct_etm4_add_chunk_avx512(struct ct_events_run *r, size_t at);

#endif
#endif
