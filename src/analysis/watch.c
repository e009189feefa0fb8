/* SPDX-License-Identifier: Apache-2.0 */
/* The watcher, which turns steps into events of watchpoints. */
#include "coretap/watch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/watch.h"
#include "analysis/watch_access.h"
#include "analysis/watch_text.h"
#include "base/ctx.h"
#include "base/room.h"
#include "coretap/analysis.h"

#define NOTHING UINT32_MAX /* an edge that reaches no watchpoint */
#define NO_EDGE UINT32_MAX
#define KNOWN   (CT_CONTEXT_SF | CT_CONTEXT_CTXT | CT_CONTEXT_VMID | CT_CONTEXT_EL)
#define PENDING 3 /* most events of one mark: a loss, what came behind it, and what that ends */

/* The part of a timestamp event that differs from other events. */
struct held_stamp {
    uint64_t cycle, timestamp, step;
    uint32_t number;
};

/* A row of timestamps that have nothing but steps between them. */
struct stamp_row {
    bool wanted;               /* leave out the timestamps inside of a row */
    bool folds;                /* exactly one watchpoint takes timestamps, so they can be left out */
    uint32_t points;           /* number of watchpoints for which `folds` and `watch` hold */
    uint32_t watch;            /* number of the watchpoint that takes timestamps */
    bool begun;                /* the first timestamp of a row was given */
    uint32_t count;            /* entries of `held` */
    struct held_stamp held[2]; /* last timestamps of the row, not given yet */
};

struct ct_watcher {
    struct ct_ctx *ctx;
    const struct ct_watches *watches;
    uint32_t *first; /* by edge: its first hit, or NOTHING */
    size_t edges;    /* number of edges in `first` */
    size_t edge_room;
    struct ct_watch_hit *hits;
    size_t hit_count;
    size_t hit_room;
    struct ct_watch_event now; /* what all events have in common: cycle, time, context */
    uint32_t before;           /* the previous edge, or NO_EDGE */
    uint8_t arrived;           /* enum ct_watch_first of the next event */
    uint64_t steps;            /* in earlier batches */
    /* The position in the batch. */
    size_t step;
    size_t mark;
    uint32_t hit;   /* next hit of step `step`, or NOTHING */
    uint32_t point; /* next watchpoint to compare with the mark */
    bool begun;     /* the hits of `step` are being given */
    /* Events of a mark, each given once for every watchpoint that wants it, and the numbers to which
     * watchpoints compare. */
    struct ct_watch_event pending[PENDING];
    uint64_t pending_number[PENDING];
    size_t pending_count, pending_done;
    /* Software trace. */
    uint64_t port;                 /* of the next write, as in CT_SW_PORT */
    uint64_t access;               /* comparator of the last data trace packets, or CT_WATCH_ANY */
    uint32_t same;                 /* events given for the last write or access */
    bool is_local;                 /* the next TIMESTAMP is in cycles */
    struct ct_named_reader *named; /* NULL: no named events */
    struct ct_named_event told;    /* the last named event */
    struct ct_watch_lines lines;
    int failed; /* enum ct_error: a text could not be stored */
    struct stamp_row row;
    /* Data trace. */
    struct ct_access_reader reader;
    struct ct_access given;      /* the access of the pending LOAD or STORE */
    uint32_t given_number;       /* its number, in the bits above CT_WATCH_BITS */
    struct ct_known_bytes *seen; /* by watched variable */
    size_t seen_count;
};

/* Refuses watchpoints of a kind that trace does not have. CT_ERR_NOT_FOUND. */
static int check_kinds(struct ct_ctx *ctx, const struct ct_watches *watches)
{
    for (size_t i = 0; i < watches->count; i++)
        if (watches->points[i].kind == CT_WATCH_ACCESS)
            return ct_fail(ctx, CT_ERR_NOT_FOUND,
                           "watchpoint '%s': accesses to memory are in an event log of coretap fractal, and "
                           "not in trace; load:NAME and store:NAME are those of a data trace",
                           watches->points[i].name);
    return CT_OK;
}

int ct_watcher_new(struct ct_ctx *ctx, struct ct_watches *watches, struct ct_watcher **out)
{
    if (!watches || !out)
        return ct_fail_null(ctx, __func__);
    int rc = check_kinds(ctx, watches);
    if (!rc)
        rc = ct_watches_sort(watches);
    struct ct_watcher *w = rc ? NULL : calloc(1, sizeof *w);
    if (!w)
        return rc ? rc : ct_fail_nomem(ctx, "watcher");
    watches->watched = 1;
    w->ctx = ctx;
    w->watches = watches;
    w->before = NO_EDGE;
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
    if (!w)
        return CT_ERR_ARG;
    if (w->step || w->mark || w->begun || w->pending_count)
        return ct_fail(
            w->ctx, CT_ERR_ARG,
            "watcher: a batch is not done; watchpoints can be added when ct_watcher_run has no more");
    w->edges = w->hit_count = 0;
    return CT_OK;
}

int ct_watcher_fold_timestamps(struct ct_watcher *w)
{
    if (!w)
        return CT_ERR_ARG;
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
    if (!graph || w->before == NO_EDGE)
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

/* ---- marks ---- */

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

static void offer(struct ct_watcher *w, enum ct_watch_kind kind, uint64_t value, uint32_t number)
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
        offer(w, why == CT_GAP_OVERFLOW ? CT_WATCH_OVERFLOW : CT_WATCH_GAP, 0, (uint32_t)why);
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
            offer(w, CT_WATCH_CONTEXT, 0, 0);
        break;
    case CT_ELEM_EXCEPTION:
        offer(w, CT_WATCH_EXCEPTION, elem->n & (CT_EXCEPTION_HAS_RET | CT_EXCEPTION_HERE) ? elem->v : 0,
              elem->aux);
        break;
    case CT_ELEM_RETURN:
        offer(w, CT_WATCH_EXCEPTION_RETURN, 0, 0);
        break;
    case CT_ELEM_GAP:
        w->before = NO_EDGE;
        offer_loss(w, elem);
        break;
    case CT_ELEM_TRACE_ON:
        w->before = NO_EDGE;
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

static void on_mark(struct ct_watcher *w, const struct ct_step_mark *mark)
{
    if (w->seen_count)
        ct_access_take(&w->reader, mark);
    if (mark->kind == CT_MARK_ELEM) {
        on_element(w, &mark->elem, mark->n ? mark->value : 0);
        return;
    }
    w->before = NO_EDGE;
    w->arrived = CT_WATCH_INSIDE;
    offer(w, CT_WATCH_NO_ACCESS, mark->value, 0);
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
    offer(w, w->given.is_store ? CT_WATCH_STORE : CT_WATCH_LOAD, 0, 0);
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
    struct stamp_row *row = &w->row;
    row->begun = false;
    while (row->count) {
        const struct held_stamp *held = &row->held[0];
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
    struct stamp_row *row = &w->row;
    if (!row->begun || !is_stamp(mark) || w->arrived != CT_WATCH_ARRIVAL || w->is_local || w->same ||
        w->seen_count || mark->elem.v < w->now.timestamp || ct_elem_loss(&mark->elem) >= 0)
        return false;
    const uint64_t counted = mark->n ? mark->value : 0;
    if (row->count == 2)
        row->held[0] = row->held[1];
    row->count += row->count < 2;
    row->held[row->count - 1] =
        (struct held_stamp){.cycle = w->now.cycle,
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
    if (w->before == NO_EDGE)
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
    if (!w || !batch || !out || !count || !more)
        return CT_ERR_ARG;
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
        on_mark(w, mark);
        w->row.begun = w->row.folds && is_stamp(mark);
        w->mark++;
    }
    w->steps += w->step;
    w->step = w->mark = 0;
    *more = 0;
    return w->failed;
}
