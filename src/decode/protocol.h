/* What a trace protocol does in a chain: one row of operations each, called once a batch. A protocol is added
 * with a file like stream_etm4.c and a row in protocol.c. */
#ifndef CT_DECODE_PROTOCOL_H
#define CT_DECODE_PROTOCOL_H

#include <stdbool.h>

#include "coretap/decode.h"
#include "report/text.h"

/* The largest packet record of all protocols. */
#define CT_PACKET_SIZE_MAX 64

/* Decoders and resolvers are the protocol's own objects. The functions are those of the protocol's public
 * headers with their pointers untyped; what is said there holds here. */
struct ct_protocol_ops {
    size_t packet_size; /* of a packet record; the first 8 bytes of each are its `pos` … */
    size_t type_at; /* … and the byte at this offset is its type; type 0 is a run without synchronisation */
    unsigned type_count;
    const char *(*type_name)(unsigned type);
    bool (*type_is_bad)(unsigned type); /* a packet that cannot be */

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

    /* Appends one line a packet (LISTING part 3). */
    void (*list)(struct ct_text *text, const struct ct_stream *stream, const struct ct_packet_batch *batch);
};

extern const struct ct_protocol_ops ct_etm4_ops; /* ETMv4 and ETE */
extern const struct ct_protocol_ops ct_etm3_ops;
extern const struct ct_protocol_ops ct_ptm_ops;
extern const struct ct_protocol_ops ct_itm_ops;
extern const struct ct_protocol_ops ct_stm_ops;

/* NULL for a protocol that is not decoded. */
const struct ct_protocol_ops *ct_protocol_ops(enum ct_protocol protocol);

/* Where the bytes of a packet at stream position `pos` are. A run without synchronisation has none to show. */
static inline const uint8_t *ct_packet_bytes(const struct ct_packet_batch *batch, uint64_t pos)
{
    return pos < batch->run->pos ? NULL : batch->run->data + (pos - batch->run->pos);
}

#endif
