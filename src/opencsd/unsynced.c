/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/unsynced.h"

enum {
    GROUP = 16,         /* bytes per group */
    ASYNC_ZEROS = 5,    /* zeros of an alignment packet */
    SURPLUS_ZEROS = 11, /* surplus zeros taken off a longer row at a time */
};

uint32_t ct_ocsd_unsynced_ptm(const uint8_t *bytes, uint32_t size)
{
    uint32_t zeros = 0; /* zeros whose meaning is not decided yet */
    uint32_t count = 0;
    for (uint32_t i = 0; i < size; i++) {
        zeros++;
        if (bytes[i]) {
            count += zeros;
            zeros = 0;
        } else if (zeros == ASYNC_ZEROS + SURPLUS_ZEROS) {
            count += SURPLUS_ZEROS;
            zeros = ASYNC_ZEROS;
        }
        if (count >= GROUP)
            return count;
    }
    return size;
}
