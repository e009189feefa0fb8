/* SPDX-License-Identifier: Apache-2.0 */
/* The part of vector.h for x86-64. */
#pragma once

#include <immintrin.h>
#include <string.h>

#include "base/bytes.h"

typedef __m256i ct_bytes;

CT_VECTOR_INLINE ct_bytes ct_bytes_load(const void *from)
{
    return _mm256_loadu_si256(from);
}

CT_VECTOR_INLINE void ct_bytes_store(void *to, ct_bytes v)
{
    _mm256_storeu_si256(to, v);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_all(uint8_t value)
{
    return _mm256_set1_epi8((char)value);
}

/* Returns the 16 bytes of a table in both lanes. */
CT_VECTOR_INLINE ct_bytes ct_bytes_both(const uint8_t table[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)table));
}

CT_VECTOR_INLINE ct_bytes ct_bytes_and(ct_bytes a, ct_bytes b)
{
    return _mm256_and_si256(a, b);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_or(ct_bytes a, ct_bytes b)
{
    return _mm256_or_si256(a, b);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_add(ct_bytes a, ct_bytes b)
{
    return _mm256_add_epi8(a, b);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_sub(ct_bytes a, ct_bytes b)
{
    return _mm256_sub_epi8(a, b);
}

/* Returns the sum of all bytes. */
CT_VECTOR_INLINE uint32_t ct_bytes_total(ct_bytes v)
{
    const __m256i sums = _mm256_sad_epu8(v, _mm256_setzero_si256());
    const __m128i both = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return (uint32_t)(_mm_extract_epi64(both, 0) + _mm_extract_epi64(both, 1));
}

/* Returns four times each byte, for bytes below 64. */
CT_VECTOR_INLINE ct_bytes ct_bytes_times_4(ct_bytes v)
{
    return _mm256_slli_epi16(v, 2);
}

/* Returns the upper four bits of each byte. */
CT_VECTOR_INLINE ct_bytes ct_bytes_upper(ct_bytes v)
{
    return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15));
}

/* Returns ff for each byte that is equal, else 0. */
CT_VECTOR_INLINE ct_bytes ct_bytes_equal(ct_bytes a, ct_bytes b)
{
    return _mm256_cmpeq_epi8(a, b);
}

/* Returns ff for each byte of a that is less than that of b, else 0; for bytes below 128. */
CT_VECTOR_INLINE ct_bytes ct_bytes_less(ct_bytes a, ct_bytes b)
{
    return _mm256_cmpgt_epi8(b, a);
}

/* Returns ff for each byte whose bit 7 is set, else 0. */
CT_VECTOR_INLINE ct_bytes ct_bytes_top(ct_bytes v)
{
    return _mm256_cmpgt_epi8(_mm256_setzero_si256(), v);
}

/* Returns the entries of the table at the indices in each lane, from 0 to 15. */
CT_VECTOR_INLINE ct_bytes ct_bytes_pick(ct_bytes table, ct_bytes index)
{
    return _mm256_shuffle_epi8(table, index);
}

/* Returns the entries of each lane at the indices, from 0 to 8f; 0 where the index is behind the lane. */
CT_VECTOR_INLINE ct_bytes ct_bytes_pick_inside(ct_bytes v, ct_bytes index)
{
    /* after the addition, indices behind the lane have bit 7 set, for which a shuffle gives 0 */
    return _mm256_shuffle_epi8(v, _mm256_add_epi8(index, _mm256_set1_epi8(0x70)));
}

/* Returns the entries of the table at the indices, from 0 to 63. */
CT_VECTOR_INLINE ct_bytes ct_bytes_pick_64(const uint8_t table[64], ct_bytes index)
{
    ct_bytes v = ct_bytes_pick_inside(ct_bytes_both(table), index);
    for (uint8_t i = 16; i < 64; i = (uint8_t)(i + 16)) {
        const ct_bytes here = _mm256_xor_si256(index, ct_bytes_all(i));
        v = ct_bytes_or(v, ct_bytes_pick_inside(ct_bytes_both(table + i), here));
    }
    return v;
}

/* Uses each byte as an index into its lane and returns the byte there, or the index itself where it points
 * behind the lane. No byte may point back. */
CT_VECTOR_INLINE ct_bytes ct_bytes_follow(ct_bytes v)
{
    return _mm256_max_epu8(v, ct_bytes_pick_inside(v, v));
}

/* Stores 64 bytes, taken from `low` and `high` in turns. */
CT_VECTOR_INLINE void ct_bytes_store_pairs(void *to, ct_bytes low, ct_bytes high)
{
    const __m256i front = _mm256_unpacklo_epi8(low, high);
    const __m256i back = _mm256_unpackhi_epi8(low, high);
    ct_bytes_store(to, _mm256_permute2x128_si256(front, back, 0x20));
    ct_bytes_store((uint8_t *)to + 32, _mm256_permute2x128_si256(front, back, 0x31));
}

/* Marks the bytes that are ff; all others must be 0. */
CT_VECTOR_INLINE ct_marks ct_marks_of(ct_bytes v)
{
    return (uint32_t)_mm256_movemask_epi8(v);
}

/* Marks the bytes whose bit 7 is set. */
CT_VECTOR_INLINE ct_marks ct_marks_of_top(ct_bytes v)
{
    return (uint32_t)_mm256_movemask_epi8(v);
}

/* Marks the bytes of a and b that have a bit in common. */
CT_VECTOR_INLINE ct_marks ct_marks_where_both(ct_bytes a, ct_bytes b)
{
    return ~ct_marks_of(_mm256_cmpeq_epi8(_mm256_and_si256(a, b), _mm256_setzero_si256()));
}

/* Returns the marks of 64 bytes as one mask. */
CT_VECTOR_INLINE uint64_t ct_marks_mask(ct_marks low, ct_marks high)
{
    return low | (uint64_t)high << 32;
}

/* Returns byte i as ff where bit i of the mask is set, else 0. */
CT_VECTOR_INLINE ct_bytes ct_bytes_of_mask(uint32_t mask)
{
    const __m256i places = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2,
                                            2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i own = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    __m256i v = _mm256_shuffle_epi8(_mm256_set1_epi32((int)mask), places);
    return _mm256_cmpeq_epi8(_mm256_and_si256(v, own), own);
}

/* Returns the sums of neighbouring bytes, as 16 numbers of 16 bits. */
CT_VECTOR_INLINE ct_bytes ct_pair_sums(ct_bytes v)
{
    return _mm256_maddubs_epi16(v, _mm256_set1_epi8(1));
}

/* Does what ct_pair_sums does, for signed bytes. */
CT_VECTOR_INLINE ct_bytes ct_signed_pair_sums(ct_bytes v)
{
    return _mm256_maddubs_epi16(_mm256_set1_epi8(1), v);
}

/* Return the lower, or the upper, 16 bytes as numbers of 16 bits. */
CT_VECTOR_INLINE ct_bytes ct_words_low(ct_bytes v)
{
    return _mm256_cvtepu8_epi16(_mm256_castsi256_si128(v));
}

CT_VECTOR_INLINE ct_bytes ct_words_high(ct_bytes v)
{
    return _mm256_cvtepu8_epi16(_mm256_extracti128_si256(v, 1));
}

CT_VECTOR_INLINE ct_bytes ct_words_all(uint16_t value)
{
    return _mm256_set1_epi16((short)value);
}

/* Returns a + b * factor, of 16 numbers. */
CT_VECTOR_INLINE ct_bytes ct_words_add(ct_bytes a, ct_bytes b, uint16_t factor)
{
    return _mm256_add_epi16(a, _mm256_mullo_epi16(b, _mm256_set1_epi16((short)factor)));
}

/* Returns the running sums of 16 numbers. On entry, each number of *carry is the sum before the first one; on
 * return, the sum up to the last one. */
CT_VECTOR_INLINE ct_bytes ct_words_running(ct_bytes v, ct_bytes *carry)
{
    const __m256i last = _mm256_set1_epi16(0x0f0e);
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 2));
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 4));
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 8));
    const __m256i lanes = _mm256_shuffle_epi8(v, last);
    v = _mm256_add_epi16(v, _mm256_add_epi16(*carry, _mm256_permute2x128_si256(lanes, lanes, 0x08)));
    *carry = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(v, 0xff), last);
    return v;
}

CT_VECTOR_INLINE uint16_t ct_first_word(ct_bytes v)
{
    return (uint16_t)_mm256_extract_epi16(v, 0);
}

/* Returns the number of the lowest set bit; 64 when no bit is set. */
CT_VECTOR_INLINE unsigned ct_lowest_or_64(uint64_t mask)
{
    return (unsigned)_tzcnt_u64(mask);
}

/* Returns the number of zeros above the highest set bit; 64 when no bit is set. */
CT_VECTOR_INLINE unsigned ct_clear_above(uint64_t mask)
{
    return (unsigned)_lzcnt_u64(mask);
}

/* Returns the lowest `count` bits of x, for counts up to 255. */
CT_VECTOR_INLINE uint64_t ct_bits_low(uint64_t x, unsigned count)
{
    return _bzhi_u64(x, count);
}

/* Returns the bits of x at the set bits of `chosen`, side by side from bit 0 on. */
CT_VECTOR_INLINE uint64_t ct_bits_gather(uint64_t x, uint64_t chosen)
{
    return _pext_u64(x, chosen);
}

/* Does what ct_bits_gather does, with two words. */
CT_VECTOR_INLINE void ct_bits_gather_two(uint64_t *one, uint64_t *other, uint64_t chosen)
{
    *one = _pext_u64(*one, chosen);
    *other = _pext_u64(*other, chosen);
}

CT_VECTOR_INLINE uint32_t ct_bits_gather32(uint32_t x, uint32_t chosen)
{
    return _pext_u32(x, chosen);
}

/* Returns the lowest bits of x at the set bits of `chosen`: the inverse of ct_bits_gather. */
CT_VECTOR_INLINE uint64_t ct_bits_scatter(uint64_t x, uint64_t chosen)
{
    return _pdep_u64(x, chosen);
}

/* For each eight bytes: joins the lowest bits of the bytes, of each as many as its entry in `counts` says (up
 * to 8), and also writes how many they are. A byte must have no more bits than that. */
CT_VECTOR_INLINE void ct_bits_join(ct_bytes v, ct_bytes counts, uint64_t joined[4], uint32_t sizes[4])
{
    static const uint8_t masks[16] = {0, 1, 3, 7, 0xf, 0x1f, 0x3f, 0x7f, 0xff};
    uint64_t chosen[4];
    ct_bytes_store(joined, v);
    ct_bytes_store(chosen, ct_bytes_pick(ct_bytes_both(masks), counts));
    for (unsigned i = 0; i < 4; i++) {
        joined[i] = _pext_u64(joined[i], chosen[i]);
        sizes[i] = (uint32_t)__builtin_popcountll(chosen[i]);
    }
}

/* Returns the number of the n-th set bit, counted from 0. */
CT_VECTOR_INLINE unsigned ct_bit_select(uint64_t mask, unsigned n)
{
    return (unsigned)__builtin_ctzll(_pdep_u64(UINT64_C(1) << n, mask));
}

/* Writes those of eight bytes whose bits are set in `kept`, side by side, and returns their number. Writes
 * eight bytes in any case. */
CT_VECTOR_INLINE unsigned ct_bytes_keep(uint8_t *to, const uint8_t *from, uint8_t kept)
{
    const uint64_t whole = _pdep_u64(kept, UINT64_C(0x0101010101010101)) * 255;
    const uint64_t eight = _pext_u64(ct_load64(from), whole);
    memcpy(to, &eight, sizeof eight);
    return (unsigned)__builtin_popcountll(whole) >> 3;
}

/* Writes the numbers of the set bits of `kept`, each plus `first`, and returns how many there are. Writes
 * eight numbers in any case. */
CT_VECTOR_INLINE unsigned ct_places_keep(uint16_t *to, uint8_t kept, uint16_t first)
{
    const uint64_t whole = _pdep_u64(kept, UINT64_C(0x0101010101010101)) * 255;
    const uint64_t places = _pext_u64(UINT64_C(0x0706050403020100), whole);
    const __m128i eight = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((int64_t)places));
    _mm_storeu_si128((void *)to, _mm_add_epi16(eight, _mm_set1_epi16((short)first)));
    return (unsigned)__builtin_popcount(kept);
}
