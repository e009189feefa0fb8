/* Rows of frames on x86-64 with AVX2. */
#include "frame/demux.h"

#ifdef CT_FRAME_AVX2

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2")
#endif

#define VEC_ID_SHIFT 0

typedef __m128i vec;

static inline vec vec_load(const uint8_t *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

static inline void vec_store(uint8_t *to, vec v)
{
    _mm_storeu_si128((__m128i *)(void *)to, v);
}

static inline uint64_t vec_ids(vec v)
{
    return (unsigned)_mm_movemask_epi8(_mm_slli_epi16(v, 7)) & 0x5555u;
}

static inline uint64_t ids_of_two(const uint8_t *frames)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)frames);
    return (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(v, 7)) & 0x55555555u;
}

static inline uint64_t vec_four_ids(const uint8_t *frames)
{
    const uint64_t all = UINT64_C(0x7fff7fff7fff7fff);
    uint64_t ids = ids_of_two(frames) | ids_of_two(frames + 2 * CT_FRAME_SIZE) << 32;
    return _pext_u64(ids + all, ~all); /* a carry into the uppermost bit of each 16 */
}

static inline int vec_has_ff(vec v)
{
    return (_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(-1))) & 0x5555) != 0;
}

/* Byte 15 to all even bytes; there each keeps its own bit, which becomes bit 0. */
static inline vec vec_restore(vec v)
{
    const vec even = _mm_setr_epi8(15, -1, 15, -1, 15, -1, 15, -1, 15, -1, 15, -1, 15, -1, 15, -1);
    const vec own = _mm_setr_epi8(1, 0, 2, 0, 4, 0, 8, 0, 16, 0, 32, 0, 64, 0, (char)128, 0);
    vec bits = _mm_and_si128(_mm_shuffle_epi8(v, even), own);
    vec clear = _mm_cmpeq_epi8(bits, _mm_setzero_si128());
    return _mm_or_si128(v, _mm_andnot_si128(clear, _mm_set1_epi8(1)));
}

static inline vec vec_skip(vec v, unsigned n)
{
    static const int8_t places[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                      -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    return _mm_shuffle_epi8(v, vec_load((const uint8_t *)places + n));
}

#include "frame/kernel.h"

const struct ct_frame_ops ct_frame_ops_avx2 = {.pure = take_pure, .mixed = take_mixed};

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
