/* SPDX-License-Identifier: Apache-2.0 */
/* The internal interface of the fast engine (steps.h), for the chain and for the hops of ETMv4. Hops follow
 * the trace along the same blocks as the engine. They take its state while it allows that
 * (ct_fast_takes_hops), and give it back where they stop. */
#pragma once

#include "base/seam.h"
#include "coretap/edges.h"
#include "coretap/steps.h"
#include "flow/blocks.h"
#include "flow/sums.h"

/* Adds all counts to the table, then forgets the program and the contexts, as if the engine were new at this
 * place of the trace. Returns 0 or the error of the engine. */
int ct_fast_forget(struct ct_fast *f);

/* Gives the engine of a part of a stream a number that all parts read and write: how long hops of ETMv4 rest
 * the next time, in bytes; initially 0. It must live as long as the engine. */
void ct_fast_share_rest(struct ct_fast *f, uint64_t *rest);

/* Returns that number, or NULL. */
uint64_t *ct_fast_shared_rest(const struct ct_fast *f);

/* Returns the graph; the caller may add to it. */
struct ct_graph *ct_fast_own_graph(struct ct_fast *f);

/* Gives all steps and counts as ct_fast_flush does, and leaves all other state in the plain walk and the
 * builder. */
int ct_fast_rest(struct ct_fast *f, struct ct_step_batch *batch);

/* Forgets the step that waits for its edge, and where execution is, because the trace continues elsewhere.
 * Call it after ct_fast_rest. */
void ct_fast_jump(struct ct_fast *f);

/* Saves all state on which later results depend. Call it after ct_fast_rest. */
void ct_fast_seam(const struct ct_fast *f, struct ct_seam *seam);

/* Returns the sums of all records that became steps or counts. */
const struct ct_flow_sums *ct_fast_sums(const struct ct_fast *f);
void ct_fast_clear_sums(struct ct_fast *f);

/* For tests of counts: follows the next `atoms` atoms block by block, as the engine does where runs seldom
 * recur. (The traces of tests are too short for that to happen by itself.) */
void ct_fast_tune(struct ct_fast *f, uint32_t atoms);

/* For tests of counts: lets stretches begin with few elements, in a table of 2^rows rows. */
void ct_fast_tune_stretches(struct ct_fast *f, unsigned rows);

/* For tests of counts with cycles: uses a table of 2^rows rows for strips. */
void ct_fast_tune_legs(struct ct_fast *f, unsigned rows);

/* ---- strips ---- */

/* Adjacent stretches (a stretch is the atoms between two addresses): the addresses, for each address the
 * number of the first atom behind it, and the atoms as bits. */
struct ct_fast_strip {
    uint64_t *addr; /* CT_STRIP_PLACES of them */
    uint32_t *at;
    uint64_t *atoms; /* CT_STRIP_ATOMS bits */
};

#define CT_STRIP_PLACES 2200u
#define CT_STRIP_ATOMS  65536u

/* For counts, in A64: returns true when strips are worth listing, which is not so while stretches seldom
 * recur. With a return stack nearly all stretches must recur: a new one takes as long there as with elements,
 * which come in larger batches. */
bool ct_fast_wants_strips(const struct ct_fast *f);

/* Begins a strip, whose first stretch begins at the newest address, and sets *strip to the arrays that the
 * caller fills. Returns false, and changes no state, unless the engine is between two known steps of A64 code
 * with an address pending. */
bool ct_fast_begin_strip(struct ct_fast *f, struct ct_fast_strip *strip);

/* Counts the stretches with numbers from `first` below `n`, and prepares those from `n` below `ahead`, whose
 * addresses must all be known. Each stretch has to be prepared before it is counted. Returns how many
 * stretches are done, from number 0 on. When these are fewer than `n`, the strip has to end; they may then be
 * fewer than `first`. */
size_t ct_fast_count_strip(struct ct_fast *f, size_t first, size_t n, size_t ahead);

/* Ends the strip behind the first `s` stretches, or earlier: only now may some of them prove to need the
 * plain walk. Returns how many are done. The address behind them has not been taken. When 0 are done, no
 * stretch was counted, and the first address has been taken. */
size_t ct_fast_end_strip(struct ct_fast *f, size_t s);

/* ---- strips with cycle counts ---- */

#define CT_STRIP_COUNTS 8192u

/* Begins a strip with cycles, right behind a cycle count and the address that may follow it; an atom follows.
 * Sets *strip as ct_fast_begin_strip does, except that the first stretch may begin in the middle of one;
 * *count_at to the array of the numbers of atoms before each cycle count, and *cycles to that of their
 * cycles, each CT_STRIP_COUNTS long. Returns false, and changes no state, unless the engine is between two
 * known steps of A64 code, all of which have their cycles. */
bool ct_fast_begin_timed_strip(struct ct_fast *f, struct ct_fast_strip *strip, uint32_t **count_at,
                               uint32_t **cycles);

/* Counts the stretches from number *done on below `n`, with those of the first `counts` cycle counts that
 * they include, and prepares the stretches from `n` below `ahead`, as ct_fast_count_strip does. Sets *done to
 * the number of stretches that are done. Returns false when the strip has to end: when that is not all of
 * them, or strips cannot take a count. */
bool ct_fast_count_timed_strip(struct ct_fast *f, size_t *done, size_t n, size_t ahead, size_t counts);

/* Returns how many cycle counts are counted with all of their steps. */
size_t ct_fast_timed_legs(const struct ct_fast *f);

/* Ends the strip right behind the last cycle count of those that are counted, of which there must be one.
 * `addresses`: how many addresses are before it; `marks`: how many events follow its last atom. */
void ct_fast_end_timed_strip(struct ct_fast *f, size_t addresses, uint32_t marks);

/* ---- hops ---- */

/* The position of execution between two steps. */
struct ct_fast_place {
    uint32_t last;  /* the block of the last step */
    uint32_t cur;   /* the block to be executed next; 0 behind an indirect branch */
    bool exec;      /* the last step executed the waypoint at its end */
    bool have_addr; /* the address behind the last step has come */
};

/* Returns true when hops or strips may count instead of the engine. */
bool ct_fast_takes_hops(const struct ct_fast *f);

/* Returns true when there is a return stack. The states of hops do not contain it, so only strips are
 * possible then. */
bool ct_fast_has_returns(const struct ct_fast *f);

/* Returns true when stretches recurred often when they were last judged. */
bool ct_fast_repeats_stretches(const struct ct_fast *f);

/* Returns true unless the engine counts steps without their cycles. */
bool ct_fast_counts_cycles(const struct ct_fast *f);

/* Return what hops share with the engine: the blocks, the table of counts (not owned) and the sums. */
struct ct_blocks *ct_fast_blocks(struct ct_fast *f);
struct ct_edges *ct_fast_edges(struct ct_fast *f);
struct ct_flow_sums *ct_fast_own_sums(struct ct_fast *f);

/* Return whether the engine is between two steps with known blocks, and its position there. */
bool ct_fast_is_at_place(const struct ct_fast *f);
struct ct_fast_place ct_fast_place(const struct ct_fast *f);

/* Returns true when the decoder (`sf`: in 64-bit state), the walk and the last step agree on the state. Hops
 * read addresses behind a step only then. */
bool ct_fast_is_as_wide(const struct ct_fast *f, bool sf);

/* Returns the domain of the blocks that follow. */
uint16_t ct_fast_domain(const struct ct_fast *f);

/* For counts without cycles: returns true when the edge of the last step may still change. */
bool ct_fast_is_open(const struct ct_fast *f);

/* For counts without cycles: subtract one from the count of the last step, and add one to it. */
void ct_fast_uncount(struct ct_fast *f);
void ct_fast_count(struct ct_fast *f);

/* For counts without cycles: sets the position, without a pending address, and counts the last step once. */
void ct_fast_go_to(struct ct_fast *f, const struct ct_fast_place *place);

/* For counts with cycles: adds every step but the last to the table, with its cycles, and enters the current
 * context. Returns false when the engine is not between two known steps, or the blocks have an error. */
bool ct_fast_settle(struct ct_fast *f);

/* For counts with cycles: sets the position; all steps but the last must be in the table. With
 * place->have_addr execution is at `address`, the newest of the decoder's recent addresses: its bit 0 selects
 * the instruction set as in ct_walk_isa. */
void ct_fast_resume(struct ct_fast *f, const struct ct_fast_place *place, uint64_t address);

/* For counts with cycles: sets the edge by which execution left the last step before ct_fast_settle. */
void ct_fast_leave_by(struct ct_fast *f, uint32_t edge);
