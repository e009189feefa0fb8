/* SPDX-License-Identifier: Apache-2.0 */
/* The state that a session records of its shard (shard.c), and how shards are written to files
 * (shard_file.c). */
#pragma once

#include <stdbool.h>

#include "chain/shard.h"
#include "coretap/session.h"
#include "coretap/shard.h"

/* A stream of a buffer that is cut, or of shards that were merged. */
struct ct_shard_stream {
    uint32_t buffer; /* number of the buffer in the capture */
    uint8_t id;
    uint64_t nodes, edges; /* size of its program graph; an upper bound when shards were merged */
    struct ct_edge_context *contexts;
    size_t context_count;
    char *begin, *end; /* position and state at its start and end, as text; NULL: start or end of the trace */
};

struct ct_shard {
    struct ct_analysis analysis;     /* must be the first member; `captures` has the losses */
    uint32_t first, last, count;     /* shards [first, last] of `count`, from 1; first 0: none yet */
    uint64_t each;                   /* trace bytes in a shard */
    uint64_t begin, end;             /* its range of trace bytes, counted over all buffers one after the
                                        other */
    const struct ct_buffer *buffers; /* the buffers of the run */
    uint64_t *starts;                /* start of each buffer among their bytes, and the end of the last */
    uint32_t buffer;                 /* number of the current buffer */
    bool has_trace, ran, damaged;    /* as in struct ct_seen; the files of the capture are damaged */
    bool from_start;                 /* its part of the current buffer begins at the first byte */
    char why[64];                    /* why the capture cannot be cut; empty: it can */
    struct ct_shard_stream *streams;
    size_t stream_count;
};

/* Begins a capture: computes the byte range of the shard. CT_ERR_ARG for a second one. */
int ct_shard_begin(struct ct_shard *shard, const struct ct_buffer *buffers, size_t count);

/* Moves to a buffer. Returns false when the shard has nothing of it. *part has its `end` set when the shard
 * has a part of it (the caller sets `user` and `reach`), and is all zeros when it has all. With `can_cut`
 * false a buffer is never cut: it belongs to the shard in which it begins. */
bool ct_shard_next(struct ct_shard *shard, const struct ct_buffer *buffer, bool can_cut,
                   struct ct_chain_shard *part);

/* Records a point reported by ct_chain_shard.reach, with the state there. CT_ERR_NOMEM. */
int ct_shard_reach(struct ct_shard *shard, const struct ct_stream *stream, bool is_end, uint64_t offset,
                   const struct ct_seam *seam);

/* Records the sizes and contexts of a chain that decoded a part of a buffer. CT_ERR_NOMEM. */
int ct_shard_take(struct ct_shard *shard, const struct ct_chain *chain);

/* Records that the parts of the capture do not add up. The first reason is kept. */
void ct_shard_refuse(struct ct_shard *shard, const char *why);

/* Ends a capture, whose name is `run`. CT_ERR_NOMEM. */
int ct_shard_finish(struct ct_shard *shard, const struct ct_seen *seen, bool damaged, const char *run);

/* Returns the stream with these numbers, or NULL. */
struct ct_shard_stream *ct_shard_find(const struct ct_shard *shard, uint32_t buffer, uint8_t id);

/* Adds a stream, or returns the existing one. Returns NULL when out of memory. */
struct ct_shard_stream *ct_shard_stream(struct ct_shard *shard, uint32_t buffer, uint8_t id);

/* Adds a context to a stream, without duplicates. CT_ERR_NOMEM. */
int ct_shard_add_context(struct ct_shard *shard, struct ct_shard_stream *stream,
                         const struct ct_edge_context *context);
