/* SPDX-License-Identifier: Apache-2.0 */
/* A table of operations for each trace protocol in a chain, each called once a batch. A new protocol needs a
 * file like stream_etm4.c and a row in protocol.c. */
#pragma once

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/decode.h"
#include "etm4/work.h"

struct ct_event_columns;
struct ct_fast;

/* Size of the largest packet record of all protocols. */
#define CT_PACKET_SIZE_MAX 64

/* A decoder may stop with up to so much room left in a batch, although there are more packets. */
#define CT_PACKETS_STEP 64u

/* Operations of a protocol. Decoders and resolvers are the protocol's own objects. The operations are the
 * functions of its public headers with untyped pointers, and follow the same rules. */
struct ct_protocol_ops {
    size_t packet_size;  /* size of a packet record, which begins with its 8-byte `pos` */
    size_t type_at;      /* offset of the byte that holds the type; type 0 is a run without synchronisation */
    unsigned type_count; /* all types are below this */

    int (*decoder_new)(struct ct_ctx *ctx, const struct ct_source *source, void **out);
    void (*decoder_free)(void *decoder);
    void (*decoder_reset)(void *decoder);
    size_t (*decode)(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final, void *packets,
                     size_t cap, size_t *count);

    int (*resolver_new)(struct ct_ctx *ctx, const struct ct_source *source, void **out);
    void (*resolver_free)(void *resolver);
    void (*resolver_reset)(void *resolver);
    size_t (*resolve)(void *resolver, const void *packets, size_t size, int final, struct ct_elem *elems,
                      size_t cap, size_t *count);

    /* Optional: decodes straight to elements, skipping packets. NULL when the protocol has no fast path. The
     * object shares the state of decoder and resolver and does not own them. *out is NULL when it cannot be
     * used for the source. CT_ERR_NOMEM. */
    int (*fast_new)(struct ct_ctx *ctx, void *decoder, void *resolver, void **out);
    void (*fast_free)(void *fast);
    void (*fast_reset)(void *fast); /* called after the decoder and the resolver were reset */
    size_t (*fast_run)(void *fast, struct ct_work *work, struct ct_elem *elems, size_t cap,
                       struct ct_stream_stats *stats);
    /* Decodes everything, when only the statistics are wanted. */
    void (*fast_count)(void *fast, struct ct_work *work, struct ct_stream_stats *stats);
    /* Like `decode`, when the elements are not wanted. *count is above `cap` - CT_PACKETS_STEP when there may
     * be more packets; `cap` is at least CT_PACKETS_STEP. */
    size_t (*fast_packets)(void *fast, const uint8_t *data, size_t size, uint64_t pos, bool final,
                           void *packets, size_t cap, size_t *count);
    /* Skips the resolver for packets that only say where execution went, and counts their elements in
     * `stats`. Returns the number of packets. */
    size_t (*pass)(void *resolver, const void *packets, size_t size, struct ct_stream_stats *stats);
    /* Decodes straight to events, which are added to the columns as long as there is room. */
    void (*fast_events)(void *fast, struct ct_work *work, struct ct_events *events,
                        struct ct_event_columns *columns, struct ct_stream_stats *stats);

    /* Optional: decodes straight to edge counts where possible, with the engine that has the program. NULL
     * when the protocol has no such path; *out is NULL when it cannot be used for the source. hops_sync adds
     * the counts to the edges and to `stats`. Both return CT_OK or an error. hops_tune lets hops begin with
     * the first byte, for tests, whose traces are short. */
    int (*hops_new)(struct ct_ctx *ctx, void *fast, struct ct_fast *engine, void **out);
    void (*hops_free)(void *hops);
    void (*hops_tune)(void *hops);
    int (*hops_run)(void *hops, struct ct_work *work);
    int (*hops_sync)(void *hops, struct ct_stream_stats *stats);

    /* Optional, for threads: find_sync returns the first synchronisation point at or after `from`, which is
     * the start of a packet if the bytes are trace; SIZE_MAX when there is none. The other two save the state
     * there. All are NULL when streams of the protocol are not split. */
    size_t (*find_sync)(const uint8_t *data, size_t size, size_t from);
    void (*decoder_seam)(const void *decoder, struct ct_seam *seam);
    void (*resolver_seam)(const void *resolver, struct ct_seam *seam);
};

extern const struct ct_protocol_ops ct_etm4_ops; /* ETMv4 and ETE */
extern const struct ct_protocol_ops ct_etm3_ops;
extern const struct ct_protocol_ops ct_ptm_ops;
extern const struct ct_protocol_ops ct_itm_ops;
extern const struct ct_protocol_ops ct_stm_ops;

/* Returns the operations of a protocol, or NULL when it is not decoded. */
const struct ct_protocol_ops *ct_protocol_ops(enum ct_protocol protocol);

/* Returns the operations that decode `unroll` bytes a turn, 1 to 8, as in paper 1; NULL for protocols other
 * than ETMv4 and ETE. */
const struct ct_protocol_ops *ct_protocol_ops_bytewise(enum ct_protocol protocol, unsigned unroll);
