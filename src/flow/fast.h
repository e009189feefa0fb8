/* SPDX-License-Identifier: Apache-2.0 */
/* The fast engine (steps.h) for those who run it: the chain, and the hops of ETMv4. Hops follow trace along
 * the same blocks where the engine allows it; they take its state and give it back where they stop. */
#ifndef CT_FLOW_FAST_H
#define CT_FLOW_FAST_H

#include "base/seam.h"
#include "coretap/edges.h"
#include "coretap/steps.h"
#include "flow/blocks.h"
#include "flow/sums.h"

/* Forgets what was remembered of the program and of contexts, once it is counted, as if the engine were new
 * at this place of the trace. */
int ct_fast_forget(struct ct_fast *f);

/* Lets an engine that met nothing yet share the graph with the others of its stream. A part shares blocks,
 * too, and keeps of the graph no more than its numbers. */
void ct_fast_share(struct ct_fast *f, struct ct_shared_program *shared, bool part);

/* Returns the graph, to which the caller may add. */
struct ct_graph *ct_fast_own_graph(struct ct_fast *f);

/* Gives all steps and counts, as ct_fast_flush does, and leaves the rest of the state with the plain walk and
 * the builder. */
int ct_fast_rest(struct ct_fast *f, struct ct_step_batch *batch);

/* Forgets the step that waits for its edge, because the trace goes on elsewhere. To be called after
 * ct_fast_rest. */
void ct_fast_jump(struct ct_fast *f);

/* Saves all state that later results depend on. To be called after ct_fast_rest. */
void ct_fast_seam(const struct ct_fast *f, struct ct_seam *seam);

/* Returns the sums of what became steps or counts so far. */
const struct ct_flow_sums *ct_fast_sums(const struct ct_fast *f);
void ct_fast_clear_sums(struct ct_fast *f);

/* For counts, in tests, whose traces are short: follows the next atoms block by block, as many as are said,
 * as where runs seldom come again. */
void ct_fast_tune(struct ct_fast *f, uint32_t atoms);

/* For counts, in tests: lets stretches begin with few elements, in a table of few rows (a power of two, whose
 * logarithm is given). */
void ct_fast_tune_stretches(struct ct_fast *f, unsigned rows);

/* ---- strips ---- */

/* Stretches (the atoms between two addresses) side by side: the addresses, for each of them the number of the
 * first atom behind it, and the atoms as bits. */
struct ct_fast_strip {
    uint64_t *addr; /* room for CT_STRIP_PLACES */
    uint32_t *at;
    uint64_t *atoms; /* room for CT_STRIP_ATOMS bits */
};

#define CT_STRIP_PLACES 2200u
#define CT_STRIP_ATOMS  65536u

/* For counts, in A64: returns true unless stretches do not come again at present. With a return stack nearly
 * all have to: those that are new take as long as in elements, and go on in larger batches there. */
bool ct_fast_wants_strips(const struct ct_fast *f);

/* Begins to count stretches, the first of which begins at the address that came last. Returns false, and does
 * nothing, when the engine is not there. */
bool ct_fast_begin_strip(struct ct_fast *f, struct ct_fast_strip *strip);

/* Counts stretches from number `first` on up to `n`, and prepares those from there up to `ahead`, of which
 * all addresses are known: each is to be prepared before it is counted. Result: how many are done, from
 * number 0 on. When these are fewer than n, the strip has to end; they may then be fewer than `first`. */
size_t ct_fast_count_strip(struct ct_fast *f, size_t first, size_t n, size_t ahead);

/* Ends the strip behind the first s stretches, or fewer: it may be that only now some turn out to be for the
 * plain walk. Result: how many are done. The address behind these did not come yet. With 0 nothing was done,
 * and the first address did come. */
size_t ct_fast_end_strip(struct ct_fast *f, size_t s);

/* ---- hops ---- */

/* Where execution is between two steps, in blocks. */
struct ct_fast_place {
    uint32_t last;  /* the block of the last step */
    uint32_t cur;   /* the block where execution is; 0 behind an indirect branch */
    bool exec;      /* the last step executed the branch at its end */
    bool have_addr; /* the address behind the last step came already */
};

/* Returns true when hops or strips may count in place of the engine. */
bool ct_fast_takes_hops(const struct ct_fast *f);

/* Returns true when there is a return stack, which is not in the states of hops: then only strips may. */
bool ct_fast_has_returns(const struct ct_fast *f);

/* Returns true when stretches came again when they were judged last. */
bool ct_fast_repeats_stretches(const struct ct_fast *f);

/* Returns true when the engine counts cycles too. */
bool ct_fast_counts_cycles(const struct ct_fast *f);

/* Return what hops share with the engine: the blocks, the table of counts (not owned), and the sums. */
struct ct_blocks *ct_fast_blocks(struct ct_fast *f);
struct ct_edges *ct_fast_edges(struct ct_fast *f);
struct ct_flow_sums *ct_fast_own_sums(struct ct_fast *f);

/* Tells whether the engine is between two steps with known blocks, and where. */
bool ct_fast_is_at_place(const struct ct_fast *f);
struct ct_fast_place ct_fast_place(const struct ct_fast *f);

/* Returns true when the decoder, in 64-bit state (`sf`) or not, the walk and the last step agree in that
 * state. Hops read the addresses behind a step only then. */
bool ct_fast_is_as_wide(const struct ct_fast *f, bool sf);

/* Returns the domain of the blocks to come. */
uint16_t ct_fast_domain(const struct ct_fast *f);

/* For counts without cycles: returns true when the edge of the last step may still change. */
bool ct_fast_is_open(const struct ct_fast *f);

/* For counts without cycles: take one from, and add one to, the count of the last step. */
void ct_fast_uncount(struct ct_fast *f);
void ct_fast_count(struct ct_fast *f);

/* For counts without cycles: sets where execution is, with no address pending, and counts the last step
 * once. */
void ct_fast_go_to(struct ct_fast *f, const struct ct_fast_place *place);

/* For counts with cycles: brings the table up to date, so that every step but the last has its cycles and is
 * in the table, in the context that the blocks are of. Returns false when the engine is not between two known
 * steps, or the blocks have an error. */
bool ct_fast_settle(struct ct_fast *f);

/* For counts with cycles: sets where execution is, after steps that are all in the table but the last. With
 * place->have_addr execution is at `address`, the newest of the decoder's recent addresses, whose bit 0 is
 * the instruction set as in ct_walk_isa. */
void ct_fast_resume(struct ct_fast *f, const struct ct_fast_place *place, uint64_t address);

/* For counts with cycles: gives the last step before ct_fast_settle the edge by which execution left it. */
void ct_fast_leave_by(struct ct_fast *f, uint32_t edge);

#endif
