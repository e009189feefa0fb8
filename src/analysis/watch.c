/* SPDX-License-Identifier: Apache-2.0 */
/* The watcher, which turns steps into events of watchpoints. */
#include "coretap/watch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/watcher.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"
#include "coretap/analysis.h"

#define NOTHING UINT32_MAX /* an edge that reaches no watchpoint */

/* Refuses watchpoints of a kind that trace does not have. CT_ERR_NOT_FOUND. */
static int check_kinds(struct ct_ctx *ctx, const struct ct_watches *watches)
{
    for (size_t i = 0; i < watches->count; i++)
        if (watches->points[i].kind == CT_WATCH_ACCESS)
            return ct_fail(ctx, CT_ERR_NOT_FOUND,
                           "watchpoint '%s': a trace has no memory accesses of this kind; use load:NAME or "
                           "store:NAME with a data trace, or an event log of coretap fractal",
                           watches->points[i].name);
    return CT_OK;
}

int ct_watcher_new(struct ct_ctx *ctx, struct ct_watches *watches, struct ct_watcher **out)
{
    CT_REQUIRE_OUT(ctx, out, watches);
    int rc = check_kinds(ctx, watches);
    if (!rc)
        rc = ct_watches_sort(watches);
    struct ct_watcher *w = rc ? NULL : calloc(1, sizeof *w);
    if (!w)
        return rc ? rc : ct_fail_nomem(ctx, "watcher");
    watches->watched = 1;
    w->ctx = ctx;
    w->watches = watches;
    w->before = CT_WATCHER_NO_EDGE;
    w->access = CT_WATCH_ANY;
    w->reader.watches = watches;
    rc = watches->named ? ct_named_reader_new(ctx, watches->named, &w->named) : CT_OK;
    if (rc)
        ct_watcher_free(w);
    else
        *out = w;
    return rc;
}

void ct_watcher_free(struct ct_watcher *w)
{
    if (!w)
        return;
    ct_named_reader_free(w->named);
    ct_watch_lines_free(&w->lines);
    free(w->first);
    free(w->hits);
    free(w->seen);
    free(w);
}

int ct_watcher_renew(struct ct_watcher *w)
{
    CT_REQUIRE(NULL, w);
    if (w->step || w->mark || w->begun || w->pending_count)
        return ct_fail(w->ctx, CT_ERR_ARG,
                       "watcher: a batch is not finished, so no watchpoint can be added; call ct_watcher_run "
                       "until it has no more events");
    w->edges = w->hit_count = 0;
    return CT_OK;
}

int ct_watcher_fold_timestamps(struct ct_watcher *w)
{
    CT_REQUIRE(NULL, w);
    w->row.wanted = true;
    return CT_OK;
}

/* Returns whether the events of a watchpoint depend on nothing but the context and the edge before. */
static bool can_cut(const struct ct_watchpoint *point)
{
    const uint32_t kinds = 1u << CT_WATCH_ADDR | 1u << CT_WATCH_LINE | 1u << CT_WATCH_ENTRY |
                           1u << CT_WATCH_RETURN | 1u << CT_WATCH_EDGE | 1u << CT_WATCH_EXCEPTION |
                           1u << CT_WATCH_EXCEPTION_RETURN | 1u << CT_WATCH_CONTEXT | 1u << CT_WATCH_GAP |
                           1u << CT_WATCH_OVERFLOW | 1u << CT_WATCH_NO_ACCESS | 1u << CT_WATCH_EVENT;
    const bool by_name = point->kind == CT_WATCH_CONTEXT && point->number != CT_WATCH_ANY &&
                         point->number & CT_WATCH_CONTEXT_NAME;
    return kinds >> point->kind & 1 && !by_name;
}

int ct_watcher_cut(const struct ct_watcher *w, const struct ct_graph *graph, struct ct_analysis_cut *cut)
{
    uint32_t count;
    for (size_t i = 0; i < w->watches->count; i++)
        if (!can_cut(&w->watches->points[i]))
            return CT_ERR_NOT_FOUND;
    const uint64_t context[] = {w->now.known, w->now.ctxt, w->now.vmid, w->now.el_sec};
    memcpy(cut->numbers, context, sizeof context);
    cut->count = sizeof context / sizeof *context;
    if (!graph || w->before == CT_WATCHER_NO_EDGE)
        return CT_OK;
    const struct ct_edge *edge = &ct_graph_edges(graph, &count)[w->before];
    const struct ct_node *node = &ct_graph_nodes(graph, &count)[edge->from];
    const uint64_t before[] = {edge->kind, edge->next, node->sub, node->last};
    memcpy(cut->numbers + cut->count, before, sizeof before);
    cut->count += sizeof before / sizeof *before;
    return CT_OK;
}

/* ---- the map from edges to hits ---- */

static int make_room(struct ct_watcher *w, size_t edges)
{
    return CT_MAKE_ROOM(w->first, w->edge_room, edges) ? CT_OK : ct_fail_nomem(w->ctx, "watcher");
}

static int make_hit_room(struct ct_watcher *w, size_t count)
{
    return CT_MAKE_ROOM(w->hits, w->hit_room, count) ? CT_OK : ct_fail_nomem(w->ctx, "watcher");
}

/* Finds the hits of the new edges of the graph. CT_ERR_NOMEM. */
static int learn(struct ct_watcher *w, const struct ct_graph *graph)
{
    uint32_t count;
    uint32_t nodes;
    const struct ct_edge *edges = ct_graph_edges(graph, &count);
    const struct ct_node *all = ct_graph_nodes(graph, &nodes);
    int rc = make_room(w, count);
    while (!rc && w->edges < count) {
        const struct ct_edge *edge = &edges[w->edges];
        size_t free_room = w->hit_room - w->hit_count;
        size_t n = ct_watch_hits(w->watches, &all[edge->from], edge, w->hits ? w->hits + w->hit_count : NULL,
                                 free_room);
        if (n > free_room) {
            rc = make_hit_room(w, w->hit_count + n);
            continue;
        }
        w->first[w->edges++] = n ? (uint32_t)w->hit_count : NOTHING;
        w->hit_count += n;
    }
    return rc;
}

/* Makes room for the known bytes of variables watched since the last call. CT_ERR_NOMEM. */
static int make_seen_room(struct ct_watcher *w)
{
    const size_t count = w->watches->variable_count;
    if (count <= w->seen_count)
        return CT_OK;
    struct ct_known_bytes *seen = realloc(w->seen, count * sizeof *seen);
    if (!seen)
        return ct_fail_nomem(w->ctx, "watcher");
    memset(seen + w->seen_count, 0, (count - w->seen_count) * sizeof *seen);
    w->seen = seen;
    w->seen_count = count;
    return CT_OK;
}

/* ---- variables ---- */

static bool is_of_variable(const struct ct_watch_event *e)
{
    return e->kind == CT_WATCH_LOAD || e->kind == CT_WATCH_STORE;
}

/* Returns the variable of a watchpoint and the known bytes of it in *seen, or NULL. */
static const struct ct_watched_variable *variable_of(struct ct_watcher *w, uint32_t watch,
                                                     struct ct_known_bytes **seen)
{
    for (size_t i = 0; i < w->seen_count; i++) {
        *seen = &w->seen[i];
        if (w->watches->variables[i].watch == watch)
            return &w->watches->variables[i];
    }
    return NULL;
}

/* Adds the event of the held access, and notes the bytes that it tells of all variables. */
static void release_access(struct ct_watcher *w)
{
    w->given = w->reader.held;
    w->given_number += CT_WATCH_BITS + 1;
    w->reader.is_held = false;
    for (size_t i = 0; i < w->seen_count; i++)
        ct_access_see(&w->given, &w->watches->variables[i], &w->seen[i]);
    ct_watcher_offer(w, w->given.is_store ? CT_WATCH_STORE : CT_WATCH_LOAD, 0, 0);
}

/* Returns whether the held access is complete, before the next mark or step of a batch. */
static bool is_access_over(const struct ct_watcher *w, const struct ct_step_batch *batch)
{
    if (!w->reader.is_held)
        return false;
    if (w->mark == batch->mark_count)
        return w->step < batch->count;
    const struct ct_step_mark *mark = &batch->marks[w->mark];
    return mark->at > w->step || !ct_access_goes_on(&w->reader, mark);
}

/* Returns whether a LOAD or STORE accesses the variable of a watchpoint, and sets the value of the event. */
static bool is_access_to(struct ct_watcher *w, uint32_t watch, struct ct_watch_event *e)
{
    struct ct_known_bytes *seen = NULL;
    const struct ct_watched_variable *variable = variable_of(w, watch, &seen);
    if (!variable || !ct_access_see(&w->given, variable, seen))
        return false;
    ct_access_value(&w->given, variable, seen, e);
    e->number |= w->given_number;
    return true;
}

/* ---- events of marks ---- */

/* Sets the value of an event as its watchpoint wants it. */
static void give_value(struct ct_watcher *w, const struct ct_watchpoint *point, struct ct_watch_event *e)
{
    if (e->kind == CT_WATCH_EVENT)
        e->value = point->number == CT_WATCH_ANY ? 0 : point->number;
    if (e->kind < CT_WATCH_ITM || e->kind == CT_WATCH_EVENT)
        return;
    w->same++;
    if (!is_of_variable(e) && point->form == CT_WATCH_SIGNED && e->number && e->number < 64)
        e->value = (uint64_t)((int64_t)(e->value << (64 - e->number)) >> (64 - e->number));
}

/* Sets the text of an event as its watchpoint wants it. Returns false when there is none yet, or when the
 * watcher failed. */
static bool give_text(struct ct_watcher *w, struct ct_watch_event *e)
{
    char room[CT_WATCH_LINE_MOST];
    const char *text = room;
    size_t size = 0;
    if (e->kind == CT_WATCH_NAMED)
        size = ct_named_event_text(&w->told, w->watches->named, w->watches->named_shift, room, sizeof room);
    else if (e->kind == CT_WATCH_CONTEXT)
        size = ct_watches_context_text(w->watches, e, room, sizeof room);
    else if (ct_watch_lines_take(&w->lines, w->point, w->port, e->value, e->number, &text, &size))
        w->failed = ct_fail_nomem(w->ctx, "watcher");
    if (w->failed || !text)
        return false;
    size = text == room && size >= sizeof room ? sizeof room - 1 : size;
    w->failed = ct_watches_set_text(w->watches, text, size, e);
    return !w->failed;
}

/* Gives the events of a mark to each watchpoint that wants them. Returns false when `out` is full. */
static bool give_pending(struct ct_watcher *w, struct ct_watch_event *out, size_t cap, size_t *count)
{
    for (; w->pending_done < w->pending_count; w->pending_done++, w->point = 0) {
        const struct ct_watch_event *e = &w->pending[w->pending_done];
        for (; w->point < w->watches->count; w->point++) {
            const struct ct_watchpoint *point = &w->watches->points[w->point];
            if (point->kind != e->kind ||
                !ct_watch_wants(w->watches, point, e, w->pending_number[w->pending_done]))
                continue;
            if (*count == cap)
                return false;
            struct ct_watch_event *to = &out[*count];
            *to = *e;
            if ((is_of_variable(e) && !is_access_to(w, w->point, to)) ||
                (point->form == CT_WATCH_TEXT && !give_text(w, to)))
                continue;
            ++*count;
            to->watch = w->point;
            give_value(w, point, to);
        }
    }
    w->pending_count = w->pending_done = 0;
    return true;
}

/* ---- rows of timestamps ---- */

/* Finds the watchpoint that takes timestamps. Rows are folded only when it is the only one. */
static void find_stamps(struct ct_watcher *w)
{
    const struct ct_watches *all = w->watches;
    uint32_t found = 0;
    w->row.points = (uint32_t)all->count;
    for (size_t i = 0; i < all->count; i++) {
        if (all->points[i].kind != CT_WATCH_TIMESTAMP)
            continue;
        w->row.watch = (uint32_t)i;
        found++;
    }
    w->row.folds = found == 1;
}

/* Gives the timestamps that were held. Returns false when `out` is full. */
static bool end_row(struct ct_watcher *w, struct ct_watch_event *out, size_t cap, size_t *count)
{
    struct ct_stamp_row *row = &w->row;
    row->begun = false;
    while (row->count) {
        const struct ct_held_stamp *held = &row->held[0];
        if (*count == cap)
            return false;
        struct ct_watch_event *e = &out[(*count)++];
        *e = w->now;
        e->cycle = held->cycle;
        e->timestamp = held->timestamp;
        e->value = 0;
        e->step = held->step;
        e->watch = row->watch;
        e->number = held->number;
        e->kind = CT_WATCH_TIMESTAMP;
        e->first = CT_WATCH_ARRIVAL;
        row->held[0] = row->held[1];
        row->count--;
    }
    return true;
}

static bool is_stamp(const struct ct_step_mark *mark)
{
    return mark->kind == CT_MARK_ELEM && mark->elem.kind == CT_ELEM_TIMESTAMP;
}

/* Holds a timestamp that continues a row, and drops the last but one. Returns false for other marks. */
static inline bool go_on_row(struct ct_watcher *w, const struct ct_step_mark *mark)
{
    struct ct_stamp_row *row = &w->row;
    if (!row->begun || !is_stamp(mark) || w->arrived != CT_WATCH_ARRIVAL || w->is_local || w->same ||
        w->seen_count || mark->elem.v < w->now.timestamp || ct_elem_loss(&mark->elem) >= 0)
        return false;
    const uint64_t counted = mark->n ? mark->value : 0;
    if (row->count == 2)
        row->held[0] = row->held[1];
    row->count += row->count < 2;
    row->held[row->count - 1] =
        (struct ct_held_stamp){.cycle = w->now.cycle,
                               .timestamp = mark->elem.v,
                               .step = w->steps + w->step,
                               .number = counted < UINT32_MAX ? (uint32_t)counted : UINT32_MAX};
    w->now.timestamp = mark->elem.v;
    w->arrived = CT_WATCH_ARRIVAL_BEFORE;
    w->access = CT_WATCH_ANY;
    return true;
}

/* ---- steps ---- */

/* Returns whether execution came to the entry of a function from inside of it without a call, which begins no
 * new run. */
static bool is_inside_jump(const struct ct_watcher *w, const struct ct_watch_hit *hit,
                           const struct ct_graph *graph)
{
    uint32_t count;
    if (w->before == CT_WATCHER_NO_EDGE)
        return false;
    const struct ct_edge *edge = &ct_graph_edges(graph, &count)[w->before];
    const struct ct_node *node = &ct_graph_nodes(graph, &count)[edge->from];
    return edge->kind == CT_EDGE_NEXT && edge->next == hit->addr && node->sub == CT_INSN_SUB_NONE &&
           node->last - hit->addr < hit->end - hit->addr;
}

/* Gives the remaining hits of a step. Returns false when `out` is full. */
static bool give_hits(struct ct_watcher *w, const struct ct_graph *graph, uint64_t cycles, bool timed,
                      struct ct_watch_event *out, size_t cap, size_t *count)
{
    while (w->hit != NOTHING) {
        const struct ct_watch_hit *hit = &w->hits[w->hit];
        if (!hit->first || !is_inside_jump(w, hit, graph)) {
            if (*count == cap)
                return false;
            struct ct_watch_event *event = &out[(*count)++];
            *event = w->now;
            event->cycle += cycles * hit->before / hit->size;
            event->value = hit->addr;
            event->step = w->steps + w->step;
            event->watch = hit->watch;
            event->kind = hit->kind;
            event->timed = timed;
            event->first = hit->before ? CT_WATCH_INSIDE : w->arrived;
        }
        w->hit = hit->last ? NOTHING : w->hit + 1;
    }
    return true;
}

/* Takes the steps up to `end`. Returns false when `out` is full. */
static bool run_steps(struct ct_watcher *w, const struct ct_step_batch *batch, size_t end,
                      struct ct_watch_event *out, size_t cap, size_t *count)
{
    for (; w->step < end; w->step++) {
        uint32_t edge = batch->edge[w->step];
        bool timed = batch->cycles && batch->cycles[w->step] != CT_STEP_NO_CYCLES;
        uint64_t cycles = timed ? batch->cycles[w->step] & CT_STEP_CYCLES : 0;
        if (!w->begun)
            w->hit = w->first[edge];
        w->begun = true;
        if (w->hit != NOTHING &&
            !(end_row(w, out, cap, count) && give_hits(w, batch->graph, cycles, timed, out, cap, count)))
            return false;
        w->begun = false;
        w->before = edge;
        w->arrived = CT_WATCH_ARRIVAL;
        w->now.cycle += cycles;
    }
    return true;
}

int ct_watcher_run(struct ct_watcher *w, const struct ct_step_batch *batch, struct ct_watch_event *out,
                   size_t cap, size_t *count, int *more)
{
    CT_REQUIRE_OF(w, batch, out, count, more);
    *count = 0;
    *more = 0;
    int rc = learn(w, batch->graph);
    if (!rc)
        rc = make_seen_room(w);
    if (rc)
        return rc;
    if (w->row.wanted && w->row.points != w->watches->count)
        find_stamps(w);
    *more = 1;
    for (;;) {
        if (w->pending_count && !give_pending(w, out, cap, count))
            return CT_OK;
        if (is_access_over(w, batch)) {
            release_access(w);
            continue;
        }
        size_t end = w->mark < batch->mark_count ? batch->marks[w->mark].at : batch->count;
        if (!run_steps(w, batch, end, out, cap, count))
            return CT_OK;
        const struct ct_step_mark *mark = w->mark < batch->mark_count ? &batch->marks[w->mark] : NULL;
        if (mark && go_on_row(w, mark)) {
            w->mark++;
            continue;
        }
        if (!end_row(w, out, cap, count))
            return CT_OK;
        if (!mark)
            break;
        ct_watcher_on_mark(w, mark);
        w->row.begun = w->row.folds && is_stamp(mark);
        w->mark++;
    }
    w->steps += w->step;
    w->step = w->mark = 0;
    *more = 0;
    return w->failed;
}
