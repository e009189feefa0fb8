/* SPDX-License-Identifier: Apache-2.0 */
/* The fast way from elements to steps or to edge counts (steps.h), for who runs it: the chain, and the hops
 * of ETMv4, which follow trace along the same blocks where the engine allows it. They get its state, and give
 * it back where they are done. */
#ifndef CT_FLOW_FAST_H
#define CT_FLOW_FAST_H

#include "base/seam.h"
#include "coretap/edges.h"
#include "coretap/steps.h"
#include "flow/blocks.h"
#include "flow/sums.h"

/* What was remembered of the program and of contexts, once it is counted: as a new
 * one in this place of the trace. */
int ct_fast_forget(struct ct_fast *f);

/* The graph, for what others found. */
struct ct_graph *ct_fast_own_graph(struct ct_fast *f);

/* As ct_fast_flush; what is left of the state is the plain walk's and the builder's. */
int ct_fast_rest(struct ct_fast *f, struct ct_step_batch *batch);

/* The trace goes on elsewhere: the step that waits for what comes behind it is
 * forgotten. After ct_fast_rest. */
void ct_fast_jump(struct ct_fast *f);

/* All that what comes depends on, after ct_fast_rest. */
void ct_fast_seam(const struct ct_fast *f, struct ct_seam *seam);

/* Of what became steps or counts so far. */
const struct ct_flow_sums *ct_fast_sums(const struct ct_fast *f);
void ct_fast_clear_sums(struct ct_fast *f);

/* ---- hops ---- */

/* Where execution is, between two steps that blocks are known of. */
struct ct_fast_place {
    uint32_t last;  /* block of the last step */
    uint32_t cur;   /* block where execution is; 0: behind an indirect branch */
    bool exec;      /* the last step executed the branch at its end */
    bool have_addr; /* the address behind the last step came already */
};

/* Whether hops may count in place of the engine: it counts, and has no return stack. */
bool ct_fast_takes_hops(const struct ct_fast *f);

/* Whether it counts cycles, too. */
bool ct_fast_counts_cycles(const struct ct_fast *f);

/* What they have in common: blocks, the table that counts (not owned), and sums. */
struct ct_blocks *ct_fast_blocks(struct ct_fast *f);
struct ct_edges *ct_fast_edges(struct ct_fast *f);
struct ct_flow_sums *ct_fast_own_sums(struct ct_fast *f);

/* Whether it is at such a place, and which one. */
bool ct_fast_is_at_place(const struct ct_fast *f);
struct ct_fast_place ct_fast_place(const struct ct_fast *f);

/* Whether the decoder, in the state of 64 bits (`sf`) or 32, and the walk are both in the one in which the
 * last step was made: hops read the addresses behind a step in no other one. */
bool ct_fast_is_as_wide(const struct ct_fast *f, bool sf);

/* The domain of blocks that come. */
uint16_t ct_fast_domain(const struct ct_fast *f);

/* Counts alone: whether the edge of the last step is not known for certain. */
bool ct_fast_is_open(const struct ct_fast *f);

/* Counts alone: the last step counts once less, and once more. */
void ct_fast_uncount(struct ct_fast *f);
void ct_fast_count(struct ct_fast *f);

/* Counts alone: execution is there, without an address; the last step counts once more. */
void ct_fast_go_to(struct ct_fast *f, const struct ct_fast_place *place);

/* Cycles: whether a count came for all steps but the last, which is in no table yet, and all before it are
 * counted, by the context that the blocks are of. False: not at such a place, or the blocks have an error. */
bool ct_fast_settle(struct ct_fast *f);

/* Cycles: execution is at a place whose last step goes by `edge`, from where the table had all steps before.
 * With place->have_addr it is at the last of the addresses that the decoder compares with (bit 0: the
 * instruction set, as in ct_walk_isa). */
void ct_fast_resume(struct ct_fast *f, const struct ct_fast_place *place, uint64_t address);

/* Cycles: the edge by which execution left the step that was the last one when it was settled. */
void ct_fast_leave_by(struct ct_fast *f, uint32_t edge);

#endif
