/* SPDX-License-Identifier: Apache-2.0 */
/* ITM and DWT in the chain. */
#include "decode/stream_ops.h"
#include "report/listing.h"

CT_STREAM_FUNCTIONS(itm, ITM)

static bool type_is_bad(unsigned type)
{
    return type == CT_ITM_BAD_SEQUENCE || type == CT_ITM_RESERVED || type == CT_ITM_INCOMPLETE_EOT;
}

static void list(struct ct_text *text, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct ct_itm_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_itm_packet(text, stream->id, batch->offsets[i], ct_packet_bytes(batch, packets[i].pos),
                           &packets[i]);
}

const struct ct_protocol_ops ct_itm_ops = {
    CT_STREAM_MEMBERS(itm, ITM),
    .type_is_bad = type_is_bad,
    .list = list,
};
