/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of steps in the making: the last step may not know its edge yet, and some may wait for their
 * cycles. Both ways to steps (steps.c from records, fast.c) put theirs in here. */
#ifndef CT_FLOW_STEP_BUILDER_H
#define CT_FLOW_STEP_BUILDER_H

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/steps.h"

/* Room for marks; one step adds CT_STEP_MARKS_EACH at most. */
#define CT_STEP_MARKS      2048
#define CT_STEP_MARKS_EACH 4

struct ct_step_builder {
    struct ct_graph *graph;
    uint32_t memory;       /* number of the one that nodes are read in */
    bool counts;           /* the source counts cycles */
    bool timestamp_counts; /* the count of a timestamp is one of those that add up (PTM, ETMv3) */
    bool pending;          /* the last step has no edge yet … */
    uint8_t exec;          /* … but this as the start of one */
    uint32_t node;
    uint32_t pending_marks; /* since it began */
    uint32_t waiting_marks; /* since the first one that waits for cycles began */
    uint32_t waiting;       /* steps that wait for cycles: the last ones */
    bool timestamp_held;    /* its count may follow */
    struct ct_step_mark timestamp;
    size_t given, given_marks; /* left with the last batch; they go before anything else comes */
    size_t count, mark_count;
    uint32_t edge[CT_STEP_BATCH];
    uint32_t cycles[CT_STEP_BATCH];
    uint32_t insns[CT_STEP_BATCH]; /* of its node */
    struct ct_step_mark marks[CT_STEP_MARKS];
};

/* CT_ERR_CONFIG for registers that cannot be. */
int ct_step_builder_init(struct ct_step_builder *b, struct ct_ctx *ctx, const struct ct_source *source);

/* A step begins: the `n` instructions of a node ran. The step before it has its edge. There must be room. */
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

/* A count for `count` steps, at least one, of so many instructions each and `total` together. A quotient of
 * doubles is off by one at most while the product has less than 53 bits. */
static inline void ct_step_split(uint32_t *cycles, const uint32_t *insns, size_t count, uint64_t total,
                                 uint32_t value)
{
    uint32_t left = value;
    const bool exact = total >> 21; /* so are 31 bits times 21 */
    const uint64_t divisor = total ? total : 1;
    const double each = (double)value / (double)divisor;
    for (size_t i = 0; i + 1 < count; i++) {
        const uint64_t product = (uint64_t)value * insns[i];
        uint64_t part = exact ? product / divisor : (uint64_t)(int64_t)(each * insns[i]);
        part -= part * divisor > product;
        part += product - part * divisor >= divisor;
        cycles[i] = (uint32_t)part | CT_STEP_SHARED;
        left -= (uint32_t)part;
    }
    cycles[count - 1] = left | (count > 1 ? CT_STEP_SHARED : 0);
}

/* The last step gets its edge, if it has none. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_step_settle(struct ct_step_builder *b, enum ct_edge_kind kind, uint64_t next);

/* The timestamp that is held becomes a mark: another record comes behind it. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_step_put_timestamp(struct ct_step_builder *b);

/* What a CYCLES element says. */
int ct_step_count_cycles(struct ct_step_builder *b, const struct ct_elem *elem, uint64_t offset, uint8_t isa);

/* No count will come for the steps that wait for one. */
void ct_step_stop_waiting(struct ct_step_builder *b);

/* A record of the walk: a step, or a mark and what it does to the last step. There must be room for both.
 * CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_step_add_flow(struct ct_step_builder *b, const struct ct_flow *r);

/* True when no further step or mark may be added before a batch leaves. */
static inline bool ct_step_is_full(const struct ct_step_builder *b)
{
    return b->count == CT_STEP_BATCH || b->mark_count > CT_STEP_MARKS - CT_STEP_MARKS_EACH;
}

/* Forgets what left with the last batch. */
void ct_step_drop_given(struct ct_step_builder *b);

/* Forgets the steps and marks that were not given. */
void ct_step_drop(struct ct_step_builder *b);

/* All that what comes depends on. */
void ct_step_builder_seam(const struct ct_step_builder *b, struct ct_seam *seam);

/* All that is known for good. */
void ct_step_give(struct ct_step_builder *b, struct ct_step_batch *batch);

#endif
