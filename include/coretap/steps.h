/* SPDX-License-Identifier: Apache-2.0 */
/* coretap steps: execution along the binary as columns, in batches, for all analyses. A step is one traversal
 * of an edge of the graph: the instructions of a node ran, and execution left it by that edge. */
#ifndef CORETAP_STEPS_H
#define CORETAP_STEPS_H

#include "coretap/base.h"
#include "coretap/elem.h"
#include "coretap/flow.h"
#include "coretap/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps of a batch at most. */
#define CT_STEP_BATCH 8192

/* Steps that wait for a cycle count at most, and marks that may stand between such a step, or one whose edge
 * is not known yet, and what it waits for. Beyond, the oldest step gets no cycles and the edge is OPEN. */
#define CT_STEP_WAIT       4096
#define CT_STEP_WAIT_MARKS 1024

/* ---- cycles ----
 * A count is for all steps since the count before it. It is split by their instructions: each gets the part
 * of its own rounded down, the last one what is left. Counts without a step since the last one, unknown ones
 * (value 0), and those of cancelled instructions and gaps are CYCLES marks; so are those of 2^30 - 1 cycles
 * and more. Thus the sum over the steps and over the CYCLES marks is the sum of all counts in the trace.
 * Counts of ETMv4 timestamps are not in it: the next count includes them. */

/* Values of the column of cycles. */
#define CT_STEP_NO_CYCLES UINT32_MAX          /* no count is for this step */
#define CT_STEP_SHARED    (UINT32_C(1) << 31) /* flag: a part of a count for several steps */
#define CT_STEP_ENDS      (UINT32_C(1) << 30) /* flag beside it: the last of these steps */
#define CT_STEP_CYCLES    (CT_STEP_ENDS - 1)  /* mask: the cycles, when they are not NO_CYCLES */

enum ct_mark_kind {
    CT_MARK_ELEM,      /* `elem`, as the walk passes it on (struct ct_flow) */
    CT_MARK_NO_ACCESS, /* execution is at `value`, which cannot be read in the spaces of `space` */
};

/* Threads of a stream of the M profile that are told apart at most. */
#define CT_M_THREADS 64

/* In the n of a RETURN of the M profile whose mark says which thread goes on. */
enum ct_return {
    CT_RETURN_NEW = 1,     /* nothing is known of that thread */
    CT_RETURN_GUESSED = 2, /* it may as well be another one of those in v, whose calls are others */
};

/* What is not a step. */
struct ct_step_mark {
    uint64_t offset; /* of its packet in the capture */
    uint64_t value;  /* NO_ACCESS: the address. ELEM: of a TIMESTAMP of ETMv4 the cycles since the last count;
                        of DATA the instruction that it belongs to, when n is 1; of a RETURN that takes the
                        M profile out of its last handler the thread that goes on, below CT_M_THREADS (0: the
                        first one), when n is 1. The n of the element is enum ct_return then, and its v the
                        threads that it may be, as bits, when nothing tells them apart, or else 0 */
    struct ct_elem elem;
    uint32_t at;   /* stands before step `at` of the batch; `count`: behind the last */
    uint8_t kind;  /* enum ct_mark_kind */
    uint8_t space; /* NO_ACCESS: enum ct_space */
    uint8_t isa;   /* ELEM: enum ct_isa after it */
    uint8_t n;     /* ELEM: 1 when `value` says something */
};

/* Borrowed until the next call on the object that gave it. */
struct ct_step_batch {
    const struct ct_graph *graph;
    const uint32_t *edge;   /* number of the edge of each step, in order of execution */
    const uint32_t *cycles; /* of each step; NULL when the source counts none */
    size_t count;
    const struct ct_step_mark *marks; /* in order */
    size_t mark_count;
};

struct ct_steps;

/* Makes the plain way to steps, from the records of ct_walk; the reference that faster ones are held to. Has
 * a graph of its own. Stale ranges make no step: the edge before them is OPEN. CT_ERR_NOMEM, or CT_ERR_CONFIG
 * for registers that cannot be. */
CT_API int ct_steps_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_steps **out);
CT_API void ct_steps_free(struct ct_steps *steps);

/* Takes records and gives a batch, which is empty until it is worth one. *taken is how many records were
 * used; call again while some are left. No batch and no number depends on how the records are cut, only where
 * one batch ends and the next begins. CT_ERR_NOMEM, CT_ERR_LIMIT: those of the graph. */
CT_API int ct_steps_run(struct ct_steps *steps, const struct ct_flow *records, size_t size, size_t *taken,
                        struct ct_step_batch *batch);

/* Gives what is known so far, without waiting for a full batch: after an END element that is everything. */
CT_API void ct_steps_flush(struct ct_steps *steps, struct ct_step_batch *batch);

/* Says which memory the next records are of; 0 before the first call. */
CT_API void ct_steps_set_memory(struct ct_steps *steps, uint32_t number);

/* Returns the graph that its batches are of, borrowed. */
CT_API const struct ct_graph *ct_steps_graph(const struct ct_steps *steps);

/* The same from elements, quickly: the program is followed along its graph, and only what is rare goes
 * through the walk. */
struct ct_fast;
struct ct_edges;

struct ct_fast_options {
    size_t size;                 /* sizeof(struct ct_fast_options) */
    uint8_t split_source_ranges; /* see flow.h */
    uint8_t cycles;          /* with `counts`: cycles are added to it as well, where the source counts some */
    struct ct_edges *counts; /* not NULL: no batches are given; how often each edge was traversed is added to
                                this table (not owned) */
};

/* Makes an object that follows one stream of `source` in `memory` (neither owned). Holds, besides a batch of
 * steps and the graph, at most 150 MB of blocks of the program, and runs of them (2 MB) when only counts are
 * wanted. `options` may be NULL. CT_ERR_NOMEM, or CT_ERR_CONFIG for registers that cannot be. */
CT_API int ct_fast_new(struct ct_ctx *ctx, const struct ct_source *source, const struct ct_memory *memory,
                       const struct ct_fast_options *options, struct ct_fast **out);
CT_API void ct_fast_free(struct ct_fast *fast);

/* Says that instructions are read in `memory` (not owned) from the next element on. The same number stands
 * for the same code at the same addresses. CT_ERR_NOMEM, CT_ERR_LIMIT. */
CT_API int ct_fast_set_memory(struct ct_fast *fast, const struct ct_memory *memory, uint32_t number);

/* Takes elements and gives a batch as ct_steps_run does; `end` as for ct_walk_run. CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
CT_API int ct_fast_run(struct ct_fast *fast, const struct ct_elem *elems, size_t size, uint64_t end,
                       size_t *taken, struct ct_step_batch *batch);

/* Gives what is known so far, as ct_steps_flush does. With counts: the table is complete, but for the last
 * step when its edge is not known. CT_ERR_NOMEM, CT_ERR_LIMIT. */
CT_API int ct_fast_flush(struct ct_fast *fast, struct ct_step_batch *batch);

/* Returns the graph that its batches or counts are of, borrowed. */
CT_API const struct ct_graph *ct_fast_graph(const struct ct_fast *fast);

#ifdef __cplusplus
}
#endif
#endif
