/* Which framing is it? Each candidate is tried on the first bytes, and what does not fit is counted. */
#include "frame/demux.h"

#include "base/bytes.h"

#define PROBE_MAX ((size_t)64 << 10)

/* What speaks against a framing: cut frames, reserved IDs, frames that are never reached. */
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

static struct fit try_aligned(const uint8_t *data, size_t size, unsigned swap)
{
    struct fit fit = {0};
    for (size_t at = 0; at + CT_FRAME_SIZE <= size; at += CT_FRAME_SIZE) {
        unsigned fsyncs = 0;
        for (size_t i = 0; i < CT_FRAME_SIZE; i += 4)
            fsyncs +=
                (swap ? __builtin_bswap32(ct_load32(data + at + i)) : ct_load32(data + at + i)) == CT_FSYNC;
        fit.bad += fsyncs && fsyncs < 4;
        for (size_t i = 0; !fsyncs && i < CT_FRAME_SIZE; i += 2)
            count_id(&fit, data[at + (i ^ swap)]);
    }
    return fit;
}

static struct fit try_tpiu(const uint8_t *data, size_t size, size_t block_data)
{
    struct fit fit = {0};
    uint32_t window = 0;
    size_t fill = 0; /* bytes since the last frame or synchronisation word */
    int synced = 0;
    for (size_t at = 0; at < size; at++) {
        if (at % CT_BLOCK_SIZE >= block_data)
            continue;
        uint8_t byte = data[at];
        window = window << 8 | byte;
        fill++;
        if (window == 0xffffff7f) {
            fit.bad += synced ? (fill - 4) % CT_FRAME_SIZE != 0 : (fill - 4) / CT_FRAME_SIZE;
            synced = 1;
            fill = 0;
        } else if (fill % 2 == 0 && (window & 0xffff) == 0xff7f) {
            fill -= 2;
        } else if (synced && fill % 2 == 0 && fill % CT_FRAME_SIZE && (window >> 8 & 0xff) != 0xff) {
            count_id(&fit, (uint8_t)(window >> 8));
        }
    }
    if (!synced)
        fit.bad = SIZE_MAX;
    return fit;
}

enum ct_framing ct_framing_probe(const uint8_t *data, size_t size)
{
    if (size > PROBE_MAX)
        size = PROBE_MAX;
    struct fit frames = try_aligned(data, size, 0);
    struct fit tpiu = try_tpiu(data, size, CT_BLOCK_SIZE);
    struct fit dstream = try_tpiu(data, size, CT_BLOCK_DATA);
    if (frames.bad <= tpiu.bad && frames.bad <= dstream.bad)
        return CT_FRAMING_FRAMES;
    return tpiu.bad <= dstream.bad ? CT_FRAMING_TPIU : CT_FRAMING_DSTREAM;
}

/* Synchronisation words as they are, on halfwords, and with their bytes reversed, on words. */
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
    if (fsyncs_reversed(data, size))
        return "the synchronisation words read 7f ff ff ff, so the bytes of each 32-bit word are reversed "
               "(big-endian); "
               "no frame can be found; reverse them, for instance with objcopy -I binary -O binary "
               "--reverse-bytes=4";
    struct fit as_is = try_aligned(data, size, 0);
    struct fit swapped = try_aligned(data, size, 3);
    if (as_is.bad >= 16 && as_is.bad > as_is.ids / 8 && swapped.ids >= 16 && swapped.bad <= swapped.ids / 64)
        return "the trace IDs make sense only with the bytes of each 32-bit word reversed (big-endian); "
               "reverse them, for "
               "instance with objcopy -I binary -O binary --reverse-bytes=4";
    return NULL;
}
