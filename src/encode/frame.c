/* SPDX-License-Identifier: Apache-2.0 */
/* Packs per-ID runs of bytes into CoreSight frames: ARM IHI 0029, chapter "Trace formatter". */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/encode.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"

enum {
    FRAME = 16,
    BLOCK = 512, /* DSTREAM: bytes in a block, including its footer */
    FOOTER = 8,
    MAX_ID = 0x7e, /* 0x7f would make an ID byte equal to the first half of a synchronisation word */
};

struct ct_framer {
    struct ct_ctx *ctx;
    struct ct_framer_options options;
    uint64_t frames; /* number of frames begun */
    uint32_t block_used;
    uint32_t blocks;
    uint8_t frame[FRAME];
    uint8_t pos; /* next free byte of `frame`, 0 to 14 */
    uint8_t id;
    uint8_t has_id;
};

/* Output of finished bytes. The caller has checked the room. */
struct sink {
    struct ct_framer *framer;
    uint8_t *out;
    size_t len;
};

/* Writes the footer of a block: a fixed mark and counters of the capture unit. */
static void put_footer(struct sink *sink)
{
    struct ct_framer *f = sink->framer;
    const uint8_t footer[FOOTER] = {
        0, 0, 0, 0, 0x7e, (uint8_t)((f->blocks & 3) << 4), (uint8_t)(0xfe - f->blocks), 0x0f};
    memcpy(sink->out + sink->len, footer, FOOTER);
    sink->len += FOOTER;
    f->blocks++;
    f->block_used = 0;
}

static void put(struct sink *sink, const uint8_t *bytes, size_t size)
{
    struct ct_framer *f = sink->framer;
    if (f->options.framing != CT_FRAMING_DSTREAM) {
        memcpy(sink->out + sink->len, bytes, size);
        sink->len += size;
        return;
    }
    for (size_t i = 0; i < size; i++) {
        sink->out[sink->len++] = bytes[i];
        if (++f->block_used == BLOCK - FOOTER)
            put_footer(sink);
    }
}

static const uint8_t fsync_word[4] = {0xff, 0xff, 0xff, 0x7f};
static const uint8_t hsync_word[2] = {0xff, 0x7f};

static void emit_frame(struct sink *sink)
{
    struct ct_framer *f = sink->framer;
    uint32_t fsync = f->options.fsync_period, hsync = f->options.hsync_period;
    if (f->options.framing != CT_FRAMING_FRAMES && (f->frames == 0 || (fsync && f->frames % fsync == 0)))
        put(sink, fsync_word, sizeof(fsync_word));
    if (f->options.framing == CT_FRAMING_TPIU && hsync && f->frames % hsync == 0) {
        put(sink, f->frame, 6);
        put(sink, hsync_word, sizeof(hsync_word));
        put(sink, f->frame + 6, FRAME - 6);
    } else {
        put(sink, f->frame, FRAME);
    }
    f->frames++;
    memset(f->frame, 0, FRAME);
    f->pos = 0;
}

/* Changes the ID of the following data. In the middle of a pair the data byte already there moves after the
 * ID byte, and the pair's bit of byte 15 says that the byte still belongs to the old ID. */
static void set_id(struct sink *sink, uint8_t id)
{
    struct ct_framer *f = sink->framer;
    unsigned even = f->pos & ~1u, pair = even / 2;
    uint8_t id_byte = (uint8_t)(id << 1 | 1);
    if (f->pos & 1) {
        uint8_t low = f->frame[15] >> pair & 1;
        f->frame[even + 1] = f->frame[even] | low;
        f->frame[15] |= (uint8_t)(1u << pair);
    }
    f->frame[even] = id_byte;
    f->pos++;
    f->id = id;
    f->has_id = 1;
    if (f->pos == 15)
        emit_frame(sink);
}

static void put_data(struct sink *sink, uint8_t byte)
{
    struct ct_framer *f = sink->framer;
    if (f->pos & 1) {
        f->frame[f->pos] = byte;
    } else { /* bit 0 distinguishes data from IDs; the real one goes to byte 15 */
        f->frame[f->pos] = byte & 0xfe;
        f->frame[15] |= (uint8_t)((byte & 1) << f->pos / 2);
    }
    if (++f->pos == 15)
        emit_frame(sink);
}

/* Returns whether the frame that begins repeats the trace ID. */
static bool names_again(const struct ct_framer *f)
{
    return f->pos == 0 && f->options.id_period && f->frames % f->options.id_period == 0;
}

int ct_framer_push(struct ct_framer *framer, uint8_t id, const uint8_t *data, size_t size, size_t *used,
                   uint8_t *out, size_t cap, size_t *len)
{
    CT_REQUIRE_OF(framer, data || !size, used, out, len);
    struct sink sink = {framer, out, 0};
    *used = *len = 0;
    if (id > MAX_ID || cap < CT_FRAMER_OUT_MIN)
        return ct_fail(framer->ctx, CT_ERR_ARG,
                       "framer: trace ID %u is above %d, or the room for %zu bytes is below %d; nothing was "
                       "framed; correct that one",
                       id, MAX_ID, cap, CT_FRAMER_OUT_MIN);
    if (size && (!framer->has_id || framer->id != id))
        set_id(&sink, id);
    while (*used < size && cap - sink.len >= CT_FRAMER_OUT_MIN / 2) {
        if (names_again(framer))
            set_id(&sink, id);
        put_data(&sink, data[(*used)++]);
    }
    *len = sink.len;
    return CT_OK;
}

int ct_framer_finish(struct ct_framer *framer, uint8_t *out, size_t cap, size_t *len)
{
    CT_REQUIRE_OF(framer, out, len);
    struct sink sink = {framer, out, 0};
    *len = 0;
    if (cap < 2 * BLOCK)
        return ct_fail(framer->ctx, CT_ERR_ARG,
                       "framer: there is room for %zu bytes, but the end may need %d; the last frame was not "
                       "written; give more room",
                       cap, 2 * BLOCK);
    if (framer->pos) {
        set_id(&sink, 0);
        while (framer->pos)
            put_data(&sink, 0);
    }
    if (framer->options.framing == CT_FRAMING_DSTREAM)
        while (framer->block_used)
            put(&sink, fsync_word, sizeof(fsync_word));
    *len = sink.len;
    return CT_OK;
}

int ct_framer_new(struct ct_ctx *ctx, const struct ct_framer_options *options, struct ct_framer **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_framer_options o;
    const int rc = ct_options_read(ctx, "ct_framer_new", options, &o, sizeof o);
    if (rc)
        return rc;
    if (o.framing < CT_FRAMING_FRAMES || o.framing > CT_FRAMING_DSTREAM)
        return ct_fail(ctx, CT_ERR_ARG,
                       "framer: framing %u has no frames; no framer was made; choose one that has",
                       o.framing);
    struct ct_framer *framer = calloc(1, sizeof(*framer));
    if (!framer)
        return ct_fail_nomem(ctx, "framer");
    framer->ctx = ctx;
    framer->options = o;
    *out = framer;
    return CT_OK;
}

void ct_framer_free(struct ct_framer *framer)
{
    free(framer);
}
