/* SPDX-License-Identifier: Apache-2.0 */
/* Adapts the decoder, the resolver and the fast paths of ETMv4 and ETE to the operations of a chain. */
#include <stddef.h>

#include "chain/protocol.h"
#include "elem/etm4_state.h"
#include "etm4/fast.h"
#include "etm4/hops.h"
#include "etm4/seam.h"

_Static_assert(sizeof(struct ct_etm4_packet) <= CT_PACKET_SIZE_MAX, "a batch has room");
_Static_assert(CT_SCAN_BLOCK == CT_PACKETS_STEP, "as the chain expects");
_Static_assert(CT_ETM4_TYPE_COUNT <= CT_PACKET_TYPES, "the statistics have room");
_Static_assert(CT_ETM4_NOT_SYNC == 0 && offsetof(struct ct_etm4_packet, pos) == 0, "as the chain expects");

static int decoder_new(struct ct_ctx *ctx, const struct ct_source *source, void **out)
{
    struct ct_etm4_decoder *decoder;
    int rc = ct_etm4_decoder_new(ctx, source, &decoder);
    if (!rc)
        *out = decoder;
    return rc;
}

static void decoder_free(void *decoder)
{
    ct_etm4_decoder_free(decoder);
}

static void decoder_reset(void *decoder)
{
    ct_etm4_decoder_reset(decoder);
}

static size_t decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final, void *packets,
                     size_t cap, size_t *count)
{
    return ct_etm4_decode(decoder, data, size, pos, final, packets, cap, count);
}

static int resolver_new(struct ct_ctx *ctx, const struct ct_source *source, void **out)
{
    struct ct_etm4_resolver *resolver;
    int rc = ct_etm4_resolver_new(ctx, source, &resolver);
    if (!rc)
        *out = resolver;
    return rc;
}

static void resolver_free(void *resolver)
{
    ct_etm4_resolver_free(resolver);
}

static void resolver_reset(void *resolver)
{
    ct_etm4_resolver_reset(resolver);
}

static size_t resolve(void *resolver, const void *packets, size_t size, int final, struct ct_elem *elems,
                      size_t cap, size_t *count)
{
    return ct_etm4_resolve(resolver, packets, size, final, elems, cap, count);
}

static int fast_new(struct ct_ctx *ctx, void *decoder, void *resolver, void **out)
{
    struct ct_etm4_fast *fast;
    int rc = ct_etm4_fast_new(ctx, decoder, resolver, &fast);
    if (!rc)
        *out = fast;
    return rc;
}

static void fast_free(void *fast)
{
    ct_etm4_fast_free(fast);
}

static void fast_reset(void *fast)
{
    ct_etm4_fast_reset(fast);
}

static size_t fast_run(void *fast, struct ct_work *work, struct ct_elem *elems, size_t cap,
                       struct ct_stream_stats *stats)
{
    return ct_etm4_fast_run(fast, work, elems, cap, stats);
}

static void fast_count(void *fast, struct ct_work *work, struct ct_stream_stats *stats)
{
    ct_etm4_fast_count(fast, work, stats);
}

static size_t fast_packets(void *fast, const uint8_t *data, size_t size, uint64_t pos, bool final,
                           void *packets, size_t cap, size_t *count)
{
    return ct_etm4_fast_packets(fast, data, size, pos, final, packets, cap, count);
}

static size_t pass(void *resolver, const void *packets, size_t size, struct ct_stream_stats *stats)
{
    struct ct_etm4_passed passed;
    const size_t taken = ct_etm4_resolve_past(resolver, packets, size, &passed);
    stats->elements += passed.elements;
    stats->atoms += passed.atoms;
    return taken;
}

static void fast_events(void *fast, struct ct_work *work, struct ct_events *events,
                        struct ct_event_columns *columns, struct ct_stream_stats *stats)
{
    ct_etm4_fast_events(fast, work, events, columns, stats);
}

static int hops_new(struct ct_ctx *ctx, void *fast, struct ct_fast *engine, void **out)
{
    struct ct_etm4_hops *hops;
    int rc = ct_etm4_hops_new(ctx, fast, engine, &hops);
    if (!rc)
        *out = hops;
    return rc;
}

static void hops_free(void *hops)
{
    ct_etm4_hops_free(hops);
}

static void hops_tune(void *hops)
{
    ct_etm4_hops_tune(hops, 0);
}

static int hops_run(void *hops, struct ct_work *work)
{
    return ct_etm4_hops_run(hops, work);
}

static int hops_sync(void *hops, struct ct_stream_stats *stats)
{
    return ct_etm4_hops_sync(hops, stats);
}

const struct ct_protocol_ops ct_etm4_ops = {
    .packet_size = sizeof(struct ct_etm4_packet),
    .type_at = offsetof(struct ct_etm4_packet, type),
    .type_count = CT_ETM4_TYPE_COUNT,
    .decoder_new = decoder_new,
    .decoder_free = decoder_free,
    .decoder_reset = decoder_reset,
    .decode = decode,
    .resolver_new = resolver_new,
    .resolver_free = resolver_free,
    .resolver_reset = resolver_reset,
    .resolve = resolve,
    .fast_new = fast_new,
    .fast_free = fast_free,
    .fast_reset = fast_reset,
    .fast_run = fast_run,
    .fast_count = fast_count,
    .fast_packets = fast_packets,
    .pass = pass,
    .fast_events = fast_events,
    .hops_new = hops_new,
    .hops_free = hops_free,
    .hops_tune = hops_tune,
    .hops_run = hops_run,
    .hops_sync = hops_sync,
    .find_sync = ct_etm4_find_sync,
    .decoder_seam = ct_etm4_decoder_seam,
    .resolver_seam = ct_etm4_resolver_seam,
};
