/* SPDX-License-Identifier: Apache-2.0 */
/* Writes events of watchpoints to a receiver. */
#include "coretap/format.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "format/line_out.h"
#include "format/watch_text.h"

struct ct_watch_writer {
    struct ct_watch_write_options options;
    struct ct_line_out lines;
};

int ct_watch_writer_new(struct ct_ctx *ctx, const struct ct_watch_write_options *options, ct_write_fn *write,
                        void *user, struct ct_watch_writer **out)
{
    struct ct_watch_write_options mine;
    CT_REQUIRE_OUT(ctx, out, write);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    if (mine.format > CT_WATCH_FORMAT_CSV)
        return ct_fail(ctx, CT_ERR_ARG, "%s: format %u does not exist; nothing was written", __func__,
                       mine.format);
    struct ct_watch_writer *w = calloc(1, sizeof *w);
    if (!w)
        return ct_fail_nomem(ctx, "watchpoints");
    w->options = mine;
    const int rc = ct_line_out_open(&w->lines, ctx, write, user);
    if (rc) {
        free(w);
        return rc;
    }
    w->lines.head = ct_watch_head((enum ct_watch_format)mine.format);
    *out = w;
    return CT_OK;
}

void ct_watch_writer_free(struct ct_watch_writer *w)
{
    if (w)
        ct_line_out_close(&w->lines);
    free(w);
}

int ct_watch_writer_heading(struct ct_watch_writer *w, const char *buffer, int id)
{
    return w ? ct_line_out_heading(&w->lines, __func__, buffer, id) : CT_ERR_ARG;
}

/* Writes an event after finding its watchpoint. CT_ERR_ARG: the set does not have it. */
static int put(struct ct_watch_writer *w, const struct ct_event_origin *origin,
               const struct ct_watches *watches, const struct ct_watch_event *event)
{
    uint32_t count;
    const struct ct_watchpoint *all = ct_watches_all(watches, &count);
    if (event->watch >= count)
        return ct_fail(w->lines.ctx, CT_ERR_ARG,
                       "watchpoints: watchpoint %u does not exist; nothing was written", event->watch);
    ct_watch_line(&w->lines.text, (enum ct_watch_format)w->options.format, origin, &all[event->watch],
                  ct_watches_variable(watches, event->watch), event);
    return CT_OK;
}

int ct_watch_writer_add(struct ct_watch_writer *w, const struct ct_event_origin *origin,
                        const struct ct_watches *watches, const struct ct_watch_event *events, size_t count)
{
    CT_REQUIRE(w ? w->lines.ctx : NULL, w, origin, origin->buffer, origin->source, watches, events || !count);
    int rc = CT_OK;
    if (count)
        ct_line_out_begin(&w->lines);
    for (size_t i = 0; i < count && !rc; i++)
        rc = put(w, origin, watches, &events[i]);
    return rc ? rc : ct_line_out_result(&w->lines);
}

int ct_watch_writer_flush(struct ct_watch_writer *w)
{
    return w ? ct_line_out_flush(&w->lines) : CT_ERR_ARG;
}
