/* SPDX-License-Identifier: Apache-2.0 */
/* What packet lines of all protocols have in common, docs/listing.md. */
#include "coretap/format.h"
#include "format/listing.h"

#define PAIR(high, low)                                                                                      \
    {                                                                                                        \
        high, low                                                                                            \
    }
#define ROW(high)                                                                                            \
    PAIR(high, '0'), PAIR(high, '1'), PAIR(high, '2'), PAIR(high, '3'), PAIR(high, '4'), PAIR(high, '5'),    \
        PAIR(high, '6'), PAIR(high, '7'), PAIR(high, '8'), PAIR(high, '9'), PAIR(high, 'a'),                 \
        PAIR(high, 'b'), PAIR(high, 'c'), PAIR(high, 'd'), PAIR(high, 'e'), PAIR(high, 'f')

/* the two hexadecimal digits of each byte */
static const char pairs[256][2] = {
    ROW('0'), ROW('1'), ROW('2'), ROW('3'), ROW('4'), ROW('5'), ROW('6'), ROW('7'),
    ROW('8'), ROW('9'), ROW('a'), ROW('b'), ROW('c'), ROW('d'), ROW('e'), ROW('f'),
};

void ct_list_packet_bytes(struct ct_text *t, uint8_t id, const uint8_t *bytes, size_t size)
{
    char *p = t->data + t->used;
    *p++ = ' ';
    *p++ = ct_text_digits[id >> 4];
    *p++ = ct_text_digits[id & 15];
    *p++ = ' ';
    for (size_t i = 0; i < size; i++, p += 2)
        memcpy(p, pairs[bytes[i]], 2);
    if (!size)
        *p++ = '-';
    *p++ = ' ';
    t->used = (size_t)(p - t->data);
}

void ct_list_packet_start(struct ct_text *t, uint8_t id, uint64_t offset, const uint8_t *bytes, size_t size,
                          const char *type)
{
    ct_text_room(t);
    ct_text_offset(t, offset);
    ct_list_packet_bytes(t, id, bytes, size);
    ct_text_string(t, type);
}

/* ---- batches ---- */

/* Returns the bytes of a packet at stream position `pos`. NULL for a run without synchronisation, whose bytes
 * are not shown. */
static const uint8_t *bytes_at(const struct ct_packet_batch *batch, uint64_t pos)
{
    return pos < batch->run->pos ? NULL : batch->run->data + (pos - batch->run->pos);
}

/* Returns whether a packet has one byte, and a line that depends only on the fields of struct
 * ct_packet_line. */
static bool is_short(const struct ct_etm4_packet *p)
{
    switch (p->type) {
    case CT_ETM4_ATOM_F1 ... CT_ETM4_ATOM_F6:
    case CT_ETM4_EVENT:
        return p->size == 1;
    case CT_ETM4_CCNT_F3:
        return p->size == 1 && !(p->flags & CT_ETM4_HAS_COMMIT);
    default:
        return false;
    }
}

/* Writes the line of a one-byte packet, from the cache if possible. */
static void put_again(struct ct_text *text, struct ct_packet_line *lines, const struct ct_stream *stream,
                      uint64_t offset, const uint8_t *bytes, const struct ct_etm4_packet *p)
{
    struct ct_packet_line *line = &lines[p->header];
    ct_text_room(text);
    ct_text_offset(text, offset);
    if (line->size && line->id == stream->id && line->type == p->type && line->atoms == p->atoms &&
        line->natoms == p->natoms && line->count == p->count && line->info == p->info &&
        line->flags == p->flags) {
        memcpy(text->data + text->used, line->text, sizeof line->text);
        text->used += line->size;
        return;
    }
    const size_t begin = text->used;
    ct_list_etm4_rest(text, stream->id, bytes, p, stream->source);
    const size_t size = text->used - begin;
    if (size > sizeof line->text)
        return;
    *line = (struct ct_packet_line){.atoms = p->atoms,
                                    .count = p->count,
                                    .flags = p->flags,
                                    .info = p->info,
                                    .type = p->type,
                                    .natoms = p->natoms,
                                    .id = stream->id,
                                    .size = (uint8_t)size};
    memcpy(line->text, text->data + begin, size);
}

static void list_etm4(struct ct_text *text, struct ct_packet_line *lines, const struct ct_stream *stream,
                      const struct ct_packet_batch *batch)
{
    const struct ct_etm4_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++) {
        const uint8_t *bytes = bytes_at(batch, packets[i].pos);
        if (lines && is_short(&packets[i]))
            put_again(text, lines, stream, batch->offsets[i], bytes, &packets[i]);
        else
            ct_list_etm4_packet(text, stream->id, batch->offsets[i], bytes, &packets[i], stream->source);
    }
}

static const struct ct_packet_listing *listing_of(enum ct_protocol protocol)
{
    static const struct ct_packet_listing *const listings[] = {[CT_PROTOCOL_ETM3] = &ct_list_etm3,
                                                               [CT_PROTOCOL_PTM] = &ct_list_ptm,
                                                               [CT_PROTOCOL_STM] = &ct_list_stm,
                                                               [CT_PROTOCOL_ITM] = &ct_list_itm};
    return (size_t)protocol < sizeof listings / sizeof *listings ? listings[protocol] : NULL;
}

static bool is_etm4(enum ct_protocol protocol)
{
    return protocol == CT_PROTOCOL_ETM4 || protocol == CT_PROTOCOL_ETE;
}

void ct_list_packets(struct ct_text *text, struct ct_packet_line *lines, const struct ct_stream *stream,
                     const struct ct_packet_batch *batch)
{
    const struct ct_packet_listing *listing = listing_of(batch->protocol);
    if (is_etm4(batch->protocol))
        list_etm4(text, lines, stream, batch);
    for (size_t i = 0; listing && i < batch->count; i++) {
        const char *packet = (const char *)batch->packets + i * listing->size;
        uint64_t pos;
        memcpy(&pos, packet + listing->pos, sizeof pos);
        listing->list(text, stream->id, batch->offsets[i], bytes_at(batch, pos), packet, stream->source);
    }
}

const char *ct_packet_type_name(enum ct_protocol protocol, unsigned type)
{
    const struct ct_packet_listing *listing = listing_of(protocol);
    if (is_etm4(protocol))
        return type < CT_ETM4_TYPE_COUNT ? ct_etm4_type_name((enum ct_etm4_type)type) : NULL;
    return listing && type < listing->types ? listing->names[type] : NULL;
}
