/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how often execution reached watchpoints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/counts.h"
#include "analysis/watch.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"
#include "coretap/watch.h"

enum {
    EVENTS = 256, /* events taken at a time */
};

struct stream {
    struct ct_counts_stream stream; /* must be the first member */
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    const struct ct_graph *graph; /* of the last batch, or NULL */
    uint64_t *counts;             /* by watchpoint */
};

static int begin(struct ct_counts *c, struct stream *s)
{
    uint32_t count;
    int rc = ct_watches_new(c->analysis.ctx, c->programs, &s->watches);
    for (size_t i = 0; i < c->place_count && !rc; i++)
        rc = ct_watches_add(s->watches, c->places[i], NULL, NULL);
    if (!rc)
        rc = ct_watcher_new(c->analysis.ctx, s->watches, &s->watcher);
    if (rc)
        return rc;
    ct_watches_all(s->watches, &count);
    s->counts = calloc((size_t)count + 1, sizeof *s->counts);
    return s->counts ? CT_OK : ct_fail_nomem(c->analysis.ctx, "watch");
}

static int take(struct ct_counts *c, struct ct_counts_stream *stream, const struct ct_analysis_batch *batch)
{
    struct stream *s = (struct stream *)stream;
    struct ct_watch_event events[EVENTS];
    int rc = s->watcher ? CT_OK : begin(c, s);
    int more = 1;
    s->graph = batch->steps->graph;
    while (!rc && more) {
        size_t count;
        rc = ct_watcher_run(s->watcher, batch->steps, events, EVENTS, &count, &more);
        for (size_t i = 0; i < count; i++)
            s->counts[events[i].watch]++;
    }
    return rc;
}

static int cut(struct ct_counts *c, struct ct_counts_stream *stream, int is_end, struct ct_analysis_cut *out)
{
    struct stream *s = (struct stream *)stream;
    uint32_t count;
    const int rc = s->watcher ? CT_OK : begin(c, s);
    if (rc)
        return rc;
    ct_watches_all(s->watches, &count);
    if (!is_end)
        memset(s->counts, 0, count * sizeof *s->counts);
    return ct_watcher_cut(s->watcher, s->graph, out);
}

static int end(struct ct_counts *c, struct ct_counts_stream *stream)
{
    const struct stream *s = (const struct stream *)stream;
    uint32_t count = 0;
    const struct ct_watchpoint *all = s->counts ? ct_watches_all(s->watches, &count) : NULL;
    int rc = CT_OK;
    for (uint32_t i = 0; i < count && !rc; i++) {
        char name[CT_COUNTS_NAME + 1];
        if (!s->counts[i])
            continue;
        snprintf(name, sizeof name, "%s %s", all[i].name,
                 ct_watch_kind_name((enum ct_watch_kind)all[i].kind));
        rc = ct_counts_add(c, name, s->counts[i]);
    }
    return rc;
}

static void free_stream(struct ct_counts_stream *stream)
{
    struct stream *s = (struct stream *)stream;
    ct_watcher_free(s->watcher);
    ct_watches_free(s->watches);
    free(s->counts);
}

static const struct ct_counts_way way = {sizeof(struct stream), take, cut, end, free_stream};

static const struct ct_analysis_kind kind =
    CT_COUNTS_KIND("watch", "coretap watch --format data", CT_INPUT_STEPS);

const struct ct_analysis_kind *ct_watch_counts_kind(void)
{
    return &kind;
}

int ct_watch_counts_new(struct ct_ctx *ctx, struct ct_counts **out)
{
    return ct_counts_new(ctx, &kind, &way, out);
}

int ct_watch_counts_add(struct ct_counts *c, const char *place)
{
    CT_REQUIRE(NULL, c, place, c->way == &way);
    if (!CT_PUSH_ROOM(c->places, c->place_count) || !(c->places[c->place_count] = strdup(place)))
        return ct_fail_nomem(c->analysis.ctx, "watch");
    c->place_count++;
    return CT_OK;
}
