/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the program that the parts of a stream share. */
#include <pthread.h>

#include "flow/shared_program.h"
#include "support/unit.h"

enum {
    BLOCKS = 5000,
    THREADS = 4
};

static struct ct_node node_at(uint64_t start)
{
    return (struct ct_node){.start = start, .last = start, .end = start + 4, .n = 1};
}

static struct ct_edge edge_from(uint32_t from, uint64_t next)
{
    return (struct ct_edge){.from = from, .next = next, .exec = 1};
}

static struct ct_graph *graph_of(struct ct_shared_program *shared, enum ct_graph_part part)
{
    struct ct_graph *graph;
    assert_int_equal(ct_graph_new(NULL, &graph), CT_OK);
    ct_graph_share(graph, shared, part);
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

TEST(parts_number_by_their_own_way)
{
    struct ct_shared_program *shared;
    assert_int_equal(ct_shared_program_new(NULL, 16, &shared), CT_OK);
    struct ct_graph *first = graph_of(shared, CT_GRAPH_OWN_NUMBERS);
    struct ct_graph *second = graph_of(shared, CT_GRAPH_OWN_NUMBERS);
    assert_int_equal(go(second, 0x300, 0x100), 0);
    assert_int_equal(go(first, 0x100, 0x200), 0);
    assert_int_equal(go(second, 0x100, 0x200), 1);
    assert_int_equal(go(first, 0x200, 0x300), 1);
    assert_int_equal(go(first, 0x300, 0x100), 2);
    assert_int_equal(go(first, 0x100, 0x200), 0);
    assert_int_equal(ct_graph_edge_at(second, 1).next, 0x200);
    assert_int_equal(ct_graph_node_at(second, ct_graph_edge_at(second, 1).from).start, 0x100);
    ct_graph_free(first);
    ct_graph_free(second);
    ct_shared_program_release(shared);
}

/* Adds all nodes and edges of a part. */
static void take(struct ct_graph *whole, const struct ct_graph *part)
{
    uint32_t nodes, edges, number;
    ct_graph_nodes(part, &nodes);
    ct_graph_edges(part, &edges);
    for (uint32_t i = 0; i < nodes; i++)
        assert_int_equal(ct_graph_take_node(whole, part, i, &number), CT_OK);
    for (uint32_t i = 0; i < edges; i++)
        assert_int_equal(ct_graph_take_edge(whole, part, i, &number), CT_OK);
}

/* The second part met everything first, and more. */
TEST(whole_is_numbered_in_the_order_of_its_parts)
{
    struct ct_shared_program *shared;
    uint32_t count, number;
    assert_int_equal(ct_shared_program_new(NULL, 16, &shared), CT_OK);
    struct ct_graph *first = graph_of(shared, CT_GRAPH_OWN_NUMBERS);
    struct ct_graph *second = graph_of(shared, CT_GRAPH_OWN_NUMBERS);
    struct ct_graph *whole = graph_of(shared, CT_GRAPH_WHOLE);
    go(second, 0x400, 0x300);
    go(second, 0x300, 0x100);
    go(second, 0x100, 0x200);
    go(first, 0x100, 0x200);
    go(first, 0x200, 0x300);
    assert_false(ct_graph_has_node(whole, ct_graph_node_id(first, 0), &number));
    take(whole, first);
    assert_true(ct_graph_has_edge(whole, ct_graph_edge_id(second, 2), &number));
    assert_int_equal(number, 0);
    assert_false(ct_graph_has_edge(whole, ct_graph_edge_id(second, 0), &number));
    take(whole, second);
    ct_shared_program_release(shared);
    ct_graph_free(first);
    ct_graph_free(second);
    const struct ct_node *nodes = ct_graph_nodes(whole, &count);
    const uint64_t starts[] = {0x100, 0x200, 0x400, 0x300};
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(nodes[i].start, starts[i]);
    const struct ct_edge *edges = ct_graph_edges(whole, &count);
    const struct ct_edge expected[] = {edge_from(0, 0x200), edge_from(1, 0x300), edge_from(2, 0x300),
                                       edge_from(3, 0x100)};
    assert_int_equal(count, 4);
    assert_memory_equal(edges, expected, sizeof expected);
    ct_graph_free(whole);
}

struct meeting {
    struct ct_shared_program *shared;
    unsigned seed;
    uint32_t numbers[BLOCKS];
};

/* Meets all blocks in its own order, and links each to the next one. */
static void *meet(void *user)
{
    struct meeting *m = user;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const uint32_t k = (i * 7919u + m->seed * 1237u) % BLOCKS;
        const struct ct_block block = {.addr = 0x1000 + k * 4u, .n = k + 1};
        const struct ct_block_info info = {.target = k};
        if (ct_shared_program_add(m->shared, &block, &info, &m->numbers[k]))
            return NULL;
        struct ct_shared_block *s = ct_shared_program_block(m->shared, m->numbers[k]);
        const uint32_t next = __atomic_load_n(&s->next[0], __ATOMIC_ACQUIRE);
        if (next && ct_shared_program_block(m->shared, next)->block.n != (k + 1) % BLOCKS + 1)
            return NULL;
        const uint32_t before = m->numbers[(k + BLOCKS - 1) % BLOCKS];
        if (before)
            __atomic_store_n(&ct_shared_program_block(m->shared, before)->next[0], m->numbers[k],
                             __ATOMIC_RELEASE);
    }
    return m;
}

TEST(threads_have_the_same_numbers)
{
    static struct meeting meetings[THREADS];
    pthread_t ids[THREADS];
    struct ct_shared_program *shared;
    assert_int_equal(ct_shared_program_new(NULL, BLOCKS + 1, &shared), CT_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        meetings[i] = (struct meeting){.shared = shared, .seed = i};
        assert_int_equal(pthread_create(&ids[i], NULL, meet, &meetings[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *met;
        pthread_join(ids[i], &met);
        assert_ptr_equal(met, &meetings[i]);
    }
    for (unsigned i = 1; i < THREADS; i++)
        assert_memory_equal(meetings[0].numbers, meetings[i].numbers, sizeof meetings[0].numbers);
    for (uint32_t k = 0; k < BLOCKS; k++)
        assert_int_equal(ct_shared_program_block(shared, meetings[0].numbers[k])->block.n, k + 1);
    ct_shared_program_release(shared);
}

TEST(who_has_no_room_says_so)
{
    struct ct_shared_program *shared;
    const struct ct_block_info info = {0};
    struct ct_block block = {.addr = 4, .n = 1};
    uint32_t number, domain;
    assert_int_equal(ct_shared_program_new(NULL, 2, &shared), CT_OK);
    assert_int_equal(ct_shared_program_add(shared, &block, &info, &number), CT_OK);
    assert_int_equal(number, 1);
    block.addr = 8;
    assert_int_equal(ct_shared_program_add(shared, &block, &info, &number), CT_OK);
    assert_int_equal(number, 0);
    assert_int_equal(ct_shared_program_find(shared, &block), 0);
    for (uint32_t i = 0; i <= CT_SHARED_DOMAINS; i++) {
        const struct ct_edge_context context = {.ctxt = i};
        assert_int_equal(ct_shared_program_domain(shared, 0, &context, &domain), CT_OK);
        assert_int_equal(domain, i);
    }
    assert_int_equal(ct_shared_program_domain(shared, 1, NULL, &domain), CT_OK);
    assert_int_equal(domain, CT_SHARED_DOMAINS);
    ct_shared_program_release(shared);
}

/* Nodes with the same few instructions, and the edges of one branch, compete for slots of the index. */
TEST(crowded_entries_keep_their_numbers)
{
    struct ct_graph *graph;
    assert_int_equal(ct_graph_new(NULL, &graph), CT_OK);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
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
        for (uint32_t i = 0; i < BLOCKS; i++) {
            struct ct_node node = node_at(0x1000 + i * 4);
            node.flags = i % 4 == 1 ? CT_NODE_CUT : 0; /* no block has this flag */
            if (i % 4 == 0 && !pass)
                assert_int_equal(ct_graph_append(graph, &node, 1, NULL, 0), CT_OK);
            else if (i % 4 == 3 || (i % 4 == 0 && pass))
                assert_int_equal(ct_graph_node_as(graph, &node, !pass || i % 4 == 0, NULL, &number), CT_OK);
            else
                assert_int_equal(ct_graph_node(graph, &node, &number), CT_OK);
            assert_int_equal(pass ? number : i, i);
        }
    for (uint32_t i = 0; i < BLOCKS; i++) {
        struct ct_edge edge = edge_from(i, 0x40);
        edge.kind = i % 4 == 2 ? CT_EDGE_OPEN : CT_EDGE_NEXT;
        const bool is_new = i % 4 == 3; /* according to blocks */
        assert_int_equal(is_new ? ct_graph_edge_as(graph, &edge, true, NULL, &number)
                                : ct_graph_edge(graph, &edge, &number),
                         CT_OK);
        assert_int_equal(number, i);
        assert_int_equal(ct_graph_edge_as(graph, &edge, i % 4 == 0, NULL, &number), CT_OK);
        assert_int_equal(number, i);
    }
    ct_graph_free(graph);
}
