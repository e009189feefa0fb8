/* SPDX-License-Identifier: Apache-2.0 */
/* Handles rows of frames on x86-64 with AVX2, two frames in a register. */
#include "frame/demux.h"

#ifdef CT_FRAME_AVX2

#include <immintrin.h>
#include <string.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,popcnt")
#endif

static inline __m256i load(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

static inline void copy_32(uint8_t *to, const uint8_t *from)
{
    _mm256_storeu_si256((__m256i *)(void *)to, load(from));
}

static inline void copy_64(uint8_t *to, const uint8_t *from)
{
    copy_32(to, from);
    copy_32(to + 32, from + 32);
}

static inline uint64_t equal_64(const uint8_t *bytes, uint8_t byte)
{
    const __m256i wanted = _mm256_set1_epi8((char)byte);
    const uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(bytes), wanted));
    const uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(bytes + 32), wanted));
    return low | (uint64_t)high << 32;
}

/* Restores two frames. Bit 7 of the low byte of each word (other bits vary) is set in *ids for words that
 * begin with an ID byte, and in *set for words whose bit in byte 15 is set. */
static inline void restore_two(const uint8_t *frames, uint8_t *to, __m256i *ids, __m256i *set)
{
    const __m256i last = _mm256_set1_epi16((short)0xff0f); /* byte 15 to the even bytes, 0 to the odd ones */
    const __m256i own =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 1, 2, 1, 4, 1, 8, 1, 16, 1, 32, 1, 64, 1, (char)128, 1));
    const __m256i v = load(frames);
    *ids = _mm256_slli_epi16(v, 7);
    *set = _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(v, last), own), own);
    const __m256i data =
        _mm256_blendv_epi8(_mm256_sub_epi8(v, *set), _mm256_srli_epi16(v, 8), _mm256_and_si256(*ids, *set));
    _mm_storeu_si128((__m128i *)(void *)to, _mm256_castsi256_si128(data));
    _mm_storeu_si128((__m128i *)(void *)(to + CT_FRAME_DATA), _mm256_extracti128_si256(data, 1));
}

/* Returns bit 7 of the low byte of each word, for four frames. */
static inline uint64_t bits_of_four(__m256i low, __m256i high)
{
    const __m256i byte = _mm256_set1_epi16(0xff);
    const __m256i both = _mm256_packus_epi16(_mm256_and_si256(low, byte), _mm256_and_si256(high, byte));
    return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(both, 0xd8));
}

static inline struct ct_frame_found restore_all_eight(const uint8_t *frames, uint8_t *to)
{
    __m256i ids[4], set[4];
    for (unsigned i = 0; i < 4; i++)
        restore_two(frames + 2 * i * CT_FRAME_SIZE, to + 2 * i * CT_FRAME_DATA, &ids[i], &set[i]);
    return (struct ct_frame_found){.ids = bits_of_four(ids[0], ids[1]) | bits_of_four(ids[2], ids[3]) << 32,
                                   .late = bits_of_four(set[0], set[1]) | bits_of_four(set[2], set[3]) << 32};
}

static inline struct ct_frame_found restore_eight(const uint8_t *frames, size_t count, uint8_t *to)
{
    uint8_t eight[8 * CT_FRAME_SIZE] = {0};
    if (count >= 8)
        return restore_all_eight(frames, to);
    memcpy(eight, frames, count * CT_FRAME_SIZE);
    return restore_all_eight(eight, to);
}

#include "frame/row_bits.h"

#include "frame/kernel.h"

const struct ct_frame_ops ct_frame_ops_avx2 = {.name = "AVX2", .pure = take_pure, .mixed = take_mixed};

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
