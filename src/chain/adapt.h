/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the operations of a chain (struct ct_protocol_ops) for a decoder and a resolver whose functions are
 * called ct_NAME_decode, ct_NAME_resolve and so on. */
#pragma once

#include <stddef.h>

#include "chain/protocol.h"

/* Defines the functions that make, free and reset a decoder or resolver. */
#define CT_ADAPT_LIFE(name, part)                                                                            \
    static int name##_##part##_new(struct ct_ctx *ctx, const struct ct_source *source, void **out)           \
    {                                                                                                        \
        struct ct_##name##_##part *made;                                                                     \
        const int rc = ct_##name##_##part##_new(ctx, source, &made);                                         \
        if (!rc)                                                                                             \
            *out = made;                                                                                     \
        return rc;                                                                                           \
    }                                                                                                        \
    static void name##_##part##_free(void *object)                                                           \
    {                                                                                                        \
        ct_##name##_##part##_free(object);                                                                   \
    }                                                                                                        \
    static void name##_##part##_reset(void *object)                                                          \
    {                                                                                                        \
        ct_##name##_##part##_reset(object);                                                                  \
    }

/* Defines the functions of the decoder, and checks the chain's requirements for its packets. */
#define CT_ADAPT_DECODER(name, NAME)                                                                         \
    _Static_assert(sizeof(struct ct_##name##_packet) <= CT_PACKET_SIZE_MAX, "a batch has room");             \
    _Static_assert(CT_##NAME##_TYPE_COUNT <= CT_PACKET_TYPES, "the statistics have room");                   \
    _Static_assert(CT_##NAME##_NOT_SYNC == 0 && offsetof(struct ct_##name##_packet, pos) == 0,               \
                   "as the chain expects");                                                                  \
    CT_ADAPT_LIFE(name, decoder)                                                                             \
    static size_t name##_decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final,    \
                                void *packets, size_t cap, size_t *count)                                    \
    {                                                                                                        \
        return ct_##name##_decode(decoder, data, size, pos, final, packets, cap, count);                     \
    }

/* Defines the functions of the resolver. */
#define CT_ADAPT_RESOLVER(name)                                                                              \
    CT_ADAPT_LIFE(name, resolver)                                                                            \
    static size_t name##_resolve(void *resolver, const void *packets, size_t size, int final,                \
                                 struct ct_elem *elems, size_t cap, size_t *count)                           \
    {                                                                                                        \
        return ct_##name##_resolve(resolver, packets, size, final, elems, cap, count);                       \
    }

/* Initialises the members of struct ct_protocol_ops that describe packets. */
#define CT_ADAPTED_PACKETS(name, NAME)                                                                       \
    .packet_size = sizeof(struct ct_##name##_packet), .type_at = offsetof(struct ct_##name##_packet, type),  \
    .type_count = CT_##NAME##_TYPE_COUNT

/* Initialises the members for the decoder, and those for the resolver. */
#define CT_ADAPTED_DECODER(name)                                                                             \
    .decoder_new = name##_decoder_new, .decoder_free = name##_decoder_free,                                  \
    .decoder_reset = name##_decoder_reset, .decode = name##_decode
#define CT_ADAPTED_RESOLVER(name)                                                                            \
    .resolver_new = name##_resolver_new, .resolver_free = name##_resolver_free,                              \
    .resolver_reset = name##_resolver_reset, .resolve = name##_resolve
