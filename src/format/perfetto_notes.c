/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfetto_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/room.h"
#include "format/perfetto_lane.h"
#include "format/watch_text.h"

/* events taken from a watcher at once */
#define EVENTS 256

/* room for the name of a watchpoint's event with its value */
#define NAME 512

int ct_perfetto_notes_open(struct ct_perfetto_lane *lane)
{
    const struct ct_perfetto_capture *of = lane->of;
    lane->notes.next = of->notes;
    lane->notes.end = of->notes ? of->notes + of->note_count : NULL;
    return of->watches ? ct_watcher_new(of->ctx, of->watches, &lane->notes.watcher) : CT_OK;
}

void ct_perfetto_notes_free(struct ct_perfetto_notes *notes)
{
    ct_watcher_free(notes->watcher);
    free(notes->queue);
    *notes = (struct ct_perfetto_notes){0};
}

/* ---- taking ---- */

/* Returns whether an event is of code, and so lies within a step and a function. */
static bool is_of_code(unsigned kind)
{
    return kind <= CT_WATCH_EDGE;
}

/* Advances to the beginning of a step, and counts the instructions before it. */
static void walk_to(struct ct_perfetto_notes *notes, const struct ct_step_batch *batch, uint64_t begin,
                    uint64_t step)
{
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &count);
    const struct ct_edge *edges = ct_graph_edges(batch->graph, &count);
    const uint64_t end = step < begin + batch->count ? step : begin + batch->count;
    for (; notes->steps < end; notes->steps++)
        notes->insns += nodes[edges[batch->edge[notes->steps - begin]].from].n;
}

/* Returns the clock of the lane at an event: cycles, or the instructions before it. */
static uint64_t clock_at(struct ct_perfetto_lane *lane, const struct ct_step_batch *batch, uint64_t begin,
                         const struct ct_watch_event *at)
{
    uint32_t count;
    if (lane->counts_cycles || lane->software)
        return at->cycle;
    walk_to(&lane->notes, batch, begin, at->step);
    if (!is_of_code(at->kind) || at->step >= begin + batch->count || at->step < begin)
        return lane->notes.insns;
    const struct ct_edge *edge = &ct_graph_edges(batch->graph, &count)[batch->edge[at->step - begin]];
    const struct ct_node *node = &ct_graph_nodes(batch->graph, &count)[edge->from];
    const bool inside = at->value >= node->start && at->value < node->end;
    return lane->notes.insns + (inside ? (at->value - node->start) * node->n / (node->end - node->start) : 0);
}

static int queue(struct ct_perfetto_lane *lane, const struct ct_perfetto_queued *one)
{
    struct ct_perfetto_notes *notes = &lane->notes;
    if (!CT_MAKE_ROOM(notes->queue, notes->room, notes->count + 1))
        return ct_fail_nomem(lane->of->ctx, "events of watchpoints");
    notes->queue[notes->count++] = *one;
    return CT_OK;
}

/* Returns the next note of the stream without taking it. NULL: none is left. */
static const struct ct_perfetto_note *next_note(struct ct_perfetto_lane *lane)
{
    struct ct_perfetto_notes *notes = &lane->notes;
    while (notes->next < notes->end &&
           (notes->next->id != lane->id || strcmp(notes->next->buffer, lane->buffer->name) != 0))
        notes->next++;
    return notes->next < notes->end ? notes->next : NULL;
}

/* Queues the notes before the end of `steps` steps, and those inside of the next step before a clock
 * value. */
static int queue_notes(struct ct_perfetto_lane *lane, const struct ct_step_batch *batch, uint64_t begin,
                       uint64_t steps, uint64_t clock)
{
    const struct ct_perfetto_note *note;
    int rc = CT_OK;
    while (!rc && (note = next_note(lane)) && note->at.step <= steps) {
        if (note->at.step == steps && !clock)
            break;
        const struct ct_perfetto_queued one = {
            .at = note->at, .text = note->text, .clock = clock_at(lane, batch, begin, &note->at)};
        if (note->at.step == steps && one.clock >= clock)
            break;
        rc = queue(lane, &one);
        lane->notes.next++;
    }
    return rc;
}

/* Queues an event of a watchpoint, behind the notes before it. */
static int queue_event(struct ct_perfetto_lane *lane, const struct ct_step_batch *batch, uint64_t begin,
                       const struct ct_watch_event *event)
{
    int rc = queue_notes(lane, batch, begin, event->step, 0);
    const struct ct_perfetto_queued one = {.at = *event, .clock = clock_at(lane, batch, begin, event)};
    if (!rc)
        rc = queue_notes(lane, batch, begin, event->step, one.clock);
    return rc ? rc : queue(lane, &one);
}

int ct_perfetto_notes_take(struct ct_perfetto_lane *lane, const struct ct_step_batch *batch)
{
    struct ct_perfetto_notes *notes = &lane->notes;
    struct ct_watch_event events[EVENTS];
    const uint64_t begin = notes->begin;
    int more = notes->watcher != NULL;
    int rc = CT_OK;
    notes->count = notes->done = 0;
    while (more && !rc) {
        size_t count;
        rc = ct_watcher_run(notes->watcher, batch, events, EVENTS, &count, &more);
        for (size_t i = 0; i < count && !rc; i++)
            rc = queue_event(lane, batch, begin, &events[i]);
    }
    if (!rc)
        rc = queue_notes(lane, batch, begin, begin + batch->count, 0);
    if (notes->watcher || notes->next < notes->end)
        walk_to(notes, batch, begin, begin + batch->count);
    notes->begin += batch->count;
    return rc;
}

/* ---- the axis ---- */

static int put_on_axis(struct ct_perfetto_lane *lane, const struct ct_perfetto_queued *one)
{
    const struct ct_watch_event *at = &one->at;
    const struct ct_event event = {.type = CT_EVENT_MARKER,
                                   .a = one->text ? CT_PERFETTO_SAID : CT_PERFETTO_WATCHED,
                                   .b = at->kind,
                                   .cycle = one->clock,
                                   .value = one->text ? (uint64_t)(uintptr_t)one->text : at->value,
                                   .extra = at->ctxt | (uint64_t)at->vmid << 32,
                                   .offset = at->watch | (uint64_t)at->number << 32};
    return ct_perfetto_lane_put(lane, &event);
}

/* Returns whether a queued item precedes an event of its lane: by the clock, by its step, or by the
 * timestamps before it. After a pause the time has advanced, but neither clock nor steps have. */
static bool is_before(const struct ct_perfetto_lane *lane, const struct ct_perfetto_queued *one,
                      const struct ct_event *event)
{
    const uint64_t clock = lane->software ? event->cycle : lane->clock;
    if (one->clock < clock || one->at.step < lane->steps)
        return true;
    return event->type == CT_EVENT_TIMESTAMP && one->at.step == lane->steps && one->clock == clock &&
           (!one->at.has_timestamp || one->at.timestamp < event->value);
}

int ct_perfetto_notes_flush(struct ct_perfetto_lane *lane, const struct ct_event *event)
{
    struct ct_perfetto_notes *notes = &lane->notes;
    int rc = CT_OK;
    for (; notes->done < notes->count && !rc; notes->done++) {
        struct ct_perfetto_queued *one = &notes->queue[notes->done];
        if (event && !is_before(lane, one, event))
            break;
        if (event && lane->software) /* a local timestamp follows what it applies to */
            one->clock = event->cycle;
        rc = put_on_axis(lane, one);
    }
    return rc;
}

int ct_perfetto_notes_end(struct ct_perfetto_lane *lane)
{
    const struct ct_perfetto_note *note;
    int rc = CT_OK;
    for (; !rc && (note = next_note(lane)); lane->notes.next++) {
        const struct ct_perfetto_queued one = {
            .at = note->at, .text = note->text, .clock = lane->newest_cycle};
        rc = put_on_axis(lane, &one);
    }
    return rc;
}

/* ---- writing ---- */

/* Writes the name of a watchpoint's event, with its value. */
static void name_event(const struct ct_perfetto_lane *lane, const struct ct_event *event, char text[NAME])
{
    uint32_t count;
    char room[64];
    const struct ct_watch_event at = {.kind = (uint8_t)event->b,
                                      .watch = (uint32_t)event->offset,
                                      .number = (uint32_t)(event->offset >> 32),
                                      .value = event->value};
    const struct ct_watchpoint *point = &ct_watches_all(lane->of->watches, &count)[at.watch];
    const struct ct_event_origin origin = {
        .buffer = lane->buffer->name, .source = lane->source, .id = lane->id};
    const char *value = ct_watch_value(&origin, point, ct_watches_variable(lane->of->watches, at.watch), &at,
                                       room, sizeof room);
    const char *returns =
        at.kind == CT_WATCH_RETURN && strncmp(point->name, "return:", 7) != 0 ? " returns" : "";
    snprintf(text, NAME, "%.400s%s%s%s", point->name, returns, value ? " = " : "", value ? value : "");
}

int ct_perfetto_notes_put(struct ct_perfetto_lane *lane, const struct ct_event *event, uint64_t time)
{
    char text[NAME];
    const bool said = event->a == CT_PERFETTO_SAID;
    const uint64_t track =
        is_of_code(event->b) && !lane->software ? ct_perfetto_lane_stack(lane, event->extra) : lane->track;
    if (!track)
        return CT_ERR_NOMEM;
    if (!said)
        name_event(lane, event, text);
    ct_perfetto_note(&lane->of->to, track, time, said ? "specification" : "watchpoint",
                     said ? (const char *)(uintptr_t)event->value
                          : text); /* NOLINT(performance-no-int-to-ptr) */
    lane->of->seen.instants++;
    lane->of->seen.watched += !said;
    return CT_OK;
}
