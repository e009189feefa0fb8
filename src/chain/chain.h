/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a chain, for the files that make it (chain.c), push
 * bytes (chain_bytes.c) and read its file (run.c). */
#pragma once

#include "chain/stream.h"

struct ct_chain_points;
struct ct_m_steps;
struct ct_memories;
struct ct_parallel;
struct ct_side_by_side;

struct ct_chain {
    struct ct_ctx *ctx;
    const struct ct_buffer *buffer;
    const struct ct_chain_sink *sink;
    struct ct_chain_options options;
    struct ct_memories *memories;
    const struct ct_memory *memory; /* the initial memory; NULL below FLOW */
    struct ct_demux *demux;         /* NULL until the framing is known */
    struct ct_batches *batches;
    struct ct_parallel *parallel; /* decodes the streams instead of this object; NULL without threads */
    struct ct_side_by_side *side; /* decodes slices of the streams; NULL: each stream is decoded as far as
                                     there are bytes */
    struct ct_m_steps *m_steps;   /* inserted before the receiver, or NULL */
    const struct ct_chain_points *points; /* receiver of synchronisation points, or NULL */
    const struct ct_chain_shard *shard;   /* the shard of the buffer to decode; NULL: all of it */
    uint8_t begin_id;                     /* ID of the first bytes that a shard reads from frames, or 0 */
    size_t segment; /* set by tests (chain_tune.h): size of a segment in bytes; 0: the default */
    uint64_t begin; /* offset of the first byte to read, or 0 */
    uint64_t bytes;
    struct ct_want want; /* initial value for streams */
    bool cut;            /* trace is missing after the current piece */
    bool busy;           /* a call is decoding, and may be in a receiver */
    bool ended;          /* the end of the trace was reached */
    int stopped;         /* the error that stopped decoding, or 0 */
    size_t count;
    struct ct_stream_chain *streams; /* sorted by ID */
    struct ct_stream *views;         /* the array that ct_chain_streams returns */
};

/* Returns whether a trace ID is wanted. */
bool ct_chain_wants(const struct ct_chain_options *options, uint8_t id);

/* Starts the threads once the streams are known, unless one thread is as fast. CT_ERR_NOMEM. */
int ct_chain_start_threads(struct ct_chain *chain);

/* Makes the demultiplexer and the streams, once the framing is known. CT_ERR_NOMEM, CT_ERR_UNSUPPORTED. */
int ct_chain_start(struct ct_chain *chain, enum ct_framing framing);

/* Returns the number of streams that are still decoded. */
size_t ct_chain_count_decoded(const struct ct_chain *chain);

/* Returns the number of bytes in the data trace of a stream, for levels with packets. */
uint64_t ct_chain_data_trace_bytes(const struct ct_chain *chain, size_t stream);
