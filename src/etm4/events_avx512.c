/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of events with AVX-512. The bytes that a mask has are taken out of a block all at once and listed;
 * then addresses are resolved eight at a time. The number of loop rounds does not depend on what stands in
 * the 64 bytes. */
#include "analysis/events.h"
#include "etm4/avx512.h"
#include "etm4/events_run.h"

#ifdef CT_HAVE_AVX512

/* rounds of eight entries, for times and for addresses, that are written for each block */
#define ROUNDS 3u

/* ---- cycles ---- */

struct count_constants {
    __m512i bits; /* in each lane, by the lower four bits of a header: the bits of the next byte that are the
                     count */
    __m512i counted; /* and 1 for each header that is a count */
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

/* Returns the running sums of the 32 numbers. */
CT_AVX512_INLINE __m512i add_up(__m512i v)
{
    v = _mm512_add_epi16(v, _mm512_bslli_epi128(v, 2));
    v = _mm512_add_epi16(v, _mm512_bslli_epi128(v, 4));
    v = _mm512_add_epi16(v, _mm512_bslli_epi128(v, 8));
    /* The last sum of a lane is added to the next lane, then that of both to the other two. */
    const __m512i lanes = _mm512_set_epi64(0x0017001700170017, 0x0017001700170017, 0, 0, 0x0007000700070007,
                                           0x0007000700070007, 0, 0);
    v = _mm512_mask_add_epi16(v, 0xff00ff00, v, _mm512_permutexvar_epi16(lanes, v));
    return _mm512_mask_add_epi16(v, 0xffff0000, v, _mm512_permutexvar_epi16(_mm512_set1_epi16(15), v));
}

/* Adds up counts by pairs of bytes, with all that are before the pair. The counts begin one byte before the
 * bits of the mask. */
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
    return add_up(v);
}

/* Returns true when the sums of a block overflowed 16 bits, as one of them is then less than the one before:
 * no pair adds so much. */
CT_AVX512_INLINE bool wrapped(__m512i sums)
{
    const __m512i before = _mm512_bslli_epi128(sums, 2);
    const __m512i ends = _mm512_permutexvar_epi16(_mm512_set_epi64(0, 23, 0, 15, 0, 7, 0, 0), sums);
    const __m512i all = _mm512_mask_mov_epi16(before, 0x01010100, ends);
    return _mm512_cmplt_epu16_mask(sums, all);
}

/* Writes eight of the sums, from number `from` on, as cycles. */
CT_AVX512_INLINE void store_times(uint64_t *to, __m512i sums, uint64_t cycle, unsigned from)
{
    const __m512i first = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i number = _mm512_add_epi64(first, _mm512_set1_epi64(from));
    const __m512i eight = _mm512_maskz_permutexvar_epi16(0x11111111, number, sums);
    _mm512_storeu_si512(to + from, _mm512_add_epi64(eight, _mm512_set1_epi64((long long)cycle)));
}

/* Writes the cycles of the atoms that addresses wait for, `listed` ones of this chunk and those that waited
 * before, if each has an atom of its own, and notes the blocks of the chunk at `at`. Returns false when the
 * chunk is not for AVX-512. */
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
    uint64_t late = 0; /* the block before has a count in its last byte */
    for (unsigned b = 0; b < r->chunk.blocks; b++, data += CT_SCAN_BLOCK) {
        const struct ct_etm4_masks *m = &r->chunk.masks[b];
        struct ct_events_block *block = &r->blocks[b];
        const __m512i sums = sum_counts(&c, data, m->counts << 1 | late);
        if (__builtin_expect(ct_bits_set(m->odd & m->counts) > r->most_odd && wrapped(sums), 0))
            return false;
        crowded |= since + (unsigned)_tzcnt_u64(m->atoms) > CT_EVENTS_WAITING;
        since = (unsigned)_lzcnt_u64(m->atoms);
        const uint64_t awaited = ct_find_awaited(m, &carry);
        /* Two atoms that are awaited have an address between them, so that no pair of bytes has both. */
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

/* Writes eight payloads, from number `from` on. */
CT_AVX512_INLINE void store_payloads(uint64_t *to, const uint8_t *data, __m512i addresses, unsigned from)
{
    const __m512i behind =
        _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)(data + CT_SCAN_BLOCK)));
    const __m512i eighth = _mm512_and_si512(_mm512_srli_epi16(ct_places_zmm(), 3), _mm512_set1_epi8(7));
    const __m512i number = _mm512_add_epi8(eighth, _mm512_set1_epi8((char)from));
    const __m512i byte =
        _mm512_add_epi8(_mm512_and_si512(ct_places_zmm(), _mm512_set1_epi8(7)), _mm512_set1_epi8(1));
    const __m512i index = _mm512_add_epi8(_mm512_permutexvar_epi8(number, addresses), byte);
    _mm512_storeu_si512(to + from, _mm512_permutex2var_epi8(ct_load_zmm(data), index, behind));
}

/* Writes the payloads of a block that has more addresses than most. */
CT_AVX512 static __attribute__((noinline)) void store_more_payloads(uint64_t *to, const uint8_t *data,
                                                                    __m512i addresses, unsigned count)
{
    for (unsigned i = ROUNDS * 8; i < count; i += 8)
        store_payloads(to, data, addresses, i);
}

/* Lists the payloads of the addresses of the chunk at `at`, and their rows. Result: how many. */
CT_AVX512_INLINE size_t list_addresses(struct ct_events_run *r, size_t at)
{
    const struct ct_wide_addresses *w = &r->burst->tables->wide;
    const __m512i rows0 = ct_load_zmm(w->rows[0]);
    const __m512i rows1 = ct_load_zmm(w->rows[1]);
    const __m512i all = ct_keep_zmm(ct_places_zmm());
    const uint8_t *data = r->data + at;
    size_t listed = 0;
    for (unsigned b = 0; b < r->chunk.blocks; b++, data += CT_SCAN_BLOCK) {
        const uint64_t mask = r->chunk.masks[b].addresses;
        const unsigned count = ct_bits_set(mask);
        uint64_t *to = r->past + 3 + listed;
        const __m512i bytes = ct_load_zmm(data);
        const __mmask64 more = _mm512_movepi8_mask(ct_load_zmm(data + 1));
        __m512i rows = _mm512_permutexvar_epi8(bytes, rows0);
        rows = _mm512_mask_permutexvar_epi8(rows, more, bytes, rows1);
        _mm512_storeu_si512(r->rows + listed, _mm512_maskz_compress_epi8(mask, rows));
        const __m512i addresses = _mm512_maskz_compress_epi8(mask, all);
        store_payloads(to, data, addresses, 0);
        store_payloads(to, data, addresses, 8);
        store_payloads(to, data, addresses, 16);
        if (__builtin_expect(count > ROUNDS * 8, 0))
            store_more_payloads(to, data, addresses, count);
        r->blocks[b].before = listed;
        listed += count;
    }
    return listed;
}

/* A look-up table of sixteen 64-bit entries. */
struct pair {
    __m512i low;
    __m512i high;
};

CT_AVX512_INLINE struct pair load_pair(const uint64_t table[CT_WIDE_ROWS])
{
    return (struct pair){.low = ct_load_zmm(table), .high = ct_load_zmm(table + 8)};
}

CT_AVX512_INLINE __m512i of_pair(const struct pair *table, __m512i row)
{
    return _mm512_permutex2var_epi64(table->low, row, table->high);
}

/* Turns the `count` payloads at r->past + 3 into addresses, and writes these to `targets` too. */
CT_AVX512_INLINE void resolve(struct ct_events_run *r, size_t count, uint64_t *targets)
{
    const struct ct_wide_addresses *w = &r->burst->tables->wide;
    const struct pair shifts = load_pair(w->shifts);
    const struct pair take = load_pair(w->take);
    const struct pair kept = load_pair(w->keep);
    const __m512i ones = ct_keep_zmm(_mm512_set1_epi64(-1));
    const __m512i one = ct_keep_zmm(_mm512_set1_epi64(1));
    const __m512i match = ct_keep_zmm(_mm512_set1_epi64(CT_WIDE_MATCH));
    /* in an index, i means number i of the eight addresses before, and 8 + i number i of these */
    const __m512i former = ct_keep_zmm(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    const __m512i before = ct_keep_zmm(_mm512_add_epi64(former, _mm512_set1_epi64(7)));
    const __m512i zero = _mm512_setzero_si512();
    const __mmask64 first_bytes = UINT64_C(0x0101010101010101);
    uint64_t *past = r->past + 3;
    __m512i last = _mm512_permutexvar_epi64(_mm512_set_epi64(2, 1, 0, 0, 0, 0, 0, 0), ct_load_zmm(r->past));
    for (size_t i = 0; i < count; i += 8) {
        __m512i x = ct_load_zmm(past + i);
        const __m512i row =
            _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)(r->rows + i)));
        /* puts the seven bits of the first byte next to the second byte, with a 1 below them */
        x = _mm512_or_si512(_mm512_mask_add_epi8(x, first_bytes, x, x), one);
        /* Each address by itself: the one that it takes bits from, which bits, and its own. */
        __m512i from = _mm512_sub_epi64(before, _mm512_subs_epu8(row, match));
        __m512i keep = of_pair(&kept, row);
        __m512i v =
            _mm512_and_si512(_mm512_multishift_epi64_epi8(of_pair(&shifts, row), x), of_pair(&take, row));
        /* Then the eight together: an address takes what its source takes from further back. After four steps
         * each source is one of the eight before, or one of the first four of these. */
        for (int round = 0; round < 2; round++) {
            v = _mm512_ternarylogic_epi64(v, keep, _mm512_permutex2var_epi64(zero, from, v), 0xf8);
            keep = _mm512_and_si512(keep, _mm512_permutex2var_epi64(ones, from, keep));
            from = _mm512_permutex2var_epi64(former, from, from);
        }
        const __m512i first = _mm512_ternarylogic_epi64(v, keep, _mm512_permutexvar_epi64(from, last), 0xf8);
        last = _mm512_ternarylogic_epi64(v, keep, _mm512_permutex2var_epi64(last, from, first), 0xf8);
        _mm512_storeu_si512(past + i, last);
        _mm512_storeu_si512(targets + i, _mm512_andnot_si512(one, last));
    }
}

CT_AVX512 bool ct_etm4_add_chunk_avx512(struct ct_events_run *r, size_t at)
{
    const struct ct_event_columns *columns = r->burst->columns;
    if (!r->sums16)
        return false;
    const size_t listed = list_addresses(r, at);
    if (!list_times(r, at, listed))
        return false;
    resolve(r, listed, r->burst->columns->targets + columns->count);
    r->count = listed;
    return true;
}

#endif
