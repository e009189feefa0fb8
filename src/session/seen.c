/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the statistics of a capture. Losses of its chains are added only here. */
#include "coretap/session.h"

#include <stdbool.h>

/* Returns whether a buffer with framing had no frames. */
static bool is_misframed(const struct ct_chain *chain)
{
    const struct ct_frame_stats *frames = ct_chain_frame_stats(chain);
    return frames && ct_chain_framing(chain) != CT_FRAMING_NONE && frames->input_bytes && !frames->frames;
}

/* Returns whether the stream executed anything, as far as a chain of this level can know. */
static bool has_run(const struct ct_stream *stream, enum ct_level level)
{
    return level < CT_LEVEL_FLOW || stream->stats.instructions ||
           ct_protocol_is_software(stream->source->protocol);
}

void ct_seen_add(struct ct_seen *seen, const struct ct_chain *chain, enum ct_level level, int frames)
{
    if (!seen || !chain)
        return;
    const struct ct_frame_stats *stats = ct_chain_frame_stats(chain);
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    if (frames) {
        const struct ct_losses losses = ct_chain_losses(chain);
        ct_losses_add(&seen->losses, &losses);
    }
    for (size_t i = 0; i < count; i++) {
        if (!frames)
            ct_losses_add(&seen->losses, &streams[i].stats.losses);
        /* a chain that was left inside of a piece has not counted its bytes */
        seen->has_trace |=
            streams[i].stats.bytes || streams[i].stats.packets || streams[i].stats.instructions;
        seen->ran |= streams[i].stats.bytes && has_run(&streams[i], level);
        seen->instructions += streams[i].stats.instructions;
        ct_holes_merge(&seen->holes, &streams[i].stats.holes);
    }
    if (stats && frames) {
        seen->bytes += stats->input_bytes;
        seen->misframed |= is_misframed(chain);
    }
}

int ct_seen_is_damaged(const struct ct_seen *seen, const struct ct_capture *capture, int strict)
{
    if (!seen || !capture)
        return 0;
    const bool partial = seen->losses.overflows || seen->losses.no_access;
    return capture->damage_count || seen->misframed || ct_losses_damaged(&seen->losses) ||
           (partial && (strict || !seen->ran));
}
