/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes ETMv4 and ETE packets: 24 bytes of configuration (source.h), one byte that selects how to cut,
 * trace. What must hold: the packets of pieces are those of the whole, each byte of the trace belongs to one
 * packet, and never more than a packet is left over. */
#include <stdlib.h>
#include <string.h>

#include "coretap/packet.h"
#include "fuzz.h"
#include "source.h"

#define HEAD_BYTES (FUZZ_SOURCE_BYTES + 1)

struct list {
    struct ct_etm4_packet *packets;
    size_t count;
    size_t room;
};

/* Decodes in pieces of `step` bytes, with `cap` packets per call. An unfinished packet is passed again with
 * more bytes after it, from memory of just its size. */
static void decode(struct ct_etm4_decoder *decoder, const uint8_t *data, size_t size, size_t step, size_t cap,
                   struct list *list)
{
    size_t done = 0;
    size_t end = 0;
    for (;;) {
        end = size - end < step ? size : end + step;
        const int final = end == size;
        size_t count;
        do {
            require(list->count + cap <= list->room);
            uint8_t *piece = malloc(end - done ? end - done : 1);
            if (!piece)
                exit(1);
            memcpy(piece, data + done, end - done);
            done += ct_etm4_decode(decoder, piece, end - done, done, final, list->packets + list->count, cap,
                                   &count);
            free(piece);
            require(count <= cap && done <= end);
            list->count += count;
        } while (count == cap);
        require(end - done <= CT_ETM4_PACKET_MAX);
        if (final)
            break;
    }
    require(done == size);
}

static void check_positions(const struct list *list, size_t size)
{
    uint64_t pos = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct ct_etm4_packet *p = &list->packets[i];
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
    const size_t step = data[FUZZ_SOURCE_BYTES] % 41u + 1;
    const size_t cap = data[FUZZ_SOURCE_BYTES] / 41u + 1;
    data += HEAD_BYTES;
    size -= HEAD_BYTES;
    struct ct_etm4_decoder *decoder;
    if (source.protocol != CT_PROTOCOL_ETM4 && source.protocol != CT_PROTOCOL_ETE)
        return 0;
    if (ct_etm4_decoder_new(NULL, &source, &decoder) != CT_OK)
        return 0;
    struct list whole = {.room = size + 64};
    struct list pieces = {.room = size + 64};
    whole.packets = calloc(whole.room, sizeof *whole.packets);
    pieces.packets = calloc(pieces.room, sizeof *pieces.packets);
    if (!whole.packets || !pieces.packets)
        exit(1);
    decode(decoder, data, size, size ? size : 1, 32, &whole);
    check_positions(&whole, size);
    ct_etm4_decoder_reset(decoder);
    decode(decoder, data, size, step, cap, &pieces);
    require(whole.count == pieces.count);
    require(memcmp(whole.packets, pieces.packets, whole.count * sizeof *whole.packets) == 0);
    free(whole.packets);
    free(pieces.packets);
    ct_etm4_decoder_free(decoder);
    return 0;
}
