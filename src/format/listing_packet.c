/* SPDX-License-Identifier: Apache-2.0 */
/* What packet lines of all protocols have in common, docs/listing.md. */
#include "coretap/format.h"
#include "format/listing.h"

void ct_list_packet_place(struct ct_text *t, uint8_t id, uint64_t offset, const uint8_t *bytes, size_t size)
{
    ct_text_room(t);
    ct_text_offset(t, offset);
    char *p = t->data + t->used;
    *p++ = ' ';
    *p++ = ct_text_digits[id >> 4];
    *p++ = ct_text_digits[id & 15];
    *p++ = ' ';
    for (size_t i = 0; i < size; i++) {
        *p++ = ct_text_digits[bytes[i] >> 4];
        *p++ = ct_text_digits[bytes[i] & 15];
    }
    if (!size)
        *p++ = '-';
    *p++ = ' ';
    t->used = (size_t)(p - t->data);
}

void ct_list_packet_start(struct ct_text *t, uint8_t id, uint64_t offset, const uint8_t *bytes, size_t size,
                          const char *type)
{
    ct_list_packet_place(t, id, offset, bytes, size);
    ct_text_string(t, type);
}

void ct_list_dec(struct ct_text *t, const char *key, uint64_t value)
{
    ct_text_string(t, key);
    ct_text_dec(t, value);
}

void ct_list_hex(struct ct_text *t, const char *key, uint64_t value)
{
    ct_text_string(t, key);
    ct_text_hex(t, value);
}

/* ---- batches ---- */

/* Where the bytes of a packet at stream position `pos` are. A run without synchronisation has none to show.
 */
static const uint8_t *bytes_at(const struct ct_packet_batch *batch, uint64_t pos)
{
    return pos < batch->run->pos ? NULL : batch->run->data + (pos - batch->run->pos);
}

static void list_etm4(struct ct_text *text, const struct ct_stream *stream,
                      const struct ct_packet_batch *batch)
{
    const struct ct_etm4_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_etm4_packet(text, stream->id, batch->offsets[i], bytes_at(batch, packets[i].pos), &packets[i],
                            stream->source);
}

static void list_etm3(struct ct_text *text, const struct ct_stream *stream,
                      const struct ct_packet_batch *batch)
{
    const struct ct_etm3_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_etm3_packet(text, stream->id, batch->offsets[i], bytes_at(batch, packets[i].pos), &packets[i],
                            stream->source);
}

static void list_ptm(struct ct_text *text, const struct ct_stream *stream,
                     const struct ct_packet_batch *batch)
{
    const struct ct_ptm_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_ptm_packet(text, stream->id, batch->offsets[i], bytes_at(batch, packets[i].pos), &packets[i]);
}

static void list_itm(struct ct_text *text, const struct ct_stream *stream,
                     const struct ct_packet_batch *batch)
{
    const struct ct_itm_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_itm_packet(text, stream->id, batch->offsets[i], bytes_at(batch, packets[i].pos), &packets[i]);
}

static void list_stm(struct ct_text *text, const struct ct_stream *stream,
                     const struct ct_packet_batch *batch)
{
    const struct ct_stm_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_stm_packet(text, stream->id, batch->offsets[i], bytes_at(batch, packets[i].pos), &packets[i]);
}

void ct_list_packets(struct ct_text *text, const struct ct_stream *stream,
                     const struct ct_packet_batch *batch)
{
    switch (batch->protocol) {
    case CT_PROTOCOL_ETM4:
    case CT_PROTOCOL_ETE:
        list_etm4(text, stream, batch);
        break;
    case CT_PROTOCOL_ETM3:
        list_etm3(text, stream, batch);
        break;
    case CT_PROTOCOL_PTM:
        list_ptm(text, stream, batch);
        break;
    case CT_PROTOCOL_STM:
        list_stm(text, stream, batch);
        break;
    case CT_PROTOCOL_ITM:
        list_itm(text, stream, batch);
        break;
    default:
        break;
    }
}

const char *ct_packet_type_name(enum ct_protocol protocol, unsigned type)
{
    switch (protocol) {
    case CT_PROTOCOL_ETM4:
    case CT_PROTOCOL_ETE:
        return type < CT_ETM4_TYPE_COUNT ? ct_etm4_type_name((enum ct_etm4_type)type) : NULL;
    case CT_PROTOCOL_ETM3:
        return type < CT_ETM3_TYPE_COUNT ? ct_etm3_type_name((enum ct_etm3_type)type) : NULL;
    case CT_PROTOCOL_PTM:
        return type < CT_PTM_TYPE_COUNT ? ct_ptm_type_name((enum ct_ptm_type)type) : NULL;
    case CT_PROTOCOL_STM:
        return type < CT_STM_TYPE_COUNT ? ct_stm_type_name((enum ct_stm_type)type) : NULL;
    case CT_PROTOCOL_ITM:
        return type < CT_ITM_TYPE_COUNT ? ct_itm_type_name((enum ct_itm_type)type) : NULL;
    default:
        return NULL;
    }
}
