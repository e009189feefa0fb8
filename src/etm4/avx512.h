/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that mark functions for AVX-512 as Ice Lake and Zen 4 have it, and helpers for such functions. */
#pragma once

#include "etm4/vector.h"

#ifdef CT_HAVE_AVX512

#define CT_AVX512_TARGET                                                                                     \
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,gfni,avx2,bmi,bmi2,lzcnt,popcnt"
#define CT_AVX512        __attribute__((target(CT_AVX512_TARGET)))
#define CT_AVX512_INLINE static inline __attribute__((always_inline, target(CT_AVX512_TARGET)))

CT_AVX512_INLINE __m512i ct_load_zmm(const void *from)
{
    return _mm512_loadu_si512(from);
}

/* Returns v and keeps it in its register. The compiler would otherwise compute a constant again in each round
 * of a loop. */
CT_AVX512_INLINE __m512i ct_keep_zmm(__m512i v)
{
    __asm__("" : "+v"(v));
    return v;
}

/* Returns a vector whose byte i is i. */
CT_AVX512_INLINE __m512i ct_places_zmm(void)
{
    return _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                            0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
}

/* Returns the same 16 bytes in all four lanes. */
CT_AVX512_INLINE __m512i ct_four_lanes(const uint8_t table[16])
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)table));
}

/* Returns the running sums of 32 numbers of 16 bits. */
CT_AVX512_INLINE __m512i ct_running_sums(__m512i v)
{
    v = _mm512_add_epi16(v, _mm512_bslli_epi128(v, 2));
    v = _mm512_add_epi16(v, _mm512_bslli_epi128(v, 4));
    v = _mm512_add_epi16(v, _mm512_bslli_epi128(v, 8));
    /* adds the last sum of a lane to the next lane, then that of both to the other two */
    const __m512i lanes = _mm512_set_epi64(0x0017001700170017, 0x0017001700170017, 0, 0, 0x0007000700070007,
                                           0x0007000700070007, 0, 0);
    v = _mm512_mask_add_epi16(v, 0xff00ff00, v, _mm512_permutexvar_epi16(lanes, v));
    return _mm512_mask_add_epi16(v, 0xffff0000, v, _mm512_permutexvar_epi16(_mm512_set1_epi16(15), v));
}

#endif
