/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfetto_lane.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/ctx.h"
#include "base/room.h"
#include "format/exception_name.h"

/* fewest instructions for a value of the counters */
#define COUNTED 1000

/* events whose times are fetched at once */
#define TIMED 256

struct ct_perfetto_lane *ct_perfetto_lane_new(struct ct_perfetto_capture *of, const struct ct_buffer *buffer,
                                              const struct ct_stream *stream)
{
    struct ct_perfetto_lane *lane = calloc(1, sizeof *lane);
    char name[256];
    if (!lane) {
        (void)ct_fail_nomem(of->ctx, "streams");
        return NULL;
    }
    *lane = (struct ct_perfetto_lane){.of = of, .buffer = buffer, .source = stream->source, .id = stream->id};
    lane->core = ct_source_core(stream->source);
    lane->core = lane->core ? lane->core : "stream";
    snprintf(name, sizeof name, "%s (%s %02x)", lane->core, buffer->name, stream->id);
    lane->track = ct_perfetto_track(&of->to, of->root, name);
    int rc = ct_timeline_new(of->ctx, &lane->timeline);
    if (!rc && ct_protocol_is_software(lane->source->protocol))
        rc = ct_perfetto_software_new(lane, &lane->software);
    if (!rc)
        rc = ct_perfetto_notes_open(lane);
    if (!rc)
        return lane;
    ct_perfetto_lane_free(lane);
    return NULL;
}

void ct_perfetto_lane_free(struct ct_perfetto_lane *lane)
{
    if (!lane)
        return;
    ct_timeline_free(lane->timeline);
    ct_pair_map_free(&lane->stacks);
    ct_perfetto_software_free(lane->software);
    ct_perfetto_notes_free(&lane->notes);
    free(lane);
}

/* ---- tracks ---- */

/* Stores the track of a key in the map, and returns it; 0 when out of memory. */
static uint64_t remember(struct ct_perfetto_lane *lane, struct ct_pair_map *map, uint64_t a, uint32_t b,
                         uint64_t track)
{
    if (ct_pair_map_put(map, a, b, (uint32_t)track) == CT_OK)
        return track;
    (void)ct_fail_nomem(lane->of->ctx, "tracks");
    return 0;
}

/* Returns the track of a process, given by the number of its first thread; 0 when out of memory. */
static uint64_t find_process(struct ct_perfetto_lane *lane, uint32_t process)
{
    struct ct_perfetto_capture *of = lane->of;
    const uint32_t known = ct_pair_map_get(&of->tasks, process, CT_PAIR_NONE);
    const struct ct_context_name *name = ct_context_name_find(lane->buffer, process, CT_NO_TIME);
    if (known != CT_PAIR_NONE)
        return known;
    return remember(lane, &of->tasks, process, CT_PAIR_NONE,
                    ct_perfetto_process(&of->to, (int32_t)process, name ? name->name : "process"));
}

/* Returns the track of a thread with a name; 0 when out of memory. */
static uint64_t find_thread(struct ct_perfetto_lane *lane, const struct ct_context_name *name)
{
    struct ct_perfetto_capture *of = lane->of;
    const uint32_t known = ct_pair_map_get(&of->tasks, name->context, name->process);
    const int32_t ids[2] = {(int32_t)name->process, (int32_t)name->context};
    if (known != CT_PAIR_NONE)
        return known;
    const uint64_t process = find_process(lane, name->process);
    return process ? remember(lane, &of->tasks, name->context, name->process,
                              ct_perfetto_thread(&of->to, process, ids, name->name))
                   : 0;
}

/* Returns the number of a context, and sets *name to its name, or NULL. */
static uint32_t identify(const struct ct_perfetto_lane *lane, uint64_t context,
                         const struct ct_context_name **name)
{
    const bool in_vmid = ct_source_thread_in_vmid(lane->source);
    const uint32_t number = (uint32_t)(in_vmid ? context >> 32 : context);
    *name = ct_context_name_find(lane->buffer, number, CT_NO_TIME);
    return number;
}

/* Writes the name of a context. */
static void label(const struct ct_perfetto_lane *lane, uint64_t context, char *text, size_t size)
{
    const struct ct_context_name *name;
    const uint32_t number = identify(lane, context, &name);
    if (name)
        snprintf(text, size, "%s [%" PRIu32 "]", name->name, number);
    else
        snprintf(text, size, "context 0x%" PRIx32, number);
}

uint64_t ct_perfetto_lane_stack(struct ct_perfetto_lane *lane, uint64_t context)
{
    struct ct_perfetto *to = &lane->of->to;
    const struct ct_context_name *name;
    const uint32_t known = ct_pair_map_get(&lane->stacks, context, 0);
    char text[256] = "functions";
    if (known != CT_PAIR_NONE)
        return known;
    (void)identify(lane, context, &name);
    uint64_t parent = lane->track;
    if (name && !lane->of->root) {
        parent = find_thread(lane, name);
        snprintf(text, sizeof text, "%s", lane->core);
    } else if (context) {
        label(lane, context, text, sizeof text);
    }
    return parent ? remember(lane, &lane->stacks, context, 0, ct_perfetto_track(to, parent, text)) : 0;
}

/* ---- writing events with a time ---- */

/* Begins an execution of a function. Writes its name at the first use. */
static int put_begin(struct ct_perfetto_lane *lane, const struct ct_event *event, uint64_t time)
{
    struct ct_perfetto_capture *of = lane->of;
    const size_t function = event->value;
    const uint64_t track = ct_perfetto_lane_stack(lane, event->extra);
    if (!CT_MAKE_ZEROED_ROOM(of->told, of->told_count, (size_t)function + 1))
        return ct_fail_nomem(of->ctx, "names of functions");
    ct_perfetto_begin(&of->to, track, time, of->first_name + function,
                      of->told[function] ? NULL : ct_stacks_name(of->stacks, (uint32_t)function));
    of->told[function] = 1;
    return track ? CT_OK : CT_ERR_NOMEM;
}

/* Ends the open slice on the core's track, and keeps it for arrows when other cores have the same axis. */
static int end_run(struct ct_perfetto_lane *lane, uint64_t time)
{
    const struct ct_context_name *name;
    if (!lane->is_running)
        return CT_OK;
    const struct ct_perfetto_run run = {.begin = lane->running_since,
                                        .end = time,
                                        .track = lane->track,
                                        .context = identify(lane, lane->running, &name)};
    ct_perfetto_end(&lane->of->to, lane->track, time);
    lane->is_running = false;
    return lane->timed && ct_perfetto_flows_add(&lane->of->flows, &run, lane->core)
               ? ct_fail_nomem(lane->of->ctx, "flows")
               : CT_OK;
}

/* Notes on the core's track which context runs from now on. */
static int put_run(struct ct_perfetto_lane *lane, uint64_t context, uint64_t time)
{
    char text[256];
    if (lane->is_running && lane->running == context)
        return CT_OK;
    const int rc = end_run(lane, time);
    label(lane, context, text, sizeof text);
    ct_perfetto_begin_named(&lane->of->to, lane->track, time, text);
    lane->running = context;
    lane->running_since = time;
    lane->is_running = true;
    return rc;
}

/* Writes values of the counters for the time since the last values. */
static void put_counts(struct ct_perfetto_lane *lane, const struct ct_event *event, uint64_t time)
{
    struct ct_perfetto *to = &lane->of->to;
    const double instructions = (double)event->value;
    if (lane->counts_cycles && !lane->cycles_track)
        lane->cycles_track = ct_perfetto_counter(to, lane->track, "cycles per instruction");
    if (!lane->branches_track)
        lane->branches_track = ct_perfetto_counter(to, lane->track, "branches per 1000 instructions");
    if (lane->counts_cycles)
        ct_perfetto_value(to, lane->cycles_track, lane->counted_time, (double)event->extra / instructions);
    ct_perfetto_value(to, lane->branches_track, lane->counted_time,
                      1000 * (double)event->offset / instructions);
    lane->counted_time = time;
    lane->of->seen.values++;
}

static void put_instant(struct ct_perfetto_lane *lane, const struct ct_event *event, uint64_t time)
{
    char name[64];
    char text[128];
    if (event->a == CT_PERFETTO_EXCEPTION)
        snprintf(text, sizeof text, "exception %s",
                 ct_exception_name(lane->source, (unsigned)event->value, name, sizeof name));
    else if (event->a == CT_PERFETTO_LOST)
        snprintf(text, sizeof text, "trace is missing");
    else
        snprintf(text, sizeof text, "event 0x%" PRIx64, event->value);
    ct_perfetto_instant(&lane->of->to, lane->track, time, text);
    lane->of->seen.instants++;
}

static int put(struct ct_perfetto_lane *lane, const struct ct_event *event, uint64_t time)
{
    if (!lane->begun)
        lane->counted_time = time;
    lane->begun = true;
    lane->newest_time = time;
    if (lane->software && event->type != CT_EVENT_MARKER)
        return ct_perfetto_software_put(lane->software, event, time);
    if (event->type != CT_EVENT_MARKER)
        return CT_OK;
    switch ((enum ct_perfetto_what)event->a) {
    case CT_PERFETTO_BEGIN:
        return put_begin(lane, event, time);
    case CT_PERFETTO_END:
        ct_perfetto_end(&lane->of->to, ct_perfetto_lane_stack(lane, event->extra), time);
        break;
    case CT_PERFETTO_RUN:
        return put_run(lane, event->extra, time);
    case CT_PERFETTO_COUNT:
        put_counts(lane, event, time);
        break;
    case CT_PERFETTO_EXCEPTION:
    case CT_PERFETTO_LOST:
    case CT_PERFETTO_HARDWARE:
        put_instant(lane, event, time);
        break;
    case CT_PERFETTO_WATCHED:
    case CT_PERFETTO_SAID:
        return ct_perfetto_notes_put(lane, event, time);
    }
    return CT_OK;
}

/* ---- the axis ---- */

/* Returns the time of an event in nanoseconds. Behind the only timestamp of a stream, as in a short window,
 * each cycle counts as one nanosecond. */
static uint64_t time_of(const struct ct_perfetto_lane *lane, const struct ct_timed_event *timed)
{
    const uint64_t cycle = timed->event.cycle;
    if (!lane->timed)
        return cycle;
    uint64_t time = ct_clock_nanoseconds_at(&lane->of->clock, lane->of->frequency, timed->time);
    if (!lane->rated && cycle > lane->anchor)
        time += cycle - lane->anchor;
    return time > lane->newest_time ? time : lane->newest_time;
}

/* Writes the events whose time is known. */
static int drain(struct ct_perfetto_lane *lane)
{
    struct ct_timed_event timed[TIMED];
    size_t count;
    int rc = CT_OK;
    while (!rc && (count = ct_timeline_fetch(lane->timeline, timed, TIMED)) > 0)
        for (size_t i = 0; i < count && !rc; i++)
            rc = put(lane, &timed[i].event, time_of(lane, &timed[i]));
    return rc;
}

int ct_perfetto_lane_put(struct ct_perfetto_lane *lane, const struct ct_event *event)
{
    const bool stamps = event->type == CT_EVENT_TIMESTAMP;
    int rc = CT_OK;
    if (stamps && (lane->untimed || !event->value)) /* zero: the trace unit did not know the time */
        return CT_OK;
    if (stamps) {
        lane->rated |= lane->timed && event->cycle > lane->anchor;
        lane->anchor = event->cycle;
        lane->timed = true;
    }
    lane->newest_cycle = event->cycle;
    while (!rc && !ct_timeline_push(lane->timeline, event, 1)) {
        lane->untimed |= !lane->timed;
        rc = drain(lane);
    }
    return rc || !(stamps || event->type == CT_EVENT_END) ? rc : drain(lane);
}

int ct_perfetto_lane_push(struct ct_perfetto_lane *lane, const struct ct_event *event)
{
    return ct_perfetto_notes_flush(lane, event) ?: ct_perfetto_lane_put(lane, event);
}

/* ---- moves ---- */

/* Returns the clock between timestamps: cycles, or instructions without cycles. */
static uint64_t clock_at(const struct ct_perfetto_lane *lane, const struct ct_stack_move *move)
{
    return lane->counts_cycles ? move->cycles + lane->between : move->insns;
}

static int push(struct ct_perfetto_lane *lane, const struct ct_stack_move *move, enum ct_perfetto_what what,
                uint64_t value, uint64_t extra)
{
    const struct ct_event event = {.type = CT_EVENT_MARKER,
                                   .a = (uint8_t)what,
                                   .cycle = clock_at(lane, move),
                                   .value = value,
                                   .extra = extra};
    return ct_perfetto_lane_push(lane, &event);
}

/* Counts what ran since the last values, if that is enough. */
static int count(struct ct_perfetto_lane *lane, const struct ct_stack_move *move)
{
    const struct ct_stack_move *last = &lane->counted;
    if (move->insns - last->insns < COUNTED)
        return CT_OK;
    const struct ct_event event = {.type = CT_EVENT_MARKER,
                                   .a = CT_PERFETTO_COUNT,
                                   .cycle = clock_at(lane, move),
                                   .value = move->insns - last->insns,
                                   .extra = move->cycles - last->cycles,
                                   .offset = move->steps - last->steps};
    lane->counted = *move;
    return ct_perfetto_lane_push(lane, &event);
}

static int take_timestamp(struct ct_perfetto_lane *lane, const struct ct_stack_move *move,
                          const struct ct_step_mark *mark)
{
    const uint64_t since = mark->n && lane->counts_cycles ? mark->value : 0;
    const struct ct_event event = {
        .type = CT_EVENT_TIMESTAMP, .value = mark->elem.v, .cycle = clock_at(lane, move) + since};
    return ct_perfetto_lane_push(lane, &event);
}

static int take_mark(struct ct_perfetto_lane *lane, const struct ct_stack_move *move,
                     const struct ct_step_mark *mark)
{
    const struct ct_elem *elem = &mark->elem;
    if (mark->kind != CT_MARK_ELEM)
        return CT_OK;
    if (ct_elem_loss(elem) >= 0)
        return push(lane, move, CT_PERFETTO_LOST, 0, 0);
    switch (elem->kind) {
    case CT_ELEM_TIMESTAMP:
        return take_timestamp(lane, move, mark);
    case CT_ELEM_CYCLES:
        lane->between += elem->aux ? 0 : elem->v;
        return CT_OK;
    case CT_ELEM_CONTEXT:
        return elem->aux & (CT_CONTEXT_CTXT | CT_CONTEXT_VMID)
                   ? push(lane, move, CT_PERFETTO_RUN, 0,
                          ct_elem_ctxt(elem) | (uint64_t)ct_elem_vmid(elem) << 32)
                   : CT_OK;
    case CT_ELEM_EXCEPTION:
        return push(lane, move, CT_PERFETTO_EXCEPTION, elem->aux, 0);
    case CT_ELEM_EVENT:
        return push(lane, move, CT_PERFETTO_HARDWARE, elem->n, 0);
    default:
        return CT_OK;
    }
}

int ct_perfetto_lane_take(struct ct_perfetto_lane *lane, const struct ct_stack_move *move,
                          const struct ct_step_mark *mark)
{
    lane->steps = move->steps;
    if (lane->software)
        return mark && mark->kind == CT_MARK_ELEM ? ct_perfetto_software_take(lane->software, mark) : CT_OK;
    lane->clock = clock_at(lane, move);
    const int rc = count(lane, move);
    if (rc)
        return rc;
    if (mark)
        return take_mark(lane, move, mark);
    return push(lane, move, move->kind == CT_STACK_ENTER ? CT_PERFETTO_BEGIN : CT_PERFETTO_END, move->of,
                move->context);
}

int ct_perfetto_lane_end(struct ct_perfetto_lane *lane)
{
    const struct ct_event end = {.type = CT_EVENT_END, .cycle = lane->newest_cycle};
    int rc = ct_perfetto_notes_end(lane)
             ?: ct_perfetto_lane_push(lane, &end)
             ?: end_run(lane, lane->newest_time);
    lane->of->seen.timed += lane->timed;
    lane->of->seen.untimed += !lane->timed;
    lane->of->seen.unrated += lane->timed && !lane->rated && !lane->software;
    return rc;
}
