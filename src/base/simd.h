/* SPDX-License-Identifier: Apache-2.0 */
/* The vector instructions that fast paths with several versions may use. */
#pragma once

enum ct_simd {
    CT_SIMD_NONE,
    CT_SIMD_NEON,  /* all arm64 processors */
    CT_SIMD_AVX2,  /* with BMI2, where its bit gathering is quick */
    CT_SIMD_AVX512 /* AVX-512 F, BW, DQ, VL, VBMI and VBMI2, with GFNI */
};

/* Returns the best set that this processor has, or less if the environment variable CORETAP_SIMD is "none",
 * "neon" or "avx2", for tests and for comparison. */
enum ct_simd ct_simd(void);
