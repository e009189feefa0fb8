/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/threads/relay.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/room.h"
#include "base/threads.h"
#include "chain/threads/batch_queue.h"

/* Number of entries of the queue. A batch of steps has about 64 KiB, so that the queue stays in the
 * second-level cache. */
#define SLOTS 8u

#define IDS 128u

enum kind {
    STEPS,
    MARK,
    BYTES,
};

/* Items of one size, in the order of adding. */
struct items {
    uint8_t *data;
    size_t count, room;
};

struct slot {
    enum kind kind;
    uint8_t id;                  /* STEPS: ID of the stream */
    struct ct_batch_queue batch; /* STEPS: one batch */
    struct items nodes, edges;   /* STEPS: new nodes and edges of the graph */
    struct ct_frame_mark mark;
    uint64_t bytes;
};

/* A stream, as the receiver sees it. */
struct lane {
    struct ct_stream stream;
    struct ct_graph *graph;          /* the copy */
    uint32_t node_count, edge_count; /* how many were queued so far */
};

struct ct_relay {
    struct ct_ctx *ctx;
    const struct ct_chain_sink *sink;
    struct ct_chain_sink own;
    struct lane *lanes[IDS]; /* made by the decoding thread */
    struct slot slots[SLOTS];
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t filled, emptied;
    size_t put, taken; /* numbers of entries so far; entry i is slots[i % SLOTS] */
    int rc;            /* result of the receiver: when it is not 0, decoding stops */
    bool ended;        /* no more entries come */
    bool alone;        /* there is only one thread, which empties each slot at once */
    int (*decode)(void *user);
    void *user;
    int result; /* of `decode` */
};

/* ---- the thread that decodes ---- */

/* Copies items [from, to) of an array. Returns false when out of memory. */
static bool add_items(struct items *items, const void *all, size_t from, size_t to, size_t size)
{
    const size_t count = to - from;
    if (!ct_make_room(&items->data, &items->room, count, size, false))
        return false;
    if (count) /* else there may be no array */
        memcpy(items->data, (const uint8_t *)all + from * size, count * size);
    items->count = count;
    return true;
}

/* Waits for a free slot. NULL: the receiver wants nothing more. */
static struct slot *free_slot(struct ct_relay *r)
{
    pthread_mutex_lock(&r->lock);
    while (!r->rc && r->put - r->taken == SLOTS)
        pthread_cond_wait(&r->emptied, &r->lock);
    struct slot *slot = r->rc ? NULL : &r->slots[r->put % SLOTS];
    pthread_mutex_unlock(&r->lock);
    return slot;
}

static int give(struct ct_relay *r, struct slot *slot);

/* Passes the filled slot to the receiver. */
static int put(struct ct_relay *r)
{
    if (r->alone)
        return r->rc = give(r, &r->slots[0]);
    pthread_mutex_lock(&r->lock);
    r->put++;
    pthread_cond_signal(&r->filled);
    pthread_mutex_unlock(&r->lock);
    return 0;
}

static struct lane *lane_of(struct ct_relay *r, const struct ct_stream *stream)
{
    struct lane *lane = r->lanes[stream->id];
    if (lane)
        return lane;
    lane = calloc(1, sizeof *lane);
    if (!lane || ct_graph_new(r->ctx, &lane->graph)) {
        free(lane);
        return NULL;
    }
    lane->stream = (struct ct_stream){.source = stream->source, .id = stream->id, .graph = lane->graph};
    r->lanes[stream->id] = lane;
    return lane;
}

/* Copies the nodes and edges that the receiver's graph lacks into the slot. */
static bool add_news(struct slot *slot, struct lane *lane, const struct ct_graph *graph)
{
    uint32_t nodes = 0, edges = 0;
    const struct ct_node *all_nodes = ct_graph_nodes(graph, &nodes);
    const struct ct_edge *all_edges = ct_graph_edges(graph, &edges);
    const uint32_t known_nodes = lane->node_count, known_edges = lane->edge_count;
    lane->node_count = nodes;
    lane->edge_count = edges;
    return add_items(&slot->nodes, all_nodes, known_nodes, nodes, sizeof *all_nodes) &&
           add_items(&slot->edges, all_edges, known_edges, edges, sizeof *all_edges);
}

static int put_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct ct_relay *r = user;
    struct slot *slot = free_slot(r);
    struct lane *lane = slot ? lane_of(r, stream) : NULL;
    if (!slot)
        return r->rc;
    struct ct_step_batch copy = *batch;
    slot->kind = STEPS;
    slot->id = stream->id;
    slot->batch.size = 0;
    if (!lane || !add_news(slot, lane, batch->graph))
        return ct_fail_nomem(r->ctx, "threads");
    copy.graph = lane->graph;
    const int rc = ct_batch_queue_add_steps(&slot->batch, &copy);
    return rc ? ct_fail_nomem(r->ctx, "threads") : put(r);
}

static int put_mark(void *user, const struct ct_frame_mark *mark)
{
    struct ct_relay *r = user;
    struct slot *slot = free_slot(r);
    if (!slot)
        return r->rc;
    slot->kind = MARK;
    slot->mark = *mark;
    return put(r);
}

static int put_bytes(void *user, uint64_t bytes)
{
    struct ct_relay *r = user;
    struct slot *slot = free_slot(r);
    if (!slot)
        return r->rc;
    slot->kind = BYTES;
    slot->bytes = bytes;
    return put(r);
}

static void *run(void *user)
{
    struct ct_relay *r = user;
    r->result = r->decode(r->user);
    pthread_mutex_lock(&r->lock);
    r->ended = true;
    pthread_cond_signal(&r->filled);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- the caller's thread ---- */

static int give(struct ct_relay *r, struct slot *slot)
{
    const struct ct_chain_sink *sink = r->sink;
    if (slot->kind == MARK)
        return sink->mark(sink->user, &slot->mark);
    if (slot->kind == BYTES)
        return sink->bytes(sink->user, slot->bytes);
    const struct lane *lane = r->lanes[slot->id];
    /* the copy has the same order, so the numbers are equal */
    const int rc = ct_graph_append(lane->graph, (const void *)slot->nodes.data, (uint32_t)slot->nodes.count,
                                   (const void *)slot->edges.data, (uint32_t)slot->edges.count);
    return rc ? rc : ct_batch_queue_deliver(&slot->batch, sink, &lane->stream);
}

/* Passes all entries to the receiver until it wants no more, or no more come. */
static void give_all(struct ct_relay *r)
{
    pthread_mutex_lock(&r->lock);
    while (!r->rc) {
        while (!r->ended && r->taken == r->put)
            pthread_cond_wait(&r->filled, &r->lock);
        if (r->taken == r->put)
            break;
        pthread_mutex_unlock(&r->lock);
        const int rc = give(r, &r->slots[r->taken % SLOTS]);
        pthread_mutex_lock(&r->lock);
        r->taken++;
        r->rc = rc;
        if (rc || r->put - r->taken <= SLOTS / 2) /* wakes the other thread only for several slots */
            pthread_cond_signal(&r->emptied);
    }
    pthread_mutex_unlock(&r->lock);
}

int ct_relay_run(struct ct_relay *r, int (*decode)(void *user), void *user)
{
    pthread_t id;
    r->decode = decode;
    r->user = user;
    if (!ct_threads_start(&id, 1, run, r)) {
        r->alone = true;
        return decode(user);
    }
    give_all(r);
    pthread_join(id, NULL);
    return r->rc ? r->rc : r->result;
}

const struct ct_chain_sink *ct_relay_sink(const struct ct_relay *r)
{
    return &r->own;
}

int ct_relay_new(struct ct_ctx *ctx, const struct ct_chain_sink *sink, struct ct_relay **out)
{
    struct ct_relay *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "threads");
    r->ctx = ctx;
    r->sink = sink;
    r->own = (struct ct_chain_sink){.user = r,
                                    .steps = put_steps,
                                    .mark = sink->mark ? put_mark : NULL,
                                    .bytes = sink->bytes ? put_bytes : NULL};
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->filled, NULL);
    pthread_cond_init(&r->emptied, NULL);
    *out = r;
    return CT_OK;
}

void ct_relay_free(struct ct_relay *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < IDS; i++) {
        if (r->lanes[i])
            ct_graph_free(r->lanes[i]->graph);
        free(r->lanes[i]);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        ct_batch_queue_free(&r->slots[i].batch);
        free(r->slots[i].nodes.data);
        free(r->slots[i].edges.data);
    }
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->filled);
    pthread_cond_destroy(&r->emptied);
    free(r);
}
