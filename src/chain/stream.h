/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of one trace ID: from bytes to packets, elements and executed instructions. */
#pragma once

#include <stdbool.h>

#include "chain/follow.h"
#include "chain/narrow.h"
#include "chain/points.h"
#include "chain/protocol.h"
#include "chain/shard.h"
#include "chain/stream_events.h"
#include "coretap/decode.h"

#define CT_BATCH_PACKETS 512
#define CT_BATCH_ELEMS   4096

/* One batch of each kind, shared by the streams of a chain because they take turns. */
struct ct_batches {
    _Alignas(8) uint8_t packets[CT_BATCH_PACKETS * CT_PACKET_SIZE_MAX]; /* of the protocol of the current
                                                                           stream */
    uint64_t offsets[CT_BATCH_PACKETS];
    struct ct_elem elems[CT_BATCH_ELEMS];
};

struct ct_stream_chain {
    struct ct_stream stream;           /* the stream as the caller sees it */
    const struct ct_protocol_ops *ops; /* NULL when the chain does not decode packets */
    void *decoder;
    void *resolver;
    void *fast;                      /* decodes to elements without packets; NULL when packets are wanted or
                                        the protocol has no such path */
    void *hops;                      /* decodes to edge counts without elements; NULL when elements are
                                        wanted */
    struct ct_stream_events *events; /* NULL when not wanted */
    struct ct_follow *follow;        /* from level FLOW on, else NULL */
    uint64_t hopped;                 /* bytes decoded by the hops */
    uint64_t start_offset;           /* offset in the capture of the first byte since the start or the last
                                        reset */
    uint64_t last_offset;            /* offset in the capture of the last packet */
    bool started;                    /* the stream had a byte */
    bool fresh;                      /* no byte has come since the start or the last reset */
    bool left;                       /* the stream was left: later bytes are not decoded */
    bool not_followed;               /* left from the first byte on, because its atoms cannot be followed */
    bool inside;         /* bytes up to the first synchronisation point are skipped, and not counted as
                            lost */
    bool warms_up;       /* it has not reached the start of its shard */
    uint64_t cut;        /* the cut at which its shard ends, if a point is near */
    uint64_t next_point; /* stream position from which points are searched */
    bool apart;          /* elements are not followed when they are made, but passed to a receiver that
                            follows them with ct_stream_chain_follow */
    struct ct_narrow narrow;
    bool whole; /* the last reset was between two recordings, so that no trace is missing there */
};

/* Makes the layers up to `options->level`. `memory` is needed from FLOW on. Steps are made only when a
 * receiver wants them or edges are counted from them. */
int ct_stream_chain_init(struct ct_stream_chain *chain, struct ct_ctx *ctx, const struct ct_source *source,
                         uint8_t id, const struct ct_chain_options *options, bool wants_steps,
                         const struct ct_memory *memory);

/* Lets the fastest way of counting begin with the first byte: for tests, whose traces are short. */
void ct_stream_chain_tune(struct ct_stream_chain *chain);

/* Also makes events of the stream, if it is decoded to elements. CT_ERR_NOMEM. */
int ct_stream_chain_want_events(struct ct_stream_chain *chain, struct ct_ctx *ctx);

void ct_stream_chain_deinit(struct ct_stream_chain *chain);

/* Decodes a run; *used receives the number of bytes consumed. Returns 0 or what a receiver returned. */
int ct_stream_chain_run(struct ct_stream_chain *chain, const struct ct_run *run, enum ct_behind behind,
                        enum ct_level level, struct ct_batches *batches, const struct ct_chain_sink *sink,
                        size_t *used);

/* Decodes bytes [*at, to) of a run and advances *at to the first byte that was not consumed. */
int ct_stream_chain_run_part(struct ct_stream_chain *chain, const struct ct_run *run, size_t *at, size_t to,
                             enum ct_behind behind, enum ct_level level, struct ct_batches *batches,
                             const struct ct_chain_sink *sink);
/* Follows elements that ct_stream_chain_run made for an `apart` stream, in order. That function may make the
 * next ones meanwhile, in another thread. Same result. */
int ct_stream_chain_follow(struct ct_stream_chain *chain, const struct ct_elem_batch *batch,
                           const struct ct_chain_sink *sink);

/* Decodes a run like ct_stream_chain_run, and reports the synchronisation points in it (points.h). */
int ct_stream_chain_run_points(struct ct_stream_chain *chain, const struct ct_run *run, enum ct_behind behind,
                               enum ct_level level, struct ct_batches *batches,
                               const struct ct_chain_sink *sink, const struct ct_chain_points *points,
                               size_t *used);

/* Decodes a run of a shard (shard.h) like ct_stream_chain_run; the stream is left at the end of its shard. */
int ct_stream_chain_run_shard(struct ct_stream_chain *chain, const struct ct_run *run, enum ct_behind behind,
                              enum ct_level level, struct ct_batches *batches,
                              const struct ct_chain_sink *sink, const struct ct_chain_shard *shard,
                              size_t *used);

/* Leaves a stream that has no point near the cut at which its shard begins, now that bytes up to `offset` of
 * the capture came: this trace belongs to the shard before. */
void ct_stream_chain_miss_shard(struct ct_stream_chain *chain, const struct ct_chain_shard *shard,
                                uint64_t offset);

/* Ends the trace of a shard: the counts of a stream that did not reach its first point belong to the shard
 * before. Returns 0 or an error. */
int ct_stream_chain_end_shard(struct ct_stream_chain *chain, const struct ct_chain_sink *sink);

/* Updates stream.stats and stream.edges. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_stream_chain_sync(struct ct_stream_chain *chain);

/* Saves the state after the last byte consumed. */
void ct_stream_chain_seam(const struct ct_stream_chain *chain, struct ct_seam *seam);

/* Resets the stream after a break. `whole`: no trace is missing there. */
void ct_stream_chain_reset(struct ct_stream_chain *chain, bool whole);
