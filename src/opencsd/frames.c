/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/frames.h"

#include <string.h>

#include "opencsd/line.h"
#include "opencsd/log.h"

enum {
    LINE_SIZE = 128, /* longest line of a frame */
};

/* Begins a part of another ID, whose byte lies at `place` in the frame. One that has no data gives way, but
 * its place stays. */
static struct ct_ocsd_part *change_id(struct ct_ocsd_frames *f, struct ct_ocsd_part *part, uint8_t id,
                                      uint8_t place)
{
    const uint8_t at = part->end;
    f->id = id;
    if (part->begin == part->end) {
        part->id = id;
        return part;
    }
    part = &f->parts[f->part_count++];
    *part = (struct ct_ocsd_part){.id = id, .begin = at, .end = at, .place = place};
    return part;
}

void ct_ocsd_frames_unpack(struct ct_ocsd_frames *f)
{
    const uint8_t flags = f->raw[15];
    struct ct_ocsd_part *part = &f->parts[0];
    *part = (struct ct_ocsd_part){.id = f->id};
    f->part_count = 1;
    f->part = 0;
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
        if (flag && has_odd) /* the byte behind it is still of the ID before */
            f->bytes[part->end++] = f->raw[i + 1];
        if (even >> 1 != f->id) /* else the part goes on, and its indices with it */
            part = change_id(f, part, even >> 1, i);
        if (!flag && has_odd)
            f->bytes[part->end++] = f->raw[i + 1];
    }
}

void ct_ocsd_frames_init(struct ct_ocsd_frames *f, uint32_t flags)
{
    *f = (struct ct_ocsd_frames){.flags = flags, .id = CT_OCSD_NO_ID};
}

static const uint8_t fsync[4] = {0xff, 0xff, 0xff, 0x7f};

/* Tells whether four synchronisation words stand in the place of a frame. */
static bool is_fsync_frame(const uint8_t *raw)
{
    for (unsigned i = 0; i < CT_OCSD_FRAME_SIZE; i++)
        if (raw[i] != fsync[i % 4])
            return false;
    return true;
}

/* Prints a line of bytes: `what` they are, and the index of the first. */
static void print_bytes(ocsd_trc_index_t index, const char *what, const uint8_t *bytes, unsigned size)
{
    char text[LINE_SIZE];
    struct ct_ocsd_line line = {.text = text, .size = sizeof text};
    ct_ocsd_line_add(&line, "Frame Data; Index%7" OCSD_TRC_IDX_STR "; %s; ", index, what);
    for (unsigned i = 0; i < size; i++)
        ct_ocsd_line_add(&line, "%02x ", bytes[i]);
    ct_ocsd_line_add(&line, "\n");
    ct_ocsd_print(text);
}

void ct_ocsd_frames_print_part(const struct ct_ocsd_frames *f, const struct ct_ocsd_part *part)
{
    char what[32];
    if (!(f->flags & OCSD_DFRMTR_UNPACKED_RAW_OUT) || part->begin == part->end)
        return;
    if (part->id == CT_OCSD_NO_ID)
        snprintf(what, sizeof what, "  ID_DATA[????]");
    else
        snprintf(what, sizeof what, "  ID_DATA[0x%02x]", part->id);
    print_bytes(f->index + part->place, what, f->bytes + part->begin, (unsigned)(part->end - part->begin));
}

/* Ends the frame in `raw`. */
static void end_frame(struct ct_ocsd_frames *f)
{
    f->fill = 0;
    f->part = f->part_count = 0;
    if (f->flags & OCSD_DFRMTR_PACKED_RAW_OUT)
        print_bytes(f->index, "   RAW_PACKED", f->raw, CT_OCSD_FRAME_SIZE);
    if ((f->flags & OCSD_DFRMTR_RESET_ON_4X_FSYNC) && is_fsync_frame(f->raw)) {
        f->resets = true;
        f->id = CT_OCSD_NO_ID;
        return;
    }
    ct_ocsd_frames_unpack(f);
}

uint32_t ct_ocsd_frames_add(struct ct_ocsd_frames *f, ocsd_trc_index_t index, const uint8_t *bytes,
                            uint32_t size)
{
    const uint32_t room = CT_OCSD_FRAME_SIZE - f->fill;
    const uint32_t more = size < room ? size : room;
    if (!f->fill)
        f->index = index;
    f->began = true;
    memcpy(f->raw + f->fill, bytes, more);
    f->fill = (uint8_t)(f->fill + more);
    if (f->fill == CT_OCSD_FRAME_SIZE)
        end_frame(f);
    return more;
}
