/* SPDX-License-Identifier: Apache-2.0 */
/* Handles the ID bytes of a row for kernel.h, on processors without an instruction that selects bytes by a
 * mask: bit by bit, with some extra iterations, so that their number is seldom a branch. A file that includes
 * this has defined
 *   equal_64  one bit for each of 64 bytes that has this value */
#pragma once

#include "frame/demux.h"

#define STEP 4u
#define LAST UINT64_C(0x8000000000000000)

/* Lists ID bytes, `step` at a time; more than one only if there are eight frames. */
static inline int list_some(struct ct_frame_row *row, const uint8_t *frames, size_t n,
                            const struct ct_frame_found *found, unsigned step)
{
    const uint64_t late = found->late & ~CT_FRAME_NOT_LATE;
    const unsigned there = (unsigned)__builtin_popcountll(found->ids);
    uint64_t ids = found->ids;
    int has_ff = 0;
    for (unsigned i = 0; i < there; i += step)
        for (unsigned k = 0; k < step; k++) {
            const unsigned pair = (unsigned)__builtin_ctzll(ids | LAST);
            const uint8_t byte = frames[2 * pair];
            ids &= ids - 1;
            row->at[row->count + i + k] = (uint16_t)(n * CT_FRAME_SIZE + 2 * pair + (late >> pair & 1));
            row->ids[row->count + i + k] = byte;
            has_ff |= byte == 0xff;
        }
    row->count += there;
    return has_ff;
}

static inline int list_ids(struct ct_frame_row *row, const uint8_t *frames, size_t n, size_t count,
                           const struct ct_frame_found *found)
{
    return count < 8 ? list_some(row, frames, n, found, 1) : list_some(row, frames, n, found, STEP);
}

static inline void pick(const struct ct_frame_row *row, uint64_t *left, size_t group, size_t groups,
                        uint8_t byte, struct ct_frame_list *list)
{
    size_t n = 0;
    for (; group < groups; group++) {
        const uint16_t *at = row->at + group * 64;
        uint64_t which = left[group] & equal_64(row->ids + group * 64, byte);
        const unsigned there = (unsigned)__builtin_popcountll(which);
        left[group] &= ~which;
        for (unsigned i = 0; i < there; i += STEP)
            for (unsigned k = 0; k < STEP; k++) {
                const unsigned segment = (unsigned)__builtin_ctzll(which | LAST);
                list->at[n + i + k] = at[segment];
                list->next[n + i + k] = at[segment + 1];
                which &= which - 1;
            }
        n += there;
    }
    list->count = n;
}
