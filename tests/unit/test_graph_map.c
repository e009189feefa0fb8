/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the numbers of entries of a graph, and those that entries of a part have in the graph of the
 * whole. */
#include <pthread.h>

#include "flow/graph_entries.h"
#include "flow/graph_map.h"
#include "support/unit.h"

enum {
    EDGES = 20000,
    ENTRIES = 5000,
};

static struct ct_node node_at(uint64_t start)
{
    return (struct ct_node){.start = start, .last = start, .end = start + 4, .n = 1};
}

static struct ct_edge edge_from(uint32_t from, uint64_t next)
{
    return (struct ct_edge){.from = from, .next = next, .exec = 1};
}

static struct ct_graph *new_graph(void)
{
    struct ct_graph *graph;
    assert_int_equal(ct_graph_new(NULL, &graph), CT_OK);
    return graph;
}

/* Adds the edge from one node to another one and returns its number. */
static uint32_t go(struct ct_graph *graph, uint64_t from, uint64_t to)
{
    const struct ct_node node = node_at(from);
    uint32_t number;
    assert_int_equal(ct_graph_node(graph, &node, &number), CT_OK);
    const struct ct_edge edge = edge_from(number, to);
    assert_int_equal(ct_graph_edge(graph, &edge, &number), CT_OK);
    return number;
}

static void check(const struct ct_graph *whole, const uint64_t *starts, const struct ct_edge *expected)
{
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(whole, &count);
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(nodes[i].start, starts[i]);
    const struct ct_edge *edges = ct_graph_edges(whole, &count);
    assert_int_equal(count, 4);
    assert_memory_equal(edges, expected, 4 * sizeof *edges);
}

/* The second part met everything first, and more. */
TEST(whole_is_numbered_in_the_order_of_its_parts)
{
    struct ct_graph *first = new_graph(), *second = new_graph(), *whole = new_graph();
    struct ct_graph_map map1 = {0}, map2 = {0};
    go(second, 0x400, 0x300);
    go(second, 0x300, 0x100);
    go(second, 0x100, 0x200);
    go(first, 0x100, 0x200);
    go(first, 0x200, 0x300);
    assert_int_equal(ct_graph_map_all(&map1, whole, first), CT_OK);
    assert_int_equal(ct_graph_map_all(&map2, whole, second), CT_OK);
    ct_graph_free(first);
    ct_graph_free(second);
    const uint32_t numbers[] = {2, 3, 0};
    assert_memory_equal(map2.edges, numbers, sizeof numbers);
    ct_graph_map_free(&map1);
    ct_graph_map_free(&map2);
    check(whole, (const uint64_t[]){0x100, 0x200, 0x400, 0x300},
          (const struct ct_edge[]){edge_from(0, 0x200), edge_from(1, 0x300), edge_from(2, 0x300),
                                   edge_from(3, 0x100)});
    ct_graph_free(whole);
}

/* Steps come in another order than that of the part, and a node is added with its first edge. */
TEST(edges_are_numbered_when_they_are_asked_for)
{
    struct ct_graph *part = new_graph(), *whole = new_graph();
    struct ct_graph_map map = {0};
    uint32_t numbers[3];
    go(part, 0x400, 0x300);
    go(part, 0x300, 0x100);
    go(part, 0x100, 0x200);
    go(part, 0x200, 0x400);
    assert_int_equal(ct_graph_map_edges(&map, whole, part, (const uint32_t[]){2, 0, 2}, 3, numbers), CT_OK);
    assert_memory_equal(numbers, ((const uint32_t[]){0, 1, 0}), sizeof numbers);
    assert_int_equal(ct_graph_map_edges(&map, whole, part, (const uint32_t[]){3, 1, 0}, 3, numbers), CT_OK);
    assert_memory_equal(numbers, ((const uint32_t[]){2, 3, 1}), sizeof numbers);
    ct_graph_free(part);
    ct_graph_map_free(&map);
    check(whole, (const uint64_t[]){0x100, 0x400, 0x200, 0x300},
          (const struct ct_edge[]){edge_from(0, 0x200), edge_from(1, 0x300), edge_from(2, 0x400),
                                   edge_from(3, 0x100)});
    ct_graph_free(whole);
}

TEST(whole_knows_what_was_noted_and_no_more)
{
    struct ct_graph *part = new_graph(), *whole = new_graph();
    struct ct_graph_map map = {0};
    go(part, 0x100, 0x200);
    ct_graph_map_note(&map, part);
    go(part, 0x200, 0x300);
    assert_false(ct_graph_map_known(&map, whole, part));
    go(whole, 0x500, 0x600);
    go(whole, 0x100, 0x300);
    assert_false(ct_graph_map_known(&map, whole, part)); /* the node is there, the edge is not */
    go(whole, 0x100, 0x200);
    assert_true(ct_graph_map_known(&map, whole, part));
    assert_int_equal(map.edges[0], 2);
    ct_graph_map_note(&map, part);
    assert_false(ct_graph_map_known(&map, whole, part));
    ct_graph_free(part);
    ct_graph_free(whole);
    ct_graph_map_free(&map);
}

struct relay {
    struct ct_graph *part;
    uint32_t made; /* edges that the reader may ask for */
};

static void *add_edges(void *user)
{
    struct relay *r = user;
    for (uint32_t i = 0; i < EDGES; i++) {
        go(r->part, 0x1000 + i * 4, i);
        __atomic_store_n(&r->made, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* The arrays of the part move while they grow. */
TEST(part_is_read_while_another_thread_adds_to_it)
{
    struct relay r = {.part = new_graph()};
    struct ct_graph *whole = new_graph();
    struct ct_graph_map map = {0};
    pthread_t id;
    assert_int_equal(pthread_create(&id, NULL, add_edges, &r), 0);
    for (uint32_t i = 0; i < EDGES;) {
        const uint32_t made = __atomic_load_n(&r.made, __ATOMIC_ACQUIRE);
        uint32_t number;
        for (; i < made; i++) {
            assert_int_equal(ct_graph_map_edges(&map, whole, r.part, &i, 1, &number), CT_OK);
            assert_int_equal(number, i);
        }
    }
    pthread_join(id, NULL);
    uint32_t count;
    const struct ct_edge *edges = ct_graph_edges(whole, &count);
    assert_int_equal(count, EDGES);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(edges[i].next, i);
    ct_graph_free(r.part);
    ct_graph_free(whole);
    ct_graph_map_free(&map);
}

/* Nodes with the same few instructions, and the edges of one branch, compete for slots of the index. */
TEST(crowded_entries_keep_their_numbers)
{
    struct ct_graph *graph;
    assert_int_equal(ct_graph_new(NULL, &graph), CT_OK);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < ENTRIES; i++) {
            struct ct_node node = node_at(0x1000 + i % 32 * 4);
            node.memory = i / 32;
            uint32_t number;
            assert_int_equal(ct_graph_node(graph, &node, &number), CT_OK);
            assert_int_equal(number, i);
            const struct ct_edge edges[] = {edge_from(0, 0x1004 + i * 4), edge_from(i, 0x1000)};
            for (uint32_t k = 0; k < 2; k++) {
                assert_int_equal(ct_graph_edge(graph, &edges[k], &number), CT_OK);
                assert_int_equal(number, 2 * i + k);
            }
        }
    }
    ct_graph_free(graph);
}

/* Nodes and edges that are new according to blocks are not searched for; later searches find them, and blocks
 * find what others added before. */
TEST(what_is_new_to_blocks_has_one_number)
{
    struct ct_graph *graph;
    uint32_t number;
    assert_int_equal(ct_graph_new(NULL, &graph), CT_OK);
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < ENTRIES; i++) {
            struct ct_node node = node_at(0x1000 + i * 4);
            node.flags = i % 4 == 1 ? CT_NODE_CUT : 0; /* no block has this flag */
            if (i % 4 == 0 && !pass)
                assert_int_equal(ct_graph_append(graph, &node, 1, NULL, 0), CT_OK);
            else if (i % 4 == 3 || (i % 4 == 0 && pass))
                assert_int_equal(
                    (!pass || i % 4 == 0 ? ct_graph_new_node : ct_graph_node)(graph, &node, &number), CT_OK);
            else
                assert_int_equal(ct_graph_node(graph, &node, &number), CT_OK);
            assert_int_equal(pass ? number : i, i);
        }
    for (uint32_t i = 0; i < ENTRIES; i++) {
        struct ct_edge edge = edge_from(i, 0x40);
        edge.kind = i % 4 == 2 ? CT_EDGE_OPEN : CT_EDGE_NEXT;
        const bool is_new = i % 4 == 3; /* according to blocks */
        assert_int_equal(is_new ? (true ? ct_graph_new_edge : ct_graph_edge)(graph, &edge, &number)
                                : ct_graph_edge(graph, &edge, &number),
                         CT_OK);
        assert_int_equal(number, i);
        assert_int_equal((i % 4 == 0 ? ct_graph_new_edge : ct_graph_edge)(graph, &edge, &number), CT_OK);
        assert_int_equal(number, i);
    }
    ct_graph_free(graph);
}
