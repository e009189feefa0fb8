/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/stm.h"

#include <stdlib.h>
#include <string.h>

#include "opencsd/stm_text.h"
#include "proto/stm_header.h"

enum {
    ASYNC_SIZE = 11,  /* bytes of an alignment packet */
    ASYNC_UNITS = 22, /* units of an alignment packet */
    COUNTED_UNITS = 256,
};

static size_t decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final, void *packet,
                     size_t *count)
{
    return ct_stm_decode(decoder, data, size, pos, final, packet, 1, count);
}

/* Decodes a Gray code as 1.3.3 does: the bits from 32 on are added to those from 0 on, and from bit 31 on all
 * bits are the same. */
static uint64_t from_gray(uint64_t gray)
{
    uint64_t number = gray;
    for (unsigned shift = 1; shift < 64; shift *= 2)
        number ^= number >> shift;
    return (uint64_t)(int64_t)(int32_t)(number | number >> 32);
}

static bool is_unsynced(const union ct_ocsd_software_packet *packet)
{
    return packet->stm.type == CT_STM_NOT_SYNC;
}

/* Finds the beginning of the row of units f that ends the unsynchronised bytes. 1.3.3 includes the byte
 * inside which an alignment packet begins. It counts the units of a call in a byte: after an overflow the
 * index is too low, and where the count is 0 again nothing is reported. */
static void end_run(struct ct_ocsd_stm *d, struct ct_ocsd_software_place *place)
{
    const uint8_t *bytes = place->bytes;
    const ocsd_trc_index_t call = d->software.call, end = place->index + place->size;
    const bool half = bytes[place->size + ASYNC_SIZE - 1] == 0xff; /* the packet ends one unit later */
    const uint32_t count = end < call ? 0 : 2 * (end - call) + half + ASYNC_UNITS;
    uint32_t unit = 2 * place->size + half;
    while (unit && (bytes[(unit - 1) / 2] >> ((unit - 1) & 1 ? 4 : 0) & 15) == 15)
        unit--;
    d->row = place->index + unit / 2;
    d->has_row = true;
    if (end < call && end >= d->software.call_before)
        d->row -= 2 * (end - d->software.call_before) / COUNTED_UNITS * (COUNTED_UNITS / 2);
    const uint32_t counted = count % COUNTED_UNITS;
    const bool is_told = count < COUNTED_UNITS || counted > ASYNC_UNITS;
    d->row -= (count / COUNTED_UNITS - !is_told) * (COUNTED_UNITS / 2);
    if (counted == ASYNC_UNITS ||
        counted == ASYNC_UNITS - 1) /* 0 or -1 before the row, and half of that is 0 */
        d->row = call;
    d->is_row_new = end > call && (is_told || !counted);
    if (!is_told)
        place->size = 0;
    if (place->size)
        place->size += half && end >= call;
}

/* Returns whether the count of the units in a call is not 0 again. */
static bool tells(uint32_t size)
{
    return 2 * size % COUNTED_UNITS != 0;
}

/* Corrects the place of the alignment packet at which synchronisation begins. 1.3.3 gives it the index of the
 * row, and bytes of its own. It passes it on with the next byte when unsynchronised bytes came before in the
 * same call. */
static void begin_sync(struct ct_ocsd_stm *d, bool half, struct ct_ocsd_software_place *place)
{
    static const uint8_t bytes[1 + ASYNC_SIZE] = {0xf0, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                  0xff, 0xff, 0xff, 0xff, 0xff, 0x0f};
    if (d->has_row)
        place->index = d->row;
    else if (half && place->index >= d->software.call)
        place->begins_inside = place->bytes;
    place->delayed = d->has_row && d->is_row_new;
    d->has_row = false;
    place->bytes = bytes + !half;
    place->size = ASYNC_SIZE + half;
}

/* Corrects the place of a packet that begins or ends inside a byte. 1.3.3 assigns that byte to the packet
 * before, and shows its rest as an extra byte before the index. */
static void set_place(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                      struct ct_ocsd_software_place *place)
{
    struct ct_ocsd_stm *stm = (struct ct_ocsd_stm *)d;
    const struct ct_stm_packet *p = &packet->stm;
    const bool half = p->flags & CT_STM_HALF;
    if (p->type == CT_STM_NOT_SYNC) {
        end_run(stm, place);
        return;
    }
    place->ends_inside = p->size > place->size;
    place->size = p->size;
    if (!d->synced) {
        begin_sync(stm, half, place);
    } else if (half) {
        place->index = d->rest;
        memcpy(stm->bytes, place->bytes, p->size);
        stm->bytes[0] &= 0xf0;
        place->bytes = stm->bytes;
    }
}

static struct ct_ocsd_complaint complaint(const union ct_ocsd_software_packet *packet,
                                          const struct ct_ocsd_software_place *place)
{
    const struct ct_stm_packet *p = &packet->stm;
    struct ct_ocsd_complaint c = {OCSD_ERR_BAD_PACKET_SEQ, "STM: Invalid ASYNC sequence"};
    if (p->type == CT_STM_RESERVED)
        return (struct ct_ocsd_complaint){OCSD_ERR_INVALID_PCKT_HDR,
                                          "STM: Unsupported or Reserved STPv2 Header"};
    if (p->type != CT_STM_BAD_SEQUENCE)
        return (struct ct_ocsd_complaint){0};
    if (p->err == CT_STM_VERSION)
        c.message = "STM VERSION packet : unrecognised version number.";
    else if (p->err != CT_STM_ASYNC)
        c.message = ct_ocsd_stm_is_length_bad(p, place->bytes) ? "STM: Invalid timestamp size 0xF"
                                                               : "STM: unknown timestamp encoding";
    return c;
}

static const void *convert(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                           const struct ct_ocsd_software_place *place)
{
    struct ct_ocsd_stm *stm = (struct ct_ocsd_stm *)d;
    if (packet)
        ct_ocsd_stm_convert(stm, &packet->stm, place);
    else
        ct_ocsd_stm_begin(stm, STM_PKT_NOTSYNC);
    return &stm->packet;
}

static void take(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet)
{
    ct_ocsd_stm_take((struct ct_ocsd_stm *)d, &packet->stm);
}

static void reset(struct ct_ocsd_software *d)
{
    struct ct_ocsd_stm *stm = (struct ct_ocsd_stm *)d;
    ct_stm_decoder_reset(d->packets);
    stm->packet = (ocsd_stm_pkt){0};
    stm->info = (ocsd_swt_info_t){0};
    stm->has_row = false;
}

static void free_packets(struct ct_ocsd_software *d)
{
    ct_stm_decoder_free(d->packets);
}

static const struct ct_ocsd_software_kind kind = {.decode = decode,
                                                  .is_unsynced = is_unsynced,
                                                  .set_place = set_place,
                                                  .convert = convert,
                                                  .complaint = complaint,
                                                  .take = take,
                                                  .tells = tells,
                                                  .reset = reset,
                                                  .free = free_packets};

static const struct ct_ocsd_protocol protocol = {.data = ct_ocsd_software_data,
                                                 .flush = ct_ocsd_software_flush,
                                                 .reset = ct_ocsd_software_reset,
                                                 .finish = ct_ocsd_software_finish,
                                                 .text = ct_ocsd_stm_text,
                                                 .free = ct_ocsd_software_free};

ocsd_err_t ct_ocsd_stm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out)
{
    struct ct_ocsd_stm *d = calloc(1, sizeof *d);
    struct ct_stm_decoder *packets = NULL;
    (void)create_flags;
    if (!d)
        return OCSD_ERR_MEM;
    if (!ct_stm_decoder_new(NULL, source, &packets))
        ct_stm_decoder_be_arm(packets, from_gray);
    d->software.packets = packets;
    if (!ct_ocsd_software_init(&d->software, tree, source, &protocol, &kind)) {
        ct_ocsd_software_free(&d->software.base);
        return OCSD_ERR_MEM;
    }
    *out = &d->software.base;
    return OCSD_OK;
}
