/* SPDX-License-Identifier: Apache-2.0 */
/* STM in the chain. */
#include "decode/stream_ops.h"
#include "report/listing.h"

CT_STREAM_FUNCTIONS(stm, STM)

static bool type_is_bad(unsigned type)
{
    return type == CT_STM_BAD_SEQUENCE || type == CT_STM_RESERVED || type == CT_STM_INCOMPLETE_EOT;
}

static void list(struct ct_text *text, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct ct_stm_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_stm_packet(text, stream->id, batch->offsets[i], ct_packet_bytes(batch, packets[i].pos),
                           &packets[i]);
}

const struct ct_protocol_ops ct_stm_ops = {
    CT_STREAM_MEMBERS(stm, STM),
    .type_is_bad = type_is_bad,
    .list = list,
};
