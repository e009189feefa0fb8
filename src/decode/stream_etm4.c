/* SPDX-License-Identifier: Apache-2.0 */
/* ETMv4 and ETE in the chain. */
#include "decode/etm4_fast.h"
#include "decode/etm4_hops.h"
#include "decode/seam_etm4.h"
#include "decode/stream_ops.h"
#include "report/listing.h"

CT_STREAM_FUNCTIONS(etm4, ETM4)

static bool type_is_bad(unsigned type)
{
    switch (type) {
    case CT_ETM4_BAD_SEQUENCE:
    case CT_ETM4_BAD_TRACEMODE:
    case CT_ETM4_RESERVED:
    case CT_ETM4_RESERVED_CFG:
    case CT_ETM4_INCOMPLETE_EOT:
        return true;
    default:
        return false;
    }
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

static int hops_run(void *hops, struct ct_work *work)
{
    return ct_etm4_hops_run(hops, work);
}

static int hops_sync(void *hops, struct ct_stream_stats *stats)
{
    return ct_etm4_hops_sync(hops, stats);
}

static void list(struct ct_text *text, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct ct_etm4_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_etm4_packet(text, stream->id, batch->offsets[i], ct_packet_bytes(batch, packets[i].pos),
                            &packets[i], stream->source);
}

const struct ct_protocol_ops ct_etm4_ops = {
    CT_STREAM_MEMBERS(etm4, ETM4),
    .type_is_bad = type_is_bad,
    .fast_new = fast_new,
    .fast_free = fast_free,
    .fast_reset = fast_reset,
    .fast_run = fast_run,
    .fast_events = fast_events,
    .hops_new = hops_new,
    .hops_free = hops_free,
    .hops_run = hops_run,
    .hops_sync = hops_sync,
    .find_sync = ct_etm4_find_sync,
    .decoder_seam = ct_etm4_decoder_seam,
    .resolver_seam = ct_etm4_resolver_seam,
    .list = list,
};
