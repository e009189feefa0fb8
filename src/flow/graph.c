/* SPDX-License-Identifier: Apache-2.0 */
#include "coretap/graph.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/table_memory.h"
#include "flow/graph_entries.h"

/* Initial number of slots, and of entries. */
#define FIRST_CAP 512u

/* Number of entries that get their slots at a time. */
#define BATCH 16u

/* Number of bits in `marked`, a power of two. */
#define MARKS 32768u

/* A hash table of entries. Its number of slots is a power of two. A free slot is 0; any other one has the
 * hash of an entry << 32 and its number + 1. An entry is in its home slot or, when that was taken, in the
 * first free slot from its hash on. Entries that are met one after the other have adjacent homes, so that a
 * look-up seldom waits for memory. */
struct index {
    uint64_t *slots; /* at least twice as many as are used */
    uint32_t used;
    uint32_t mask; /* number of slots - 1 */
};

/* An array of entries of one size, which are found by their bytes. Entries that blocks number (blocks.h) are
 * mostly known to be new, so they are put into the index only when such an entry is looked up. Entries that
 * blocks never number have an index of their own. */
struct store {
    uint8_t *entries;
    uint32_t (*home)(const uint8_t *entry);
    bool (*is_rare)(const struct ct_graph *graph, const uint8_t *entry); /* true: blocks never number it */
    struct index common, rare;
    size_t size;    /* of an entry, in bytes; a multiple of 8 */
    uint32_t count; /* entries */
    uint32_t cap;
    uint32_t indexed;            /* number of entries that are in their index; a look-up adds the others */
    uint64_t marked[MARKS / 64]; /* bits by home: set for common entries that were not added by blocks */
};

struct ct_graph {
    struct ct_ctx *ctx;
    pthread_mutex_t lock; /* held while the arrays of entries grow, which may move them, and while another
                             thread reads an entry (ct_graph_copy_edge) */
    struct store nodes;
    struct store edges;
};

/* Returns whether blocks never number such a node. */
static bool is_rare_node(const struct ct_graph *graph, const uint8_t *entry)
{
    (void)graph;
    return entry[offsetof(struct ct_node, flags)];
}

static bool is_rare_edge(const struct ct_graph *graph, const uint8_t *entry)
{
    struct ct_edge edge;
    memcpy(&edge, entry, sizeof edge);
    return edge.kind != CT_EDGE_NEXT ||
           is_rare_node(graph, graph->nodes.entries + edge.from * sizeof(struct ct_node));
}

static uint32_t hash_bytes(const uint8_t *bytes, size_t size)
{
    uint64_t h = 0;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return (uint32_t)(h >> 32 ^ h);
}

static bool same_bytes(const uint8_t *a, const uint8_t *b, size_t size)
{
    uint64_t different = 0;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t x, y;
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        different |= x ^ y;
    }
    return !different;
}

/* Returns the home of a node. Nodes that lie near each other get homes near each other. */
static uint32_t home_of_node(const uint8_t *entry)
{
    uint64_t start;
    memcpy(&start, entry + offsetof(struct ct_node, start), sizeof start);
    const uint64_t region = (start >> 7) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(region >> 32) << 4 | (start >> 3 & 15);
}

/* Returns the home of an edge, by the number of its node. */
static uint32_t home_of_edge(const uint8_t *entry)
{
    uint32_t from;
    memcpy(&from, entry + offsetof(struct ct_edge, from), sizeof from);
    return from * 2 + entry[offsetof(struct ct_edge, exec)];
}

/* Returns whether a slot has an entry. Reads the bytes of the entry only when the whole hash is the same. */
static bool has_entry(const struct store *store, uint64_t slot, const uint8_t *entry, uint32_t hash)
{
    const size_t number = (uint32_t)slot - 1;
    return slot >> 32 == hash && same_bytes(store->entries + number * store->size, entry, store->size);
}

/* Returns the number of an entry + 1, or 0. */
static uint32_t find(const struct store *store, const struct index *index, const uint8_t *entry)
{
    if (!index->slots)
        return 0;
    const uint32_t hash = hash_bytes(entry, store->size);
    const uint64_t *slot = &index->slots[store->home(entry) & index->mask];
    for (uint32_t at = hash; *slot && !has_entry(store, *slot, entry, hash); at++)
        slot = &index->slots[at & index->mask];
    return (uint32_t)*slot;
}

/* Returns the free slot for an entry that has none. */
static uint64_t *free_slot(const struct index *index, uint32_t home, uint32_t hash)
{
    uint64_t *slot = &index->slots[home & index->mask];
    for (uint32_t at = hash; *slot; at++)
        slot = &index->slots[at & index->mask];
    return slot;
}

/* Makes room for `count` entries in all. Returns false when out of memory. */
static bool have_slots(const struct store *store, struct index *index, uint32_t count)
{
    uint32_t size = index->slots ? index->mask + 1 : FIRST_CAP;
    while (size < count * 2)
        size *= 2;
    if (index->slots && size == index->mask + 1)
        return true;
    struct index larger = {ct_table_memory(size, sizeof *larger.slots), index->used, size - 1};
    if (!larger.slots)
        return false;
    for (uint32_t i = 0; index->slots && i <= index->mask; i++) {
        const uint64_t slot = index->slots[i];
        const size_t number = (uint32_t)slot - 1;
        if (slot)
            *free_slot(&larger, store->home(store->entries + number * store->size), (uint32_t)(slot >> 32)) =
                slot;
    }
    free(index->slots);
    *index = larger;
    return true;
}

/* Puts the next `count` entries, at most BATCH, into the common index, except the rare ones, which are in
 * their own. Prefetches all slots in which they may be before the first is read. */
static void index_batch(const struct ct_graph *graph, struct store *store, uint32_t count)
{
    struct index *index = &store->common;
    uint32_t home[BATCH], hash[BATCH];
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *entry = store->entries + (store->indexed + i) * store->size;
        home[i] = store->home(entry);
        hash[i] = hash_bytes(entry, store->size);
        __builtin_prefetch(&index->slots[home[i] & index->mask], 1);
        __builtin_prefetch(&index->slots[hash[i] & index->mask], 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool rare = store->is_rare(graph, store->entries + store->indexed++ * store->size);
        if (!rare)
            *free_slot(index, home[i], hash[i]) = (uint64_t)hash[i] << 32 | store->indexed;
        index->used += !rare;
    }
}

/* Puts all entries into the index. Returns false when out of memory. */
static bool index_all(const struct ct_graph *graph, struct store *store)
{
    if (store->indexed < store->count && !have_slots(store, &store->common, store->cap))
        return false;
    while (store->indexed < store->count) {
        const uint32_t left = store->count - store->indexed;
        index_batch(graph, store, left < BATCH ? left : BATCH);
    }
    return true;
}

/* Doubles the room. */
static int grow(struct ct_graph *graph, struct store *store)
{
    const uint32_t cap = store->cap ? store->cap * 2 : FIRST_CAP;
    pthread_mutex_lock(&graph->lock);
    uint8_t *entries = ct_array_grow(store->entries, store->cap, cap, store->size);
    if (entries) {
        store->entries = entries;
        store->cap = cap;
    }
    pthread_mutex_unlock(&graph->lock);
    return entries ? CT_OK : ct_fail_nomem(graph->ctx, "program graph");
}

/* Adds an entry. CT_ERR_NOMEM, CT_ERR_LIMIT. */
static int append(struct ct_graph *graph, struct store *store, const void *entry, uint32_t *number)
{
    if (store->count == CT_GRAPH_MAX)
        return ct_fail(graph->ctx, CT_ERR_LIMIT,
                       "program graph: the graph has reached its limit of %u entries; decode a shorter part "
                       "of the trace, or check that the images belong to the program that ran",
                       CT_GRAPH_MAX);
    const int rc = store->count == store->cap ? grow(graph, store) : CT_OK;
    if (rc)
        return rc;
    memcpy(store->entries + store->count * store->size, entry, store->size);
    *number = store->count++;
    return CT_OK;
}

struct mark {
    uint64_t *word, bit;
};

/* Returns the bit of an entry in `marked`. */
static struct mark mark_of(struct store *store, const uint8_t *entry)
{
    const uint32_t at = store->home(entry) & (MARKS - 1);
    return (struct mark){&store->marked[at / 64], UINT64_C(1) << (at & 63)};
}

/* Adds an entry so that all later look-ups find it. */
static int append_findable(struct ct_graph *graph, struct store *store, const void *entry, uint32_t *number)
{
    if (!store->is_rare(graph, entry)) {
        const struct mark mark = mark_of(store, entry);
        *mark.word |= mark.bit;
        return append(graph, store, entry, number);
    }
    if (!have_slots(store, &store->rare, store->rare.used + 1))
        return ct_fail_nomem(graph->ctx, "program graph");
    const uint32_t next = store->count + 1;
    const int rc = append(graph, store, entry, number);
    if (rc)
        return rc;
    const uint32_t hash = hash_bytes(entry, store->size);
    *free_slot(&store->rare, store->home(entry), hash) = (uint64_t)hash << 32 | next;
    store->rare.used++;
    return CT_OK;
}

/* Sets *number to the number of an entry, and adds the entry when it is new. */
static int number_of(struct ct_graph *graph, struct store *store, const void *entry, uint32_t *number)
{
    const bool rare = store->is_rare(graph, entry);
    if (!rare && !index_all(graph, store))
        return ct_fail_nomem(graph->ctx, "program graph");
    const uint32_t there = find(store, rare ? &store->rare : &store->common, entry);
    if (!there)
        return append_findable(graph, store, entry, number);
    *number = there - 1;
    return CT_OK;
}

/* Does the same for an entry that blocks have not numbered before. It is not looked up when nothing else can
 * have added it either, because a look-up would wait for a line of the index. */
static int number_of_new(struct ct_graph *graph, struct store *store, const void *entry, uint32_t *number)
{
    const struct mark mark = mark_of(store, entry);
    return *mark.word & mark.bit ? number_of(graph, store, entry, number)
                                 : append(graph, store, entry, number);
}

int ct_graph_new(struct ct_ctx *ctx, struct ct_graph **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return ct_fail_nomem(ctx, "program graph");
    graph->ctx = ctx;
    pthread_mutex_init(&graph->lock, NULL);
    graph->nodes.size = sizeof(struct ct_node);
    graph->nodes.home = home_of_node;
    graph->nodes.is_rare = is_rare_node;
    graph->edges.size = sizeof(struct ct_edge);
    graph->edges.home = home_of_edge;
    graph->edges.is_rare = is_rare_edge;
    *out = graph;
    return CT_OK;
}

static void free_store(const struct store *store)
{
    if (store->entries)
        ct_array_free(store->entries, store->cap, store->size);
    free(store->common.slots);
    free(store->rare.slots);
}

void ct_graph_free(struct ct_graph *graph)
{
    if (!graph)
        return;
    pthread_mutex_destroy(&graph->lock);
    free_store(&graph->nodes);
    free_store(&graph->edges);
    free(graph);
}

int ct_graph_new_node(struct ct_graph *graph, const struct ct_node *node, uint32_t *number)
{
    return number_of_new(graph, &graph->nodes, node, number);
}

int ct_graph_new_edge(struct ct_graph *graph, const struct ct_edge *edge, uint32_t *number)
{
    return number_of_new(graph, &graph->edges, edge, number);
}

int ct_graph_node(struct ct_graph *graph, const struct ct_node *node, uint32_t *number)
{
    CT_REQUIRE_OF(graph, node, number);
    return number_of(graph, &graph->nodes, node, number);
}

/* Refuses an edge whose node is not in the graph, because the home of an edge depends on its node. */
static int check_edge(const struct ct_graph *graph, const struct ct_edge *edge)
{
    return edge->from < graph->nodes.count ? CT_OK
                                           : ct_fail(graph->ctx, CT_ERR_ARG,
                                                     "program graph: an edge starts at node %u of %u, so it "
                                                     "was not added; add its node first",
                                                     edge->from, graph->nodes.count);
}

int ct_graph_edge(struct ct_graph *graph, const struct ct_edge *edge, uint32_t *number)
{
    CT_REQUIRE_OF(graph, edge, number);
    const int rc = check_edge(graph, edge);
    return rc ? rc : number_of(graph, &graph->edges, edge, number);
}

int ct_graph_append(struct ct_graph *graph, const struct ct_node *nodes, uint32_t node_count,
                    const struct ct_edge *edges, uint32_t edge_count)
{
    CT_REQUIRE_OF(graph, nodes || !node_count, edges || !edge_count);
    uint32_t number;
    int rc = CT_OK;
    for (uint32_t i = 0; i < node_count && !rc; i++)
        rc = append_findable(graph, &graph->nodes, &nodes[i], &number);
    for (uint32_t i = 0; i < edge_count && !rc; i++) {
        rc = check_edge(graph, &edges[i]);
        rc = rc ? rc : append_findable(graph, &graph->edges, &edges[i], &number);
    }
    return rc;
}

struct ct_node ct_graph_copy_node(struct ct_graph *graph, uint32_t node)
{
    struct ct_node entry;
    pthread_mutex_lock(&graph->lock);
    memcpy(&entry, graph->nodes.entries + node * sizeof entry, sizeof entry);
    pthread_mutex_unlock(&graph->lock);
    return entry;
}

struct ct_edge ct_graph_copy_edge(struct ct_graph *graph, uint32_t edge)
{
    struct ct_edge entry;
    pthread_mutex_lock(&graph->lock);
    memcpy(&entry, graph->edges.entries + edge * sizeof entry, sizeof entry);
    pthread_mutex_unlock(&graph->lock);
    return entry;
}

/* Sets *number to the number of an entry. Returns false when the store does not have it, or is out of
 * memory. */
static bool has(struct ct_graph *graph, struct store *store, const void *entry, uint32_t *number)
{
    const bool rare = store->is_rare(graph, entry);
    if (!rare && !index_all(graph, store))
        return false;
    const uint32_t there = find(store, rare ? &store->rare : &store->common, entry);
    *number = there - 1;
    return there;
}

bool ct_graph_has_node(struct ct_graph *graph, const struct ct_node *node, uint32_t *number)
{
    return has(graph, &graph->nodes, node, number);
}

bool ct_graph_has_edge(struct ct_graph *graph, const struct ct_edge *edge, uint32_t *number)
{
    return has(graph, &graph->edges, edge, number);
}

const struct ct_node *ct_graph_nodes(const struct ct_graph *graph, uint32_t *count)
{
    if (count)
        *count = 0;
    if (!graph || !count)
        return NULL;
    *count = graph->nodes.count;
    return (const struct ct_node *)(const void *)graph->nodes.entries;
}

const struct ct_edge *ct_graph_edges(const struct ct_graph *graph, uint32_t *count)
{
    if (count)
        *count = 0;
    if (!graph || !count)
        return NULL;
    *count = graph->edges.count;
    return (const struct ct_edge *)(const void *)graph->edges.entries;
}
