/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a protocol with their pointers untyped, as a row of operations has them. */
#ifndef CT_DECODE_STREAM_OPS_H
#define CT_DECODE_STREAM_OPS_H

#include <stddef.h>

#include "decode/protocol.h"

/* For the protocol whose functions are ct_NAME_decode and so on and whose types are CT_CAPS_…. */
#define CT_STREAM_FUNCTIONS(name, caps)                                                                      \
    _Static_assert(sizeof(struct ct_##name##_packet) <= CT_PACKET_SIZE_MAX, "a batch has room");             \
    _Static_assert(CT_##caps##_TYPE_COUNT <= CT_PACKET_TYPES, "the statistics have room");                   \
    _Static_assert(CT_##caps##_NOT_SYNC == 0 && offsetof(struct ct_##name##_packet, pos) == 0,               \
                   "as the chain expects");                                                                  \
    static const char *type_name(unsigned type)                                                              \
    {                                                                                                        \
        return ct_##name##_type_name((enum ct_##name##_type)type);                                           \
    }                                                                                                        \
    static int decoder_new(struct ct_ctx *ctx, const struct ct_source *source, void **out)                   \
    {                                                                                                        \
        struct ct_##name##_decoder *decoder;                                                                 \
        int rc = ct_##name##_decoder_new(ctx, source, &decoder);                                             \
        if (!rc)                                                                                             \
            *out = decoder;                                                                                  \
        return rc;                                                                                           \
    }                                                                                                        \
    static void decoder_free(void *decoder)                                                                  \
    {                                                                                                        \
        ct_##name##_decoder_free(decoder);                                                                   \
    }                                                                                                        \
    static void decoder_reset(void *decoder)                                                                 \
    {                                                                                                        \
        ct_##name##_decoder_reset(decoder);                                                                  \
    }                                                                                                        \
    static size_t decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final,           \
                         void *packets, size_t cap, size_t *count)                                           \
    {                                                                                                        \
        return ct_##name##_decode(decoder, data, size, pos, final, packets, cap, count);                     \
    }                                                                                                        \
    static int resolver_new(struct ct_ctx *ctx, const struct ct_source *source, void **out)                  \
    {                                                                                                        \
        struct ct_##name##_resolver *resolver;                                                               \
        int rc = ct_##name##_resolver_new(ctx, source, &resolver);                                           \
        if (!rc)                                                                                             \
            *out = resolver;                                                                                 \
        return rc;                                                                                           \
    }                                                                                                        \
    static void resolver_free(void *resolver)                                                                \
    {                                                                                                        \
        ct_##name##_resolver_free(resolver);                                                                 \
    }                                                                                                        \
    static void resolver_reset(void *resolver)                                                               \
    {                                                                                                        \
        ct_##name##_resolver_reset(resolver);                                                                \
    }                                                                                                        \
    static size_t resolve(void *resolver, const void *packets, size_t size, int final,                       \
                          struct ct_elem *elems, size_t cap, size_t *count)                                  \
    {                                                                                                        \
        return ct_##name##_resolve(resolver, packets, size, final, elems, cap, count);                       \
    }

/* The members of the row that these functions are. */
#define CT_STREAM_MEMBERS(name, caps)                                                                        \
    .packet_size = sizeof(struct ct_##name##_packet), .type_at = offsetof(struct ct_##name##_packet, type),  \
    .type_count = CT_##caps##_TYPE_COUNT, .type_name = type_name, .decoder_new = decoder_new,                \
    .decoder_free = decoder_free, .decoder_reset = decoder_reset, .decode = decode,                          \
    .resolver_new = resolver_new, .resolver_free = resolver_free, .resolver_reset = resolver_reset,          \
    .resolve = resolve

#endif
