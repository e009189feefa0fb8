/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the elements of one trace ID along the program, with one of the two engines, and makes flow
 * records, steps and edge counts from them. */
#pragma once

#include <stdbool.h>

#include "chain/memories.h"
#include "chain/stream_events.h"
#include "coretap/decode.h"
#include "flow/edge_table.h"
#include "flow/sums.h"

#define CT_BATCH_FLOW 256 /* small enough for the first-level cache */

struct ct_follow {
    struct ct_ctx *ctx;
    struct ct_walk *walk;            /* the plain engine; NULL with the fast one */
    struct ct_steps *steps;          /* turns its records into steps; NULL below STEPS */
    struct ct_fast *fast;            /* the fast engine; NULL with the plain one */
    struct ct_edges *edges;          /* counts of edges; NULL when not wanted */
    bool edge_cycles;                /* `edges` also sums up cycles */
    bool gives_counts;               /* the fast engine makes edge counts and no steps */
    struct ct_memories *memories;    /* set by the owner; NULL when there is one memory */
    struct ct_graph_map map;         /* of a part: maps the numbers of its graph to those of the whole
                                        stream */
    struct ct_place place;           /* the process and time that select the memory */
    uint32_t memory;                 /* the number of that memory */
    struct ct_stream_events *events; /* converts records of the plain engine to events; not owned; may be
                                        NULL */
    struct ct_flow_sums sums;
    struct ct_flow records[CT_BATCH_FLOW];
};

/* Makes the engine for a source, for level FLOW or more. Engine AUTO is the plain one, which caches what it
 * read of the program. */
int ct_follow_new(struct ct_ctx *ctx, const struct ct_source *source, const struct ct_chain_options *options,
                  bool wants_steps, const struct ct_memory *memory, struct ct_follow **out);
void ct_follow_free(struct ct_follow *follow);

/* Announces that what follows is in this piece, whose thread and time select the memory. CT_ERR_NOMEM. */
int ct_follow_piece(struct ct_follow *follow, const struct ct_piece *piece);

const struct ct_graph *ct_follow_graph(const struct ct_follow *follow);

/* Counts a batch of steps if edges are counted, and passes it to the receiver. Returns 0, an error, or what
 * the receiver returned. */
int ct_follow_give_steps(struct ct_follow *follow, const struct ct_stream *stream,
                         const struct ct_step_batch *batch, const struct ct_chain_sink *sink);

/* Follows elements in order; `end` is that of ct_walk_run. Returns 0, an error, or what a receiver returned.
 */
int ct_follow_run(struct ct_follow *follow, const struct ct_stream *stream, const struct ct_elem *elems,
                  size_t size, uint64_t end, const struct ct_chain_sink *sink);

/* Passes the buffered steps of the engine to receivers, because the input pauses. */
int ct_follow_flush(struct ct_follow *follow, const struct ct_stream *stream,
                    const struct ct_chain_sink *sink);

/* Updates the edge counts, and adds the executed instructions to `stats`. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_follow_sync(struct ct_follow *follow, struct ct_stream_stats *stats);

/* Ends a part of the stream: passes everything buffered to receivers and edges, so that ct_follow_seam can
 * save the state. */
int ct_follow_rest(struct ct_follow *follow, const struct ct_stream *stream,
                   const struct ct_chain_sink *sink);
void ct_follow_seam(const struct ct_follow *follow, struct ct_seam *seam);

/* Resets the sums of executed instructions to zero. */
void ct_follow_clear_sums(struct ct_follow *follow);

/* Returns true when this object makes only counts, so that objects of its kind can serve as parts. */
bool ct_follow_only_counts(const struct ct_follow *follow);

/* Returns true when this object gives batches of steps, and objects of its kind can serve as parts. */
bool ct_follow_gives_steps(const struct ct_follow *follow);

/* Makes the object follow a part of a stream. ct_follow_take then moves its counts to the object of the whole
 * stream. A part that is full must be taken soon. `rest`: see ct_fast_share_rest. CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
void ct_follow_make_part(struct ct_follow *part, uint64_t *rest);
bool ct_follow_part_is_full(const struct ct_follow *part);
int ct_follow_take(struct ct_follow *whole, struct ct_follow *part);

/* Sets `numbers` to the numbers that edges of the part have in the graph of the whole stream, to which those
 * that are new are added. The part may be running in another thread. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_follow_take_edges(struct ct_follow *whole, struct ct_follow *part, const uint32_t *edges, size_t count,
                         uint32_t *numbers);

/* Resets the position of execution: the next elements are from another position of the stream. */
void ct_follow_jump(struct ct_follow *part);

/* Drops the counts of the part's warm-up: its share of the stream begins here. */
void ct_follow_drop(struct ct_follow *part);

/* Records the nodes and edges that the warm-up of a part added, for ct_follow_knows. */
void ct_follow_note(struct ct_follow *part);

/* Returns whether the graph of the whole stream has every node and edge that the warm-up of the part added.
 * If not, the warm-up took a path that the stream did not take, and the numbers of the part's graph are
 * useless. The part may be running in another thread. */
bool ct_follow_knows(struct ct_follow *whole, struct ct_follow *part);
