/* SPDX-License-Identifier: Apache-2.0 */
/* Builds batches of steps, for both engines (steps.c and fast.c). The last step may have no edge yet, and the
 * newest steps may wait for their cycles. */
#pragma once

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/steps.h"

/* Room for marks, and the maximal number of marks that a step adds. */
#define CT_STEP_MARKS      2048
#define CT_STEP_MARKS_EACH 4

struct ct_step_builder {
    struct ct_graph *graph;
    uint32_t memory;       /* number of the memory in which nodes are read */
    bool counts;           /* the source counts cycles */
    bool timestamp_counts; /* the count of a timestamp is added to the others (PTM, ETMv3) */
    bool pending;          /* the last step has no edge yet */
    uint8_t exec;          /* the first part of that edge: whether the branch was executed */
    uint32_t node;
    uint32_t pending_marks; /* number of marks since that step began */
    uint32_t waiting_marks; /* number of marks since the first waiting step began */
    uint32_t waiting;       /* number of steps at the end that wait for cycles */
    bool timestamp_held;    /* a timestamp is held back because its count may follow */
    struct ct_step_mark timestamp;
    size_t given, given_marks; /* what the last batch contained; it is dropped before anything is added */
    size_t count, mark_count;
    uint32_t edge[CT_STEP_BATCH];
    uint32_t cycles[CT_STEP_BATCH];
    uint32_t insns[CT_STEP_BATCH]; /* instructions in the node of each step */
    struct ct_step_mark marks[CT_STEP_MARKS];
};

/* Prepares the builder for a source. CT_ERR_CONFIG for registers with impossible values. */
int ct_step_builder_init(struct ct_step_builder *b, struct ct_ctx *ctx, const struct ct_source *source);

/* Begins a step: the `n` instructions of a node were executed. The step before it must have its edge, and
 * there must be room. */
static inline void ct_step_open(struct ct_step_builder *b, uint32_t node, uint32_t n, uint8_t exec)
{
    b->node = node;
    b->exec = exec;
    b->pending = true;
    b->pending_marks = 0;
    b->insns[b->count] = n;
    b->cycles[b->count++] = CT_STEP_NO_CYCLES;
    if (b->counts && b->waiting < CT_STEP_WAIT)
        b->waiting++;
}

/* Divides a count, `value`, among `count` steps (at least one) in proportion to their instructions, which are
 * `total` together. Most products fit 32 bits, whose division takes no longer than that of doubles. A
 * quotient of doubles is off by at most one while the product has less than 53 bits. */
static inline void ct_step_split(uint32_t *cycles, const uint32_t *insns, size_t count, uint64_t total,
                                 uint32_t value)
{
    uint32_t left = value;
    const uint64_t divisor = total ? total : 1;
    if (divisor <= 0xffff && value <= 0xffff) {
        for (size_t i = 0; i + 1 < count; i++) {
            const uint32_t part = value * insns[i] / (uint32_t)divisor;
            cycles[i] = part | CT_STEP_SHARED;
            left -= part;
        }
    } else {
        const bool exact = total >> 21; /* 31 bits times 21 bits still fit a double */
        const double each = (double)value / (double)divisor;
        for (size_t i = 0; i + 1 < count; i++) {
            const uint64_t product = (uint64_t)value * insns[i];
            uint64_t part = exact ? product / divisor : (uint64_t)(int64_t)(each * insns[i]);
            part -= part * divisor > product;
            part += product - part * divisor >= divisor;
            cycles[i] = (uint32_t)part | CT_STEP_SHARED;
            left -= (uint32_t)part;
        }
    }
    cycles[count - 1] = left | (count > 1 ? CT_STEP_SHARED | CT_STEP_ENDS : 0);
}

/* Sets the edge of the last step, if it has none. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_step_settle(struct ct_step_builder *b, enum ct_edge_kind kind, uint64_t next);

/* Sets the edge of the last step, which has none, by its number. */
static inline void ct_step_settle_as(struct ct_step_builder *b, uint32_t edge)
{
    b->pending = false;
    b->edge[b->count - 1] = edge;
}

/* Turns the timestamp that is held back into a mark, because another record follows. CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
int ct_step_put_timestamp(struct ct_step_builder *b);

/* Takes a CYCLES element, and adds its count to the steps that it belongs to. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_step_count_cycles(struct ct_step_builder *b, const struct ct_elem *elem, uint64_t offset, uint8_t isa);

/* Leaves the steps that wait for a count without one. */
void ct_step_stop_waiting(struct ct_step_builder *b);

/* Adds a record of the walk: a step, or a mark with its effect on the last step. There must be room for both.
 * CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_step_add_flow(struct ct_step_builder *b, const struct ct_flow *r);

/* Returns true when the batch has to be given before another step or mark is added. */
static inline bool ct_step_is_full(const struct ct_step_builder *b)
{
    return b->count == CT_STEP_BATCH || b->mark_count > CT_STEP_MARKS - CT_STEP_MARKS_EACH;
}

/* Drops the steps and marks that the last batch contained. */
void ct_step_drop_given(struct ct_step_builder *b);

/* Drops the steps and marks that were not given yet. */
void ct_step_drop(struct ct_step_builder *b);

/* Saves all state on which later steps depend. */
void ct_step_builder_seam(const struct ct_step_builder *b, struct ct_seam *seam);

/* Sets *batch to the steps and marks that cannot change any more. */
void ct_step_give(struct ct_step_builder *b, struct ct_step_batch *batch);
