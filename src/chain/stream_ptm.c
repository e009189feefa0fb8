/* SPDX-License-Identifier: Apache-2.0 */
/* Adapts the PTM decoder and resolver to the operations of a chain. */
#include <stddef.h>

#include "chain/protocol.h"
#include "chain/seam_v7.h"
#include "elem/v7_seam.h"
#include "proto/v7_seam.h"

_Static_assert(sizeof(struct ct_ptm_packet) <= CT_PACKET_SIZE_MAX, "a batch has room");
_Static_assert(CT_PTM_TYPE_COUNT <= CT_PACKET_TYPES, "the statistics have room");
_Static_assert(CT_PTM_NOT_SYNC == 0 && offsetof(struct ct_ptm_packet, pos) == 0, "as the chain expects");

static int decoder_new(struct ct_ctx *ctx, const struct ct_source *source, void **out)
{
    struct ct_ptm_decoder *decoder;
    int rc = ct_ptm_decoder_new(ctx, source, &decoder);
    if (!rc)
        *out = decoder;
    return rc;
}

static void decoder_free(void *decoder)
{
    ct_ptm_decoder_free(decoder);
}

static void decoder_reset(void *decoder)
{
    ct_ptm_decoder_reset(decoder);
}

static size_t decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final, void *packets,
                     size_t cap, size_t *count)
{
    return ct_ptm_decode(decoder, data, size, pos, final, packets, cap, count);
}

static int resolver_new(struct ct_ctx *ctx, const struct ct_source *source, void **out)
{
    struct ct_ptm_resolver *resolver;
    int rc = ct_ptm_resolver_new(ctx, source, &resolver);
    if (!rc)
        *out = resolver;
    return rc;
}

static void resolver_free(void *resolver)
{
    ct_ptm_resolver_free(resolver);
}

static void resolver_reset(void *resolver)
{
    ct_ptm_resolver_reset(resolver);
}

static size_t resolve(void *resolver, const void *packets, size_t size, int final, struct ct_elem *elems,
                      size_t cap, size_t *count)
{
    return ct_ptm_resolve(resolver, packets, size, final, elems, cap, count);
}

const struct ct_protocol_ops ct_ptm_ops = {
    .packet_size = sizeof(struct ct_ptm_packet),
    .type_at = offsetof(struct ct_ptm_packet, type),
    .type_count = CT_PTM_TYPE_COUNT,
    .decoder_new = decoder_new,
    .decoder_free = decoder_free,
    .decoder_reset = decoder_reset,
    .decode = decode,
    .resolver_new = resolver_new,
    .resolver_free = resolver_free,
    .resolver_reset = resolver_reset,
    .resolve = resolve,
    .find_sync = ct_ptm_find_sync,
    .decoder_seam = ct_ptm_decoder_seam,
    .resolver_seam = ct_ptm_resolver_seam,
};
