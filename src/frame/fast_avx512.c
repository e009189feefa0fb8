/* SPDX-License-Identifier: Apache-2.0 */
/* Handles rows of frames on x86-64 with AVX-512, whose VBMI2 selects bytes by a mask. */
#include "frame/demux.h"

#ifdef CT_FRAME_AVX512

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(                                                                                \
    __attribute__((target("avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt"))),                     \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")
#endif

#define EVEN UINT64_C(0x5555555555555555)

static inline void copy_32(uint8_t *to, const uint8_t *from)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_loadu_si256((const __m256i *)(const void *)from));
}

static inline void copy_64(uint8_t *to, const uint8_t *from)
{
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
}

/* Loads the first `count` of four frames. */
static inline __m512i load_four(const uint8_t *frames, size_t count)
{
    const __mmask64 there = count >= 4 ? ~UINT64_C(0) : (UINT64_C(1) << CT_FRAME_SIZE * count) - 1;
    return _mm512_maskz_loadu_epi8(there, frames);
}

/* Restores four frames. Its result is for the even bytes. */
static inline struct ct_frame_found restore_four(__m512i v, uint8_t *to)
{
    static const uint8_t data_places[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 16,
                                            17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 32, 33,
                                            34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 48, 49, 50,
                                            51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 63, 63, 63};
    const __m512i own =
        _mm512_broadcast_i32x4(_mm_setr_epi8(1, 0, 2, 0, 4, 0, 8, 0, 16, 0, 32, 0, 64, 0, (char)128, 0));
    const uint64_t ids = _mm512_test_epi8_mask(v, _mm512_set1_epi16(1));
    const uint64_t set = _mm512_test_epi8_mask(_mm512_shuffle_epi8(v, _mm512_set1_epi8(15)), own);
    __m512i data = _mm512_mask_add_epi8(v, set, v, _mm512_set1_epi8(1));
    data = _mm512_mask_mov_epi8(data, ids & set, _mm512_srli_epi16(v, 8));
    _mm512_storeu_si512(to, _mm512_permutexvar_epi8(_mm512_loadu_si512(data_places), data));
    return (struct ct_frame_found){.ids = ids, .late = set};
}

static inline struct ct_frame_found restore_eight(const uint8_t *frames, size_t count, uint8_t *to)
{
    const struct ct_frame_found low = restore_four(load_four(frames, count), to);
    struct ct_frame_found high = {0};
    if (count > 4)
        high = restore_four(load_four(frames + 4 * CT_FRAME_SIZE, count - 4), to + 4 * CT_FRAME_DATA);
    return (struct ct_frame_found){.ids = _pext_u64(low.ids, EVEN) | _pext_u64(high.ids, EVEN) << 32,
                                   .late = _pext_u64(low.late, EVEN) | _pext_u64(high.late, EVEN) << 32};
}

static inline void put_places(uint16_t *at, __m256i places, size_t n)
{
    const __m512i first = _mm512_set1_epi16((short)(n * CT_FRAME_SIZE));
    _mm512_storeu_si512(at, _mm512_add_epi16(_mm512_cvtepu8_epi16(places), first));
}

static inline int list_ids(struct ct_frame_row *row, const uint8_t *frames, size_t n, size_t count,
                           const struct ct_frame_found *found)
{
    static const uint8_t even_places[64] = {
        0,  2,  4,  6,  8,  10, 12,  14,  16,  18,  20,  22,  24,  26,  28,  30,  32,  34,  36,  38, 40, 42,
        44, 46, 48, 50, 52, 54, 56,  58,  60,  62,  64,  66,  68,  70,  72,  74,  76,  78,  80,  82, 84, 86,
        88, 90, 92, 94, 96, 98, 100, 102, 104, 106, 108, 110, 112, 114, 116, 118, 120, 122, 124, 126};
    const uint64_t late = found->late & ~CT_FRAME_NOT_LATE;
    const __m512i even = _mm512_loadu_si512(even_places);
    const __m256i low = _mm512_cvtepi16_epi8(load_four(frames, count));
    const __m256i high = count > 4 ? _mm512_cvtepi16_epi8(load_four(frames + 4 * CT_FRAME_SIZE, count - 4))
                                   : _mm256_setzero_si256();
    const __m512i bytes = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    const __m512i places =
        _mm512_maskz_compress_epi8(found->ids, _mm512_mask_add_epi8(even, late, even, _mm512_set1_epi8(1)));
    const __m512i ids = _mm512_maskz_compress_epi8(found->ids, bytes);
    const unsigned there = (unsigned)_mm_popcnt_u64(found->ids);
    put_places(row->at + row->count, _mm512_castsi512_si256(places), n);
    _mm256_storeu_si256((__m256i *)(void *)(row->ids + row->count), _mm512_castsi512_si256(ids));
    if (there > 32) {
        put_places(row->at + row->count + 32, _mm512_extracti64x4_epi64(places, 1), n);
        _mm512_storeu_si512(row->ids + row->count, ids);
    }
    row->count += there;
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(-1)) != 0;
}

/* Selects the segments of an ID from 32 segments. */
static inline size_t pick_32(const uint16_t *at, uint32_t which, struct ct_frame_list *list, size_t n)
{
    _mm512_storeu_si512(list->at + n, _mm512_maskz_compress_epi16(which, _mm512_loadu_si512(at)));
    _mm512_storeu_si512(list->next + n, _mm512_maskz_compress_epi16(which, _mm512_loadu_si512(at + 1)));
    return n + (unsigned)_mm_popcnt_u32(which);
}

static inline void pick(const struct ct_frame_row *row, uint64_t *left, size_t group, size_t groups,
                        uint8_t byte, struct ct_frame_list *list)
{
    const __m512i wanted = _mm512_set1_epi8((char)byte);
    size_t n = 0;
    for (; group < groups; group++) {
        const uint64_t which =
            _mm512_mask_cmpeq_epi8_mask(left[group], _mm512_loadu_si512(row->ids + group * 64), wanted);
        left[group] &= ~which;
        n = pick_32(row->at + group * 64, (uint32_t)which, list, n);
        n = pick_32(row->at + group * 64 + 32, (uint32_t)(which >> 32), list, n);
    }
    list->count = n;
}

#include "frame/kernel.h"

const struct ct_frame_ops ct_frame_ops_avx512 = {.name = "AVX-512", .pure = take_pure, .mixed = take_mixed};

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
