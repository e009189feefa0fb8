/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a with 64 bits, a hash that changes with every single byte. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CT_FNV_BEGIN UINT64_C(0xcbf29ce484222325)

/* Continues a hash, which begins as CT_FNV_BEGIN. */
static inline uint64_t ct_fnv(uint64_t sum, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* Continues a hash with a text and its NUL. */
static inline uint64_t ct_fnv_text(uint64_t sum, const char *text)
{
    return ct_fnv(sum, text, strlen(text) + 1);
}
