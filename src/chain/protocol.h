/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace protocol does in a chain: a table of operations, each called once a batch. A new protocol is a
 * file like stream_etm4.c and a row in protocol.c. */
#ifndef CT_CHAIN_PROTOCOL_H
#define CT_CHAIN_PROTOCOL_H

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/decode.h"
#include "etm4/work.h"

struct ct_event_columns;
struct ct_fast;

/* The largest packet record of all protocols. */
#define CT_PACKET_SIZE_MAX 64

/* Room that a batch of packets may have left although there are more. */
#define CT_PACKETS_STEP 64u

/* Decoders and resolvers are the protocol's own objects. The operations are the functions of the protocol's
 * public headers with untyped pointers, and keep the rules that stand there. */
struct ct_protocol_ops {
    size_t packet_size;  /* size of a packet record, which begins with its 8-byte `pos` */
    size_t type_at;      /* offset of the byte that holds the type; type 0 is a run without synchronisation */
    unsigned type_count; /* all types are less than this */

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
     * object shares the state of decoder and resolver and does not own them. *out is NULL when the source has
     * no use for it. CT_ERR_NOMEM. */
    int (*fast_new)(struct ct_ctx *ctx, void *decoder, void *resolver, void **out);
    void (*fast_free)(void *fast);
    void (*fast_reset)(void *fast); /* called after the decoder and the resolver were reset */
    size_t (*fast_run)(void *fast, struct ct_work *work, struct ct_elem *elems, size_t cap,
                       struct ct_stream_stats *stats);
    /* Decodes all that there is, where only the statistics are wanted. */
    void (*fast_count)(void *fast, struct ct_work *work, struct ct_stream_stats *stats);
    /* As `decode`, where nobody wants the elements. *count is above `cap` less CT_PACKETS_STEP, which `cap`
     * is at least, when there was not room for all. */
    size_t (*fast_packets)(void *fast, const uint8_t *data, size_t size, uint64_t pos, bool final,
                           void *packets, size_t cap, size_t *count);
    /* Takes packets past the resolver as far as nothing is said by them but where execution went, and counts
     * their elements in `stats`. Result: how many. */
    size_t (*pass)(void *resolver, const void *packets, size_t size, struct ct_stream_stats *stats);
    /* Decodes straight to events, which are added to the columns as long as there is room. */
    void (*fast_events)(void *fast, struct ct_work *work, struct ct_events *events,
                        struct ct_event_columns *columns, struct ct_stream_stats *stats);

    /* Optional: decodes straight to edge counts, as far as that goes, with the engine that has the program.
     * NULL when the protocol has no such path; *out is NULL when the source has no use for it. hops_sync adds
     * what was counted to the edges and to `stats`. Both return CT_OK or an error. hops_tune lets hops begin
     * with the first byte, for tests, whose traces are short. */
    int (*hops_new)(struct ct_ctx *ctx, void *fast, struct ct_fast *engine, void **out);
    void (*hops_free)(void *hops);
    void (*hops_tune)(void *hops);
    int (*hops_run)(void *hops, struct ct_work *work);
    int (*hops_sync)(void *hops, struct ct_stream_stats *stats);

    /* Optional, for threads: find_sync returns the first synchronisation point at or behind `from`, which is
     * the beginning of a packet if the bytes are trace; SIZE_MAX when there is none. The other two save the
     * state there. All are NULL when streams of the protocol are not split. */
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

/* Returns those that decode `unroll` bytes a turn, 1 to 8, as paper 1; NULL for other protocols than its own.
 */
const struct ct_protocol_ops *ct_protocol_ops_bytewise(enum ct_protocol protocol, unsigned unroll);

#endif
