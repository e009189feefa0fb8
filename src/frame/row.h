/* A row of frames between the two times that kernel.h goes through it. */
#ifndef CT_FRAME_ROW_H
#define CT_FRAME_ROW_H

#include <string.h>

#include "frame/demux.h"

#define MOST_IDS (CT_FRAME_ROW * CT_FRAME_SIZE / 2)
#define WIDE     64u /* entries that may be written behind the last one */

/* What eight frames hold; the first pair of bytes of the first frame is the lowest bit. */
struct found {
    uint64_t ids; /* pairs that begin with an ID byte */
    uint64_t
        late; /* bytes 15: the second byte of such a pair is of the ID before, but in the last pair of a frame */
};

#define NOT_LATE UINT64_C(0x8080808080808080) /* these bits of `late` mean nothing */

struct row {
    size_t frames;
    size_t count;                                                /* ID bytes */
    uint8_t data[CT_FRAME_ROW * CT_FRAME_DATA + CT_STREAM_WIDE]; /* 15 bytes a frame, ID bytes among them */
    uint8_t ids[MOST_IDS + WIDE];                                /* ID bytes */
    /* Their places in the row; bit 0 is set where the byte behind is of the ID before. The end of the row follows. */
    uint16_t at[MOST_IDS + WIDE];
};

/* Segments of one ID: the ID byte before it, as in a row, and that behind it. */
struct list {
    size_t count;
    uint16_t at[MOST_IDS + WIDE], next[MOST_IDS + WIDE];
    uint16_t begin[MOST_IDS + WIDE], size[MOST_IDS + WIDE];
};

/* Where the segment that an ID byte ends does so, in the bytes of the row. */
static inline uint16_t row_end(uint16_t at)
{
    return (uint16_t)(at - at / CT_FRAME_SIZE);
}

#endif
