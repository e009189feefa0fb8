/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/threads/batch_queue.h"

#include "base/room.h"

#include <stdlib.h>
#include <string.h>

enum kind {
    PACKETS,
    ELEMS,
    FLOW,
    STEPS,
};

/* The header of an entry in the queue. The arrays of its batch follow it. */
struct entry {
    _Alignas(16) enum kind kind;
    size_t size; /* bytes up to the next entry */
    struct ct_packet_batch packets;
    struct ct_elem_batch elems;
    struct ct_flow_batch flow;
    struct ct_step_batch steps;
    struct ct_run run; /* of packets: the run they are from */
};

void ct_batch_queue_free(struct ct_batch_queue *queue)
{
    free(queue->data);
    *queue = (struct ct_batch_queue){0};
}

/* Adds an entry with room for two arrays, the first directly after it. Returns NULL when out of memory. */
static struct entry *add(struct ct_batch_queue *queue, enum kind kind, size_t first, size_t second)
{
    const size_t size = (first + second + 15) & ~(size_t)15;
    const size_t need = queue->size + sizeof(struct entry) + size;
    if (!CT_MAKE_ROOM(queue->data, queue->cap, need))
        return NULL;
    struct entry *entry = (struct entry *)(void *)(queue->data + queue->size);
    *entry = (struct entry){.kind = kind, .size = size};
    queue->size = need;
    return entry;
}

int ct_batch_queue_add_packets(struct ct_batch_queue *queue, const struct ct_packet_batch *batch)
{
    const size_t packets = batch->count * batch->stride;
    const size_t offsets = batch->count * sizeof *batch->offsets;
    struct entry *entry = add(queue, PACKETS, offsets, packets);
    if (!entry)
        return CT_ERR_NOMEM;
    entry->packets = *batch;
    entry->run = *batch->run;
    memcpy(entry + 1, batch->offsets, offsets);
    memcpy((uint8_t *)(entry + 1) + offsets, batch->packets, packets);
    return CT_OK;
}

int ct_batch_queue_add_elems(struct ct_batch_queue *queue, const struct ct_elem_batch *batch)
{
    struct entry *entry = add(queue, ELEMS, batch->count * sizeof *batch->elems, 0);
    if (!entry)
        return CT_ERR_NOMEM;
    entry->elems = *batch;
    memcpy(entry + 1, batch->elems, batch->count * sizeof *batch->elems);
    return CT_OK;
}

int ct_batch_queue_add_flow(struct ct_batch_queue *queue, const struct ct_flow_batch *batch)
{
    struct entry *entry = add(queue, FLOW, batch->count * sizeof *batch->records, 0);
    if (!entry)
        return CT_ERR_NOMEM;
    entry->flow = *batch;
    memcpy(entry + 1, batch->records, batch->count * sizeof *batch->records);
    return CT_OK;
}

int ct_batch_queue_add_steps(struct ct_batch_queue *queue, const struct ct_step_batch *batch)
{
    const size_t marks = batch->mark_count * sizeof *batch->marks;
    const size_t column = batch->count * sizeof *batch->edge;
    struct entry *entry = add(queue, STEPS, marks, batch->cycles ? 2 * column : column);
    if (!entry)
        return CT_ERR_NOMEM;
    uint8_t *columns = (uint8_t *)(entry + 1) + marks;
    entry->steps = *batch;
    if (marks)
        memcpy(entry + 1, batch->marks, marks);
    if (column)
        memcpy(columns, batch->edge, column);
    if (column && batch->cycles)
        memcpy(columns + column, batch->cycles, column);
    return CT_OK;
}

static int play_steps(const struct entry *entry, const struct ct_chain_sink *sink,
                      const struct ct_stream *stream)
{
    struct ct_step_batch batch = entry->steps;
    batch.marks = (const void *)(entry + 1);
    batch.edge = (const void *)(batch.marks + batch.mark_count);
    batch.cycles = batch.cycles ? batch.edge + batch.count : NULL;
    return sink->steps(sink->user, stream, &batch);
}

static int play_entry(const struct entry *entry, const struct ct_chain_sink *sink,
                      const struct ct_stream *stream)
{
    const void *arrays = entry + 1;
    if (entry->kind == PACKETS) {
        struct ct_packet_batch batch = entry->packets;
        batch.offsets = arrays;
        batch.packets = (const uint8_t *)arrays + batch.count * sizeof *batch.offsets;
        batch.run = &entry->run;
        return sink->packets(sink->user, stream, &batch);
    }
    if (entry->kind == ELEMS) {
        struct ct_elem_batch batch = entry->elems;
        batch.elems = arrays;
        return sink->elems(sink->user, stream, &batch);
    }
    if (entry->kind == STEPS)
        return play_steps(entry, sink, stream);
    struct ct_flow_batch batch = entry->flow;
    batch.records = arrays;
    return sink->flow(sink->user, stream, &batch);
}

int ct_batch_queue_deliver(const struct ct_batch_queue *queue, const struct ct_chain_sink *sink,
                           const struct ct_stream *stream)
{
    int rc = 0;
    for (size_t at = 0; !rc && at < queue->size;) {
        const struct entry *entry = (const struct entry *)(const void *)(queue->data + at);
        rc = play_entry(entry, sink, stream);
        at += sizeof *entry + entry->size;
    }
    return rc;
}
