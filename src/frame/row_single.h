/* SPDX-License-Identifier: Apache-2.0 */
/* Eight frames for kernel.h, one at a time. A file that includes this has defined
 *   restore_one  takes a frame as restore_eight does: a bit for each pair that begins with an ID byte */
#pragma once

#include "frame/demux.h"

static inline struct ct_frame_found restore_eight(const uint8_t *frames, size_t count, uint8_t *to)
{
    struct ct_frame_found found = {0};
    for (unsigned i = 0; i < 8 && i < count; i++) {
        const uint8_t *frame = frames + i * CT_FRAME_SIZE;
        found.ids |= restore_one(frame, to + i * CT_FRAME_DATA) << 8 * i;
        found.late |= (uint64_t)frame[15] << 8 * i;
    }
    return found;
}
