/* SPDX-License-Identifier: Apache-2.0 */
/* Adapts the decoder, the resolver and the fast paths of ETMv4 and ETE to the operations of a chain. */
#include <stddef.h>

#include "chain/adapt.h"
#include "elem/etm4_state.h"
#include "etm4/fast.h"
#include "etm4/hops.h"
#include "etm4/seam.h"

_Static_assert(CT_SCAN_BLOCK == CT_PACKETS_STEP, "as the chain expects");

CT_ADAPT_DECODER(etm4, ETM4)
CT_ADAPT_RESOLVER(etm4)

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
    CT_ADAPTED_PACKETS(etm4, ETM4),
    CT_ADAPTED_DECODER(etm4),
    CT_ADAPTED_RESOLVER(etm4),
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
