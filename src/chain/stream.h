/* SPDX-License-Identifier: Apache-2.0 */
/* One trace ID on its way through packets, elements and flow. */
#ifndef CT_CHAIN_STREAM_H
#define CT_CHAIN_STREAM_H

#include <stdbool.h>

#include "chain/follow.h"
#include "chain/points.h"
#include "chain/protocol.h"
#include "chain/stream_events.h"
#include "coretap/decode.h"

#define CT_BATCH_PACKETS 512
#define CT_BATCH_ELEMS   4096

/* Room for one batch of each kind. Streams of a chain take turns with it. */
struct ct_batches {
    _Alignas(8) uint8_t packets[CT_BATCH_PACKETS * CT_PACKET_SIZE_MAX]; /* of one protocol at a time */
    uint64_t offsets[CT_BATCH_PACKETS];
    struct ct_elem elems[CT_BATCH_ELEMS];
};

struct ct_stream_chain {
    struct ct_stream stream;           /* what the caller sees of it */
    const struct ct_protocol_ops *ops; /* NULL when the chain does not decode packets */
    void *decoder;
    void *resolver;
    void *fast;                      /* both in one, where nobody wants the packets; may be NULL */
    void *hops;                      /* bytes to edge counts, where nobody wants the elements; may be NULL */
    struct ct_stream_events *events; /* NULL when nobody wants them */
    struct ct_follow *follow;        /* from FLOW on */
    uint64_t hopped;                 /* bytes that went that way */
    uint64_t start_offset;           /* in the capture: first byte since the start or the last reset … */
    uint64_t last_offset;            /* … and the last packet */
    bool started;                    /* there was a byte */
    bool fresh;                      /* … but none since the start or the last reset */
    bool left;                       /* what comes is not wanted */
    bool inside;         /* what comes before the first synchronisation point is not wanted, nor lost */
    uint64_t next_point; /* stream position from which on points are told */
    bool whole;          /* the last reset was where one recording ended and another began: nothing is lost */
};

/* Makes the layers up to `options->level`. `memory` is needed from FLOW on. Steps are made only when they are
 * wanted, or when something follows from them. */
int ct_stream_chain_init(struct ct_stream_chain *chain, struct ct_ctx *ctx, const struct ct_source *source,
                         uint8_t id, const struct ct_chain_options *options, bool wants_steps,
                         const struct ct_memory *memory);

/* Events are wanted as well, where there are elements. CT_ERR_NOMEM. */
int ct_stream_chain_want_events(struct ct_stream_chain *chain, struct ct_ctx *ctx);

void ct_stream_chain_deinit(struct ct_stream_chain *chain);

/* Decodes what there is of `run`; *used bytes are done with. Result: 0 or what a receiver returned. */
int ct_stream_chain_run(struct ct_stream_chain *chain, const struct ct_run *run, enum ct_behind behind,
                        enum ct_level level, struct ct_batches *batches, const struct ct_chain_sink *sink,
                        size_t *used);

/* The same, and tells of the synchronisation points (points.h). */
int ct_stream_chain_run_points(struct ct_stream_chain *chain, const struct ct_run *run, enum ct_behind behind,
                               enum ct_level level, struct ct_batches *batches,
                               const struct ct_chain_sink *sink, const struct ct_chain_points *points,
                               size_t *used);

/* Brings stream.stats and stream.edges up to date. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_stream_chain_sync(struct ct_stream_chain *chain);

/* The state behind the last byte that was used. */
void ct_stream_chain_seam(const struct ct_stream_chain *chain, struct ct_seam *seam);

/* The stream begins afresh behind a break. `whole`: nothing was lost there. */
void ct_stream_chain_reset(struct ct_stream_chain *chain, bool whole);

#endif
