/* SPDX-License-Identifier: Apache-2.0 */
/* A chain, as those see it who give it bytes (chain.c) and who read its file (run.c). */
#ifndef CT_CHAIN_CHAIN_H
#define CT_CHAIN_CHAIN_H

#include "chain/stream.h"

struct ct_chain_points;
struct ct_m_steps;
struct ct_memories;
struct ct_parallel;
struct ct_relay;
struct ct_side_by_side;

struct ct_chain {
    struct ct_ctx *ctx;
    const struct ct_buffer *buffer;
    const struct ct_chain_sink *sink;
    struct ct_chain_options options;
    struct ct_memories *memories;
    const struct ct_memory *memory; /* the memory to begin with; NULL below FLOW */
    struct ct_demux *demux;         /* made when the framing is known */
    struct ct_batches *batches;
    struct ct_parallel *parallel; /* decodes the streams in place of this object; NULL without
                                     threads */
    struct ct_side_by_side *side; /* decodes slices of the streams; NULL: each stream is decoded as far
                                     as there are bytes of it */
    struct ct_relay *relay;       /* to the receiver of steps, which a thread of its own decodes ahead of;
                                     or NULL */
    struct ct_m_steps *m_steps;   /* in front of the receiver, or NULL */
    bool relays;                  /* there may be such a thread */
    const struct ct_chain_points *points; /* who is told of synchronisation points, or NULL */
    const struct ct_chain_shard *shard;   /* of the buffer that is decoded; NULL: all of it */
    uint8_t begin_id;                     /* ID of the first bytes that a shard reads of frames, or 0 */
    size_t segment;         /* set by tests (chain_tune.h): bytes of a segment; 0: the default */
    uint32_t shared_blocks; /* set by tests (chain_tune.h): blocks that threads share */
    uint64_t begin;         /* offset of the first byte that is read, or 0 */
    uint64_t bytes;
    struct ct_want want; /* that streams begin with */
    bool cut;            /* trace is missing behind the current piece */
    bool busy;           /* a call decodes, and may be in a receiver */
    bool ended;          /* there is no more trace */
    int stopped;         /* the error with which decoding stopped, or 0 */
    size_t count;
    struct ct_stream_chain *streams; /* sorted by ID */
    struct ct_stream *views;         /* the array that ct_chain_streams returns */
};

/* Tells whether a trace ID is among those that are wanted. */
bool ct_chain_wants(const struct ct_chain_options *options, uint8_t id);

/* Starts the threads once the streams are known, unless one thread is as good. CT_ERR_NOMEM. */
int ct_chain_start_threads(struct ct_chain *chain);

/* Returns how many threads decode at most, of those that are wanted. */
uint16_t ct_chain_useful_threads(const struct ct_chain *chain, uint16_t wanted);

#endif
