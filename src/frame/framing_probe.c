/* SPDX-License-Identifier: Apache-2.0 */
/* Detects the framing of a buffer from its first bytes. */
#include "frame/demux.h"

#include "base/bytes.h"

#define PROBE_MAX ((size_t)64 << 10)

/* Counts the frames that an FSYNC cuts, if blocks have `block_data` bytes of data. */
static size_t cut_frames(const uint8_t *data, size_t size, size_t block_data)
{
    size_t cuts = 0;
    size_t fill = 0; /* bytes since the last FSYNC */
    uint32_t window = 0;
    int synced = 0;
    for (size_t at = 0; at < size; at++) {
        if (at % CT_BLOCK_SIZE >= block_data)
            continue;
        window = window << 8 | data[at];
        fill++;
        if (window == 0xffffff7f) {
            cuts += synced && (fill - 4) % CT_FRAME_SIZE;
            synced = 1;
            fill = 0;
        } else if (fill % 2 == 0 && (window & 0xffff) == 0xff7f) {
            fill -= 2;
        }
    }
    return cuts;
}

/* Returns whether there is a single FSYNC. Frames never contain one, not even by chance, because one of its
 * ff would be an ID byte with ID 0x7f. Drivers write groups of four, as if they were a frame. */
static int has_lone_fsync(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 4 <= size; at++) {
        if (ct_load32(data + at) != CT_FSYNC)
            continue;
        size_t unit = at - at % CT_FRAME_SIZE;
        for (size_t i = 0; i < CT_FRAME_SIZE; i += 4)
            if (unit + i + 4 > size || ct_load32(data + unit + i) != CT_FSYNC)
                return 1;
        at = unit + CT_FRAME_SIZE - 1;
    }
    return 0;
}

enum ct_framing ct_framing_probe(const uint8_t *data, size_t size)
{
    if (!data)
        return CT_FRAMING_FRAMES;
    if (size > PROBE_MAX)
        size = PROBE_MAX;
    if (!has_lone_fsync(data, size))
        return CT_FRAMING_FRAMES;
    size_t tpiu = cut_frames(data, size, CT_BLOCK_SIZE);
    size_t dstream = cut_frames(data, size, CT_BLOCK_DATA);
    return tpiu <= dstream ? CT_FRAMING_TPIU : CT_FRAMING_DSTREAM;
}
