/* SPDX-License-Identifier: Apache-2.0 */
#include "live/fractal.h"

#include <inttypes.h>

#define MARKS 3 /* watchpoints that a verifier adds itself, before all others */

static struct ct_live_stream *stream_of(const struct ct_live *l)
{
    return l->streams[0];
}

int ct_live_log_begin(struct ct_live_stream *s)
{
    const struct ct_live *l = s->live;
    return ct_fractal_watch_stream(l->ctx, l->options.buffer->name, s->watches, MARKS, &s->log);
}

int ct_live_log_allows(const struct ct_live *l, const char *place)
{
    struct ct_watches *watches = NULL;
    struct ct_fractal_watch *log = NULL;
    int rc = ct_live_watches_new(l, &watches)
             ?: ct_watches_add(watches, place, NULL, NULL)
             ?: ct_fractal_watch_stream(l->ctx, place, watches, 0, &log);
    ct_fractal_watch_free(log);
    ct_watches_free(watches);
    return rc;
}

int ct_live_log_take(struct ct_live *l, const struct ct_live_piece *piece)
{
    static const struct ct_stream log = {.id = 0};
    struct ct_stream described = log;
    int rc = CT_OK;
    described.source = l->options.buffer->sources;
    struct ct_live_stream *s = ct_live_stream_of(l, &described, &rc);
    if (!rc)
        rc = ct_fractal_watch_push(s->log, piece->data, piece->size);
    return rc ? rc : ct_live_stream_log(s);
}

/* Counts and reports the losses of the log. */
static void tell_losses(struct ct_live *l, const struct ct_live_stream *s)
{
    const struct ct_losses lost = ct_fractal_watch_losses(s->log);
    l->log_lost = lost.overflows + lost.lost_bytes;
    if (l->log_lost)
        ct_live_say(&l->say, CT_LOG_WARNING,
                    "%s: the tracer dropped %" PRIu64 " events, and %" PRIu64 " bytes are damaged; results "
                    "after them are uncertain",
                    l->options.buffer->name, lost.overflows, lost.lost_bytes);
}

int ct_live_log_finish(struct ct_live *l)
{
    struct ct_live_stream *s = stream_of(l);
    if (!s)
        return CT_OK;
    int rc = ct_fractal_watch_end(s->log) ?: ct_live_stream_log(s);
    tell_losses(l, s);
    return rc;
}

double ct_live_log_time(const struct ct_live *l)
{
    uint64_t clock = 0;
    const uint64_t time = stream_of(l) ? ct_fractal_watch_time(stream_of(l)->log, &clock) : 0;
    return clock ? (double)time / (double)clock : 0;
}
