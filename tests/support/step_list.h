/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and the marks between them, written down one by one and given to an analysis in batches. */
#pragma once

#include <stdbool.h>

#include "coretap/steps.h"
#include "support/unit.h"

#define STEP_LIST_STEPS 4096
#define STEP_LIST_MARKS 160

struct step_list {
    struct ct_graph *graph; /* the caller makes and frees it */
    uint32_t edges[STEP_LIST_STEPS], cycles[STEP_LIST_STEPS];
    struct ct_step_mark marks[STEP_LIST_MARKS];
    size_t count, mark_count;
};

/* Returns a node of `n` instructions of four bytes at `addr`, the last one of type `type`. */
static inline struct ct_node step_node(uint64_t addr, uint32_t n, uint8_t type, uint8_t sub)
{
    return (struct ct_node){.start = addr,
                            .last = addr + 4 * (n - 1),
                            .end = addr + 4 * n,
                            .n = n,
                            .type = type,
                            .sub = sub,
                            .last_size = 4};
}

/* Adds a step that leaves `node` by `edge`, whose `from` is set here. */
static inline void step_list_add(struct step_list *s, struct ct_node node, struct ct_edge edge,
                                 uint32_t cycles)
{
    assert_in_range(s->count, 0, STEP_LIST_STEPS - 1);
    assert_int_equal(ct_graph_node(s->graph, &node, &edge.from), CT_OK);
    assert_int_equal(ct_graph_edge(s->graph, &edge, &s->edges[s->count]), CT_OK);
    s->cycles[s->count++] = cycles;
}

/* Adds a mark before the next step. */
static inline void step_list_mark(struct step_list *s, struct ct_elem elem)
{
    assert_in_range(s->mark_count, 0, STEP_LIST_MARKS - 1);
    s->marks[s->mark_count++] =
        (struct ct_step_mark){.elem = elem, .at = (uint32_t)s->count, .kind = CT_MARK_ELEM};
}

/* Returns everything as one batch. */
static inline struct ct_step_batch step_list_batch(const struct step_list *s)
{
    return (struct ct_step_batch){.graph = s->graph,
                                  .edge = s->edges,
                                  .cycles = s->cycles,
                                  .count = s->count,
                                  .marks = s->marks,
                                  .mark_count = s->mark_count};
}

/* A batch of a list, with what the next one needs. Zeros before the first one. */
struct step_piece {
    struct ct_step_batch batch;
    struct ct_step_mark marks[STEP_LIST_MARKS];
    size_t step, mark; /* numbers of those that come next */
};

/* Makes the next batch, of at most `most` steps. Returns false at the end. Marks behind the last step are in
 * its batch. */
static inline bool step_list_next(const struct step_list *s, size_t most, struct step_piece *piece)
{
    const size_t at = piece->step;
    if (at >= s->count && piece->mark == s->mark_count)
        return false;
    const size_t count = s->count - at < most ? s->count - at : most;
    size_t n = 0;
    while (piece->mark < s->mark_count && (s->marks[piece->mark].at < at + count || at + count == s->count)) {
        piece->marks[n] = s->marks[piece->mark++];
        piece->marks[n++].at -= (uint32_t)at;
    }
    piece->batch = (struct ct_step_batch){.graph = s->graph,
                                          .edge = s->edges + at,
                                          .cycles = s->cycles + at,
                                          .count = count,
                                          .marks = piece->marks,
                                          .mark_count = n};
    piece->step = at + count;
    return true;
}
