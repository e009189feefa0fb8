/* SPDX-License-Identifier: Apache-2.0 */
#include "format/report_clock.h"

#include <stdlib.h>

#include "base/room.h"
#include "base/search.h"

/* most timestamps kept for a stream */
#define ANCHORS 65536u

/* Drops every other timestamp, except the first and the last one. */
static void thin(struct ct_report_clock *c)
{
    size_t kept = 1;
    for (size_t i = 2; i + 1 < c->count; i += 2)
        c->anchors[kept++] = c->anchors[i];
    c->anchors[kept++] = c->anchors[c->count - 1];
    c->count = kept;
    c->stride = c->stride ? 2 * c->stride : 2;
}

/* Adds a timestamp. Ignores one that goes back, which no axis can show. Of timestamps with nothing between
 * them keeps the first and the last. */
static int add(struct ct_report_clock *c, uint64_t at, uint64_t time)
{
    struct ct_report_anchor *last = c->count ? &c->anchors[c->count - 1] : NULL;
    if (last && (time <= last->time || at < last->at))
        return CT_OK;
    if (last && c->count > 1 && at == last->at && at == last[-1].at) {
        last->time = time;
        return CT_OK;
    }
    if (last && ++c->skipped < c->stride)
        return CT_OK;
    c->skipped = 0;
    if (last && c->count == ANCHORS)
        thin(c);
    const int rc = CT_MAKE_ROOM(c->anchors, c->room, c->count + 1) ? CT_OK : CT_ERR_NOMEM;
    if (!rc)
        c->anchors[c->count++] = (struct ct_report_anchor){at, time};
    return rc;
}

static bool is_timestamp(const struct ct_step_mark *mark)
{
    return mark->kind == CT_MARK_ELEM && mark->elem.kind == CT_ELEM_TIMESTAMP;
}

/* Returns the cycles or instructions of the steps [from, to). */
static uint64_t length(const struct ct_step_batch *batch, bool cycles, size_t from, size_t to)
{
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &count);
    const struct ct_edge *edges = ct_graph_edges(batch->graph, &count);
    uint64_t sum = 0;
    for (size_t i = from; i < to; i++) {
        if (!cycles)
            sum += nodes[edges[batch->edge[i]].from].n;
        else if (batch->cycles && batch->cycles[i] != CT_STEP_NO_CYCLES)
            sum += batch->cycles[i] & CT_STEP_CYCLES;
    }
    return sum;
}

int ct_report_clock_take(struct ct_report_clock *c, const struct ct_step_batch *batch, bool cycles)
{
    size_t step = 0;
    int rc = CT_OK;
    for (size_t i = 0; i < batch->mark_count && !rc; i++) {
        const struct ct_step_mark *mark = &batch->marks[i];
        if (!is_timestamp(mark))
            continue;
        c->at += length(batch, cycles, step, mark->at);
        step = mark->at;
        rc = add(c, c->at, mark->elem.v);
    }
    c->at += length(batch, cycles, step, batch->count);
    return rc;
}

void ct_report_clock_free(struct ct_report_clock *c)
{
    free(c->anchors);
    *c = (struct ct_report_clock){0};
}

/* Returns the time of `at` on the line through two anchors. */
static uint64_t on_line(const struct ct_report_anchor *a, const struct ct_report_anchor *b, uint64_t at)
{
    if (a->at == b->at) /* the rate of the clock is unknown */
        return b->time;
    const bool is_behind = at >= a->at;
    const uint64_t distance = is_behind ? at - a->at : a->at - at;
    const unsigned __int128 part = (unsigned __int128)distance * (b->time - a->time) / (b->at - a->at);
    if (is_behind)
        return part > UINT64_MAX - a->time ? UINT64_MAX : a->time + (uint64_t)part;
    return part > a->time ? 0 : a->time - (uint64_t)part;
}

uint64_t ct_report_clock_time(const struct ct_report_clock *c, uint64_t at, bool ends)
{
    const struct ct_report_anchor *end = c->anchors + c->count;
    const size_t before =
        CT_COUNT_WHILE(c->count, i, c->anchors[i].at < at || (!ends && c->anchors[i].at == at));
    const struct ct_report_anchor *b = c->anchors + (before < c->count ? before : c->count - 1);
    const struct ct_report_anchor *a = b > c->anchors ? b - 1 : b;
    while (a->at == b->at && a > c->anchors)
        a--;
    while (a->at == b->at && b + 1 < end)
        b++;
    return on_line(a, b, at);
}
