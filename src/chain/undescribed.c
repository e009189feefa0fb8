/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/undescribed.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/ctx.h"
#include "base/described.h"
#include "chain/chain.h"
#include "frame/demux.h"

/* Maximal number of IDs in the warning; damaged frames may have a hundred. */
#define NAMED 6u

static bool is_described(const struct ct_buffer *buffer, uint8_t id)
{
    bool found = false;
    for (size_t i = 0; !found && i < buffer->source_count; i++)
        found = buffer->sources[i].trace_id == id || ct_source_data_id(&buffer->sources[i]) == id;
    return found;
}

void ct_undescribed_warn(struct ct_ctx *ctx, const struct ct_buffer *buffer,
                         const struct ct_chain_options *options, const struct ct_frame_stats *frames)
{
    char named[NAMED * sizeof ", ID 00 (18446744073709551615 bytes)"] = "";
    size_t length = 0;
    unsigned count = 0;
    uint64_t bytes = 0;
    for (uint8_t id = 1; frames && id < CT_ID_COUNT; id++) {
        if (!frames->id_bytes[id] || !ct_chain_wants(options, id) || is_described(buffer, id))
            continue;
        bytes += frames->id_bytes[id];
        if (count++ < NAMED)
            length += (size_t)snprintf(named + length, sizeof named - length, "%sID %02x (%" PRIu64 " bytes)",
                                       length ? ", " : "", id, frames->id_bytes[id]);
    }
    if (count)
        ct_log(ctx, CT_LOG_WARNING,
               "%s: %" PRIu64 " bytes of trace belong to no described source and are not decoded: %s%s; "
               "describe the source, or choose trace IDs with --id",
               ct_buffer_title(buffer), bytes, named, count > NAMED ? " and others" : "");
}
