/* SPDX-License-Identifier: Apache-2.0 */
/* Reads addresses with AVX-512: lists all addresses of a block at once, and resolves eight at a time. The
 * number of rounds of the loops does not depend on the contents of the 64 bytes. */
#pragma once

#include "etm4/avx512.h"
#include "etm4/events.h"

#ifdef CT_HAVE_AVX512

/* number of rounds, each of eight payloads, that are written for each block */
#define CT_PAYLOAD_ROUNDS 3u

/* Writes eight payloads (the eight bytes behind each header), from number `from` on. */
CT_AVX512_INLINE void ct_store_payloads(uint64_t *to, const uint8_t *data, __m512i addresses, unsigned from)
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

/* Writes the payloads that CT_PAYLOAD_ROUNDS rounds left over, of a block with very many addresses. */
CT_AVX512 static __attribute__((noinline, unused)) void
ct_store_more_payloads(uint64_t *to, const uint8_t *data, __m512i addresses, unsigned count)
{
    for (unsigned i = CT_PAYLOAD_ROUNDS * 8; i < count; i += 8)
        ct_store_payloads(to, data, addresses, i);
}

/* Tables that stay in registers during the loop over blocks. */
struct ct_address_tables {
    __m512i rows[2];
    __m512i places;
};

CT_AVX512_INLINE struct ct_address_tables ct_load_address_tables(const struct ct_wide_addresses *w)
{
    return (struct ct_address_tables){.rows = {ct_load_zmm(w->rows[0]), ct_load_zmm(w->rows[1])},
                                      .places = ct_keep_zmm(ct_places_zmm())};
}

/* Writes the payloads and rows of the addresses of a block, for ct_resolve_addresses, and returns their
 * number. May write more behind them. */
CT_AVX512_INLINE unsigned ct_list_payloads(const struct ct_address_tables *t, const uint8_t *data,
                                           uint64_t mask, uint64_t *to, uint8_t *to_rows)
{
    const unsigned count = (unsigned)__builtin_popcountll(mask);
    const __m512i bytes = ct_load_zmm(data);
    const __mmask64 more = _mm512_movepi8_mask(ct_load_zmm(data + 1));
    __m512i rows = _mm512_permutexvar_epi8(bytes, t->rows[0]);
    rows = _mm512_mask_permutexvar_epi8(rows, more, bytes, t->rows[1]);
    _mm512_storeu_si512(to_rows, _mm512_maskz_compress_epi8(mask, rows));
    const __m512i addresses = _mm512_maskz_compress_epi8(mask, t->places);
    ct_store_payloads(to, data, addresses, 0);
    ct_store_payloads(to, data, addresses, 8);
    ct_store_payloads(to, data, addresses, 16);
    if (__builtin_expect(count > CT_PAYLOAD_ROUNDS * 8, 0))
        ct_store_more_payloads(to, data, addresses, count);
    return count;
}

/* A look-up table of sixteen 64-bit entries. */
struct ct_zmm_pair {
    __m512i low;
    __m512i high;
};

CT_AVX512_INLINE struct ct_zmm_pair ct_load_pair(const uint64_t table[CT_WIDE_ROWS])
{
    return (struct ct_zmm_pair){.low = ct_load_zmm(table), .high = ct_load_zmm(table + 8)};
}

CT_AVX512_INLINE __m512i ct_of_pair(const struct ct_zmm_pair *table, __m512i row)
{
    return _mm512_permutex2var_epi64(table->low, row, table->high);
}

/* Turns `count` payloads in `past` into addresses, by their rows, and also writes these to `targets`.
 * past[-3] to past[-1] are the last three addresses before them. Writes a multiple of eight. */
CT_AVX512_INLINE void ct_resolve_addresses(const struct ct_wide_addresses *w, uint64_t *past,
                                           const uint8_t *rows, size_t count, uint64_t *targets)
{
    const struct ct_zmm_pair shifts = ct_load_pair(w->shifts);
    const struct ct_zmm_pair take = ct_load_pair(w->take);
    const struct ct_zmm_pair kept = ct_load_pair(w->keep);
    const __m512i ones = ct_keep_zmm(_mm512_set1_epi64(-1));
    const __m512i one = ct_keep_zmm(_mm512_set1_epi64(1));
    const __m512i match = ct_keep_zmm(_mm512_set1_epi64(CT_WIDE_MATCH));
    /* in an index, i is number i of the eight addresses before, and 8 + i is number i of these eight */
    const __m512i former = ct_keep_zmm(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    const __m512i before = ct_keep_zmm(_mm512_add_epi64(former, _mm512_set1_epi64(7)));
    const __m512i zero = _mm512_setzero_si512();
    const __mmask64 first_bytes = UINT64_C(0x0101010101010101);
    __m512i last = _mm512_permutexvar_epi64(_mm512_set_epi64(2, 1, 0, 0, 0, 0, 0, 0), ct_load_zmm(past - 3));
    for (size_t i = 0; i < count; i += 8) {
        __m512i x = ct_load_zmm(past + i);
        const __m512i row = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)(rows + i)));
        /* moves the seven bits of the first byte next to the second byte, with a 1 below them */
        x = _mm512_or_si512(_mm512_mask_add_epi8(x, first_bytes, x, x), one);
        /* For each address by itself: the address that it takes bits from, the mask of these bits, and its
         * own bits. */
        __m512i from = _mm512_sub_epi64(before, _mm512_subs_epu8(row, match));
        __m512i keep = ct_of_pair(&kept, row);
        __m512i v = _mm512_and_si512(_mm512_multishift_epi64_epi8(ct_of_pair(&shifts, row), x),
                                     ct_of_pair(&take, row));
        /* Then for the eight together: an address takes over what its source takes from further back. After
         * four steps, each source is one of the eight addresses before or one of the first four of these. */
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

#endif
