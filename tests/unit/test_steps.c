/* SPDX-License-Identifier: Apache-2.0 */
/* Checks steps made from records of the walk: edges, cycles, marks; and the sums over edges. */
#include <stdbool.h>

#include "coretap/edges.h"
#include "coretap/steps.h"
#include "flow/step_builder.h"
#include "support/rng.h"
#include "support/unit.h"

#define SIZE(a) (sizeof(a) / sizeof *(a))

static const struct ct_source source = {
    .name = "etm",
    .protocol = CT_PROTOCOL_ETM4,
    .arch = {.major = 8, .profile = CT_PROFILE_A},
    .regs = {.idr0 = 0xea1, .idr1 = 0x4100f420, .idr2 = 0x488, .configr = 0x10}};

struct fixture {
    struct ct_steps *steps;
    struct ct_step_batch batch;
};

static int begin(void **state)
{
    static struct fixture f;
    *state = &f;
    return ct_steps_new(NULL, &source, &f.steps);
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_steps_free(f->steps);
    return 0;
}

FIXTURE(struct fixture, begin, finish);

/* Runs everything at once. The result is in f->batch. */
static void run(struct fixture *f, const struct ct_flow *records, size_t size)
{
    size_t taken;
    assert_int_equal(ct_steps_run(f->steps, records, size, &taken, &f->batch), CT_OK);
    assert_int_equal(taken, size);
    assert_int_equal(f->batch.count, 0);
    ct_steps_flush(f->steps, &f->batch);
}

static struct ct_edge edge(const struct fixture *f, size_t step)
{
    uint32_t count;
    const struct ct_edge *edges = ct_graph_edges(f->batch.graph, &count);
    assert_in_range(f->batch.edge[step], 0, count - 1);
    return edges[f->batch.edge[step]];
}

#define RANGE(start_, n_, exec_)                                                                             \
    {                                                                                                        \
        .kind = CT_FLOW_RANGE, .start = (start_), .end = (start_) + 4 * (n_), .n = (n_), .type = CT_INSN_BR, \
        .exec = (exec_), .last_size = 4                                                                      \
    }
#define ELEM(kind_, n_, aux_, v_)                                                                            \
    {                                                                                                        \
        .kind = CT_FLOW_ELEM, .elem = {.kind = (kind_), .n = (n_), .aux = (aux_), .v = (v_) }                \
    }
#define CYCLES(v_) ELEM(CT_ELEM_CYCLES, CT_CYCLES_ALONE, 0, v_)
#define END        ELEM(CT_ELEM_END, CT_GAP_END, 0, 0)

TEST_WITH(a_step_leaves_when_its_edge_is_known, f)
{
    const struct ct_flow records[] = {RANGE(0x1000, 2, 1), CYCLES(9), RANGE(0x2000, 1, 0)};
    run(f, records, 2);
    assert_int_equal(f->batch.count, 0);
    run(f, records + 2, 1);
    assert_int_equal(f->batch.count, 1);
    assert_int_equal(edge(f, 0).kind, CT_EDGE_NEXT);
    assert_true(edge(f, 0).next == 0x2000 && edge(f, 0).exec == 1);
    assert_int_equal(f->batch.cycles[0], 9);
}

TEST_WITH(equal_ways_have_one_number, f)
{
    const struct ct_flow records[] = {RANGE(0x1000, 2, 1), RANGE(0x1000, 2, 1), RANGE(0x1000, 2, 0),
                                      RANGE(0x1008, 2, 1), END};
    run(f, records, SIZE(records));
    assert_int_equal(f->batch.count, 4);
    const uint32_t wanted[] = {0, 0, 1, 2};
    assert_memory_equal(f->batch.edge, wanted, sizeof wanted);
    assert_int_equal(edge(f, 3).kind, CT_EDGE_OPEN);
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(f->batch.graph, &count);
    assert_int_equal(count, 2);
    assert_true(nodes[0].start == 0x1000 && nodes[0].last == 0x1004 && nodes[0].end == 0x1008);
}

TEST_WITH(a_count_is_split_by_instructions, f)
{
    const struct ct_flow records[] = {RANGE(0x1000, 1, 1), RANGE(0x1000, 2, 1), RANGE(0x1000, 4, 1),
                                      CYCLES(10),          RANGE(0x1000, 1, 1), END};
    run(f, records, SIZE(records));
    assert_int_equal(f->batch.count, 4);
    assert_int_equal(f->batch.cycles[0], 1 | CT_STEP_SHARED);
    assert_int_equal(f->batch.cycles[1], 2 | CT_STEP_SHARED);
    assert_int_equal(f->batch.cycles[2], 7 | CT_STEP_SHARED | CT_STEP_ENDS);
    assert_int_equal(f->batch.cycles[3], CT_STEP_NO_CYCLES);
}

TEST_WITH(counts_of_no_step_are_marks, f)
{
    const struct ct_flow records[] = {CYCLES(3),
                                      RANGE(0x1000, 1, 1),
                                      CYCLES(5),
                                      CYCLES(7),
                                      RANGE(0x1000, 1, 1),
                                      ELEM(CT_ELEM_CYCLES, 0, 1, 0),
                                      RANGE(0x1000, 1, 1),
                                      ELEM(CT_ELEM_CYCLES, CT_CYCLES_UNPLACED, 0, 11),
                                      RANGE(0x1000, 1, 1),
                                      CYCLES(CT_STEP_CYCLES),
                                      END};
    run(f, records, SIZE(records));
    assert_int_equal(f->batch.count, 4);
    assert_int_equal(f->batch.mark_count, 6);
    const uint32_t at[] = {0, 1, 2, 3, 4, 4};
    for (size_t i = 0; i < SIZE(at); i++)
        assert_int_equal(f->batch.marks[i].at, at[i]);
    assert_int_equal(f->batch.cycles[0], 5);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(f->batch.cycles[i], CT_STEP_NO_CYCLES);
    assert_true(f->batch.marks[1].elem.v == 7 && f->batch.marks[4].elem.v == CT_STEP_CYCLES);
}

TEST_WITH(a_timestamp_has_its_count_with_it, f)
{
    const struct ct_flow records[] = {RANGE(0x1000, 1, 1), ELEM(CT_ELEM_TIMESTAMP, 0, 0, 1234),
                                      ELEM(CT_ELEM_CYCLES, CT_CYCLES_ATTACHED, 0, 6), CYCLES(8), END};
    run(f, records, 2);
    run(f, records + 2, 3);
    assert_int_equal(f->batch.mark_count, 2);
    assert_int_equal(f->batch.marks[0].elem.kind, CT_ELEM_TIMESTAMP);
    assert_true(f->batch.marks[0].value == 6 && f->batch.marks[0].n == 1);
    assert_int_equal(f->batch.cycles[0], 8);
}

TEST_WITH(trouble_leaves_an_edge_open, f)
{
    static const struct ct_flow troubles[] = {ELEM(CT_ELEM_GAP, CT_GAP_OVERFLOW, 0, 0),
                                              ELEM(CT_ELEM_TRACE_ON, 0, 0, 0), ELEM(CT_ELEM_SYNC, 1, 0, 0),
                                              ELEM(CT_ELEM_LOST_ADDRESS, 0, 0, 0), END};
    for (size_t i = 0; i < SIZE(troubles); i++) {
        const struct ct_flow records[] = {RANGE(0x1000, 1, 1), troubles[i], CYCLES(2)};
        run(f, records, SIZE(records));
        assert_int_equal(f->batch.count, 1);
        assert_int_equal(edge(f, 0).kind, CT_EDGE_OPEN);
        assert_int_equal(f->batch.cycles[0], CT_STEP_NO_CYCLES);
        assert_int_equal(f->batch.marks[1].elem.kind, CT_ELEM_CYCLES);
    }
}

TEST_WITH(memory_that_is_not_there_leaves_an_edge_open, f)
{
    const struct ct_flow records[] = {
        RANGE(0x1000, 1, 1), {.kind = CT_FLOW_NO_ACCESS, .start = 0x9000, .space = 2}, CYCLES(2)};
    run(f, records, SIZE(records));
    assert_int_equal(edge(f, 0).kind, CT_EDGE_OPEN);
    assert_int_equal(f->batch.marks[0].kind, CT_MARK_NO_ACCESS);
    assert_true(f->batch.marks[0].value == 0x9000 && f->batch.marks[0].space == 2);
    assert_int_equal(f->batch.cycles[0], 2);
}

TEST_WITH(an_exception_interrupts, f)
{
    const struct ct_flow records[] = {RANGE(0x1000, 1, 1),
                                      ELEM(CT_ELEM_EXCEPTION, CT_EXCEPTION_HAS_RET, 5, 0x1004),
                                      RANGE(0x8000, 1, 1), ELEM(CT_ELEM_EXCEPTION, 0, 5, 0x77), END};
    run(f, records, SIZE(records));
    assert_int_equal(f->batch.count, 2);
    assert_int_equal(edge(f, 0).kind, CT_EDGE_INTERRUPTED);
    assert_true(edge(f, 0).next == 0x1004 && edge(f, 1).next == 0);
    assert_int_equal(f->batch.marks[0].at, 1);
}

TEST_WITH(stale_ranges_are_no_steps, f)
{
    struct ct_flow records[] = {RANGE(0x1000, 1, 1), RANGE(0x1004, 3, 1),
                                ELEM(CT_ELEM_EXCEPTION, CT_EXCEPTION_HAS_RET, 5, 0x1010), END};
    records[1].stale = 1;
    run(f, records, SIZE(records));
    assert_int_equal(f->batch.count, 1);
    assert_int_equal(edge(f, 0).kind, CT_EDGE_OPEN);
}

TEST_WITH(an_unknown_path_ends_where_it_says, f)
{
    const struct ct_flow records[] = {
        {.kind = CT_FLOW_RANGE_NOPATH, .start = 0x1000, .end = 0x3000, .n = 7}, RANGE(0x3000, 1, 1), END};
    run(f, records, SIZE(records));
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(f->batch.graph, &count);
    assert_int_equal(nodes[0].flags, CT_NODE_NOPATH);
    assert_int_equal(nodes[0].n, 7);
    assert_true(edge(f, 0).next == 0x3000);
}

/* Has steps that would wait without end, and marks after a step whose edge is never known. */
TEST_WITH(nothing_is_held_for_ever, f)
{
    static const struct ct_flow range = RANGE(0x1000, 1, 1), mark = ELEM(CT_ELEM_EVENT, 1, 0, 0);
    size_t steps = 0, marks = 0, taken;
    uint8_t kind = CT_EDGE_NEXT;
    for (unsigned i = 0; i < 3 * CT_STEP_BATCH; i++) {
        assert_int_equal(ct_steps_run(f->steps, &range, 1, &taken, &f->batch), CT_OK);
        steps += f->batch.count;
        assert_int_equal(taken, 1);
    }
    assert_true(steps >= CT_STEP_BATCH);
    for (unsigned i = 0; i < 8 * CT_STEP_WAIT_MARKS; i++) {
        assert_int_equal(ct_steps_run(f->steps, &mark, 1, &taken, &f->batch), CT_OK);
        steps += f->batch.count;
        marks += f->batch.mark_count;
        kind = f->batch.count ? edge(f, f->batch.count - 1).kind : kind;
        assert_int_equal(taken, 1);
    }
    assert_int_equal(steps, 3 * CT_STEP_BATCH);
    assert_true(marks >= 6 * CT_STEP_WAIT_MARKS);
    assert_int_equal(kind, CT_EDGE_OPEN);
}

TEST_WITH(edges_add_up_by_context, f)
{
    const struct ct_flow records[] = {RANGE(0x1000, 1, 1),
                                      CYCLES(4),
                                      RANGE(0x1000, 1, 1),
                                      CYCLES(10),
                                      ELEM(CT_ELEM_CONTEXT, 1, CT_CONTEXT_CTXT, 77),
                                      RANGE(0x1000, 1, 1),
                                      CYCLES(6),
                                      CYCLES(100),
                                      RANGE(0x1000, 1, 1),
                                      RANGE(0x2000, 1, 1),
                                      END};
    struct ct_edges *edges;
    size_t count;
    run(f, records, SIZE(records));
    assert_int_equal(ct_edges_new(NULL, NULL, &edges), CT_OK);
    assert_int_equal(ct_edges_add(edges, &f->batch), CT_OK);
    const struct ct_edge_context *contexts = ct_edges_contexts(edges, &count);
    assert_int_equal(count, 2);
    assert_true(contexts[0].steps == 2 && contexts[1].steps == 3 && contexts[1].ctxt == 77);
    struct ct_edge_stats s = ct_edges_get(edges, 0, 0);
    assert_true(s.count == 2 && s.timed == 2 && s.min == 4 && s.max == 10 && s.sum == 14);
    assert_true(s.square_lo == 116 && s.square_hi == 0);
    s = ct_edges_get(edges, CT_EDGES_ALL, 0);
    assert_true(s.count == 3 && s.timed == 3 && s.sum == 20);
    assert_true(ct_edges_get(edges, 1, 1).count == 1 && ct_edges_get(edges, 1, 1).timed == 0);
    assert_true(ct_edges_totals(edges).unplaced == 100 && ct_edges_totals(edges).steps == 5);
    ct_edges_free(edges);
}

TEST(squares_carry)
{
    struct ct_edges *edges;
    const struct ct_edge_stats most = {.count = 1, .timed = 1, .square_lo = UINT64_MAX, .min = 1, .max = 1};
    assert_int_equal(ct_edges_new(NULL, NULL, &edges), CT_OK);
    assert_int_equal(ct_edges_add_stats(edges, CT_GRAPH_MAX, &most), CT_ERR_ARG);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(ct_edges_add_stats(edges, 0, &most), CT_OK);
    struct ct_edge_stats s = ct_edges_get(edges, 0, 0);
    assert_true(s.square_hi == 2 && s.square_lo == UINT64_MAX - 2);
    ct_edges_free(edges);
}

/* A loop of one edge, in one call: its cycles need more than 32 bits. */
TEST(cycles_of_an_edge_are_not_limited)
{
    enum {
        PASSES = 70000,
        CYCLES_EACH = 65535
    };
    static const uint8_t branch_to_itself[] = {0, 0, 0, 0x14};
    static struct ct_elem elems[2 + 2 * PASSES] = {
        {.kind = CT_ELEM_CONTEXT, .n = 1, .aux = CT_CONTEXT_SF},
        {.kind = CT_ELEM_ADDRESS, .v = 0x1000},
    };
    struct ct_memory *memory;
    struct ct_edges *edges;
    struct ct_fast *fast;
    struct ct_step_batch batch;
    size_t taken;
    for (size_t i = 0; i < PASSES; i++) {
        elems[2 + 2 * i] = (struct ct_elem){.kind = CT_ELEM_ATOMS, .n = 1, .v = 1};
        elems[3 + 2 * i] = (struct ct_elem){.kind = CT_ELEM_CYCLES, .n = CT_CYCLES_ALONE, .v = CYCLES_EACH};
    }
    assert_int_equal(ct_memory_new(NULL, &memory), CT_OK);
    assert_int_equal(
        ct_memory_add_bytes(memory, branch_to_itself, sizeof branch_to_itself, 0x1000, CT_SPACE_ANY), CT_OK);
    assert_int_equal(ct_edges_new(NULL, NULL, &edges), CT_OK);
    const struct ct_fast_options options = {.size = sizeof options, .cycles = 1, .counts = edges};
    assert_int_equal(ct_fast_new(NULL, &source, memory, &options, &fast), CT_OK);
    assert_int_equal(ct_fast_run(fast, elems, SIZE(elems), 0, &taken, &batch), CT_OK);
    assert_int_equal(ct_fast_flush(fast, &batch), CT_OK);
    assert_int_equal(taken, SIZE(elems));
    const struct ct_edge_stats s = ct_edges_get(edges, CT_EDGES_ALL, 0);
    assert_int_equal(s.count, PASSES - 1);
    assert_int_equal(s.sum, (uint64_t)(PASSES - 1) * CYCLES_EACH);
    assert_true(s.min == CYCLES_EACH && s.max == CYCLES_EACH);
    ct_fast_free(fast);
    ct_edges_free(edges);
    ct_memory_free(memory);
}

/* Edges that only have counts get cycles later. */
TEST(cycles_come_to_edges_that_were_counted)
{
    struct ct_edges *edges;
    const struct ct_edge_stats counted = {.count = 3};
    const struct ct_edge_stats timed = {
        .count = 2, .timed = 1, .sum = 9, .square_lo = 81, .min = 9, .max = 9};
    assert_int_equal(ct_edges_new(NULL, NULL, &edges), CT_OK);
    for (uint32_t edge = 0; edge < 1000; edge += 3)
        assert_int_equal(ct_edges_add_stats(edges, edge, &counted), CT_OK);
    for (uint32_t edge = 0; edge < 700; edge += 2)
        assert_int_equal(ct_edges_add_stats(edges, edge, &timed), CT_OK);
    for (uint32_t edge = 0; edge < 1000; edge++)
        assert_int_equal(ct_edges_add_stats(edges, edge, &counted), CT_OK);
    for (uint32_t edge = 0; edge < 1000; edge++) {
        const struct ct_edge_stats s = ct_edges_get(edges, 0, edge);
        const bool has_cycles = edge < 700 && edge % 2 == 0;
        assert_int_equal(s.count, 3u + (edge % 3 == 0 ? 3 : 0) + (has_cycles ? 2 : 0));
        assert_true(s.timed == has_cycles && s.sum == (has_cycles ? 9 : 0) && s.min == s.sum);
    }
    ct_edges_free(edges);
}

TEST(contexts_beyond_the_limit_count_together)
{
    const struct ct_edges_options options = {.size = sizeof options, .max_contexts = 2};
    struct ct_edges *edges;
    size_t count;
    assert_int_equal(ct_edges_new(NULL, &options, &edges), CT_OK);
    for (unsigned i = 0; i < 9; i++) {
        struct ct_elem context = {.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_CTXT, .v = i % 5};
        ct_edges_set_context(edges, &context);
        assert_int_equal(ct_edges_add_stats(edges, 3, &(struct ct_edge_stats){.count = 1}), CT_OK);
    }
    const struct ct_edge_context *contexts = ct_edges_contexts(edges, &count);
    assert_int_equal(count, 3);
    assert_true(contexts[0].steps == 2 && contexts[1].steps == 2);
    assert_true(contexts[2].others && contexts[2].steps == 5);
    ct_edges_free(edges);
    const struct ct_edges_options wrong = {.size = sizeof wrong, .max_contexts = 65537};
    assert_int_equal(ct_edges_new(NULL, &wrong, &edges), CT_ERR_ARG);
}

/* The division is exact for all integers, and no part of the count is lost. */
TEST(parts_are_exact)
{
    struct rng rng = {1};
    for (int i = 0; i < 200000; i++) {
        uint32_t insns[6], cycles[6], left;
        uint64_t total = 0;
        const size_t count = 1 + rng_below(&rng, 6);
        const uint32_t value = left = (uint32_t)rng_wide(&rng, 30);
        for (size_t k = 0; k < count; k++)
            total += insns[k] = (uint32_t)rng_wide(&rng, i & 1 ? 14 : 20);
        ct_step_split(cycles, insns, count, total, value);
        for (size_t k = 0; k + 1 < count; k++) {
            const uint32_t part = total ? (uint32_t)((uint64_t)value * insns[k] / total) : 0;
            assert_int_equal(cycles[k], part | CT_STEP_SHARED);
            left -= part;
        }
        assert_int_equal(cycles[count - 1], left | (count > 1 ? CT_STEP_SHARED | CT_STEP_ENDS : 0));
    }
}
