/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the marks between steps into events of watchpoints. */
#include <stdbool.h>
#include <string.h>

#include "analysis/watcher.h"

#define KNOWN (CT_CONTEXT_SF | CT_CONTEXT_CTXT | CT_CONTEXT_VMID | CT_CONTEXT_EL)

/* Takes a context. Returns whether it differs from the last one. */
static bool set_context(struct ct_watcher *w, const struct ct_elem *elem)
{
    const struct ct_watch_event old = w->now;
    w->now.ctxt = ct_elem_ctxt(elem);
    w->now.vmid = ct_elem_vmid(elem);
    w->now.el_sec = elem->n;
    w->now.known = (uint8_t)(elem->aux & KNOWN);
    return old.ctxt != w->now.ctxt || old.vmid != w->now.vmid || old.el_sec != w->now.el_sec ||
           old.known != w->now.known;
}

/* Adds an event, with the number to which watchpoints compare in `by`. Returns the event, or a dummy when no
 * watchpoint is of its kind. */
static struct ct_watch_event *offer_by(struct ct_watcher *w, enum ct_watch_kind kind, uint64_t value,
                                       uint32_t number, uint64_t by)
{
    struct ct_watch_event *e = &w->pending[w->pending_count];
    *e = w->now;
    e->kind = (uint8_t)kind;
    e->value = value;
    e->step = w->steps + w->step;
    e->number = number;
    w->pending_number[w->pending_count] = by;
    w->pending_count += w->watches->marks >> kind & 1;
    return e;
}

void ct_watcher_offer(struct ct_watcher *w, enum ct_watch_kind kind, uint64_t value, uint32_t number)
{
    offer_by(w, kind, value, number, 0);
}

static void offer_loss(struct ct_watcher *w, const struct ct_elem *elem)
{
    const int why = ct_elem_loss(elem);
    struct ct_named_event cut; /* trace of it is missing, so its value is unknown */
    while (why >= 0 && ct_named_reader_cut(w->named, &cut))
        ;
    if (why >= 0)
        ct_watch_lines_cut(&w->lines);
    if (why >= 0 && w->seen_count)
        memset(w->seen, 0, w->seen_count * sizeof *w->seen);
    if (why >= 0)
        ct_watcher_offer(w, why == CT_GAP_OVERFLOW ? CT_WATCH_OVERFLOW : CT_WATCH_GAP, 0, (uint32_t)why);
}

/* Adds the named event that a write completes. */
static void offer_named(struct ct_watcher *w, const struct ct_elem *elem)
{
    const struct ct_event write = {
        .type = CT_EVENT_SW, .value = elem->v, .extra = w->port, .a = elem->n, .b = elem->aux};
    struct ct_named_event event;
    if (!w->named || ct_named_reader_take(w->named, &write, &event) != CT_NAMED_WHOLE || event.cut)
        return;
    const uint32_t by = ct_watch_named_number(w->watches, &event);
    w->told = event;
    if (by != CT_WATCH_NOT_NAMED)
        offer_by(w, CT_WATCH_NAMED, event.count ? event.arguments[0].u : 0, 64, by);
}

/* Takes a write of software trace. */
static void on_write(struct ct_watcher *w, const struct ct_elem *elem)
{
    const uint32_t bits = elem->aux & CT_SW_BITS;
    offer_loss(w, elem);
    w->same = 0;
    w->access = CT_WATCH_ANY;
    if (elem->n == CT_SW_STIMULUS)
        offer_by(w, CT_WATCH_ITM, elem->v, bits, w->port);
    else if (elem->n == CT_SW_DATA)
        offer_by(w, CT_WATCH_STM, elem->v, bits, w->port);
    offer_named(w, elem);
}

/* Takes a packet of the DWT. Discriminators 8 to 15 are PC and address of the four comparators in turn, 16 to
 * 23 the data read and written (DDI 0403E, table D4-5). */
static void on_dwt(struct ct_watcher *w, const struct ct_elem *elem)
{
    static const uint8_t packets[] = {CT_WATCH_PACKET_PC, CT_WATCH_PACKET_ADDRESS, CT_WATCH_PACKET_READ,
                                      CT_WATCH_PACKET_WRITE};
    const bool is_data_trace = elem->n >= 8 && elem->n < 24;
    const uint64_t comparator = is_data_trace ? elem->n / 2u % 4 : CT_WATCH_ANY;
    offer_loss(w, elem);
    if (comparator != w->access) /* PC, address and data of one access follow each other */
        w->same = 0;
    w->access = comparator;
    if (is_data_trace)
        offer_by(w, CT_WATCH_DWT, elem->v, elem->aux & CT_SW_BITS,
                 8 * comparator + packets[(elem->n >= 16) * 2 + elem->n % 2]);
}

static void on_timestamp(struct ct_watcher *w, const struct ct_elem *elem, uint64_t counted)
{
    offer_loss(w, elem);
    struct ct_watch_event *e =
        offer_by(w, CT_WATCH_TIMESTAMP, w->same, counted < UINT32_MAX ? (uint32_t)counted : UINT32_MAX, 0);
    /* sets both, because copying one from the other would stall on the store */
    w->now.timestamp = e->timestamp = elem->v;
    w->now.has_timestamp = e->has_timestamp = 1;
    e->first = w->arrived == CT_WATCH_ARRIVAL;
    w->arrived = w->arrived == CT_WATCH_INSIDE ? CT_WATCH_INSIDE : CT_WATCH_ARRIVAL_BEFORE;
    w->same = 0;
    w->access = CT_WATCH_ANY;
}

/* Takes an element. `counted`: cycles of a timestamp since the last count. */
static void on_element(struct ct_watcher *w, const struct ct_elem *elem, uint64_t counted)
{
    switch (elem->kind) {
    case CT_ELEM_CYCLES:
        if (!elem->aux)
            w->now.cycle += elem->v;
        break;
    case CT_ELEM_TIMESTAMP:
        if (!w->is_local)
            on_timestamp(w, elem, counted);
        w->is_local = false;
        return;
    case CT_ELEM_LOCAL_TIME: /* in cycles; its TIMESTAMP is their sum */
        offer_loss(w, elem);
        w->now.cycle += elem->v << (elem->aux & CT_SW_BITS);
        w->is_local = true;
        break;
    case CT_ELEM_SW_SOURCE:
        w->port = elem->n ? CT_SW_PORT(elem->v, elem->aux) : CT_SW_PORT_UNKNOWN;
        break;
    case CT_ELEM_SW:
        on_write(w, elem);
        break;
    case CT_ELEM_DWT:
        on_dwt(w, elem);
        break;
    case CT_ELEM_EVENT:
        offer_by(w, CT_WATCH_EVENT, elem->n, 0, elem->aux ? CT_WATCH_ANY : elem->n);
        break;
    case CT_ELEM_CONTEXT:
        if (set_context(w, elem))
            ct_watcher_offer(w, CT_WATCH_CONTEXT, 0, 0);
        break;
    case CT_ELEM_EXCEPTION:
        ct_watcher_offer(w, CT_WATCH_EXCEPTION,
                         elem->n & (CT_EXCEPTION_HAS_RET | CT_EXCEPTION_HERE) ? elem->v : 0, elem->aux);
        break;
    case CT_ELEM_RETURN:
        ct_watcher_offer(w, CT_WATCH_EXCEPTION_RETURN, 0, 0);
        break;
    case CT_ELEM_GAP:
        w->before = CT_WATCHER_NO_EDGE;
        offer_loss(w, elem);
        break;
    case CT_ELEM_TRACE_ON:
        w->before = CT_WATCHER_NO_EDGE;
        offer_loss(w, elem);
        break;
    case CT_ELEM_DATA:
    case CT_ELEM_END:
        offer_loss(w, elem);
        break;
    default:
        break;
    }
    w->arrived = CT_WATCH_INSIDE;
}

void ct_watcher_on_mark(struct ct_watcher *w, const struct ct_step_mark *mark)
{
    if (w->seen_count)
        ct_access_take(&w->reader, mark);
    if (mark->kind == CT_MARK_ELEM) {
        on_element(w, &mark->elem, mark->n ? mark->value : 0);
        return;
    }
    w->before = CT_WATCHER_NO_EDGE;
    w->arrived = CT_WATCH_INSIDE;
    ct_watcher_offer(w, CT_WATCH_NO_ACCESS, mark->value, 0);
}
