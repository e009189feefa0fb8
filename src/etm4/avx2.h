/* SPDX-License-Identifier: Apache-2.0 */
/* Marks functions that use AVX2 and BMI2; the rest of the library is compiled for all x86-64 processors. */
#ifndef CT_ETM4_AVX2_H
#define CT_ETM4_AVX2_H

#if defined(__x86_64__)
#define CT_HAVE_AVX2

#include <immintrin.h>

#define CT_AVX2        __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define CT_AVX2_INLINE static inline __attribute__((always_inline, target("avx2,bmi,bmi2,lzcnt,popcnt")))

#endif
#endif
