/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/never_synced.h"

#include <inttypes.h>

#include "base/ctx.h"
#include "coretap/packet_itm.h"

void ct_never_synced_warn(struct ct_ctx *ctx, const struct ct_stream *stream)
{
    const struct ct_stream_stats *stats = &stream->stats;
    if (stream->source->protocol != CT_PROTOCOL_ITM || !stats->packets ||
        stats->packets != stats->packet_types[CT_ITM_NOT_SYNC])
        return;
    ct_log(
        ctx, CT_LOG_WARNING,
        "source %s (ID %02x): none of its %" PRIu64 " bytes is decoded, because there is no "
        "synchronisation packet to begin with; record with these packets (SYNCENA of ITM_TCR, SYNCTAP and "
        "CYCCNTENA of DWT_CTRL), or add sync=none to the source in the .ini of a raw trace, to decode from "
        "the first byte on",
        stream->source->name, stream->id, stats->bytes);
}
