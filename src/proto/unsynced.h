/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of bytes without synchronisation. All packet decoders make one packet from each, however the input is
 * cut. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_unsynced {
    uint64_t pos; /* of its first byte */
    uint64_t size;
};

/* Adds `bytes` at `pos`. Returns true when the run has ended and is not empty; the caller then makes a packet
 * of it with the size from ct_unsynced_end. */
static inline bool ct_unsynced_add(struct ct_unsynced *run, size_t bytes, uint64_t pos, bool over)
{
    if (run->size == 0)
        run->pos = pos;
    run->size += bytes;
    return over && run->size;
}

/* Empties the run. Returns its size. */
static inline uint64_t ct_unsynced_end(struct ct_unsynced *run)
{
    const uint64_t size = run->size;
    run->size = 0;
    return size;
}

/* Searches for an alignment packet: `zeros` bytes of 0, at most 16, and 0x80. Returns the number of bytes in
 * the run. Zeros at the end are held back unless it is final, because the packet may begin with them. */
size_t ct_unsynced_find(const uint8_t *data, size_t size, size_t zeros, bool final, bool *found);
