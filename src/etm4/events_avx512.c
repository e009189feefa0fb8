/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes bursts of events with AVX-512. Takes all bytes of a mask out of a block at once and lists them,
 * then resolves eight addresses at a time. The number of rounds of the loops does not depend on the contents
 * of the 64 bytes. */
#include "analysis/events.h"
#include "etm4/addresses_avx512.h"
#include "etm4/events_run.h"

#ifdef CT_HAVE_AVX512

/* number of rounds, each of eight times, that are written for each block */
#define ROUNDS 3u

/* ---- cycles ---- */

struct count_constants {
    __m512i bits; /* in each lane, by the lower four bits of a header: the bits of the next byte that belong
                     to the count */
    __m512i counted; /* in each lane, by the lower four bits of a header: 1 when it is that of a count */
    __m512i threshold;
    __m512i one;
    __m512i three;
    __m512i format3; /* the smallest header of format 3 */
    __m512i more;    /* the bit that only counts of format 1 have */
    __m512i seven_bits;
};

CT_AVX512_INLINE struct count_constants count_constants(const struct ct_etm4_event_tables *t)
{
    const __m512i bits = ct_four_lanes(t->scan.count);
    const __m512i one = _mm512_set1_epi8(1);
    return (struct count_constants){
        .bits = ct_keep_zmm(bits),
        .counted = ct_keep_zmm(_mm512_min_epu8(bits, one)),
        .threshold = ct_keep_zmm(_mm512_set1_epi16((short)t->threshold)),
        .one = ct_keep_zmm(one),
        .three = ct_keep_zmm(_mm512_set1_epi8(3)),
        .format3 = ct_keep_zmm(_mm512_set1_epi8(0x10)),
        .more = ct_keep_zmm(_mm512_set1_epi8(0x40)),
        .seven_bits = ct_keep_zmm(_mm512_set1_epi8(0x7f)),
    };
}

/* Adds up the cycle counts: returns, for each pair of bytes, the sum of those up to it. The counts begin one
 * byte before the bits of the mask. */
CT_AVX512_INLINE __m512i sum_counts(const struct count_constants *c, const uint8_t *data,
                                    uint64_t behind_counts)
{
    /* nothing is read before the first byte of the trace */
    const __m512i headers = _mm512_maskz_loadu_epi8(behind_counts, data - 1);
    const __m512i first = ct_load_zmm(data);
    const __m512i second = _mm512_and_si512(ct_load_zmm(data + 1), c->seven_bits);
    const __mmask64 others = _mm512_cmplt_epu8_mask(headers, c->format3);
    const __m512i bits = _mm512_maskz_shuffle_epi8(others, c->bits, headers);
    const __m512i low = _mm512_and_si512(first, bits);
    const __m512i values = _mm512_mask_mov_epi8(_mm512_and_si512(headers, c->three), others, low);
    const __mmask64 two = _mm512_mask_test_epi8_mask(_mm512_movepi8_mask(first), bits, c->more);
    const __m512i high = _mm512_maskz_mov_epi8(two, second);
    const __m512i counted = _mm512_mask_shuffle_epi8(c->one, others, c->counted, headers);
    __m512i v = _mm512_maddubs_epi16(values, c->one);
    v = _mm512_add_epi16(v, _mm512_slli_epi16(_mm512_maddubs_epi16(high, c->one), 7));
    v = _mm512_add_epi16(v, _mm512_mullo_epi16(_mm512_maddubs_epi16(counted, c->one), c->threshold));
    return ct_running_sums(v);
}

/* Returns whether the sums of a block overflowed 16 bits. One of them is then less than the one before,
 * because no pair of bytes adds as much as 2^16. */
CT_AVX512_INLINE bool wrapped(__m512i sums)
{
    const __m512i before = _mm512_bslli_epi128(sums, 2);
    const __m512i ends = _mm512_permutexvar_epi16(_mm512_set_epi64(0, 23, 0, 15, 0, 7, 0, 0), sums);
    const __m512i all = _mm512_mask_mov_epi16(before, 0x01010100, ends);
    return _mm512_cmplt_epu16_mask(sums, all);
}

/* Writes eight of the sums, from number `from` on, as times. */
CT_AVX512_INLINE void store_times(uint64_t *to, __m512i sums, uint64_t cycle, unsigned from)
{
    const __m512i first = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i number = _mm512_add_epi64(first, _mm512_set1_epi64(from));
    const __m512i eight = _mm512_maskz_permutexvar_epi16(0x11111111, number, sums);
    _mm512_storeu_si512(to + from, _mm512_add_epi64(eight, _mm512_set1_epi64((long long)cycle)));
}

/* Writes the times of the atoms that addresses wait for (the `listed` addresses of this chunk and those that
 * waited before), provided that each address waits for an atom of its own. Fills in the blocks of the chunk
 * at byte `at`. Returns false when the chunk is not for AVX-512. */
CT_AVX512_INLINE bool list_times(struct ct_events_run *r, size_t at, size_t listed)
{
    const size_t waiting = r->burst->columns->count - r->settled.branches;
    const struct ct_etm4_event_tables *tables = r->burst->tables;
    const struct count_constants c = count_constants(tables);
    uint64_t *const begin = r->burst->columns->cycles + r->burst->columns->count - waiting;
    uint64_t *times = begin;
    const uint8_t *data = r->data + at;
    uint64_t cycle = r->burst->cycle;
    bool branched = r->burst->branched;
    bool carry = waiting != 0;
    bool crowded = false;
    unsigned since = r->since;
    unsigned rare = 0;
    uint64_t late = 0; /* 1: the last byte of the block before is the header of a count */
    for (unsigned b = 0; b < r->chunk.blocks; b++, data += CT_SCAN_BLOCK) {
        const struct ct_etm4_masks *m = &r->chunk.masks[b];
        struct ct_events_block *block = &r->blocks[b];
        const __m512i sums = sum_counts(&c, data, m->counts << 1 | late);
        if (__builtin_expect(ct_bits_set(m->odd & m->counts) > r->most_odd && wrapped(sums), 0))
            return false;
        crowded |= since + (unsigned)_tzcnt_u64(m->atoms) > CT_EVENTS_WAITING;
        since = (unsigned)_lzcnt_u64(m->atoms);
        const uint64_t awaited = ct_find_awaited(m, &carry);
        /* Between two atoms that are waited for lies an address, so no pair of bytes has both. */
        const uint64_t pairs = _pext_u64(awaited | awaited >> 1, UINT64_C(0x5555555555555555));
        const unsigned count = ct_bits_set(awaited);
        const __m512i chosen = _mm512_maskz_compress_epi16((__mmask32)pairs, sums);
        store_times(times, chosen, cycle, 0);
        store_times(times, chosen, cycle, 8);
        store_times(times, chosen, cycle, 16);
        if (__builtin_expect(count > ROUNDS * 8, 0))
            store_times(times, chosen, cycle, 24);
        _mm512_store_si512(block->sums, sums);
        block->starts = m->addresses & ~ct_find_targets(m, &branched);
        block->cycle = cycle;
        block->large = false;
        rare |= (unsigned)((m->events | block->starts) != 0) << b;
        cycle += block->sums[CT_SCAN_BLOCK / 2 - 1];
        late = m->counts >> 63;
        times += count;
    }
    if (crowded || (size_t)(times - begin) + carry != listed + waiting)
        return false;
    r->burst->cycle = cycle + (late ? ct_count_of(tables->counts, data - 1) : 0);
    r->burst->branched = branched;
    r->rare = rare;
    r->since = since;
    return true;
}

/* ---- addresses ---- */

/* Lists the payloads of the addresses of the chunk at byte `at`, and their rows, and returns their number. */
CT_AVX512_INLINE size_t list_addresses(struct ct_events_run *r, size_t at)
{
    const struct ct_address_tables tables = ct_load_address_tables(&r->burst->tables->wide);
    const uint8_t *data = r->data + at;
    size_t listed = 0;
    for (unsigned b = 0; b < r->chunk.blocks; b++, data += CT_SCAN_BLOCK) {
        r->blocks[b].before = listed;
        listed += ct_list_payloads(&tables, data, r->chunk.masks[b].addresses, r->past + 3 + listed,
                                   r->rows + listed);
    }
    return listed;
}

CT_AVX512 bool ct_etm4_add_chunk_avx512(struct ct_events_run *r, size_t at)
{
    const struct ct_event_columns *columns = r->burst->columns;
    if (!r->sums16)
        return false;
    const size_t listed = list_addresses(r, at);
    if (!list_times(r, at, listed))
        return false;
    ct_resolve_addresses(&r->burst->tables->wide, r->past + 3, r->rows, listed,
                         r->burst->columns->targets + columns->count);
    r->count = listed;
    return true;
}

#endif
