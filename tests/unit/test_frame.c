/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the demultiplexer against handmade frames, against an encoder that is its inverse, and against
 * itself in pieces. */
#include "support/demux_result.h"
#include "support/unit.h"

#define ID(id) (uint8_t)((id) << 1 | 1)

static struct demux_result take(uint8_t framing, const uint8_t *data, size_t size)
{
    struct demux_result result;
    struct demux_how how = {.framing = framing};
    demux_all(&result, &how, data, size);
    return result;
}

static void expect_bytes(const struct demux_result *result, unsigned id, const char *bytes, size_t size)
{
    assert_int_equal(result->ids[id].size, size);
    if (size)
        assert_memory_equal(result->ids[id].data, bytes, size);
}

static void expect_offsets(const struct demux_result *result, unsigned id, const unsigned *offsets,
                           size_t count)
{
    assert_int_equal(result->ids[id].size, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(result->ids[id].offsets[i], offsets[i]);
}

static void expect_mark(const struct demux_result *result, size_t i, unsigned kind, unsigned offset,
                        unsigned lost)
{
    assert_true(i < result->mark_count);
    assert_int_equal(result->marks[i].mark.kind, kind);
    assert_int_equal(result->marks[i].mark.offset, offset);
    assert_int_equal(result->marks[i].mark.lost, lost);
}

/* Byte 15 has the lowest bits of the even bytes: that of pair 0 in bit 0. */
TEST(low_bits)
{
    const uint8_t frame[] = {ID(0x10), 0xa1, 0x20, 0xa3, 0x40, 0xa5, 0x60, 0xa7,
                             0x80,     0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaa};
    struct demux_result r = take(CT_FRAMING_FRAMES, frame, sizeof frame);
    expect_bytes(&r, 0x10, "\xa1\x21\xa3\x40\xa5\x61\xa7\x80\xa9\xab\xab\xac\xad\xaf", 14);
    const unsigned offsets[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    expect_offsets(&r, 0x10, offsets, 14);
    assert_int_equal(r.stats.frames, 1);
    assert_int_equal(r.mark_count, 0);
    demux_result_free(&r);
}

/* A new ID takes effect with the second byte of its pair when the pair's bit is 0, and after it when it is
 * 1. */
TEST(id_at_once_and_delayed)
{
    const uint8_t frame[] = {ID(1), 0x11, ID(2), 0x12, ID(3), 0x31, 0x30, 0x33,
                             ID(4), 0x34, ID(5), 0x51, 0x50,  0x53, 0x54, 0x12};
    struct demux_result r = take(CT_FRAMING_FRAMES, frame, sizeof frame);
    expect_bytes(&r, 1, "\x11\x12", 2); /* 0x12 is still ID 1: bit 1 is set */
    expect_bytes(&r, 2, NULL, 0);
    expect_bytes(&r, 3, "\x31\x30\x33\x34", 4); /* bit 4 is set */
    expect_bytes(&r, 4, NULL, 0);
    expect_bytes(&r, 5, "\x51\x50\x53\x54", 4);
    const unsigned offsets[] = {5, 6, 7, 9};
    expect_offsets(&r, 3, offsets, 4);
    demux_result_free(&r);
}

/* An ID in byte 14 has no second byte: it takes effect with the next frame, whatever its bit says. */
TEST(id_in_the_last_pair)
{
    for (unsigned bit = 0; bit < 2; bit++) {
        const uint8_t frames[] = {
            ID(1), 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, ID(2), (uint8_t)(bit << 7),
            20,    21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34,    0};
        struct demux_result r = take(CT_FRAMING_FRAMES, frames, sizeof frames);
        expect_bytes(&r, 1, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d", 13);
        expect_bytes(&r, 2, "\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x20\x21\x22", 15);
        assert_int_equal(r.ids[2].offsets[0], 16);
        assert_int_equal(r.ids[2].offsets[14], 30);
        demux_result_free(&r);
    }
}

/* The ID lasts over frames; all are mapped by one span of stride 15, which begins after the ID byte. */
TEST(whole_frames_in_one_span)
{
    uint8_t frames[16 * 6] = {ID(7)};
    struct ct_demux_options options = {.size = sizeof options, .framing = CT_FRAMING_FRAMES};
    struct ct_demux *demux;
    struct ct_run run;
    size_t used;
    assert_int_equal(ct_demux_new(NULL, &options, &demux), 0);
    assert_int_equal(ct_demux_push(demux, frames, sizeof frames, &used), 0);
    assert_int_equal(used, sizeof frames);
    ct_demux_run(demux, 7, &run);
    assert_int_equal(run.size, 14 + 5 * 15);
    assert_int_equal(run.span_count, 1);
    assert_int_equal(run.spans[0].place, 1 << CT_SPAN_BITS | CT_SPAN_FRAMES | 1);
    assert_int_equal(ct_run_offset(&run, 0), 1);
    assert_int_equal(ct_run_offset(&run, 13), 14);
    assert_int_equal(ct_run_offset(&run, 14), 16);
    assert_int_equal(ct_run_offset(&run, 14 + 15 * 5 - 1), 16 * 6 - 2);
    ct_demux_consume(demux, 7, 30);
    ct_demux_run(demux, 7, &run);
    assert_int_equal(run.pos, 30);
    assert_int_equal(run.span_count, 1);
    assert_int_equal(ct_run_offset(&run, 30), 33);
    ct_demux_consume(demux, 7, 1000);
    ct_demux_run(demux, 7, &run);
    assert_int_equal(run.size, 0);
    assert_int_equal(run.pos, 14 + 5 * 15);
    ct_demux_free(demux);
}

TEST(what_is_no_trace_is_counted)
{
    const uint8_t frame[] = {0x02,     0x01, ID(0x7d), 0x55, 0x56,     0x57, ID(0), 0,
                             ID(0x7b), 1,    ID(0x70), 2,    ID(0x7e), 3,    2,     0};
    struct demux_result r = take(CT_FRAMING_FRAMES, frame, sizeof frame);
    assert_int_equal(r.stats.no_id_bytes, 2);
    assert_int_equal(r.stats.trigger_bytes, 4);
    assert_int_equal(r.stats.null_bytes, 1);
    assert_int_equal(r.stats.reserved_bytes, 3);
    assert_int_equal(r.stats.id_bytes[0x7d], 3);
    assert_int_equal(r.stats.id_bytes[0x7e], 2);
    assert_int_equal(r.total, 0);
    assert_int_equal(r.mark_count, 0);
    demux_result_free(&r);
}

TEST(unwanted_ids_are_counted_only)
{
    const uint8_t frame[16] = {ID(1), 1, 2, 3, 4, 5, 6, 7, ID(2), 9};
    struct ct_demux_options options = {.size = sizeof options, .framing = CT_FRAMING_FRAMES};
    struct ct_demux *demux;
    struct ct_run run;
    size_t used;
    assert_int_equal(ct_demux_new(NULL, &options, &demux), 0);
    ct_demux_keep(demux, 1, 0);
    assert_int_equal(ct_demux_push(demux, frame, sizeof frame, &used), 0);
    ct_demux_run(demux, 1, &run);
    assert_int_equal(run.size, 0);
    ct_demux_run(demux, 2, &run);
    assert_int_equal(run.size, 6);
    assert_int_equal(ct_demux_stats(demux)->id_bytes[1], 7);
    ct_demux_free(demux);
}

/* Memory that the trace did not reach is not trace of an unknown ID, wherever the input is cut. */
TEST(zeros_before_the_first_id_are_padding)
{
    const uint8_t data[16 * 5] = {[16] = 0x22, [48] = ID(1), [49] = 0x11};
    struct demux_result r = take(CT_FRAMING_FRAMES, data, sizeof data);
    assert_int_equal(r.stats.null_bytes, 2 * 15);
    assert_int_equal(r.stats.no_id_bytes, 15);
    assert_int_equal(r.stats.id_bytes[1], 14 + 15);
    demux_result_free(&r);
}

TEST(four_fsyncs_are_a_reset)
{
    uint8_t data[48] = {ID(1), 0x11};
    memcpy(data + 16, "\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f", 16);
    memcpy(data + 32, "\x22\x23\x05\x24", 4); /* two bytes without an ID, then ID 2 */
    struct demux_result r = take(CT_FRAMING_FRAMES, data, sizeof data);
    assert_int_equal(r.mark_count, 1);
    expect_mark(&r, 0, CT_FRAME_RESET, 32, 0);
    assert_int_equal(r.marks[0].before, 14);
    assert_int_equal(r.stats.fsyncs, 4);
    assert_int_equal(r.stats.resets, 1);
    assert_int_equal(r.stats.no_id_bytes, 2);
    assert_int_equal(r.ids[2].size, 12);
    demux_result_free(&r);
}

/* Also in TPIU streams, once for a row of any length, and not at all when rows are declared as filling. */
TEST(reset_in_a_tpiu_stream)
{
    uint8_t data[4 + 16 + 4 * 6 + 16] = {0xff, 0xff, 0xff, 0x7f, ID(1), 0x11};
    for (size_t i = 20; i < 44; i += 4)
        memcpy(data + i, "\xff\xff\xff\x7f", 4);
    struct demux_result r = take(CT_FRAMING_TPIU, data, sizeof data);
    assert_int_equal(r.mark_count, 1);
    expect_mark(&r, 0, CT_FRAME_RESET, 36, 0);
    assert_int_equal(r.stats.fsyncs, 7);
    assert_int_equal(r.stats.resets, 1);
    assert_int_equal(r.ids[1].size, 14);
    demux_result_free(&r);

    struct demux_how how = {.framing = CT_FRAMING_TPIU, .no_fsync_reset = 1};
    demux_all(&r, &how, data, sizeof data);
    assert_int_equal(r.mark_count, 0);
    assert_int_equal(r.ids[1].size, 14 + 15);
    demux_result_free(&r);
}

static const uint8_t one_frame[16] = {ID(3), 0xff, 0x30, 0x7f, 0x32, 0xff, 0x34, 0xff,
                                      0x36,  0xff, 0x38, 0x7f, 0x3a, 0xff, 0x3c, 0x00};
static const char one_frame_bytes[] = "\xff\x30\x7f\x32\xff\x34\xff\x36\xff\x38\x7f\x3a\xff\x3c";

/* HSYNC at each halfword of a frame, once and twice. */
TEST(hsync_at_every_halfword)
{
    for (size_t at = 0; at <= 16; at += 2) {
        for (size_t n = 1; n <= 2; n++) {
            uint8_t data[64] = {0xff, 0xff, 0xff, 0x7f};
            memcpy(data + 4, one_frame, at);
            for (size_t i = 0; i < n; i++)
                memcpy(data + 4 + at + 2 * i, "\xff\x7f", 2);
            memcpy(data + 4 + at + 2 * n, one_frame + at, 16 - at);
            struct demux_result r = take(CT_FRAMING_TPIU, data, 20 + 2 * n);
            expect_bytes(&r, 3, one_frame_bytes, 14);
            for (size_t i = 0; i < 14; i++)
                assert_int_equal(r.ids[3].offsets[i], 4 + i + 1 + (i + 1 >= at ? 2 * n : 0));
            assert_int_equal(r.stats.hsyncs, n);
            assert_int_equal(r.mark_count, 0);
            demux_result_free(&r);
        }
    }
}

/* An FSYNC at any byte of a frame ends it there; the next frame is whole, but its ID is unknown. */
TEST(fsync_cuts_a_frame)
{
    for (size_t at = 1; at < 16; at++) {
        uint8_t data[64] = {0xff, 0xff, 0xff, 0x7f};
        uint8_t plain_frame[16] = {0x40, 0x41, ID(4), 0x43};
        for (size_t i = 0; i < at; i++)
            data[4 + i] = i % 2 ? 0x21 : 0x20;
        memcpy(data + 4 + at, "\xff\xff\xff\x7f", 4);
        memcpy(data + 8 + at, plain_frame, 16);
        struct demux_result r = take(CT_FRAMING_TPIU, data, 24 + at);
        assert_int_equal(r.mark_count, 1);
        expect_mark(&r, 0, CT_FRAME_CUT, 4, (unsigned)at);
        assert_int_equal(r.stats.lost_bytes, at);
        assert_int_equal(r.stats.no_id_bytes, 2);
        assert_int_equal(r.stats.fsyncs, 2);
        assert_int_equal(r.ids[4].size, 12);
        assert_int_equal(r.ids[4].offsets[0], 8 + at + 3);
        demux_result_free(&r);
    }
}

/* Byte 15 may be ff directly before an FSYNC. */
TEST(full_low_bits_before_fsync)
{
    uint8_t data[4 + 16 + 4 + 16] = {0xff, 0xff, 0xff, 0x7f, ID(3), 9, 0x10, 9, 0x10, 9,
                                     0x10, 9,    0x10, 9,    0x10,  9, 0x10, 9, 0x10, 0xff};
    memcpy(data + 20, "\xff\xff\xff\x7f", 4);
    struct demux_result r = take(CT_FRAMING_TPIU, data, sizeof data);
    assert_int_equal(r.mark_count, 0);
    assert_int_equal(r.stats.fsyncs, 2);
    assert_int_equal(r.stats.frames, 2);
    /* Bit 0 delays the ID: the first byte has none. */
    expect_bytes(&r, 3, "\x11\x09\x11\x09\x11\x09\x11\x09\x11\x09\x11\x09\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                 28);
    assert_int_equal(r.ids[3].offsets[13], 24);
    demux_result_free(&r);
}

/* The four bytes of an FSYNC are adjacent: with an HSYNC between them there is none, in any pieces. */
TEST(hsync_between_the_bytes_of_an_fsync)
{
    uint8_t data[4 + 16 + 2 + 16] = {0xff, 0xff, 0xff, 0x7f, ID(3), 9};
    memcpy(data + 19, "\xff\xff\x7f\xff\xff\x7f", 6);
    struct demux_how how = {.framing = CT_FRAMING_TPIU};
    for (how.plain = 0; how.plain < 2; how.plain++) {
        struct demux_result r;
        demux_all(&r, &how, data, sizeof data);
        assert_int_equal(r.mark_count, 0);
        assert_int_equal(r.stats.fsyncs, 1);
        assert_int_equal(r.stats.hsyncs, 1);
        assert_int_equal(r.stats.frames, 2);
        demux_result_free(&r);
    }
}

TEST(before_the_first_fsync)
{
    const uint8_t data[] = {1, 2, 3, 0xff, 0xff, 0xff, 0xff, 0x7f, ID(1), 5};
    struct demux_result r = take(CT_FRAMING_TPIU, data, sizeof data);
    assert_int_equal(r.mark_count, 2);
    expect_mark(&r, 0, CT_FRAME_NO_SYNC, 0, 4);
    expect_mark(&r, 1, CT_FRAME_CUT, 8, 2);
    assert_int_equal(r.stats.lost_bytes, 6);
    demux_result_free(&r);

    r = take(CT_FRAMING_TPIU, data, 7);
    assert_int_equal(r.mark_count, 1);
    expect_mark(&r, 0, CT_FRAME_NO_SYNC, 0, 7);
    demux_result_free(&r);
}

TEST(cut_at_the_end)
{
    const uint8_t data[16 + 5] = {ID(1), 1};
    struct demux_result r = take(CT_FRAMING_FRAMES, data, sizeof data);
    assert_int_equal(r.mark_count, 1);
    expect_mark(&r, 0, CT_FRAME_CUT, 16, 5);
    demux_result_free(&r);
}

TEST(without_frames)
{
    const uint8_t data[] = {0xff, 0xff, 0xff, 0x7f, 1, 2, 3};
    struct demux_result r = take(CT_FRAMING_NONE, data, sizeof data);
    expect_bytes(&r, 0, (const char *)data, sizeof data);
    const unsigned offsets[] = {0, 1, 2, 3, 4, 5, 6};
    expect_offsets(&r, 0, offsets, 7);
    assert_int_equal(r.mark_count, 0);
    demux_result_free(&r);
}

/* ---- the inverse: bytes of several IDs to frames, with synchronisation words and footers among them ---- */

struct item {
    uint8_t id, byte;
    uint64_t offset; /* where it is in the frames */
};

struct stream {
    uint8_t bytes[1 << 16];
    size_t from[1 << 16]; /* item in the byte, or SIZE_MAX */
    size_t size;
};

static void append(struct stream *s, uint8_t byte, size_t from)
{
    assert_true(s->size < sizeof s->bytes);
    s->bytes[s->size] = byte;
    s->from[s->size++] = from;
}

/* Encodes one frame of items[*next..count), in a simple way that covers everything. */
static void encode_frame(struct stream *s, const struct item *items, size_t count, size_t *next, unsigned *id)
{
    uint8_t low = 0;
    for (unsigned i = 0; i < 8; i++) {
        size_t n = *next;
        unsigned now = n < count ? items[n].id : 0;
        unsigned then = n + 1 < count ? items[n + 1].id : 0;
        if (now != *id) { /* takes effect at once */
            append(s, ID(now), SIZE_MAX);
            *id = now;
            if (i < 7) {
                append(s, n < count ? items[n].byte : 0, n < count ? n : SIZE_MAX);
                *next += n < count;
            }
        } else if (then != *id && i < 7) { /* after the second byte of the pair */
            append(s, ID(then), SIZE_MAX);
            low |= (uint8_t)(1 << i);
            append(s, n < count ? items[n].byte : 0, n < count ? n : SIZE_MAX);
            *next += n < count;
            *id = then;
        } else {
            for (unsigned k = 0; k < (i < 7 ? 2u : 1u); k++, n++) {
                uint8_t byte = n < count ? items[n].byte : 0;
                if (k == 0)
                    low |= (uint8_t)((byte & 1) << i);
                append(s, k ? byte : byte & 0xfe, n < count ? n : SIZE_MAX);
                *next += n < count;
            }
        }
    }
    append(s, low, SIZE_MAX);
}

/* Makes items in bursts, so that there are both whole frames of one ID and changes in every pair. */
static size_t make_items(struct item *items, size_t count, uint32_t *seed)
{
    uint8_t id = 1;
    size_t burst = 0;
    for (size_t i = 0; i < count; i++) {
        if (burst-- == 0) {
            id = (uint8_t)(1 + demux_random(seed) % 0x6f);
            burst = demux_random(seed) % 3 ? demux_random(seed) % 4 : demux_random(seed) % 100;
        }
        uint32_t kind = demux_random(seed) % 4;
        items[i].id = id;
        items[i].byte = kind == 0 ? 0xff : kind == 1 ? 0x7f : (uint8_t)demux_random(seed);
    }
    return count;
}

static void encode(struct stream *s, uint8_t framing, struct item *items, size_t count, uint32_t *seed)
{
    static struct stream frames;
    size_t next = 0;
    unsigned id = 0x80;
    unsigned fsyncs = 0;
    frames.size = s->size = 0;
    while (next < count)
        encode_frame(&frames, items, count, &next, &id);
    int tpiu = framing != CT_FRAMING_FRAMES;
    static struct stream flat;
    flat.size = 0;
    for (size_t i = 0; i < frames.size; i++) {
        if (tpiu && i % 16 == 0)
            for (fsyncs = i ? demux_random(seed) % 3 : 1; fsyncs; fsyncs--)
                for (size_t k = 0; k < 4; k++)
                    append(&flat, "\xff\xff\xff\x7f"[k], SIZE_MAX);
        if (tpiu && i % 2 == 0 && demux_random(seed) % 16 == 0) {
            append(&flat, 0xff, SIZE_MAX);
            append(&flat, 0x7f, SIZE_MAX);
        }
        append(&flat, frames.bytes[i], frames.from[i]);
    }
    for (size_t i = 0; i < flat.size; i++) {
        if (flat.from[i] != SIZE_MAX)
            items[flat.from[i]].offset = i;
        append(s, flat.bytes[i], flat.from[i]);
        if (framing == CT_FRAMING_DSTREAM && i % 504 == 503)
            for (unsigned k = 0; k < 8; k++)
                append(s, (uint8_t)demux_random(seed), SIZE_MAX);
    }
}

static void expect_items(const struct demux_result *r, const struct item *items, size_t count)
{
    size_t at[128] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct demux_bytes *bytes = &r->ids[items[i].id];
        size_t n = at[items[i].id]++;
        assert_true(n < bytes->size);
        assert_int_equal(bytes->data[n], items[i].byte);
        assert_int_equal(bytes->offsets[n], items[i].offset);
    }
    for (unsigned id = 1; id < 128; id++)
        assert_int_equal(at[id], r->ids[id].size);
}

static const uint8_t framings[] = {CT_FRAMING_FRAMES, CT_FRAMING_TPIU, CT_FRAMING_DSTREAM};

TEST(inverse_of_an_encoder)
{
    static struct item items[8000];
    static struct stream s;
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t seed = round * 7919 + 1;
        uint8_t framing = framings[round % 3];
        size_t count = make_items(items, 1 + demux_random(&seed) % 8000, &seed);
        encode(&s, framing, items, count, &seed);
        struct demux_how how = {.framing = framing, .seed = round / 3 % 2 ? seed : 0};
        struct demux_result r;
        demux_all(&r, &how, s.bytes, s.size);
        expect_items(&r, items, count);
        for (size_t i = 0; i < r.mark_count; i++) /* the last frame may wait for its end, without a loss */
            fail_msg("a mark in an undamaged stream");
        demux_result_free(&r);
    }
}

/* Damages a stream: changes, removes and doubles bytes, or replaces it with noise with many synchronisation
 * words. Returns the new size. */
static size_t damage(uint8_t *data, size_t size, uint32_t *seed)
{
    for (unsigned n = demux_random(seed) % 12; n && size > 40; n--) {
        size_t at = demux_random(seed) % (size - 20);
        switch (demux_random(seed) % 4) {
        case 0:
            data[at] = (uint8_t)demux_random(seed);
            break;
        case 1:
            memmove(data + at, data + at + 1, size - at - 1);
            size--;
            break;
        case 2:
            memcpy(data + at, "\xff\xff\xff\x7f", 4);
            break;
        default:
            for (size_t i = 0; i < 16; i++)
                data[at + i] = "\xff\xff\xff\x7f"[i % 4];
        }
    }
    return size;
}

/* Fast and plain, whole and in pieces, give the same bytes, offsets, marks and statistics. */
TEST(any_pieces_and_the_plain_twin)
{
    static struct item items[3000];
    static struct stream s;
    for (uint32_t round = 0; round < 300; round++) {
        uint32_t seed = round * 104729 + 3;
        uint8_t framing = round % 10 == 9 ? CT_FRAMING_NONE : framings[round % 3];
        size_t count = make_items(items, 1 + demux_random(&seed) % 3000, &seed);
        encode(&s, framings[round % 3], items, count, &seed);
        size_t size = damage(s.bytes, s.size, &seed);
        struct demux_how how = {.framing = framing, .no_fsync_reset = round % 7 == 0};
        struct demux_result whole, other;
        demux_all(&whole, &how, s.bytes, size);
        how.plain = 1;
        demux_all(&other, &how, s.bytes, size);
        const char *difference = demux_difference(&whole, &other);
        demux_result_free(&other);
        how.plain = 0;
        for (unsigned i = 0; (how.ops = ct_frame_ops_at(i / 2)) && !difference; i++) {
            how.seed = i + 1;
            demux_all(&other, &how, s.bytes, size);
            difference = demux_difference(&whole, &other);
            demux_result_free(&other);
        }
        demux_result_free(&whole);
        if (difference)
            fail_msg("round %u: %s", round, difference);
    }
}

TEST(every_single_cut)
{
    static struct item items[600];
    static struct stream s;
    for (uint32_t round = 0; round < 9; round++) {
        uint32_t seed = round * 31 + 5;
        struct demux_how how = {.framing = framings[round % 3]};
        struct demux_result whole, other;
        size_t count = make_items(items, 600, &seed);
        encode(&s, how.framing, items, count, &seed);
        size_t size = round < 3 ? s.size : damage(s.bytes, s.size, &seed);
        demux_all(&whole, &how, s.bytes, size);
        for (how.cut = 1; how.cut < size; how.cut++) {
            demux_all(&other, &how, s.bytes, size);
            const char *difference = demux_difference(&whole, &other);
            demux_result_free(&other);
            if (difference)
                fail_msg("framing %u, cut at %zu: %s", how.framing, how.cut, difference);
        }
        demux_result_free(&whole);
    }
}

/* ---- probing ---- */

TEST(framing_is_found)
{
    static struct item items[3000];
    static struct stream s;
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t seed = round * 271 + 9;
        uint8_t framing = framings[round % 3];
        size_t count = make_items(items, 3000, &seed);
        encode(&s, framing, items, count, &seed);
        assert_int_equal(ct_framing_probe(s.bytes, s.size < 4096 ? s.size : 4096), framing);
        assert_null(ct_framing_trouble(framing, s.bytes, s.size < 4096 ? s.size : 4096));
    }
    assert_int_equal(ct_framing_probe(NULL, 0), CT_FRAMING_FRAMES);
}

/* Has one FSYNC in a hundred frames, and begins anywhere. */
TEST(rare_fsyncs_are_enough)
{
    static uint8_t data[16 << 10];
    for (uint32_t round = 0; round < 40; round++) {
        int dstream = round % 2;
        uint32_t seed = round + 1;
        size_t at = 0;
        for (size_t n = demux_random(&seed) % 1600; at < sizeof data; n++) { /* n: bytes that are no footer */
            while (dstream && at % 512 >= 504)
                data[at++] = (uint8_t)demux_random(&seed);
            if (at == sizeof data)
                break;
            if (n % 1604 < 4)
                data[at++] = (uint8_t) "\xff\xff\xff\x7f"[n % 1604];
            else if (n % 1604 % 16 == 4 && demux_random(&seed) % 2)
                data[at++] = ID(1 + demux_random(&seed) % 0x6f);
            else
                data[at++] = (uint8_t)demux_random(&seed) & 0xfe;
        }
        assert_int_equal(ct_framing_probe(data, sizeof data), dstream ? CT_FRAMING_DSTREAM : CT_FRAMING_TPIU);
    }
}

/* Frames with barriers of four FSYNC, which drivers insert, are still aligned frames. */
TEST(barriers_are_no_tpiu)
{
    uint8_t data[16 * 20] = {0};
    for (size_t i = 0; i < 16; i++)
        data[16 * 9 + i] = "\xff\xff\xff\x7f"[i % 4];
    assert_int_equal(ct_framing_probe(data, sizeof data), CT_FRAMING_FRAMES);
}

TEST(reversed_words_are_told)
{
    static struct item items[3000];
    static struct stream s;
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t seed = round * 271 + 9;
        size_t count = make_items(items, 3000, &seed);
        encode(&s, round ? CT_FRAMING_TPIU : CT_FRAMING_FRAMES, items, count, &seed);
        for (size_t i = 0; i + 4 <= s.size; i += 4) {
            uint32_t word;
            memcpy(&word, s.bytes + i, 4);
            word = __builtin_bswap32(word);
            memcpy(s.bytes + i, &word, 4);
        }
        const char *trouble = ct_framing_trouble(CT_FRAMING_AUTO, s.bytes, 4096);
        assert_non_null(trouble);
        assert_non_null(strstr(trouble, "big-endian"));
    }
}

TEST(offsets_in_the_file)
{
    assert_int_equal(ct_framing_file_offset(CT_FRAMING_TPIU, 1000), 1000);
    assert_int_equal(ct_framing_file_offset(CT_FRAMING_DSTREAM, 503), 503);
    assert_int_equal(ct_framing_file_offset(CT_FRAMING_DSTREAM, 504), 512);
    assert_int_equal(ct_framing_file_offset(CT_FRAMING_DSTREAM, 1008), 1024);
}

TEST(options_are_checked)
{
    struct ct_demux_options options = {.size = sizeof options, .framing = CT_FRAMING_AUTO};
    struct ct_demux *demux;
    assert_int_equal(ct_demux_new(NULL, &options, &demux), CT_ERR_ARG);
    options.framing = 99;
    assert_int_equal(ct_demux_new(NULL, &options, &demux), CT_ERR_ARG);
    options = (struct ct_demux_options){.size = 1, .framing = CT_FRAMING_NONE};
    assert_int_equal(ct_demux_new(NULL, &options, &demux), CT_ERR_ARG);
    assert_null(demux);
}
