/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes ETMv4 and ETE packets: 24 bytes of configuration (source.h), one byte that selects how to cut,
 * trace. What must hold: the packets of pieces are those of the whole, each byte of the trace belongs to one
 * packet, and never more than a packet is left over. */
#include "coretap/packet.h"
#include "pieces.h"
#include "source.h"

#define HEAD_BYTES (FUZZ_SOURCE_BYTES + 1)

static void check_positions(const struct pieces *whole, size_t size)
{
    const struct ct_etm4_packet *packets = (const void *)whole->packets;
    uint64_t pos = 0;
    for (size_t i = 0; i < whole->packet_count; i++) {
        const struct ct_etm4_packet *p = &packets[i];
        require(p->pos == pos && p->type < CT_ETM4_TYPE_COUNT);
        pos += p->type == CT_ETM4_NOT_SYNC ? p->value : p->size;
    }
    require(pos == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD_BYTES || size > 4096)
        return 0;
    const struct ct_source source = fuzz_source(data);
    const struct ct_protocol_ops *ops = ct_protocol_ops((enum ct_protocol)source.protocol);
    const size_t step = data[FUZZ_SOURCE_BYTES] % 41u + 1;
    const size_t cap = data[FUZZ_SOURCE_BYTES] / 41u + 1;
    data += HEAD_BYTES;
    size -= HEAD_BYTES;
    void *decoder;
    if (source.protocol != CT_PROTOCOL_ETM4 && source.protocol != CT_PROTOCOL_ETE)
        return 0;
    if (ops->decoder_new(NULL, &source, &decoder) != CT_OK)
        return 0;
    struct pieces whole = {.room = size + 64}, cut = {.room = size + 64};
    whole.packets = pieces_new(whole.room, ops->packet_size);
    cut.packets = pieces_new(cut.room, ops->packet_size);
    pieces_decode(ops, decoder, data, size, size ? size : 1, 32, &whole);
    check_positions(&whole, size);
    ct_etm4_decoder_reset(decoder);
    pieces_decode(ops, decoder, data, size, step, cap, &cut);
    require(whole.packet_count == cut.packet_count);
    require(memcmp(whole.packets, cut.packets, whole.packet_count * ops->packet_size) == 0);
    pieces_free(&whole);
    pieces_free(&cut);
    ops->decoder_free(decoder);
    return 0;
}
