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

/* Appends the atoms of the packets from `first` below `end`, one packet after the other. */
CT_VECTOR static void append_packets(struct ct_atom_row *row, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const unsigned header = row->headers[i] & (CT_ATOM_HEADERS - 1);
        append(row->words, row->atoms, row->bits[header]);
        row->atoms += row->counts[header];
        row->before[i + 1] = (uint16_t)row->atoms;
    }
}

/* Eight packets at a time of 32: their first atoms, side by side, and the number of these. */
struct eights {
    uint64_t atoms[4];
    uint32_t counts[4];
};

/* Joins the first eight atoms of 32 packets from number `first` on, of which those from `end` on do not
 * exist, and writes the number of atoms up to each. *sum: the number up to the last one, in each word.
 * Returns the packets with more atoms. */
CT_VECTOR_INLINE ct_marks join_32(struct ct_atom_row *row, uint32_t first, uint32_t end, ct_bytes *sum,
                                  struct eights *to)
{
    const ct_bytes there = ct_bytes_of_mask(end > first ? (uint32_t)ct_mask64(end - first) : 0);
    const ct_bytes headers =
        ct_bytes_and(ct_bytes_load(row->headers + first), ct_bytes_all(CT_ATOM_HEADERS - 1));
    const ct_bytes counts = ct_bytes_and(ct_bytes_pick_64(row->counts, headers), there);
    const ct_bytes atoms = ct_bytes_and(ct_bytes_pick_64(row->first, headers), there);
    ct_bits_join(atoms, counts, to->atoms, to->counts);
    ct_bytes_store(row->before + first + 1, ct_words_running(ct_words_low(counts), sum));
    ct_bytes_store(row->before + first + 17, ct_words_running(ct_words_high(counts), sum));
    return ct_marks_of(ct_bytes_less(ct_bytes_all(8), counts));
}

/* Joins 64 packets in each round, eight at a time unless some of these have more than eight atoms. */
CT_VECTOR static void join(struct ct_atom_row *row)
{
    ct_bytes sum = ct_words_all((uint16_t)row->atoms);
    for (uint32_t i = row->joined; i < row->packets; i += CT_SCAN_BLOCK) {
        struct eights eights[2];
        const ct_marks low = join_32(row, i, row->packets, &sum, &eights[0]);
        const ct_marks high = join_32(row, i + 32, row->packets, &sum, &eights[1]);
        uint64_t many = ct_marks_mask(low, high);
        for (uint32_t k = 0; k < 8 && i + k * 8 < row->packets; k++, many >>= 8) {
            const uint32_t first = i + k * 8;
            if (__builtin_expect(many & 0xff, 0)) {
                append_packets(row, first, first + 8 < row->packets ? first + 8 : row->packets);
                continue;
            }
            append(row->words, row->atoms, eights[k >> 2].atoms[k & 3]);
            row->atoms += eights[k >> 2].counts[k & 3];
        }
    }
    row->joined = row->packets;
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
            const uint32_t end = row->joined + (left < CT_SCAN_BLOCK ? left : CT_SCAN_BLOCK);
            append_packets(row, row->joined, end);
            row->joined = end;
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
    join(row);
}

#endif
