/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the contents of a capture to a receiver. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/options.h"
#include "base/out.h"
#include "base/require.h"
#include "format/info.h"

/* What was written so far. */
enum stage {
    NOTHING,
    CAPTURE, /* and buffers */
    ALL,
};

struct ct_info_writer {
    struct ct_ctx *ctx;
    enum stage stage;
    struct ct_json *json;           /* NULL: text */
    struct ct_out out;              /* for text */
    const struct ct_buffer *listed; /* the last buffer whose images were listed; NULL: none */
};

const struct ct_stream *ct_info_stream(const struct ct_info_buffer *info, const struct ct_source *source)
{
    for (size_t i = 0; i < info->stream_count; i++) {
        if (info->streams[i].source == source)
            return &info->streams[i];
    }
    return NULL;
}

uint64_t ct_info_source_bytes(const struct ct_info_buffer *info, const struct ct_source *source)
{
    if (!info->frames)
        return 0;
    if (info->framing == CT_FRAMING_NONE)
        return source == info->buffer->sources ? info->frames->id_bytes[0] : 0;
    return info->frames->id_bytes[source->trace_id & 0x7f];
}

int ct_info_writer_new(struct ct_ctx *ctx, const struct ct_info_write_options *options, ct_write_fn *write,
                       void *user, struct ct_info_writer **out)
{
    struct ct_info_write_options mine;
    CT_REQUIRE_OUT(ctx, out, write);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    if (mine.format > CT_INFO_FORMAT_JSON)
        return ct_fail(ctx, CT_ERR_ARG, "%s: format %u does not exist; nothing was written", __func__,
                       mine.format);
    struct ct_info_writer *w = calloc(1, sizeof *w);
    if (!w)
        return ct_fail_nomem(ctx, "contents of a capture");
    w->ctx = ctx;
    const int rc = mine.format == CT_INFO_FORMAT_JSON ? ct_json_new(ctx, NULL, write, user, &w->json)
                                                      : ct_out_open(&w->out, ctx, write, user);
    if (rc) {
        free(w);
        return rc;
    }
    *out = w;
    return CT_OK;
}

void ct_info_writer_free(struct ct_info_writer *w)
{
    if (w && w->out.file)
        (void)ct_out_close(&w->out, CT_OK);
    if (w)
        ct_json_free(w->json);
    free(w);
}

/* Passes on what is written. Returns the receiver's error, or CT_OK. */
static int pass_on(struct ct_info_writer *w)
{
    if (w->json)
        return ct_json_flush(w->json);
    (void)fflush(w->out.file); /* the receiver's error is kept */
    return w->out.result;
}

static int out_of_order(const struct ct_info_writer *w, const char *who)
{
    return ct_fail(w->ctx, CT_ERR_ARG,
                   "%s: this call is out of order, so nothing was written; the capture comes first and once, "
                   "then its buffers, then the end",
                   who);
}

int ct_info_writer_capture(struct ct_info_writer *w, const struct ct_capture *capture)
{
    CT_REQUIRE_OF(w, capture);
    if (w->stage != NOTHING)
        return out_of_order(w, __func__);
    w->stage = CAPTURE;
    if (w->json)
        ct_info_json_capture(w->json, capture);
    else
        ct_info_text_capture(w->out.file, capture);
    return pass_on(w);
}

/* Returns whether both buffers have the same images, and more than one: a line says as much as one image. */
static bool is_alike(const struct ct_buffer *a, const struct ct_buffer *b)
{
    bool same = a && a->image_count > 1 && a->image_count == b->image_count;
    for (size_t i = 0; i < b->image_count && same; i++)
        same = ct_image_same(&a->images[i], &b->images[i]);
    return same;
}

int ct_info_writer_buffer(struct ct_info_writer *w, const struct ct_buffer *buffer,
                          const struct ct_chain *chain)
{
    CT_REQUIRE_OF(w, buffer, chain);
    if (w->stage != CAPTURE)
        return out_of_order(w, __func__);
    struct ct_info_buffer info = {
        .buffer = buffer, .frames = ct_chain_frame_stats(chain), .framing = ct_chain_framing(chain)};
    info.streams = ct_chain_streams(chain, &info.stream_count);
    if (is_alike(w->listed, buffer))
        info.alike = w->listed;
    else
        w->listed = buffer;
    if (w->json)
        ct_info_json_buffer(w->json, &info);
    else
        ct_info_text_buffer(w->out.file, &info);
    return pass_on(w);
}

int ct_info_writer_end(struct ct_info_writer *w, const struct ct_losses *losses)
{
    CT_REQUIRE_OF(w, losses);
    if (w->stage != CAPTURE)
        return out_of_order(w, __func__);
    w->stage = ALL;
    if (w->json)
        ct_info_json_end(w->json, losses);
    else
        ct_info_text_end(w->out.file, losses);
    return pass_on(w);
}
