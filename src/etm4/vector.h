/* SPDX-License-Identifier: Apache-2.0 */
/* What the fast paths need of a processor: AVX2 and BMI2 on x86-64, where the rest of the library is compiled
 * for all such processors, or NEON on arm64, which always has it. A ct_bytes is 32 bytes in two lanes of 16,
 * ct_marks are one of two answers for each of them. CT_HAVE_GATHER: bits are gathered and scattered
 * quickly. CT_HAVE_AVX512: there are versions for AVX-512 too (avx512.h), chosen when the program runs. */
#ifndef CT_ETM4_VECTOR_H
#define CT_ETM4_VECTOR_H

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

#endif
