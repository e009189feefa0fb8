/* SPDX-License-Identifier: Apache-2.0 */
/* A row of frames, between the two passes of kernel.h over it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CT_FRAME_SIZE 16u
#define CT_FRAME_DATA 15u  /* data bytes of a frame without an ID byte */
#define CT_FRAME_ROW  512u /* frames handled together, for which a run has room */
#define CT_FRAME_IDS  (CT_FRAME_ROW * CT_FRAME_SIZE / 2) /* maximal number of ID bytes in a row */
#define CT_FRAME_MORE 64u                                /* entries that may be written after the last one */

/* Bytes that stores may write after the counted ones. */
#define CT_STREAM_WIDE 128u

struct ct_frame_row {
    size_t frames;
    size_t count; /* number of ID bytes */
    _Alignas(64) uint8_t
        data[CT_FRAME_ROW * CT_FRAME_DATA + CT_STREAM_WIDE]; /* 15 bytes of each frame, including ID bytes */
    _Alignas(64) uint8_t ids[CT_FRAME_IDS + CT_FRAME_MORE];  /* ID bytes */
    /* Their positions in the row; bit 0 is set when the byte after belongs to the ID before. The end of the
     * row follows. */
    _Alignas(64) uint16_t at[CT_FRAME_IDS + CT_FRAME_MORE];
};

/* The segments of one ID: for each the ID bytes before and after it, as in a row, its start in the bytes of
 * the row, and its size. */
struct ct_frame_list {
    size_t count;
    size_t most; /* the largest size, or more */
    _Alignas(64) uint16_t at[CT_FRAME_IDS + CT_FRAME_MORE], next[CT_FRAME_IDS + CT_FRAME_MORE];
    uint16_t begin[CT_FRAME_IDS + CT_FRAME_MORE], size[CT_FRAME_IDS + CT_FRAME_MORE];
};

/* Returns the end of the segment before an ID byte, in the bytes of the row. */
static inline uint16_t ct_frame_row_end(uint16_t at)
{
    return (uint16_t)(at - at / CT_FRAME_SIZE);
}

/* The ID bytes found in eight frames. The first pair of bytes of the first frame is the lowest bit. */
struct ct_frame_found {
    uint64_t ids;  /* pairs that begin with an ID byte */
    uint64_t late; /* bytes 15: set when the second byte of such a pair belongs to the ID before, except for
                      the last pair of a frame */
};

#define CT_FRAME_NOT_LATE UINT64_C(0x8080808080808080) /* bits of `late` without meaning */
