/* SPDX-License-Identifier: Apache-2.0 */
/* Puts out the records of the walk, also those that say that trace and program contradict each other. What
 * each atom needs is inline. */
#pragma once

#include "flow/walk.h"

/* Maximal number of records of one atom or element. The caller's array always has room for as many (`cap` of
 * ct_walk_run). */
#define CT_WALK_STEP_RECORDS 6

/* The caller's array for records. */
struct ct_walk_sink {
    struct ct_flow *records;
    size_t count;
    size_t cap;
};

static inline void ct_walk_put_elem(struct ct_walk *w, struct ct_walk_sink *sink, struct ct_elem elem)
{
    w->placed = true;
    sink->records[sink->count++] =
        (struct ct_flow){.offset = w->offset, .kind = CT_FLOW_ELEM, .isa = w->isa, .elem = elem};
}

static inline void ct_walk_put_range(struct ct_walk *w, struct ct_walk_sink *sink,
                                     const struct ct_walk_range *range, bool exec)
{
    w->placed = true;
    sink->records[sink->count++] = (struct ct_flow){
        .offset = w->offset,
        .kind = CT_FLOW_RANGE,
        .start = range->start,
        .end = w->addr,
        .n = range->n,
        .isa = w->isa,
        .type = w->insn.type,
        .sub = w->insn.sub,
        .cond = range->last_cond,
        .loop = w->insn.loop,
        .exec = exec,
        .space = (uint8_t)ct_walk_space(w),
        .stale = w->stale || w->doubt,
        .last_size = w->insn.size,
    };
}

/* Puts out an element at which execution goes out of sight, with the address where it was: the target of the
 * last branch. */
void ct_walk_put_last_place(struct ct_walk *w, struct ct_walk_sink *sink, struct ct_elem elem);

void ct_walk_put_no_access(struct ct_walk *w, struct ct_walk_sink *sink, uint64_t addr);

/* Puts out a gap because trace and program contradict each other. The walk then waits for an address. */
void ct_walk_put_bad_image(struct ct_walk *w, struct ct_walk_sink *sink);

/* Puts out an unlisted gap where trace and program contradict each other although docs/listing.md walks on.
 * Ranges are then stale up to the next address. */
void ct_walk_contradict(struct ct_walk *w, struct ct_walk_sink *sink);

/* Ends the doubt at an address that says where execution is: later ranges count again. The entries of the
 * return stack become doubtful, because calls that were followed in doubt may not have happened. */
void ct_walk_end_doubt(struct ct_walk *w);

/* Puts out the result of a walk that failed: the instructions up to the failure, and its reason. Straight
 * code that is too long is a contradiction, because no program has so much. */
void ct_walk_put_broken(struct ct_walk *w, struct ct_walk_sink *sink, const struct ct_walk_range *range,
                        enum ct_walk_found found);
