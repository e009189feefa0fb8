/* SPDX-License-Identifier: Apache-2.0 */
#include "coretap/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/table_memory.h"
#include "flow/edge_table.h"

/* An array of entries of one size that are found by their bytes, with a hash table of their numbers: a power
 * of two slots, 0 in the free ones. */
struct store {
    uint8_t *entries;
    uint32_t *slots;
    size_t size;    /* of an entry, in bytes */
    uint32_t count; /* entries */
    uint32_t cap;
    uint32_t mask; /* number of slots less one */
};

struct ct_graph {
    struct ct_ctx *ctx;
    struct store nodes;
    struct store edges;
};

/* the first number of slots, at most half of which are used */
#define FIRST_CAP 512u

static uint64_t hash_bytes(const uint8_t *bytes, size_t size)
{
    uint64_t h = 0;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

static uint32_t *find_slot(const struct store *store, const uint8_t *entry)
{
    uint32_t at = (uint32_t)hash_bytes(entry, store->size) & store->mask;
    while (store->slots[at] &&
           memcmp(store->entries + (store->slots[at] - 1) * store->size, entry, store->size) != 0)
        at = (at + 1) & store->mask;
    return &store->slots[at];
}

/* Doubles the room. */
static int grow(struct ct_ctx *ctx, struct store *store)
{
    uint32_t cap = store->cap ? store->cap * 2 : FIRST_CAP;
    uint32_t *slots = ct_table_memory((size_t)cap * 2, sizeof *slots);
    uint8_t *entries = slots ? realloc(store->entries, cap * store->size) : NULL;
    if (!entries) {
        free(slots);
        return ct_fail_nomem(ctx, "program graph");
    }
    free(store->slots);
    store->entries = entries;
    store->slots = slots;
    store->cap = cap;
    store->mask = cap * 2 - 1;
    for (uint32_t i = 0; i < store->count; i++)
        *find_slot(store, entries + i * store->size) = i + 1;
    return CT_OK;
}

static bool find(const struct store *store, const void *entry, uint32_t *number)
{
    const uint32_t slot = store->cap ? *find_slot(store, entry) : 0;
    if (slot)
        *number = slot - 1;
    return slot;
}

static int number_of(struct ct_ctx *ctx, struct store *store, const void *entry, uint32_t *number)
{
    if (find(store, entry, number))
        return CT_OK;
    if (store->count == CT_GRAPH_MAX)
        return ct_fail(
            ctx, CT_ERR_LIMIT,
            "program graph: it has %u entries, and more are not held: decode a shorter piece of the "
            "trace, or check that the images are those of the program that ran",
            CT_GRAPH_MAX);
    if (store->count == store->cap) {
        int rc = grow(ctx, store);
        if (rc)
            return rc;
    }
    memcpy(store->entries + store->count * store->size, entry, store->size);
    *number = store->count++;
    *find_slot(store, entry) = store->count;
    return CT_OK;
}

int ct_graph_new(struct ct_ctx *ctx, struct ct_graph **out)
{
    if (!out)
        return ct_fail_null(ctx, __func__);
    struct ct_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return ct_fail_nomem(ctx, "program graph");
    graph->ctx = ctx;
    graph->nodes.size = sizeof(struct ct_node);
    graph->edges.size = sizeof(struct ct_edge);
    *out = graph;
    return CT_OK;
}

void ct_graph_free(struct ct_graph *graph)
{
    if (!graph)
        return;
    free(graph->nodes.entries);
    free(graph->nodes.slots);
    free(graph->edges.entries);
    free(graph->edges.slots);
    free(graph);
}

int ct_graph_node(struct ct_graph *graph, const struct ct_node *node, uint32_t *number)
{
    if (!graph || !node || !number)
        return CT_ERR_ARG;
    return number_of(graph->ctx, &graph->nodes, node, number);
}

int ct_graph_edge(struct ct_graph *graph, const struct ct_edge *edge, uint32_t *number)
{
    if (!graph || !edge || !number)
        return CT_ERR_ARG;
    return number_of(graph->ctx, &graph->edges, edge, number);
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

bool ct_graph_find_node(const struct ct_graph *graph, const struct ct_node *node, uint32_t *number)
{
    return find(&graph->nodes, node, number);
}

bool ct_graph_find_edge(const struct ct_graph *graph, const struct ct_edge *edge, uint32_t *number)
{
    return find(&graph->edges, edge, number);
}
