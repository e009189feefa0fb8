/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what is said about first bytes that are not what they are described as. */
#include <stdio.h>

#include "support/demux_result.h"
#include "support/unit.h"

#define ID(id) (uint8_t)((id) << 1 | 1)

/* Fills `data` with the trace of one source: now and then a synchronisation packet of ETMv4. */
static void make_trace(uint8_t *data, size_t size)
{
    uint32_t seed = 1;
    for (size_t i = 0; i < size; i++) {
        const size_t in_packet = i % 96;
        data[i] = in_packet < 11 ? 0 : in_packet == 11 ? 0x80 : (uint8_t)(demux_random(&seed) | 1);
    }
}

/* Writes trace as aligned frames of ID 0x10; every eighth begins with the ID. Returns their size. */
static size_t make_frames(uint8_t *frames, const uint8_t *data, size_t size)
{
    size_t used = 0, count = 0;
    for (; size - used >= 15; count++) {
        uint8_t *frame = frames + count * 16;
        const size_t first = count % 8 == 0;
        frame[0] = ID(0x10);
        memcpy(frame + first, data + used, 15 - first);
        used += 15 - first;
        frame[15] = 0;
        for (size_t i = 2 * first; i < 15; i += 2) {
            frame[15] |= (uint8_t)((frame[i] & 1) << i / 2);
            frame[i] &= 0xfe;
        }
    }
    return count * 16;
}

static void expect_trouble(enum ct_framing framing, const uint8_t *data, size_t size, const char *words)
{
    const char *trouble = ct_framing_trouble(framing, data, size);
    if (!words) {
        assert_null(trouble);
        return;
    }
    assert_non_null(trouble);
    assert_non_null(strstr(trouble, words));
}

TEST(frames_that_begin_later_are_told)
{
    static uint8_t trace[14 * 500], bytes[16 * 500];
    make_trace(trace, sizeof trace);
    for (size_t first = 0; first < 16; first++) {
        char words[40];
        snprintf(words, sizeof words, "'tail -c +%zu'", first + 1);
        memset(bytes, 0, first);
        const size_t size = first + make_frames(bytes + first, trace, sizeof trace);
        expect_trouble(CT_FRAMING_AUTO, bytes, size, first ? words : NULL);
        expect_trouble(CT_FRAMING_FRAMES, bytes, size, first ? words : NULL);
    }
}

/* Writes trace of one source as a Cortex-M does: few synchronisation packets, small numbers. */
static void make_short_trace(uint8_t *data, size_t size, unsigned syncs)
{
    uint32_t seed = 1;
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i % 9 ? demux_random(&seed) & 0x9f : demux_random(&seed) | 0x80) + 1;
    for (unsigned i = 0; i < syncs; i++)
        memcpy(data + size / (syncs + 1) * (i + 1), "\0\0\0\0\0\0\0\0\0\0\0\x80", 12);
}

static void reverse(uint8_t *bytes, size_t size, size_t unit)
{
    for (size_t i = 0; i + unit <= size; i += unit)
        for (size_t k = 0; k < unit / 2; k++) {
            const uint8_t byte = bytes[i + k];
            bytes[i + k] = bytes[i + unit - 1 - k];
            bytes[i + unit - 1 - k] = byte;
        }
}

TEST(reversed_words_of_a_short_dump_are_told)
{
    static uint8_t trace[14 * 500], bytes[16 * 500];
    make_short_trace(trace, sizeof trace, 2);
    const size_t size = make_frames(bytes, trace, sizeof trace);
    expect_trouble(CT_FRAMING_FRAMES, bytes, size, NULL);
    expect_trouble(CT_FRAMING_FRAMES, bytes + 5, size - 5, "'tail -c +12'");
    reverse(bytes, size, 4);
    expect_trouble(CT_FRAMING_FRAMES, bytes, size, "--reverse-bytes=4");
    reverse(bytes, size, 4);
    reverse(bytes, size, 2);
    expect_trouble(CT_FRAMING_FRAMES, bytes, size, "--reverse-bytes=2");
    make_short_trace(trace, sizeof trace, 0);
    make_frames(bytes, trace, sizeof trace);
    reverse(bytes, size, 4);
    expect_trouble(CT_FRAMING_AUTO, bytes, size,
                   "the trace IDs are invalid, as when frames begin at another byte");
}

TEST(another_framing_is_told)
{
    static uint8_t trace[14 * 500], frames[16 * 500];
    make_trace(trace, sizeof trace);
    const size_t size = make_frames(frames, trace, sizeof trace);
    expect_trouble(CT_FRAMING_NONE, trace, sizeof trace, NULL);
    expect_trouble(CT_FRAMING_NONE, frames, size, "framing = frames");
    expect_trouble(CT_FRAMING_FRAMES, trace, sizeof trace, "framing = none");
    memcpy(frames + 320, "\xff\xff\xff\x7f", 4);
    expect_trouble(CT_FRAMING_FRAMES, frames, size, "framing = auto");
    expect_trouble(CT_FRAMING_AUTO, frames, size, NULL);
}

TEST(half_words_alone_are_told)
{
    static uint8_t trace[14 * 500], frames[16 * 500], port[18 * 500];
    make_trace(trace, sizeof trace);
    const size_t count = make_frames(frames, trace, sizeof trace) / 16;
    for (size_t i = 0; i < count; i++) {
        memcpy(port + i * 18, frames + i * 16, 8);
        memcpy(port + i * 18 + 8, "\xff\x7f", 2);
        memcpy(port + i * 18 + 10, frames + i * 16 + 8, 8);
    }
    expect_trouble(CT_FRAMING_AUTO, port, count * 18, "no synchronisation word");
    memcpy(port + 18 * 9, "\xff\xff\xff\x7f", 4);
    expect_trouble(CT_FRAMING_AUTO, port, count * 18, NULL);
}

TEST(memory_that_was_never_written_is_told)
{
    uint32_t words[256];
    const uint32_t fills[] = {0, 0xffffffff, 0xdeadbeef, 0x7fffffff};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 256; k++)
            words[k] = fills[i];
        const uint8_t *bytes = (const uint8_t *)words;
        expect_trouble(CT_FRAMING_NONE, bytes, sizeof words, i < 3 ? "never written" : NULL);
        expect_trouble(CT_FRAMING_TPIU, bytes, sizeof words, i < 3 ? "never written" : NULL);
        expect_trouble(CT_FRAMING_FRAMES, bytes, 64, NULL); /* too few to be sure */
    }
}
