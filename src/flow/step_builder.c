/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/step_builder.h"

#include <string.h>

#include "base/cycle_counts.h"
#include "flow/graph_entries.h"

int ct_step_builder_init(struct ct_step_builder *b, struct ct_ctx *ctx, const struct ct_source *source)
{
    struct ct_cycle_counts counts;
    const int rc = ct_cycle_counts_of(ctx, source, &counts);
    b->counts = counts.there;
    b->timestamp_counts = counts.timestamps_add;
    return rc;
}

void ct_step_stop_waiting(struct ct_step_builder *b)
{
    b->waiting = 0;
    b->waiting_marks = 0;
}

int ct_step_settle(struct ct_step_builder *b, enum ct_edge_kind kind, uint64_t next)
{
    if (!b->pending)
        return CT_OK;
    b->pending = false;
    struct ct_edge edge = {.next = next, .from = b->node, .exec = b->exec, .kind = (uint8_t)kind};
    return ct_graph_edge(b->graph, &edge, &b->edge[b->count - 1]);
}

/* Adds a mark. When too many marks wait for the last step, gives the step an open edge, or leaves it without
 * cycles: nothing is held back for ever. */
static int put_mark(struct ct_step_builder *b, const struct ct_step_mark *mark)
{
    b->marks[b->mark_count] = *mark;
    b->marks[b->mark_count++].at = (uint32_t)b->count;
    if (b->waiting && ++b->waiting_marks == CT_STEP_WAIT_MARKS)
        ct_step_stop_waiting(b);
    if (b->pending && ++b->pending_marks == CT_STEP_WAIT_MARKS)
        return ct_step_settle(b, CT_EDGE_OPEN, 0);
    return CT_OK;
}

int ct_step_put_timestamp(struct ct_step_builder *b)
{
    b->timestamp_held = false;
    return put_mark(b, &b->timestamp);
}

static int release_timestamp(struct ct_step_builder *b)
{
    return b->timestamp_held ? ct_step_put_timestamp(b) : CT_OK;
}

int ct_step_count_cycles(struct ct_step_builder *b, const struct ct_elem *elem, uint64_t offset, uint8_t isa)
{
    if (b->timestamp_held && elem->n == CT_CYCLES_ATTACHED) {
        b->timestamp.value = elem->v;
        b->timestamp.n = 1;
        return release_timestamp(b);
    }
    int rc = release_timestamp(b);
    if (!rc && b->waiting && !elem->aux && elem->n != CT_CYCLES_UNPLACED && elem->v < CT_STEP_CYCLES) {
        size_t from = b->count - b->waiting;
        uint64_t total = 0;
        for (size_t i = from; i < b->count; i++)
            total += b->insns[i];
        ct_step_split(b->cycles + from, b->insns + from, b->waiting, total, (uint32_t)elem->v);
        ct_step_stop_waiting(b);
        return CT_OK;
    }
    ct_step_stop_waiting(b);
    struct ct_step_mark mark = {.offset = offset, .elem = *elem, .kind = CT_MARK_ELEM, .isa = isa};
    return rc ? rc : put_mark(b, &mark);
}

/* Ends the last step, because trace is missing or was off: its edge leads nowhere, and it gets no cycle
 * count. */
static int interrupt(struct ct_step_builder *b)
{
    ct_step_stop_waiting(b);
    return ct_step_settle(b, CT_EDGE_OPEN, 0);
}

static int settle_by(struct ct_step_builder *b, const struct ct_elem *elem)
{
    switch (elem->kind) {
    case CT_ELEM_EXCEPTION:
        return ct_step_settle(b, CT_EDGE_INTERRUPTED, elem->n & CT_EXCEPTION_HAS_RET ? elem->v : 0);
    case CT_ELEM_GAP:
    case CT_ELEM_TRACE_ON:
    case CT_ELEM_END:
    case CT_ELEM_LOST_ADDRESS:
        return interrupt(b);
    case CT_ELEM_SYNC:
        return elem->n ? interrupt(b) : CT_OK;
    default:
        return CT_OK;
    }
}

/* Adds an element. A TIMESTAMP of ETMv4 is held back for its count, which may be the next record. */
static int add_elem(struct ct_step_builder *b, const struct ct_flow *r)
{
    struct ct_step_mark mark = {.offset = r->offset,
                                .value = r->start,
                                .elem = r->elem,
                                .kind = CT_MARK_ELEM,
                                .isa = r->isa,
                                .n = (uint8_t)r->n};
    int rc = settle_by(b, &r->elem);
    if (rc || !b->counts || b->timestamp_counts || r->elem.kind != CT_ELEM_TIMESTAMP)
        return rc ? rc : put_mark(b, &mark);
    b->timestamp = mark;
    b->timestamp_held = true;
    return CT_OK;
}

static int add_no_access(struct ct_step_builder *b, const struct ct_flow *r)
{
    struct ct_step_mark mark = {
        .offset = r->offset, .value = r->start, .kind = CT_MARK_NO_ACCESS, .space = r->space};
    int rc = ct_step_settle(b, CT_EDGE_OPEN, 0);
    return rc || r->stale ? rc : put_mark(b, &mark);
}

static int add_range(struct ct_step_builder *b, const struct ct_flow *r)
{
    if (r->stale)
        return ct_step_settle(b, CT_EDGE_OPEN, 0);
    struct ct_node node = {.start = r->start,
                           .last = r->end - r->last_size,
                           .end = r->end,
                           .n = r->n,
                           .memory = b->memory,
                           .space = r->space,
                           .isa = r->isa,
                           .type = r->type,
                           .sub = r->sub,
                           .cond = r->cond,
                           .last_size = r->last_size,
                           .flags = r->type == CT_INSN_OTHER ? CT_NODE_CUT : 0};
    uint32_t number;
    int rc = ct_step_settle(b, CT_EDGE_NEXT, r->start);
    if (!rc)
        rc = ct_graph_node(b->graph, &node, &number);
    if (!rc)
        ct_step_open(b, number, r->n, r->exec);
    return rc;
}

/* Adds a NO_PATH record. The record says where execution continues, so the edge is known at once. */
static int add_nopath(struct ct_step_builder *b, const struct ct_flow *r)
{
    struct ct_node node = {.start = r->start,
                           .last = r->start,
                           .end = r->start,
                           .n = r->n,
                           .memory = b->memory,
                           .space = r->space,
                           .isa = r->isa,
                           .flags = CT_NODE_NOPATH};
    uint32_t number;
    int rc = ct_step_settle(b, CT_EDGE_NEXT, r->start);
    if (!rc)
        rc = ct_graph_node(b->graph, &node, &number);
    if (rc)
        return rc;
    ct_step_open(b, number, r->n, 1);
    return ct_step_settle(b, CT_EDGE_NEXT, r->end);
}

int ct_step_add_flow(struct ct_step_builder *b, const struct ct_flow *r)
{
    if (r->kind == CT_FLOW_ELEM && r->elem.kind == CT_ELEM_CYCLES)
        return ct_step_count_cycles(b, &r->elem, r->offset, r->isa);
    int rc = release_timestamp(b);
    if (rc)
        return rc;
    switch (r->kind) {
    case CT_FLOW_RANGE:
        return add_range(b, r);
    case CT_FLOW_RANGE_NOPATH:
        return add_nopath(b, r);
    case CT_FLOW_NO_ACCESS:
        return add_no_access(b, r);
    default:
        return r->stale ? CT_OK : add_elem(b, r);
    }
}

void ct_step_drop_given(struct ct_step_builder *b)
{
    if (!b->given && !b->given_marks)
        return;
    b->count -= b->given;
    b->mark_count -= b->given_marks;
    memmove(b->edge, b->edge + b->given, b->count * sizeof *b->edge);
    memmove(b->insns, b->insns + b->given, b->count * sizeof *b->insns);
    memmove(b->cycles, b->cycles + b->given, b->count * sizeof *b->cycles);
    memmove(b->marks, b->marks + b->given_marks, b->mark_count * sizeof *b->marks);
    for (size_t i = 0; i < b->mark_count; i++)
        b->marks[i].at -= (uint32_t)b->given;
    b->given = b->given_marks = 0;
}

void ct_step_give(struct ct_step_builder *b, struct ct_step_batch *batch)
{
    size_t known = b->count - (b->pending ? 1 : 0);
    if (b->count - b->waiting < known)
        known = b->count - b->waiting;
    size_t marks = 0;
    while (marks < b->mark_count && b->marks[marks].at <= known)
        marks++;
    *batch = (struct ct_step_batch){.graph = b->graph,
                                    .edge = b->edge,
                                    .cycles = b->counts ? b->cycles : NULL,
                                    .count = known,
                                    .marks = b->marks,
                                    .mark_count = marks};
    b->given = known;
    b->given_marks = marks;
}

void ct_step_drop(struct ct_step_builder *b)
{
    b->pending = b->timestamp_held = false;
    b->count = b->mark_count = b->given = b->given_marks = 0;
    ct_step_stop_waiting(b);
}

/* Saves a node or an edge by its contents, because its number depends on what the graph met before. */
static void put_bytes(struct ct_seam *seam, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)bytes + i, sizeof word);
        ct_seam_put(seam, word);
    }
}

static void put_step(const struct ct_step_builder *b, size_t step, struct ct_seam *seam)
{
    struct ct_edge edge = {.from = b->node, .exec = b->exec};
    ct_seam_put(seam, (uint64_t)b->cycles[step] << 32 | b->insns[step]);
    if (!b->pending || step + 1 < b->count)
        edge = ct_graph_copy_edge(b->graph, b->edge[step]);
    const struct ct_node node = ct_graph_copy_node(b->graph, edge.from);
    put_bytes(seam, &node, sizeof node);
    edge.from = 0;
    put_bytes(seam, &edge, sizeof edge);
}

static void put_mark_seam(const struct ct_step_mark *mark, size_t given, struct ct_seam *seam)
{
    ct_seam_put(seam, mark->value);
    ct_seam_put(seam, mark->elem.v);
    ct_seam_put(seam, (uint64_t)mark->elem.kind << 32 | (uint64_t)mark->elem.n << 24 | mark->elem.aux);
    ct_seam_put(seam, (uint64_t)(mark->at - given) << 32 | (uint64_t)mark->kind << 24 |
                          (uint64_t)mark->isa << 16 | (uint64_t)mark->n << 8 | mark->space);
}

void ct_step_builder_seam(const struct ct_step_builder *b, struct ct_seam *seam)
{
    ct_seam_put(seam, (uint64_t)b->pending << 1 | b->timestamp_held);
    ct_seam_put(seam, (uint64_t)(b->pending ? b->pending_marks : 0) << 32 | b->waiting_marks);
    ct_seam_put(seam, b->waiting);
    ct_seam_put(seam, b->count - b->given);
    for (size_t i = b->given; i < b->count && !seam->overflow; i++)
        put_step(b, i, seam);
    ct_seam_put(seam, b->mark_count - b->given_marks);
    for (size_t i = b->given_marks; i < b->mark_count && !seam->overflow; i++)
        put_mark_seam(&b->marks[i], b->given, seam);
    if (b->timestamp_held)
        put_mark_seam(&b->timestamp, b->timestamp.at, seam);
}
