/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/data_trace.h"

#include <inttypes.h>

#include "base/ctx.h"

uint64_t ct_data_trace_bytes(const struct ct_buffer *buffer, const struct ct_source *source,
                             const struct ct_frame_stats *frames)
{
    const uint8_t id = ct_source_data_id(source);
    if (!frames || !id || id >= 0x70)
        return 0;
    for (size_t i = 0; i < buffer->source_count; i++)
        if (buffer->sources[i].trace_id == id) /* two sources with one ID: the one that is described counts */
            return 0;
    return frames->id_bytes[id];
}

void ct_data_trace_warn(struct ct_ctx *ctx, const struct ct_source *source, uint64_t bytes)
{
    ct_log(ctx, CT_LOG_WARNING,
           "source %s (ID %02x): its data trace (ID %02x) has %" PRIu64 " bytes, which are not decoded and "
           "count as lost; instructions are known, but loads and stores are not; clear TRCCONFIGR.DA and DV "
           "to record without data trace",
           source->name, source->trace_id, ct_source_data_id(source), bytes);
}

void ct_data_atoms_warn(struct ct_ctx *ctx, const struct ct_source *source, uint8_t id)
{
    ct_log(ctx, CT_LOG_WARNING,
           "source %s (ID %02x): loads or stores have their own atoms (TRCCONFIGR.INSTP0 = %u), which cannot "
           "be followed along the program; its trace is ignored and counts as lost; list its packets (list "
           "--packets), or clear the field and record again",
           source->name, id, source->regs.configr >> 1 & 3);
}
