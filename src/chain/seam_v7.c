/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/seam_v7.h"

#include <stdbool.h>
#include <string.h>

#include "proto/v7_fields.h"

#define I_SYNC       0x08u
#define I_SYNC_CYCLE 0x70u

/* Finds the first alignment packet that is directly followed by an i-sync. */
static size_t find_sync(const uint8_t *data, size_t size, size_t from, bool (*is_i_sync)(uint8_t header))
{
    static const uint8_t zeros[CT_V7_ASYNC_ZEROS];
    size_t at = from + CT_V7_ASYNC_ZEROS;
    while (at + 1 < size) {
        const uint8_t *end = memchr(data + at, 0x80, size - 1 - at);
        if (!end)
            break;
        if (is_i_sync(end[1]) && !memcmp(end - CT_V7_ASYNC_ZEROS, zeros, CT_V7_ASYNC_ZEROS))
            return (size_t)(end - data) - CT_V7_ASYNC_ZEROS;
        at = (size_t)(end - data) + 1;
    }
    return SIZE_MAX;
}

static bool is_ptm_i_sync(uint8_t header)
{
    return header == I_SYNC;
}

static bool is_etm3_i_sync(uint8_t header)
{
    return header == I_SYNC || header == I_SYNC_CYCLE;
}

size_t ct_ptm_find_sync(const uint8_t *data, size_t size, size_t from)
{
    return find_sync(data, size, from, is_ptm_i_sync);
}

size_t ct_etm3_find_sync(const uint8_t *data, size_t size, size_t from)
{
    return find_sync(data, size, from, is_etm3_i_sync);
}
