/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what is wrong with the first bytes of a capture: other bytes than those of a trace, frames that begin
 * elsewhere or have another byte order, and a framing that is not theirs. */
#include "frame/demux.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/packed.h"

#define TROUBLE_MAX ((size_t)64 << 10) /* bytes that are examined */
#define SYNC_EVERY  ((size_t)2 << 10)  /* well placed frames synchronise as often, most of them */
#define SYNCS       4                  /* fewer synchronisation packets may be chance */
#define WORD        sizeof(uint32_t)

/* Evidence for and against aligned frames: ID bytes, reserved IDs among them, and synchronisation packets in
 * the data. */
struct fit {
    size_t ids, bad, syncs;
    size_t zeros, ones; /* bytes 00 and ff at the end of the data */
};

/* Counts a synchronisation packet that ends with this byte: 11 bytes 00 (ETMv4, ETE) or 5 (PTM, ETMv3, ITM)
 * and then 80; 21 units f and then 0 (STM), which may begin inside a byte. A byte too many or too few in them
 * shows that the bytes are not those of the data. */
static void count_data(struct fit *fit, uint8_t byte)
{
    fit->syncs += byte == 0x80 && (fit->zeros == 5 || fit->zeros == 11);
    fit->syncs += (fit->ones == 10 || fit->ones == 11) && (byte == 0x0f || !(byte & 0x0f));
    fit->zeros = byte ? 0 : fit->zeros + 1;
    fit->ones = byte == 0xff ? fit->ones + 1 : 0;
}

static struct fit try_plain(const uint8_t *data, size_t size)
{
    struct fit fit = {0};
    for (size_t i = 0; i < size; i++)
        count_data(&fit, data[i]);
    return fit;
}

static void count_even(struct fit *fit, uint8_t byte, unsigned low)
{
    if (!(byte & 1)) {
        count_data(fit, (uint8_t)(byte | low));
        return;
    }
    fit->ids++;
    fit->bad += byte >> 1 >= CT_ID_COUNT && byte >> 1 != 0x7b && byte >> 1 != 0x7d;
}

/* Counts as if frames began at byte `first`. `swap` 3 reverses the bytes of each word, 1 of each half-word.
 */
static struct fit try_aligned(const uint8_t *data, size_t size, size_t first, size_t swap)
{
    struct fit fit = {0};
    for (size_t at = first; at + CT_FRAME_SIZE <= size; at += CT_FRAME_SIZE) {
        const uint8_t *frame = data + at;
        const unsigned lows = frame[15 ^ swap];
        for (size_t i = 0; i < CT_FRAME_SIZE; i += 2) {
            count_even(&fit, frame[i ^ swap], lows >> i / 2 & 1);
            if (i + 1 < CT_FRAME_SIZE - 1)
                count_data(&fit, frame[(i + 1) ^ swap]);
        }
    }
    return fit;
}

/* Returns whether there are synchronisation words with reversed bytes, at word offsets, and none in the
 * normal order, at halfword offsets. */
static bool fsyncs_reversed(const uint8_t *data, size_t size)
{
    size_t normal = 0, reversed = 0;
    for (size_t at = 0; at + WORD <= size; at += 2) {
        const uint32_t word = ct_load32(data + at);
        normal += word == CT_FSYNC;
        reversed += at % WORD == 0 && word == 0xffffff7f;
    }
    return reversed && !normal;
}

/* Returns whether half-words of synchronisation stand in the bytes: at even offsets, where aligned frames
 * would have the reserved ID 0x7f. Addresses in a trace without frames have these bytes at odd offsets too.
 */
static bool has_half_words(const uint8_t *data, size_t size)
{
    size_t count[2] = {0};
    for (size_t at = 2; at + 2 <= size; at++)
        count[at % 2] += data[at] == 0xff && data[at + 1] == 0x7f && data[at - 1] != 0xff;
    return count[0] >= 16 && count[1] <= count[0] / 8;
}

static bool is_invalid(const struct fit *fit)
{
    return fit->bad >= 16 && fit->bad > fit->ids / 32;
}

static bool is_valid(const struct fit *fit)
{
    return fit->ids && fit->bad <= fit->ids / 64;
}

#define BEGIN_LATER(bytes, next)                                                                             \
    "frames with valid trace IDs begin only after the first " #bytes                                         \
    " of these bytes, so none can be read; cut them off, for instance with 'tail -c +" #next "'"

#define REVERSED(unit, bytes)                                                                                \
    "the trace IDs are valid only if the bytes of each " unit "; reverse them, for instance with objcopy "   \
    "-I binary -O binary --reverse-bytes=" #bytes

static const char *const begin_later[CT_FRAME_SIZE] = {
    NULL,
    BEGIN_LATER(1, 2),
    BEGIN_LATER(2, 3),
    BEGIN_LATER(3, 4),
    BEGIN_LATER(4, 5),
    BEGIN_LATER(5, 6),
    BEGIN_LATER(6, 7),
    BEGIN_LATER(7, 8),
    BEGIN_LATER(8, 9),
    BEGIN_LATER(9, 10),
    BEGIN_LATER(10, 11),
    BEGIN_LATER(11, 12),
    BEGIN_LATER(12, 13),
    BEGIN_LATER(13, 14),
    BEGIN_LATER(14, 15),
    BEGIN_LATER(15, 16),
};

/* The ways of reading frames whose trace IDs are valid. */
struct valid_ways {
    const char *best; /* words of the one with most synchronisation packets, NULL: there is none */
    size_t syncs;
    bool tied; /* another one has as many */
};

static void add_way(struct valid_ways *ways, const struct fit *fit, const char *words)
{
    if (!is_valid(fit) || fit->ids < 16)
        return;
    if (!ways->best || fit->syncs > ways->syncs)
        *ways = (struct valid_ways){words, fit->syncs, false};
    else if (fit->syncs == ways->syncs)
        ways->tied = true;
}

/* Returns how the bytes have valid trace IDs, which they have not as they are. An odd distance makes data
 * bytes of ID bytes, and so does a reversed word, so all of these ways have valid IDs when one has; only the
 * synchronisation packets in the data tell them apart. */
static const char *find_valid(const uint8_t *data, size_t size, const struct fit *swapped)
{
    struct valid_ways ways = {0};
    const struct fit half = try_aligned(data, size, 0, 1);
    add_way(&ways, swapped, REVERSED("32-bit word are reversed (big-endian)", 4));
    add_way(&ways, &half, REVERSED("half-word are reversed", 2));
    for (size_t first = 1; first < CT_FRAME_SIZE; first += 2) {
        const struct fit fit = try_aligned(data, size, first, 0);
        add_way(&ways, &fit, begin_later[first]);
    }
    if (ways.best && (ways.tied || !ways.syncs))
        return "the trace IDs are invalid, as when frames begin at another byte than the first, or the bytes "
               "of each word are reversed (big-endian); read the trace buffer from its first byte on, or "
               "reverse them with objcopy -I binary -O binary --reverse-bytes=4";
    return ways.best;
}

/* Returns the trouble when frames fit better elsewhere than at the first byte, or with reversed words. */
static const char *find_misplaced(const uint8_t *data, size_t size, const struct fit *as_is)
{
    const struct fit swapped = try_aligned(data, size, 0, 3);
    size_t best = 0, syncs = as_is->syncs * 3 / 2 + SYNCS - 1;
    for (size_t first = 1; first < CT_FRAME_SIZE; first++) {
        const struct fit fit = try_aligned(data, size, first, 0);
        if (!is_valid(&fit) || fit.syncs <= syncs)
            continue;
        best = first;
        syncs = fit.syncs;
    }
    if (best && syncs > 2 * swapped.syncs)
        return begin_later[best];
    return is_invalid(as_is) ? find_valid(data, size, &swapped) : NULL;
}

/* Returns whether one word fills the bytes, as memory that was never written. A trace port sends
 * synchronisation words while no source traces. */
static bool is_blank(const uint8_t *data, size_t size)
{
    return size >= 16 * CT_FRAME_SIZE && ct_load32(data) != CT_FSYNC &&
           memcmp(data, data + WORD, size - WORD) == 0;
}

static const char *find_in_frames(enum ct_framing framing, const uint8_t *data, size_t size)
{
    const bool has_words = ct_framing_probe(data, size) != CT_FRAMING_FRAMES;
    if (fsyncs_reversed(data, size))
        return "the synchronisation words read 7f ff ff ff, so the bytes of each 32-bit word are reversed "
               "(big-endian) and no frame can be found; reverse them, for instance with objcopy -I binary -O "
               "binary --reverse-bytes=4";
    if (has_words && framing == CT_FRAMING_FRAMES)
        return "the frames have synchronisation words between them, as a trace port sends them, so they are "
               "not aligned to 16 bytes; describe them with framing = auto (in a snapshot: "
               "format=dstream_coresight)";
    if (has_words)
        return NULL;
    const struct fit as_is = try_aligned(data, size, 0, 0);
    if (as_is.syncs > size / SYNC_EVERY && is_valid(&as_is))
        return NULL;
    if (has_half_words(data, size))
        return "half-words of synchronisation (ff 7f) stand in the bytes, as a trace port sends them, but no "
               "synchronisation word (ff ff ff 7f), so no frame can be found; record until the port sends "
               "one, or let it send them more often";
    const char *misplaced = find_misplaced(data, size, &as_is);
    if (misplaced || !is_invalid(&as_is) || try_plain(data, size).syncs <= as_is.syncs)
        return misplaced;
    return "the trace IDs are invalid, and the bytes look like the trace of one source without frames; "
           "describe them with framing = none (in a snapshot: format=source_data)";
}

static const char *find_in_plain(const uint8_t *data, size_t size)
{
    const struct fit as_frames = try_aligned(data, size, 0, 0);
    if (as_frames.syncs < SYNCS || !is_valid(&as_frames) || as_frames.syncs <= try_plain(data, size).syncs)
        return NULL;
    return "the bytes look like CoreSight frames with trace IDs, but they are described as the trace of one "
           "source; describe them with framing = frames (in a snapshot: format=coresight)";
}

const char *ct_framing_trouble(enum ct_framing framing, const uint8_t *data, size_t size)
{
    if (!data)
        return NULL;
    if (size > TROUBLE_MAX)
        size = TROUBLE_MAX;
    const char *packed = ct_packed_kind(data, size);
    if (packed)
        return packed;
    if (framing != CT_FRAMING_AUTO && is_blank(data, size))
        return "one word fills the bytes from the beginning on, so this part of the trace buffer was never "
               "written; check that the trace sink was enabled, and that its memory was read";
    return framing == CT_FRAMING_NONE ? find_in_plain(data, size) : find_in_frames(framing, data, size);
}
