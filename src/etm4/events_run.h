/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a burst of events, which events.c shares with its version for AVX-512 (events_avx512.c). */
#pragma once

#include "etm4/events.h"

#ifdef CT_HAVE_VECTORS

/* The state at the last atom. Later trace cannot change anything before it. */
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

/* The packets of one block of the chunk. */
struct ct_events_block {
    uint64_t starts;  /* addresses that are not targets of a branch */
    uint64_t awaited; /* atoms that an earlier address, of this or an earlier block, waits for */
    uint64_t cycle;   /* time at which the block begins, in cycles */
    size_t before;    /* number of addresses in the blocks of the chunk before this one */
    size_t waiting;   /* number of addresses before the block that wait for its first atom */
    bool paired;      /* each address waits for an atom of its own, and the sums are in `sums` */
    bool large;       /* the sums are in `large_sums`, since they may not fit 16 bits */
    _Alignas(CT_SCAN_BLOCK) uint16_t sums[CT_SCAN_BLOCK / 2]; /* sums of counts before each pair of bytes */
    uint32_t large_sums[CT_SCAN_BLOCK / 2];
};

/* A burst of events while it decodes. */
struct ct_events_run {
    struct ct_events_block blocks[CT_SCAN_BLOCKS];
    struct ct_etm4_event_burst *burst;
    const uint8_t *data;
    uint64_t pos;     /* position of data[0] */
    uint64_t packets; /* number of packets, and below of addresses, in all chunks before */
    uint64_t addresses;
    size_t count;   /* number of addresses of the chunk */
    size_t removed; /* number of addresses of the chunk that are not targets of a branch */
    struct ct_events_settled settled;
    struct ct_etm4_chunk chunk;
    /* the last three addresses, newest last, then those of the current chunk */
    uint64_t past[3 + CT_SCAN_BYTES + CT_COLUMNS_SLACK];
    unsigned since;    /* number of bytes since the last atom */
    unsigned rare;     /* bit b: block b of the chunk has marks */
    unsigned most_odd; /* most counts of more than seven bits that a block can have whose sums are to fit 16
                          bits */
    bool sums16;       /* sums of blocks without counts of more than seven bits fit 16 bits */
    uint8_t rows[CT_SCAN_BYTES + CT_SCAN_BLOCK]; /* with AVX-512: rows of the addresses */
};

CT_VECTOR_INLINE unsigned ct_bits_set(uint64_t mask)
{
    return (unsigned)__builtin_popcountll(mask);
}

/* Returns a mask of the bits below bit i, for i from 0 to 63. */
CT_VECTOR_INLINE uint64_t ct_bits_below(unsigned i)
{
    return (UINT64_C(1) << i) - 1;
}

CT_VECTOR_INLINE unsigned ct_lowest_bit(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask);
}

/* Returns the addresses that are targets of a branch: the last atom before them was E, and no other address
 * came in between. An addition finds them: a carry runs from each E up to the next atom or address. */
CT_VECTOR_INLINE uint64_t ct_find_targets(const struct ct_etm4_masks *m, bool *branched)
{
    uint64_t others = ~(m->atoms | m->addresses);
    unsigned long long sum;
    bool carry = __builtin_uaddll_overflow(m->taken << 1 | *branched, others, &sum);
    *branched = carry | m->taken >> 63;
    return sum & m->addresses;
}

/* Returns the atoms that addresses wait for. An addition finds them: a carry runs from each address to the
 * next atom. *carry: an address waits before the block and, on return, behind it. */
CT_VECTOR_INLINE uint64_t ct_find_awaited(const struct ct_etm4_masks *m, bool *carry)
{
    unsigned long long sum;
    bool over = __builtin_uaddll_overflow(m->addresses, ~m->atoms, &sum);
    over |= __builtin_uaddll_overflow(sum, *carry, &sum);
    *carry = over;
    return sum & m->atoms;
}

/* Prepares the chunk at byte `at` and writes its addresses with their cycles, as branches behind those in the
 * columns. Returns false, and changes nothing that counts, when the chunk has something that only events.c
 * handles. */
bool ct_etm4_add_chunk_avx512(struct ct_events_run *r, size_t at);

#endif
