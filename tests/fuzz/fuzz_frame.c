/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes frames: any bytes in any framing. The fast path and the plain one, whole and in pieces, must agree.
 * The first byte selects the framing, the second the pieces. */
#include "fuzz.h"
#include "support/demux_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 1 << 16)
        return 0;
    struct demux_how how = {.framing = (uint8_t)(1 + data[0] % 4), .no_fsync_reset = data[0] >> 7};
    struct demux_result whole, other;
    uint32_t seed = data[1] + 1u;
    data += 2;
    size -= 2;
    demux_all(&whole, &how, data, size);
    how.plain = 1;
    demux_all(&other, &how, data, size);
    if (demux_difference(&whole, &other))
        abort();
    demux_result_free(&other);
    how.plain = 0;
    how.seed = seed;
    for (unsigned i = 0; (how.ops = ct_frame_ops_at(i)); i++) {
        demux_all(&other, &how, data, size);
        if (demux_difference(&whole, &other))
            abort();
        demux_result_free(&other);
    }
    if (how.framing != CT_FRAMING_NONE) { /* every byte is counted somewhere */
        const struct ct_frame_stats *s = &whole.stats;
        uint64_t data_bytes = s->no_id_bytes;
        for (unsigned id = 0; id < 128; id++)
            data_bytes += s->id_bytes[id];
        if (s->input_bytes != size || data_bytes > 15 * s->frames || data_bytes < 7 * s->frames ||
            size != 16 * s->frames + 4 * s->fsyncs + 2 * s->hsyncs + s->footer_bytes + s->lost_bytes)
            abort();
    }
    ct_framing_probe(data, size);
    for (int framing = CT_FRAMING_AUTO; framing <= CT_FRAMING_DSTREAM; framing++)
        ct_framing_trouble((enum ct_framing)framing, data, size);
    demux_result_free(&whole);
    return 0;
}
