/* SPDX-License-Identifier: Apache-2.0 */
/* Adapts paper 1's function D(b, S, T) to the operations of a chain: it decodes packets of ETMv4 and ETE one
 * to eight bytes a turn, followed by the plain resolver. There is a table for each number of bytes. */
#include <stdlib.h>

#include "base/ctx.h"
#include "bytewise/etm4_bytewise.h"
#include "chain/adapt.h"

static int decoder_new(struct ct_ctx *ctx, const struct ct_source *source, void **out)
{
    struct ct_etm4_bytewise *decoder = malloc(sizeof *decoder);
    if (!decoder)
        return ct_fail_nomem(ctx, source->name);
    const int rc = ct_etm4_bytewise_init(ctx, source, decoder);
    if (rc)
        free(decoder);
    else
        *out = decoder;
    return rc;
}

static void decoder_reset(void *decoder)
{
    ct_etm4_bytewise_reset(decoder);
}

static size_t decode(struct ct_etm4_bytewise *decoder, unsigned unroll, const uint8_t *data, size_t size,
                     uint64_t pos, int final, struct ct_etm4_packet *packets, size_t cap, size_t *count)
{
    /* A run that only ends the stream has no bytes, and a null pointer. */
    *count = 0;
    const size_t taken =
        size ? ct_etm4_bytewise_run(decoder, unroll, data, size, pos, packets, cap, count) : 0;
    if (!final || taken < size || *count == cap)
        return taken - ct_etm4_bytewise_go_back(decoder); /* a chain cannot represent bytes before its run */
    *count += ct_etm4_bytewise_finish(decoder, packets + *count);
    return taken;
}

CT_ADAPT_RESOLVER(etm4)

#define DECODE(u)                                                                                            \
    static size_t decode##u(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final,        \
                            void *packets, size_t cap, size_t *count)                                        \
    {                                                                                                        \
        return decode(decoder, u, data, size, pos, final, packets, cap, count);                              \
    }

DECODE(1)
DECODE(2)
DECODE(3)
DECODE(4)
DECODE(5)
DECODE(6)
DECODE(7)
DECODE(8)

#define OPS(u)                                                                                               \
    {                                                                                                        \
        CT_ADAPTED_PACKETS(etm4, ETM4), CT_ADAPTED_RESOLVER(etm4),                                           \
            .decoder_new = decoder_new, .decoder_free = free, .decoder_reset = decoder_reset,                \
            .decode = decode##u,                                                                             \
    }

static const struct ct_protocol_ops tables[CT_ETM4_UNROLL_MAX] = {OPS(1), OPS(2), OPS(3), OPS(4),
                                                                  OPS(5), OPS(6), OPS(7), OPS(8)};

const struct ct_protocol_ops *ct_protocol_ops_bytewise(enum ct_protocol protocol, unsigned unroll)
{
    const bool known = protocol == CT_PROTOCOL_ETM4 || protocol == CT_PROTOCOL_ETE;
    return known && unroll >= 1 && unroll <= CT_ETM4_UNROLL_MAX ? &tables[unroll - 1] : NULL;
}
