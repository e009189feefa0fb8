/* SPDX-License-Identifier: Apache-2.0 */
/* coretap steps: execution along the program as columns, in batches, for all analyses. A step is one
 * traversal of an edge of the graph: the instructions of a node ran, and execution left it by that edge.
 * Batches come from a session (`steps` of its options), a chain (`steps` of its sink), or the objects below.
 * A receiver that counts the instructions in them:
 *
 *     for (size_t i = 0; i < batch->count; i++)
 *         instructions += nodes[edges[batch->edge[i]].from].n;
 *
 * where `nodes` and `edges` are those of batch->graph (graph.h). */
#ifndef CORETAP_STEPS_H
#define CORETAP_STEPS_H

#include "coretap/base.h"
#include "coretap/elem.h"
#include "coretap/flow.h"
#include "coretap/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximal number of steps in a batch. */
#define CT_STEP_BATCH 8192

/* Limits: steps that wait for a cycle count, and marks between a waiting step and what it waits for (its
 * cycle count or its edge). Beyond them, the oldest step gets no cycles, or its edge becomes OPEN. */
#define CT_STEP_WAIT       4096
#define CT_STEP_WAIT_MARKS 1024

/* ---- cycles ----
 *
 * A count covers all steps since the count before it. It is split by their instructions: each gets its share
 * rounded down, the last one the rest. CYCLES marks stand for counts without a step since
 * the last one, unknown counts (value 0), those of cancelled instructions and gaps, and those of 2^30 - 1
 * cycles and more. Thus the sum over the steps and over the CYCLES marks is the sum of all counts in the
 * trace. Counts of ETMv4 timestamps are not included: the next count contains them. */

/* Values of the column of cycles. */
#define CT_STEP_NO_CYCLES UINT32_MAX          /* the step has no count */
#define CT_STEP_SHARED    (UINT32_C(1) << 31) /* flag: a share of a count for several steps */
#define CT_STEP_ENDS      (UINT32_C(1) << 30) /* flag together with SHARED: the last of these steps */
#define CT_STEP_CYCLES    (CT_STEP_ENDS - 1)  /* mask: the cycles, unless NO_CYCLES */

enum ct_mark_kind {
    CT_MARK_ELEM,      /* `elem`, passed on by the walk (struct ct_flow) */
    CT_MARK_NO_ACCESS, /* execution reached `value`, which cannot be read in the spaces of `space` */
};

/* Maximal number of threads that are told apart in a stream of the M profile. */
#define CT_M_THREADS 64

/* The n of a RETURN of the M profile, when its mark gives the thread that continues. */
enum ct_return {
    CT_RETURN_NEW = 1,     /* nothing is known of that thread */
    CT_RETURN_GUESSED = 2, /* it may also be another thread of those in v; with NEW, one that was forgotten
                              because there are too many */
};

/* A mark: anything in the stream that is not a step. */
struct ct_step_mark {
    uint64_t offset; /* of its packet in the capture */
    uint64_t value;  /* NO_ACCESS: the address. ELEM: for a TIMESTAMP of ETMv4 the cycles since the last
                        count; for DATA the instruction it belongs to, when n is 1; for a RETURN that leaves
                        the last handler of the M profile the thread that continues, below CT_M_THREADS (0:
                        the first one), when n is 1. The n of the element is then enum ct_return, and its v
                        has the threads that it may be, as bits, when it is a guess among those, or else 0 */
    struct ct_elem elem;
    uint32_t at;   /* index in the batch of the step after it; `count`: after the last */
    uint8_t kind;  /* enum ct_mark_kind */
    uint8_t space; /* NO_ACCESS: enum ct_space */
    uint8_t isa;   /* ELEM: enum ct_isa after it */
    uint8_t n;     /* ELEM: 1 when `value` is set */
};

/* A batch of steps. Borrowed until the next call on the object that gave it. */
struct ct_step_batch {
    const struct ct_graph *graph;
    const uint32_t *edge;   /* number of the edge of each step, in order of execution */
    const uint32_t *cycles; /* cycles of each step; NULL when the source counts none */
    size_t count;
    const struct ct_step_mark *marks; /* in order */
    size_t mark_count;
};

struct ct_steps;

/* Makes the plain converter from flow records of ct_walk to steps. Faster ones are tested against it. It has
 * its own graph. Stale ranges make no step: the edge before them is OPEN. CT_ERR_NOMEM, or CT_ERR_CONFIG for
 * impossible register values. */
CT_API int ct_steps_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_steps **out);
CT_API void ct_steps_free(struct ct_steps *steps);

/* Takes records and gives a batch, which is empty until there are enough steps. *taken receives the number of
 * records used; call again while some are left. How the records are cut changes no step and no number, only
 * where one batch ends and the next begins. CT_ERR_NOMEM, CT_ERR_LIMIT: those of the graph. */
CT_API int ct_steps_run(struct ct_steps *steps, const struct ct_flow *records, size_t size, size_t *taken,
                        struct ct_step_batch *batch);

/* Gives all steps so far, without waiting for a full batch: after an END element that is everything. */
CT_API void ct_steps_flush(struct ct_steps *steps, struct ct_step_batch *batch);

/* Sets the memory of the records that follow; initially 0. */
CT_API void ct_steps_set_memory(struct ct_steps *steps, uint32_t number);

/* Returns the graph of its batches, borrowed. */
CT_API const struct ct_graph *ct_steps_graph(const struct ct_steps *steps);

/* Follows the program from elements to steps quickly: along its graph, and through the walk only for rare
 * elements. */
struct ct_fast;
struct ct_edges;

struct ct_fast_options {
    size_t size;                 /* sizeof(struct ct_fast_options) */
    uint8_t split_source_ranges; /* see flow.h */
    uint8_t cycles;              /* with `counts`: also adds cycles, if the source counts them */
    struct ct_edges *counts; /* not NULL: gives no batches, and adds the traversals of each edge to this table
                                (not owned) */
};

/* Makes an object that follows one stream of `source` in `memory` (neither owned). Besides a batch of steps
 * and the graph it holds at most 150 MB of blocks of the program, and 2 MB of runs of blocks when only counts
 * are wanted. `options` may be NULL. CT_ERR_NOMEM, or CT_ERR_CONFIG for impossible register values. */
CT_API int ct_fast_new(struct ct_ctx *ctx, const struct ct_source *source, const struct ct_memory *memory,
                       const struct ct_fast_options *options, struct ct_fast **out);
CT_API void ct_fast_free(struct ct_fast *fast);

/* Changes the memory (not owned) that instructions are read from, from the next element on. Equal numbers
 * stand for the same code at the same addresses. CT_ERR_NOMEM, CT_ERR_LIMIT. */
CT_API int ct_fast_set_memory(struct ct_fast *fast, const struct ct_memory *memory, uint32_t number);

/* Takes elements and gives a batch like ct_steps_run; `end` as for ct_walk_run. CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
CT_API int ct_fast_run(struct ct_fast *fast, const struct ct_elem *elems, size_t size, uint64_t end,
                       size_t *taken, struct ct_step_batch *batch);

/* Gives all steps so far, like ct_steps_flush. With counts, completes the table, except for the last step
 * when its edge is unknown. CT_ERR_NOMEM, CT_ERR_LIMIT. */
CT_API int ct_fast_flush(struct ct_fast *fast, struct ct_step_batch *batch);

/* Returns the graph of its batches or counts, borrowed. */
CT_API const struct ct_graph *ct_fast_graph(const struct ct_fast *fast);

#ifdef __cplusplus
}
#endif
#endif
