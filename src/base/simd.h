/* SPDX-License-Identifier: Apache-2.0 */
/* Which vector instructions the fast paths may use that have more than one version. */
#ifndef CT_BASE_SIMD_H
#define CT_BASE_SIMD_H

enum ct_simd {
    CT_SIMD_NONE,
    CT_SIMD_AVX2,  /* with BMI2, where its bit gathering is quick */
    CT_SIMD_AVX512 /* … and F, BW, DQ, VL, VBMI, VBMI2, and GFNI */
};

/* The most that this processor has; less when the environment variable CORETAP_SIMD says "none" or "avx2",
 * which is for tests and for comparison. */
enum ct_simd ct_simd(void);

#endif
