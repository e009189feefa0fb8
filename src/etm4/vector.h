/* SPDX-License-Identifier: Apache-2.0 */
/* The vector types and target attributes of the fast paths: AVX2 and BMI2 on x86-64, where the rest of the
 * library is compiled for every such processor, or NEON on arm64, which always has it. A ct_bytes holds 32
 * bytes in two lanes of 16; ct_marks hold one bit of an answer (yes or no) for each of these bytes.
 * CT_HAVE_GATHER: the processor gathers and scatters bits quickly. CT_HAVE_AVX512: there are also versions
 * for AVX-512 (avx512.h), which are chosen at run time. */
#pragma once

#include <stdint.h>

#include "base/bytes.h"
#include "base/simd.h"

#if defined(__x86_64__)
#define CT_HAVE_VECTORS
#define CT_HAVE_GATHER
#define CT_HAVE_AVX512
#define CT_VECTORS       CT_SIMD_AVX2
#define CT_VECTOR        __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define CT_VECTOR_INLINE static inline __attribute__((always_inline, target("avx2,bmi,bmi2,lzcnt,popcnt")))
typedef uint32_t ct_marks;
#include "etm4/vector_avx2.h"
#elif defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CT_HAVE_VECTORS
#define CT_VECTORS CT_SIMD_NEON
#define CT_VECTOR
#define CT_VECTOR_INLINE static inline __attribute__((always_inline))
typedef struct ct_bytes ct_marks;
#include "etm4/vector_neon.h"
#endif

#ifdef CT_HAVE_VECTORS
/* most places that ct_list_places writes behind the last one */
#define CT_PLACES_BEYOND 8u

/* Writes the numbers of the set bits of a mask, each plus `first`, and returns how many there are. Takes as
 * long for each mask, because the processor would mispredict the end of a loop over the bits. */
CT_VECTOR_INLINE unsigned ct_list_places(uint16_t *to, uint64_t mask, unsigned first)
{
    for (unsigned i = 0; i < 64; i += 8)
        to += ct_places_keep(to, (uint8_t)(mask >> i), (uint16_t)(first + i));
    return (unsigned)__builtin_popcountll(mask);
}
#endif
