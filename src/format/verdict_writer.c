/* SPDX-License-Identifier: Apache-2.0 */
/* Writes results of specifications to a receiver. */
#include "coretap/verdict.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "format/line_out.h"
#include "format/verdict_text.h"

struct ct_verdict_writer {
    struct ct_verdict_write_options options;
    struct ct_line_out lines;
};

int ct_verdict_writer_new(struct ct_ctx *ctx, const struct ct_verdict_write_options *options,
                          ct_write_fn *write, void *user, struct ct_verdict_writer **out)
{
    struct ct_verdict_write_options mine;
    CT_REQUIRE_OUT(ctx, out, write);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    if (mine.format > CT_VERDICT_FORMAT_JSONL)
        return ct_fail(ctx, CT_ERR_ARG, "%s: format %u does not exist; nothing was written", __func__,
                       mine.format);
    struct ct_verdict_writer *w = calloc(1, sizeof *w);
    if (!w)
        return ct_fail_nomem(ctx, "results");
    w->options = mine;
    const int rc = ct_line_out_open(&w->lines, ctx, write, user);
    if (rc)
        free(w);
    else
        *out = w;
    return rc;
}

void ct_verdict_writer_free(struct ct_verdict_writer *w)
{
    if (w)
        ct_line_out_close(&w->lines);
    free(w);
}

int ct_verdict_writer_heading(struct ct_verdict_writer *w, const char *buffer, int id)
{
    return w ? ct_line_out_heading(&w->lines, __func__, buffer, id) : CT_ERR_ARG;
}

static bool is_whole(const struct ct_verdict_origin *o)
{
    const bool of_one = o && !o->several && o->buffer && o->source;
    return o && o->watches && o->specs && (of_one || (o->several && o->sources));
}

int ct_verdict_writer_result(struct ct_verdict_writer *w, const struct ct_verdict_origin *origin,
                             const struct ct_verify_result *result)
{
    CT_REQUIRE(w ? w->lines.ctx : NULL, w, is_whole(origin), result);
    ct_verdict_line(ct_line_out_begin(&w->lines), (enum ct_verdict_format)w->options.format, origin, result);
    return ct_line_out_result(&w->lines);
}

int ct_verdict_writer_stopped(struct ct_verdict_writer *w, const struct ct_verdict_origin *origin,
                              uint32_t spec, const char *why)
{
    CT_REQUIRE(w ? w->lines.ctx : NULL, w, is_whole(origin), why);
    ct_verdict_stopped(ct_line_out_begin(&w->lines), (enum ct_verdict_format)w->options.format, origin, spec,
                       why);
    return ct_line_out_result(&w->lines);
}

int ct_verdict_writer_flush(struct ct_verdict_writer *w)
{
    return w ? ct_line_out_flush(&w->lines) : CT_ERR_ARG;
}
