/* SPDX-License-Identifier: Apache-2.0 */
/* Detects the framing of a buffer from its first bytes, and whether it is plausible. */
#include "frame/demux.h"

#include "base/bytes.h"
#include "base/packed.h"

#define PROBE_MAX ((size_t)64 << 10)

/* Evidence for and against aligned frames: ID bytes, and reserved IDs among them. */
struct fit {
    size_t ids, bad;
};

static void count_id(struct fit *fit, uint8_t byte)
{
    if (!(byte & 1))
        return;
    fit->ids++;
    fit->bad += byte >> 1 >= CT_ID_COUNT && byte >> 1 != 0x7b && byte >> 1 != 0x7d;
}

/* Counts as if the frames were aligned. `swap` 3 reverses the bytes of each word. */
static struct fit try_aligned(const uint8_t *data, size_t size, size_t swap)
{
    struct fit fit = {0};
    for (size_t at = 0; at + CT_FRAME_SIZE <= size; at += CT_FRAME_SIZE)
        for (size_t i = 0; i < CT_FRAME_SIZE; i += 2)
            count_id(&fit, data[at + (i ^ swap)]);
    return fit;
}

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
    if (size > PROBE_MAX)
        size = PROBE_MAX;
    if (!has_lone_fsync(data, size))
        return CT_FRAMING_FRAMES;
    size_t tpiu = cut_frames(data, size, CT_BLOCK_SIZE);
    size_t dstream = cut_frames(data, size, CT_BLOCK_DATA);
    return tpiu <= dstream ? CT_FRAMING_TPIU : CT_FRAMING_DSTREAM;
}

/* Returns whether there are synchronisation words with reversed bytes, at word offsets, and none in the
 * normal order, at halfword offsets. */
static int fsyncs_reversed(const uint8_t *data, size_t size)
{
    size_t normal = 0, reversed = 0;
    for (size_t at = 0; at + 4 <= size; at += 2) {
        uint32_t word = ct_load32(data + at);
        normal += word == CT_FSYNC;
        reversed += at % 4 == 0 && word == 0xffffff7f;
    }
    return reversed && !normal;
}

const char *ct_framing_trouble(const uint8_t *data, size_t size)
{
    if (size > PROBE_MAX)
        size = PROBE_MAX;
    const char *packed = ct_packed_kind(data, size);
    if (packed)
        return packed;
    if (fsyncs_reversed(data, size))
        return "the synchronisation words read 7f ff ff ff, so the bytes of each 32-bit word are reversed "
               "(big-endian) and no frame can be found; reverse them, for instance with objcopy -I binary -O "
               "binary --reverse-bytes=4";
    if (has_lone_fsync(data, size))
        return NULL;
    struct fit as_is = try_aligned(data, size, 0);
    struct fit swapped = try_aligned(data, size, 3);
    if (as_is.bad >= 16 && as_is.bad > as_is.ids / 8 && swapped.ids >= 16 && swapped.bad <= swapped.ids / 64)
        return "the trace IDs are valid only if the bytes of each 32-bit word are reversed (big-endian); "
               "reverse them, for instance with objcopy -I binary -O binary --reverse-bytes=4";
    return NULL;
}
