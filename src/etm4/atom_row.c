/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/atom_row.h"

#include "etm4/avx512.h"

#ifdef CT_HAVE_VECTORS

static void make_tables(struct ct_atom_row *row, const struct ct_etm4_burst *burst)
{
    for (unsigned i = 0; i < CT_ATOM_HEADERS; i++) {
        const struct ct_etm4_row *header = burst->rows[CT_ATOM_HEADER + i];
        const uint8_t count = (uint8_t)(header->head >> 8);
        row->bits[i] = (uint32_t)header->base;
        row->counts[i] = count;
        row->first[i] = (uint8_t)header->base;
        row->valid[i] = (uint8_t)ct_mask64(count < 8 ? count : 8);
    }
    row->made = true;
}

void ct_atom_row_begin(struct ct_atom_row *row, const struct ct_etm4_burst *burst, uint64_t *words)
{
    if (!row->made)
        make_tables(row, burst);
    row->packets = row->joined = row->atoms = 0;
    row->words = words;
    row->words[0] = 0;
    row->before[0] = 0;
}

/* Appends atoms at bit `at` of the row. */
CT_VECTOR_INLINE void append(uint64_t *words, uint32_t at, uint64_t bits)
{
    words[at >> 6] |= bits << (at & 63);
    words[(at >> 6) + 1] = bits >> 1 >> (63 - (at & 63));
}

/* Joins the packets before number `end`. */
CT_VECTOR static void join(struct ct_atom_row *row, uint32_t end)
{
    uint64_t *const words = row->words;
    uint32_t atoms = row->atoms;
    for (uint32_t i = row->joined; i < end; i++) {
        const unsigned header = row->headers[i] & (CT_ATOM_HEADERS - 1);
        append(words, atoms, row->bits[header]);
        atoms += row->counts[header];
        row->before[i + 1] = (uint16_t)atoms;
    }
    row->joined = end;
    row->atoms = atoms;
}

#ifdef CT_HAVE_AVX512

/* Writes the numbers of atoms before each of 64 packets and behind the last one. */
CT_AVX512_INLINE void store_before(struct ct_atom_row *row, __m512i counts)
{
    uint16_t *to = row->before + row->joined + 1;
    const __m512i before = _mm512_set1_epi16((short)row->atoms);
    const __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(counts));
    const __m512i high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(counts, 1));
    const __m512i lower = _mm512_add_epi16(ct_running_sums(low), before);
    const __m512i middle = _mm512_permutexvar_epi16(_mm512_set1_epi16(31), lower);
    _mm512_storeu_si512(to, lower);
    _mm512_storeu_si512(to + 32, _mm512_add_epi16(ct_running_sums(high), middle));
}

/* Joins 64 packets in each round, and gathers the atoms of eight packets at a time. */
CT_AVX512 static void join_avx512(struct ct_atom_row *row)
{
    const __m512i counts = ct_load_zmm(row->counts);
    const __m512i first = ct_load_zmm(row->first);
    const __m512i valid = ct_load_zmm(row->valid);
    while (row->joined < row->packets) {
        const uint32_t left = row->packets - row->joined;
        const __mmask64 there = ct_mask64(left);
        const __m512i headers = ct_load_zmm(row->headers + row->joined);
        const __m512i many = _mm512_maskz_permutexvar_epi8(there, headers, counts);
        _Alignas(CT_SCAN_BLOCK) uint64_t bits[8], chosen[8];
        uint32_t atoms = row->atoms;
        if (__builtin_expect(_mm512_cmpgt_epu8_mask(many, _mm512_set1_epi8(8)) != 0, 0)) {
            join(row, row->joined + (left < CT_SCAN_BLOCK ? left : CT_SCAN_BLOCK));
            continue;
        }
        _mm512_store_si512(bits, _mm512_permutexvar_epi8(headers, first));
        _mm512_store_si512(chosen, _mm512_maskz_permutexvar_epi8(there, headers, valid));
        store_before(row, many);
        for (unsigned i = 0; i < 8 && i * 8 < left; i++) {
            append(row->words, atoms, _pext_u64(bits[i], chosen[i]));
            atoms += (uint32_t)__builtin_popcountll(chosen[i]);
        }
        row->joined += left < CT_SCAN_BLOCK ? left : CT_SCAN_BLOCK;
        row->atoms = atoms;
    }
}

#endif

void ct_atom_row_join(struct ct_atom_row *row, enum ct_simd simd)
{
#ifdef CT_HAVE_AVX512
    if (simd == CT_SIMD_AVX512) {
        join_avx512(row);
        return;
    }
#endif
    (void)simd;
    join(row, row->packets);
}

#endif
