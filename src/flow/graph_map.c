/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/graph_map.h"

#include <string.h>

#include "base/ctx.h"
#include "base/table_memory.h"
#include "flow/graph_entries.h"

#define FIRST_ROOM 512u
#define UNKNOWN    UINT32_MAX

void ct_graph_map_free(struct ct_graph_map *map)
{
    ct_array_free(map->nodes, map->node_room, sizeof *map->nodes);
    ct_array_free(map->edges, map->edge_room, sizeof *map->edges);
    *map = (struct ct_graph_map){.ctx = map->ctx};
}

/* Makes room for the entry with a number. Returns false when out of memory. */
static bool have_room(uint32_t **numbers, uint32_t *room, uint32_t number)
{
    uint32_t more = *room ? *room : FIRST_ROOM;
    while (more <= number)
        more *= 2;
    if (number < *room)
        return true;
    uint32_t *grown = ct_array_grow(*numbers, *room, more, sizeof *grown);
    if (!grown)
        return false;
    memset(grown + *room, 0xff, (more - *room) * sizeof *grown);
    *numbers = grown;
    *room = more;
    return true;
}

static int map_node(struct ct_graph_map *map, struct ct_graph *whole, struct ct_graph *part, uint32_t node)
{
    if (!have_room(&map->nodes, &map->node_room, node))
        return ct_fail_nomem(map->ctx, "program graph");
    if (map->nodes[node] != UNKNOWN)
        return CT_OK;
    const struct ct_node entry = ct_graph_copy_node(part, node);
    return ct_graph_node(whole, &entry, &map->nodes[node]);
}

static int map_edge(struct ct_graph_map *map, struct ct_graph *whole, struct ct_graph *part, uint32_t edge)
{
    if (!have_room(&map->edges, &map->edge_room, edge))
        return ct_fail_nomem(map->ctx, "program graph");
    if (map->edges[edge] != UNKNOWN)
        return CT_OK;
    struct ct_edge entry = ct_graph_copy_edge(part, edge);
    const int rc = map_node(map, whole, part, entry.from);
    if (rc)
        return rc;
    entry.from = map->nodes[entry.from];
    return ct_graph_edge(whole, &entry, &map->edges[edge]);
}

int ct_graph_map_edges(struct ct_graph_map *map, struct ct_graph *whole, struct ct_graph *part,
                       const uint32_t *edges, size_t count, uint32_t *numbers)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < count; i++) {
        if (edges[i] >= map->edge_room || map->edges[edges[i]] == UNKNOWN)
            rc = map_edge(map, whole, part, edges[i]);
        numbers[i] = rc ? 0 : map->edges[edges[i]];
    }
    return rc;
}

int ct_graph_map_all(struct ct_graph_map *map, struct ct_graph *whole, struct ct_graph *part)
{
    uint32_t nodes, edges;
    int rc = CT_OK;
    ct_graph_nodes(part, &nodes);
    ct_graph_edges(part, &edges);
    for (; !rc && map->node_count < nodes; map->node_count += !rc)
        rc = map_node(map, whole, part, map->node_count);
    for (; !rc && map->edge_count < edges; map->edge_count += !rc)
        rc = map_edge(map, whole, part, map->edge_count);
    return rc;
}

void ct_graph_map_note(struct ct_graph_map *map, const struct ct_graph *part)
{
    ct_graph_nodes(part, &map->noted_nodes);
    ct_graph_edges(part, &map->noted_edges);
}

static bool knows_node(struct ct_graph_map *map, struct ct_graph *whole, struct ct_graph *part, uint32_t node)
{
    if (!have_room(&map->nodes, &map->node_room, node))
        return false;
    if (map->nodes[node] != UNKNOWN)
        return true;
    const struct ct_node entry = ct_graph_copy_node(part, node);
    return ct_graph_has_node(whole, &entry, &map->nodes[node]);
}

static bool knows_edge(struct ct_graph_map *map, struct ct_graph *whole, struct ct_graph *part, uint32_t edge)
{
    if (!have_room(&map->edges, &map->edge_room, edge))
        return false;
    if (map->edges[edge] != UNKNOWN)
        return true;
    struct ct_edge entry = ct_graph_copy_edge(part, edge);
    entry.from = map->nodes[entry.from];
    return ct_graph_has_edge(whole, &entry, &map->edges[edge]);
}

bool ct_graph_map_known(struct ct_graph_map *map, struct ct_graph *whole, struct ct_graph *part)
{
    bool known = true;
    for (uint32_t i = map->node_count; known && i < map->noted_nodes; i++)
        known = knows_node(map, whole, part, i);
    for (uint32_t i = map->edge_count; known && i < map->noted_edges; i++)
        known = knows_edge(map, whole, part, i);
    return known;
}
