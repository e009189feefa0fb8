/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/events.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"

/* most events that a step adds to the waiting ones */
#define STEP_EVENTS 3

struct sink {
    struct ct_event *events;
    size_t count;
};

int ct_events_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_events **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_events *ev = calloc(1, sizeof *ev);
    if (!ev)
        return ct_fail_nomem(ctx, "events");
    ev->timestamp_counts = source->protocol == CT_PROTOCOL_PTM || source->protocol == CT_PROTOCOL_ETM3;
    *out = ev;
    return CT_OK;
}

void ct_events_free(struct ct_events *ev)
{
    free(ev);
}

void ct_events_set_memory(struct ct_events *ev, uint32_t memory)
{
    if (!ev)
        return;
    ev->memory = memory < CT_EVENT_MEMORY_MOST ? (uint16_t)memory : CT_EVENT_MEMORY_MOST;
}

void ct_events_set_cycle(struct ct_events *ev, uint64_t cycle)
{
    if (ev)
        ev->cycle = cycle;
}

/* Releases all waiting events as they are. */
static void release(struct ct_events *ev, struct sink *sink)
{
    for (unsigned i = 0; i < ev->count; i++)
        sink->events[sink->count++] = ev->waiting[i];
    ev->count = 0;
    ev->open_branch = false;
}

static void add(struct ct_events *ev, struct sink *sink, struct ct_event event)
{
    if (ev->count == CT_EVENTS_WAITING)
        release(ev, sink);
    event.cycle = ev->cycle;
    event.memory = ev->memory;
    ev->waiting[ev->count++] = event;
}

/* Sets the target of the waiting branch, or marks it as unknown. */
static void settle_branch(struct ct_events *ev, bool known, uint64_t target)
{
    if (!ev->open_branch)
        return;
    ev->waiting[ev->branch].value = target;
    ev->waiting[ev->branch].unknown = !known;
    ev->waiting[ev->branch].memory = ev->memory;
    ev->open_branch = false;
}

/* Begins a P0 element. Later counts belong to it and not to the events before. */
static void begin_p0(struct ct_events *ev, struct sink *sink)
{
    release(ev, sink);
}

static void add_cycles(struct ct_events *ev, uint64_t cycles)
{
    ev->cycle += cycles;
    for (unsigned i = 0; i < ev->count; i++)
        if (ev->waiting[i].type != CT_EVENT_TIMESTAMP || ev->timestamp_counts)
            ev->waiting[i].cycle = ev->cycle;
}

/* Takes an ATOMS element. One of ETMv3 carries cycles, and may carry nothing else. */
static void on_atoms(struct ct_events *ev, const struct ct_elem *elem, struct sink *sink)
{
    if (elem->n) {
        begin_p0(ev, sink);
        ev->branched = elem->v >> (elem->n - 1) & 1;
    }
    if (elem->aux & CT_ATOMS_CYCLES)
        add_cycles(ev, elem->v >> 32);
}

/* Takes a cycle count. It applies to all waiting events: the last P0 element and what stands between it and
 * the count. */
static void on_cycles(struct ct_events *ev, const struct ct_elem *elem, bool after_timestamp)
{
    /* IHI 0064H: the count of a timestamp runs from the last cycle count, and the next count includes it. */
    if (elem->n == CT_CYCLES_ATTACHED && after_timestamp && !ev->timestamp_counts) {
        if (ev->count && ev->waiting[ev->count - 1].type == CT_EVENT_TIMESTAMP)
            ev->waiting[ev->count - 1].cycle = ev->cycle + elem->v;
        return;
    }
    add_cycles(ev, elem->v);
}

/* Adds an event for lost trace of unknown amount. After it the local time of an ITM starts anew, so no count
 * will come for the waiting events. */
static void tell_overflow(struct ct_events *ev, const struct ct_elem *elem, uint64_t offset,
                          struct sink *sink)
{
    if (ct_elem_loss(elem) < 0)
        return;
    release(ev, sink);
    add(ev, sink, (struct ct_event){.offset = offset, .type = CT_EVENT_GAP, .a = CT_GAP_OVERFLOW});
}

/* Takes a local time of an ITM, which applies to all waiting events. */
static void on_local_time(struct ct_events *ev, const struct ct_elem *elem, uint64_t offset,
                          struct sink *sink)
{
    tell_overflow(ev, elem, offset, sink);
    ev->cycle += elem->v << (elem->aux & CT_SW_BITS);
    for (unsigned i = 0; i < ev->count; i++)
        ev->waiting[i].cycle = ev->cycle;
    release(ev, sink);
}

static void on_software(struct ct_events *ev, const struct ct_elem *elem, uint64_t offset, struct sink *sink)
{
    struct ct_event event = {.offset = offset,
                             .type = elem->kind == CT_ELEM_DWT ? CT_EVENT_DWT : CT_EVENT_SW,
                             .value = elem->v,
                             .a = elem->n,
                             .b = elem->aux,
                             .extra = CT_SW_PORT_UNKNOWN};
    if (ev->sw_source.n && elem->kind == CT_ELEM_SW && elem->n != CT_SW_ERROR_ANY)
        event.extra = CT_SW_PORT(ev->sw_source.v, ev->sw_source.aux);
    tell_overflow(ev, elem, offset, sink);
    add(ev, sink, event);
}

static void close_gap(struct ct_events *ev, struct sink *sink, uint64_t lost)
{
    /* Waiting for the first synchronisation of a recording makes an event only when bytes were skipped. */
    if (ev->in_gap && (lost || ev->gap_is_loss))
        add(ev, sink,
            (struct ct_event){.offset = ev->gap_offset, .type = CT_EVENT_GAP, .value = lost, .a = ev->gap});
    ev->in_gap = false;
}

static void on_end(struct ct_events *ev, const struct ct_elem *elem, uint64_t offset, struct sink *sink)
{
    settle_branch(ev, false, 0);
    if (ct_elem_loss(elem) >= 0 && !ev->in_gap) {
        ev->in_gap = ev->gap_is_loss = true;
        ev->gap = (uint8_t)(elem->aux - 1);
        ev->gap_offset = offset;
    }
    close_gap(ev, sink, elem->v);
    add(ev, sink, (struct ct_event){.offset = offset, .type = CT_EVENT_END, .a = elem->n});
    release(ev, sink);
}

static void on_gap(struct ct_events *ev, const struct ct_elem *elem, uint64_t offset)
{
    settle_branch(ev, false, 0);
    ev->in_gap = true;
    ev->gap_is_loss = ct_elem_loss(elem) >= 0;
    ev->gap = elem->n;
    ev->gap_offset = offset;
    ev->branched = false;
}

/* Takes an element of a kind that means the same with and without a flow. */
static void on_elem(struct ct_events *ev, const struct ct_elem *elem, uint64_t offset, struct sink *sink)
{
    struct ct_event event = {.offset = offset, .value = elem->v, .a = elem->n, .b = elem->aux};
    bool after_timestamp = ev->after_timestamp;
    bool local_time = ev->local_time;
    ev->after_timestamp = elem->kind == CT_ELEM_TIMESTAMP;
    ev->local_time = elem->kind == CT_ELEM_LOCAL_TIME;
    switch (elem->kind) {
    case CT_ELEM_CYCLES:
        on_cycles(ev, elem, after_timestamp);
        return;
    case CT_ELEM_GAP:
        on_gap(ev, elem, offset);
        if (elem->n == CT_GAP_BAD_IMAGE)
            close_gap(ev, sink, 0);
        return;
    case CT_ELEM_SYNC:
        if (elem->n)
            close_gap(ev, sink, elem->v);
        return;
    case CT_ELEM_END:
        on_end(ev, elem, offset, sink);
        return;
    case CT_ELEM_TRACE_ON:
        settle_branch(ev, false, 0);
        if (ct_elem_loss(elem) >= 0)
            add(ev, sink, (struct ct_event){.offset = offset, .type = CT_EVENT_GAP, .a = CT_GAP_OVERFLOW});
        ev->branched = false;
        event.type = CT_EVENT_TRACE_ON;
        break;
    case CT_ELEM_EXCEPTION: {
        bool has_return = elem->n & CT_EXCEPTION_HAS_RET;
        settle_branch(ev, has_return && elem->n & CT_EXCEPTION_TARGET, elem->v);
        begin_p0(ev, sink);
        ev->branched = false;
        event.type = CT_EVENT_EXCEPTION;
        event.value = elem->aux;
        event.extra = elem->v;
        event.b = has_return;
        break;
    }
    case CT_ELEM_RETURN:
        event.type = CT_EVENT_RETURN;
        break;
    case CT_ELEM_CONTEXT:
        if (elem->aux & CT_CONTEXT_SILENT && elem->n == ev->el_sec)
            return;
        ev->el_sec = elem->n;
        event.type = CT_EVENT_CONTEXT;
        break;
    case CT_ELEM_SW_SOURCE:
        ev->sw_source = *elem;
        return;
    case CT_ELEM_SW:
        if (elem->n != CT_SW_TIME) /* a timestamp without a value carries nothing else */
            on_software(ev, elem, offset, sink);
        return;
    case CT_ELEM_DWT:
        on_software(ev, elem, offset, sink);
        return;
    case CT_ELEM_DATA:
        if (ct_elem_loss(elem) >= 0)
            add(ev, sink, (struct ct_event){.offset = offset, .type = CT_EVENT_GAP, .a = CT_GAP_OVERFLOW});
        return;
    case CT_ELEM_LOCAL_TIME:
        on_local_time(ev, elem, offset, sink);
        return;
    case CT_ELEM_TIMESTAMP:
        if (local_time) /* its sum is the cycle count of the events before it */
            return;
        if (elem->n == CT_TIMESTAMP_GLOBAL)
            tell_overflow(ev, elem, offset, sink);
        event.type = CT_EVENT_TIMESTAMP;
        break;
    case CT_ELEM_EVENT:
        event.type = CT_EVENT_HARDWARE;
        event.value = elem->n;
        break;
    case CT_ELEM_MARKER:
        event.type = CT_EVENT_MARKER;
        break;
    case CT_ELEM_TRANS:
        event.type = CT_EVENT_TRANSACTION;
        break;
    case CT_ELEM_ITE:
        event.type = CT_EVENT_SOFTWARE;
        break;
    default:
        return;
    }
    add(ev, sink, event);
}

size_t ct_events_from_elems(struct ct_events *ev, const struct ct_elem *elems, size_t size, uint64_t end,
                            struct ct_event *out, size_t cap, size_t *count)
{
    if (ct_no_batch(ev, elems, size, out, cap, count))
        return 0;
    struct sink sink = {.events = out};
    size_t taken;
    for (taken = 0; taken < size && cap - sink.count >= CT_EVENTS_WAITING + STEP_EVENTS; taken++) {
        const struct ct_elem *elem = &elems[taken];
        uint64_t offset = ct_elem_offset(elem, end);
        switch (elem->kind) {
        case CT_ELEM_ATOMS:
            on_atoms(ev, elem, &sink);
            break;
        case CT_ELEM_ADDRESS:
            add(ev, &sink,
                (struct ct_event){.offset = offset,
                                  .type = ev->branched ? CT_EVENT_BRANCH : CT_EVENT_START,
                                  .value = elem->v});
            ev->branched = false;
            break;
        case CT_ELEM_SOURCE:
        case CT_ELEM_WAYPOINT:
            begin_p0(ev, &sink);
            ev->branched = true;
            break;
        case CT_ELEM_Q_COUNT:
            ev->q_instructions = elem->aux ? 0 : elem->v;
            break;
        case CT_ELEM_Q:
            begin_p0(ev, &sink);
            add(ev, &sink,
                (struct ct_event){.offset = offset,
                                  .type = CT_EVENT_UNKNOWN_PATH,
                                  .value = elem->v,
                                  .extra = ev->q_instructions});
            ev->branched = false;
            break;
        default:
            on_elem(ev, elem, offset, &sink);
            break;
        }
    }
    *count = sink.count;
    return taken;
}

/* Takes ranges and cycle counts as on_range and on_cycles do, as long as nothing but perhaps a branch waits.
 * To avoid unpredictable branches in this loop, writes an event for every range and advances the count only
 * when there is one. Returns the number of records taken. */
static size_t on_ranges(struct ct_events *ev, const struct ct_flow *records, size_t size, struct sink *sink)
{
    const bool same_memory = !ev->open_branch || ev->waiting[0].memory == ev->memory;
    if (ev->count != ev->open_branch || ev->after_timestamp || ev->local_time || !same_memory)
        return 0;
    struct ct_event branch = {.offset = ev->waiting[0].offset,
                              .cycle = ev->open_branch ? ev->waiting[0].cycle : ev->cycle,
                              .type = CT_EVENT_BRANCH,
                              .memory = ev->memory};
    uint64_t cycle = ev->cycle, next = ev->next;
    unsigned branched = ev->branched, open = ev->open_branch;
    struct ct_event *out = sink->events + sink->count;
    size_t taken = 0;
    for (; taken < size; taken++) {
        const struct ct_flow *r = &records[taken];
        if (r->stale)
            break;
        if (r->kind == CT_FLOW_ELEM && r->elem.kind == CT_ELEM_CYCLES) {
            branch.cycle = cycle += r->elem.v;
            continue;
        }
        if (r->kind != CT_FLOW_RANGE || ((r->start != next) & !branched))
            break;
        branch.value = r->start;
        *out = branch;
        out += open;
        branched = open = r->exec & (unsigned)(r->type == CT_INSN_BR || r->type == CT_INSN_IBR);
        branch.offset = r->offset;
        branch.cycle = cycle;
        next = r->end;
    }
    if (!taken)
        return 0;
    branch.value = 0;
    branch.unknown = 1;
    ev->waiting[0] = branch;
    ev->cycle = cycle;
    ev->next = next;
    ev->branched = branched;
    ev->open_branch = open;
    ev->branch = 0;
    ev->count = open;
    sink->count = (size_t)(out - sink->events);
    return taken;
}

static void on_range(struct ct_events *ev, const struct ct_flow *r, struct sink *sink)
{
    settle_branch(ev, !r->stale, r->start);
    if (r->stale) {
        begin_p0(ev, sink);
        ev->next = UINT64_MAX;
        ev->branched = false;
        return;
    }
    if (!ev->branched && r->start != ev->next)
        add(ev, sink, (struct ct_event){.offset = r->offset, .type = CT_EVENT_START, .value = r->start});
    begin_p0(ev, sink);
    ev->next = r->end;
    ev->branched = r->exec && (r->type == CT_INSN_BR || r->type == CT_INSN_IBR);
    if (!ev->branched)
        return;
    ev->open_branch = true;
    ev->branch = ev->count;
    add(ev, sink, (struct ct_event){.offset = r->offset, .type = CT_EVENT_BRANCH, .unknown = 1});
}

/* Gives the last branch its target where trace pauses, is lost or ends. The walk reports how far execution
 * had come. */
static void settle_last_branch(struct ct_events *ev, const struct ct_flow *r)
{
    switch (r->elem.kind) {
    case CT_ELEM_TRACE_ON:
    case CT_ELEM_GAP:
    case CT_ELEM_END:
        settle_branch(ev, r->n, r->start);
        break;
    default:
        break;
    }
}

size_t ct_events_from_flow(struct ct_events *ev, const struct ct_flow *records, size_t size,
                           struct ct_event *out, size_t cap, size_t *count)
{
    if (ct_no_batch(ev, records, size, out, cap, count))
        return 0;
    struct sink sink = {.events = out};
    size_t taken = 0;
    for (; taken < size && cap - sink.count >= CT_EVENTS_WAITING + STEP_EVENTS; taken++) {
        const size_t left = size - taken, room = cap - sink.count - CT_EVENTS_WAITING - STEP_EVENTS;
        taken += on_ranges(ev, &records[taken], left < room ? left : room, &sink);
        if (taken == size)
            break;
        const struct ct_flow *r = &records[taken];
        switch (r->kind) {
        case CT_FLOW_RANGE:
            on_range(ev, r, &sink);
            break;
        case CT_FLOW_RANGE_NOPATH:
            settle_branch(ev, true, r->start);
            begin_p0(ev, &sink);
            add(ev, &sink,
                (struct ct_event){
                    .offset = r->offset, .type = CT_EVENT_UNKNOWN_PATH, .value = r->end, .extra = r->n});
            ev->next = r->end;
            break;
        case CT_FLOW_NO_ACCESS:
            settle_branch(ev, !r->stale, r->start);
            if (r->stale)
                break;
            add(ev, &sink,
                (struct ct_event){.offset = r->offset, .type = CT_EVENT_NO_ACCESS, .value = r->start});
            break;
        default:
            settle_last_branch(ev, r);
            if (!r->stale)
                on_elem(ev, &r->elem, r->offset, &sink);
            break;
        }
    }
    *count = sink.count;
    return taken;
}
