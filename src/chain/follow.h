/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of one trace ID along the program: records of the walk, steps, edge counts. */
#ifndef CT_CHAIN_FOLLOW_H
#define CT_CHAIN_FOLLOW_H

#include <stdbool.h>

#include "chain/memories.h"
#include "chain/stream_events.h"
#include "coretap/decode.h"
#include "flow/edge_table.h"
#include "flow/sums.h"

#define CT_BATCH_FLOW 2048

struct ct_follow {
    struct ct_ctx *ctx;
    struct ct_walk *walk;            /* the plain engine … */
    struct ct_steps *steps;          /* … from STEPS on */
    struct ct_fast *fast;            /* or the fast one */
    struct ct_edges *edges;          /* when they are wanted … */
    bool edge_cycles;                /* … with their cycles */
    bool gives_counts;               /* the fast engine gives no steps */
    struct ct_memories *memories;    /* set by the owner; NULL: there is one memory */
    struct ct_graph_map map;         /* of a part: the numbers of its graph in that of the whole */
    uint32_t first_node, first_edge; /* … and those that it had when its part began */
    struct ct_place place;           /* whose memory the walk reads … */
    uint32_t memory;                 /* … and its number */
    struct ct_stream_events *events; /* that the records of the plain engine make; not owned; or NULL */
    struct ct_flow_sums sums;
    struct ct_flow records[CT_BATCH_FLOW];
};

/* For level FLOW or more. `options` has no engine AUTO. */
int ct_follow_new(struct ct_ctx *ctx, const struct ct_source *source, const struct ct_chain_options *options,
                  bool wants_steps, const struct ct_memory *memory, struct ct_follow **out);
void ct_follow_free(struct ct_follow *follow);

/* What comes is of this piece. CT_ERR_NOMEM. */
int ct_follow_piece(struct ct_follow *follow, const struct ct_piece *piece);

const struct ct_graph *ct_follow_graph(const struct ct_follow *follow);

/* Elements; `end` as for ct_walk_run. Result: 0, an error, or what a receiver returned. */
int ct_follow_run(struct ct_follow *follow, const struct ct_stream *stream, const struct ct_elem *elems,
                  size_t size, uint64_t end, const struct ct_chain_sink *sink);

/* Gives what is known when the input pauses. */
int ct_follow_flush(struct ct_follow *follow, const struct ct_stream *stream,
                    const struct ct_chain_sink *sink);

/* Brings the edges up to date and adds up what was followed in `stats`. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_follow_sync(struct ct_follow *follow, struct ct_stream_stats *stats);

/* The stream pauses here: what is known goes to receivers and edges, and the state is told. */
int ct_follow_rest(struct ct_follow *follow, const struct ct_stream *stream,
                   const struct ct_chain_sink *sink);
void ct_follow_seam(const struct ct_follow *follow, struct ct_seam *seam);

/* Sums count from here on. */
void ct_follow_clear_sums(struct ct_follow *follow);

/* True for what may serve as parts of a stream: all it does is count. */
bool ct_follow_only_counts(const struct ct_follow *follow);

/* A part counts a part of a stream, for the follow of the whole to take what it counted. Between two calls of
 * ct_follow_take it must not be full for long. CT_ERR_NOMEM, CT_ERR_LIMIT. */
void ct_follow_make_part(struct ct_follow *part);
bool ct_follow_part_is_full(const struct ct_follow *part);
int ct_follow_take(struct ct_follow *whole, struct ct_follow *part);

/* What comes is of another place of the stream. */
void ct_follow_jump(struct ct_follow *part);

/* What a part counted so far is not wanted: from here on its part of the stream begins. */
void ct_follow_drop(struct ct_follow *part);

/* Whether the whole, which is where the part began, knows all that the part knew there: else that part went
 * where the stream did not, and its graph is of no use. CT_ERR_NOMEM. */
int ct_follow_knows(const struct ct_follow *whole, struct ct_follow *part, bool *known);

#endif
