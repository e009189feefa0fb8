/* SPDX-License-Identifier: Apache-2.0 */
/* ETMv3 in the chain. */
#include "decode/seam_v7.h"
#include "decode/stream_ops.h"
#include "elem/v7_seam.h"
#include "proto/v7_seam.h"
#include "report/listing.h"

CT_STREAM_FUNCTIONS(etm3, ETM3)

static bool type_is_bad(unsigned type)
{
    switch (type) {
    case CT_ETM3_BAD_SEQUENCE:
    case CT_ETM3_BAD_TRACEMODE:
    case CT_ETM3_RESERVED:
        return true;
    default:
        return false;
    }
}

static void list(struct ct_text *text, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct ct_etm3_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_etm3_packet(text, stream->id, batch->offsets[i], ct_packet_bytes(batch, packets[i].pos),
                            &packets[i], stream->source);
}

const struct ct_protocol_ops ct_etm3_ops = {
    CT_STREAM_MEMBERS(etm3, ETM3),
    .type_is_bad = type_is_bad,
    .list = list,
    .find_sync = ct_etm3_find_sync,
    .decoder_seam = ct_etm3_decoder_seam,
    .resolver_seam = ct_etm3_resolver_seam,
};
