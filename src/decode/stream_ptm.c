/* SPDX-License-Identifier: Apache-2.0 */
/* PTM in the chain. */
#include "decode/seam_v7.h"
#include "decode/stream_ops.h"
#include "elem/v7_seam.h"
#include "proto/v7_seam.h"
#include "report/listing.h"

CT_STREAM_FUNCTIONS(ptm, PTM)

static bool type_is_bad(unsigned type)
{
    switch (type) {
    case CT_PTM_BAD_SEQUENCE:
    case CT_PTM_RESERVED:
    case CT_PTM_INCOMPLETE_EOT:
        return true;
    default:
        return false;
    }
}

static void list(struct ct_text *text, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct ct_ptm_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_ptm_packet(text, stream->id, batch->offsets[i], ct_packet_bytes(batch, packets[i].pos),
                           &packets[i]);
}

const struct ct_protocol_ops ct_ptm_ops = {
    CT_STREAM_MEMBERS(ptm, PTM),   .type_is_bad = type_is_bad,          .list = list,
    .find_sync = ct_ptm_find_sync, .decoder_seam = ct_ptm_decoder_seam, .resolver_seam = ct_ptm_resolver_seam,
};
