/* SPDX-License-Identifier: Apache-2.0 */
/* The scan of scan.h with AVX-512, 64 bytes at a time. */
#pragma once

#include "etm4/scan.h"

/* Does what ct_etm4_scan does. Call it only when table->simd is CT_SIMD_AVX512. */
size_t ct_etm4_scan_avx512(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                           unsigned *entry, struct ct_etm4_chunk *chunk);
