/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/frames.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "opencsd/line.h"
#include "opencsd/log.h"

enum {
    LAST_PLACE = 14,  /* last position of an ID in a frame */
    TEXT_SIZE = 4096, /* longest text of a frame, including the synchronisation words before it */
};

/* Begins a part for another ID, whose byte is at `place` in the frame. An empty part is reused and keeps its
 * place; but not at the last place, where 1.3.3 prints it. */
static struct ct_ocsd_part *change_id(struct ct_ocsd_frames *f, struct ct_ocsd_part *part, uint8_t id,
                                      uint8_t place)
{
    const uint8_t at = part->end;
    f->id = id;
    if (place < LAST_PLACE && part->begin == part->end) {
        part->id = id;
        return part;
    }
    part = &f->parts[f->part_count++];
    *part = (struct ct_ocsd_part){.id = id, .begin = at, .end = at, .place = place};
    return part;
}

/* Returns whether a frame has no ID, so that all its bytes belong to the previous ID. */
static bool has_no_id(const uint8_t raw[CT_OCSD_FRAME_SIZE])
{
    const uint64_t id_flags = UINT64_C(0x0001000100010001); /* lowest bit of each byte at an even place */
    return !((ct_load64(raw) | ct_load64(raw + 8)) & id_flags);
}

/* Spreads four flags to the lowest bits of the bytes at even places. */
static uint64_t spread(uint64_t flags)
{
    return (flags & 15) * UINT64_C(0x0000200040008001) & UINT64_C(0x0001000100010001);
}

/* Copies the data of a frame without an ID, and one more byte. */
static void copy_data(const uint8_t *raw, uint8_t *bytes)
{
    const unsigned flags = raw[CT_OCSD_FRAME_DATA];
    ct_store(bytes, ct_load64(raw) | spread(flags), 8);
    ct_store(bytes + 8, ct_load64(raw + 8) | spread(flags >> 4), 8);
}

/* Unpacks a frame without an ID: only the lowest bits of the bytes at even places are stored elsewhere. */
static void unpack_data(struct ct_ocsd_frames *f)
{
    copy_data(f->raw, f->bytes);
    f->parts[0].end = CT_OCSD_FRAME_DATA;
}

/* Unpacks the frame in `raw`. */
static void unpack(struct ct_ocsd_frames *f)
{
    const uint8_t flags = f->raw[15];
    struct ct_ocsd_part *part = &f->parts[0];
    *part = (struct ct_ocsd_part){.id = f->id};
    f->part_count = 1;
    f->part = 0;
    f->had_parts = true;
    if (has_no_id(f->raw)) {
        unpack_data(f);
        return;
    }
    for (uint8_t i = 0; i < 15; i = (uint8_t)(i + 2)) {
        const uint8_t flag = flags >> (i / 2) & 1;
        const uint8_t even = f->raw[i];
        const bool has_odd = i < 14;
        if (!(even & 1)) {
            f->bytes[part->end++] = even | flag;
            if (has_odd)
                f->bytes[part->end++] = f->raw[i + 1];
            continue;
        }
        if (flag && has_odd) /* the byte after the ID still belongs to the previous ID */
            f->bytes[part->end++] = f->raw[i + 1];
        if (even >> 1 != f->id || i == LAST_PLACE) /* otherwise the part continues, and its indices with it */
            part = change_id(f, part, even >> 1, i);
        if (!flag && has_odd)
            f->bytes[part->end++] = f->raw[i + 1];
    }
}

uint32_t ct_ocsd_frames_gather(const uint8_t *raw, uint32_t size, uint32_t most, uint8_t *bytes)
{
    uint32_t count = 0;
    for (; count < most && size >= CT_OCSD_FRAME_SIZE && has_no_id(raw); count++) {
        copy_data(raw, bytes);
        raw += CT_OCSD_FRAME_SIZE;
        size -= CT_OCSD_FRAME_SIZE;
        bytes += CT_OCSD_FRAME_DATA;
    }
    return count;
}

void ct_ocsd_frames_go_on(struct ct_ocsd_frames *f, ocsd_trc_index_t index, const uint8_t *raw, uint8_t done)
{
    memcpy(f->raw, raw, CT_OCSD_FRAME_SIZE);
    f->index = index;
    unpack(f);
    f->parts[0].begin = f->parts[0].place = done;
    f->counted = true;
}

void ct_ocsd_frames_init(struct ct_ocsd_frames *f, uint32_t flags)
{
    *f = (struct ct_ocsd_frames){
        .flags = flags, .stats = f->stats, .id = CT_OCSD_NO_ID, .had_parts = f->had_parts};
}

static const uint8_t word[4] = {0xff, 0xff, 0xff, 0x7f};

enum {
    HALF_WORD = 2, /* bytes of half a synchronisation word */
};

uint32_t ct_ocsd_frames_unit(const struct ct_ocsd_frames *f)
{
    if (f->flags & OCSD_DFRMTR_HAS_HSYNCS)
        return HALF_WORD;
    return f->flags & OCSD_DFRMTR_HAS_FSYNCS ? sizeof word : CT_OCSD_FRAME_SIZE;
}

static bool is_aligned(const struct ct_ocsd_frames *f)
{
    return f->flags & OCSD_DFRMTR_FRAME_MEM_ALIGN;
}

/* Returns the size of the synchronisation words at the beginning of the bytes. */
static uint32_t words_at(const uint8_t *bytes, uint32_t size)
{
    uint32_t at = 0;
    while (size - at >= sizeof word && !memcmp(bytes + at, word, sizeof word))
        at += (uint32_t)sizeof word;
    return at;
}

/* Returns the size of a first half of a word if the bytes consist of it, or 0. */
static uint32_t half_at(const uint8_t *bytes, uint32_t size)
{
    return size == HALF_WORD && !memcmp(bytes, word, HALF_WORD) ? HALF_WORD : 0;
}

/* Returns the number of bytes before the first synchronisation word, which may be at any position. Without
 * one, leaves the last three bytes, which may begin a word, to the next call. A call with fewer bytes than a
 * word may end with its first half. */
static uint32_t find_word(const uint8_t *bytes, uint32_t size)
{
    uint32_t at = 0;
    if (size < sizeof word)
        return half_at(bytes, size) ? 0 : size;
    while (size - at >= sizeof word && !words_at(bytes + at, size - at))
        at++;
    return at;
}

struct ct_ocsd_words ct_ocsd_frames_words(struct ct_ocsd_frames *f, const uint8_t *bytes, uint32_t size)
{
    struct ct_ocsd_words words = {0};
    if (f->fill)
        return words;
    if (f->flags & OCSD_DFRMTR_HAS_FSYNCS) {
        if (!f->synced) {
            words.skipped = find_word(bytes, size);
            bytes += words.skipped;
            size -= words.skipped;
            f->synced = words_at(bytes, size) || half_at(bytes, size);
            if (!f->synced)
                return words;
        }
        words.size = f->half_word ? HALF_WORD : 0;
        words.broken = f->half_word && memcmp(bytes, word + HALF_WORD, HALF_WORD) != 0;
        words.size += words_at(bytes + words.size, size - words.size);
        f->half_word = half_at(bytes + words.size, size - words.size) != 0;
        words.size += f->half_word ? HALF_WORD : 0;
    } else if (f->flags & OCSD_DFRMTR_RESET_ON_4X_FSYNC && is_aligned(f)) {
        words.size = words_at(bytes, size);
        words.resets = words.size != 0;
    }
    return words;
}

/* Prints bytes, one frame's size per line, with a description `what` and the index of the first byte. */
static void print_bytes(ocsd_trc_index_t index, const char *what, const uint8_t *bytes, uint32_t size)
{
    char text[TEXT_SIZE];
    struct ct_ocsd_line line = {.text = text, .size = sizeof text};
    ct_ocsd_line_add(&line, "Frame Data; Index%7" OCSD_TRC_IDX_STR "; %s; ", index, what);
    for (uint32_t i = 0; i < size; i++) {
        ct_ocsd_line_add(&line, "%02x ", bytes[i]);
        if (i % CT_OCSD_FRAME_SIZE == CT_OCSD_FRAME_SIZE - 1 && i + 1 < size)
            ct_ocsd_line_say(&line, "\n");
    }
    ct_ocsd_line_say(&line, "\n");
    ct_ocsd_print(text);
}

void ct_ocsd_frames_print_words(const struct ct_ocsd_frames *f, ocsd_trc_index_t index, const uint8_t *bytes,
                                uint32_t size)
{
    if (f->flags & OCSD_DFRMTR_PACKED_RAW_OUT)
        print_bytes(index, "        FSYNC", bytes, size);
}

void ct_ocsd_frames_print_part(const struct ct_ocsd_frames *f, const struct ct_ocsd_part *part)
{
    char what[32];
    const bool is_last = part == &f->parts[f->part_count - 1];
    if (!(f->flags & OCSD_DFRMTR_UNPACKED_RAW_OUT) || (is_last && part->begin == part->end))
        return;
    if (part->id == CT_OCSD_NO_ID)
        snprintf(what, sizeof what, "  ID_DATA[????]");
    else
        snprintf(what, sizeof what, "  ID_DATA[0x%02x]", part->id);
    print_bytes(f->index + part->place, what, f->bytes + part->begin, (unsigned)(part->end - part->begin));
}

void ct_ocsd_frames_flush(struct ct_ocsd_frames *f)
{
    if (!f->had_parts && f->flags & OCSD_DFRMTR_UNPACKED_RAW_OUT)
        print_bytes(0, "  ID_DATA[0x00]", f->bytes, 0);
    f->had_parts = true;
}

/* Adds the two bytes at an even place of a frame, unless they are a half-word sync between frame bytes.
 * Returns what is wrong with them, or NULL. */
static const char *add_pair(struct ct_ocsd_frames *f, const uint8_t *pair)
{
    const bool looks = !is_aligned(f) && pair[0] == 0xff;
    if (looks && pair[1] == 0xff)
        return "Bad FSYNC start in frame or invalid ID (0x7F).";
    if (looks && pair[1] == 0x7f) {
        f->stats.frame_bytes += HALF_WORD;
        return f->flags & OCSD_DFRMTR_HAS_HSYNCS ? NULL : "Bad HSYNC in frame.";
    }
    f->raw[f->fill] = pair[0];
    f->raw[f->fill + 1] = pair[1];
    f->fill = (uint8_t)(f->fill + 2);
    return NULL;
}

uint32_t ct_ocsd_frames_add(struct ct_ocsd_frames *f, ocsd_trc_index_t index, const uint8_t *bytes,
                            uint32_t size, uint32_t words, const char **message)
{
    uint32_t at = words;
    f->stats.frame_bytes += words;
    *message = NULL;
    if (!f->fill)
        f->index = index + words;
    f->began = true;
    if (is_aligned(f) && size - at >= CT_OCSD_FRAME_SIZE) {
        memcpy(f->raw, bytes + at, CT_OCSD_FRAME_SIZE);
        f->fill = CT_OCSD_FRAME_SIZE;
        at += CT_OCSD_FRAME_SIZE;
    }
    while (at + 1 < size && f->fill < CT_OCSD_FRAME_SIZE && !*message) {
        *message = add_pair(f, bytes + at);
        at += 2;
    }
    if (*message)
        return 0;
    if (at && f->flags & OCSD_DFRMTR_PACKED_RAW_OUT)
        print_bytes(index, "   RAW_PACKED", bytes, at);
    if (f->fill == CT_OCSD_FRAME_SIZE) {
        f->fill = 0;
        unpack(f);
        f->stats.frame_bytes += CT_OCSD_FRAME_SIZE - f->parts[f->part_count - 1].end;
    }
    return at;
}
