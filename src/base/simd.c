/* SPDX-License-Identifier: Apache-2.0 */
#include "base/simd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
static enum ct_simd most(void)
{
    /* Before Zen 3 the bit gathering of BMI2 was slow. */
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") || __builtin_cpu_is("znver1") ||
        __builtin_cpu_is("znver2"))
        return CT_SIMD_NONE;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                      __builtin_cpu_supports("gfni");
    return wide ? CT_SIMD_AVX512 : CT_SIMD_AVX2;
}
#elif defined(__aarch64__) && defined(__ARM_NEON)
static enum ct_simd most(void)
{
    return CT_SIMD_NEON;
}
#else
static enum ct_simd most(void)
{
    return CT_SIMD_NONE;
}
#endif

enum ct_simd ct_simd(void)
{
    static const char *const names[] = {
        [CT_SIMD_NONE] = "none", [CT_SIMD_NEON] = "neon", [CT_SIMD_AVX2] = "avx2"};
    const char *named = getenv("CORETAP_SIMD");
    const enum ct_simd there = most();
    for (size_t i = 0; named && i < sizeof names / sizeof *names; i++)
        if (!strcmp(named, names[i]) && (i == CT_SIMD_NEON ? there == CT_SIMD_NEON : i <= there))
            return (enum ct_simd)i;
    return there;
}
