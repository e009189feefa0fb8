/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/itm.h"

#include <stdlib.h>
#include <string.h>

#include "opencsd/packet_text.h"

_Static_assert(CT_ITM_PACKET_MAX + OCSD_DFRMTR_FRAME_SIZE <= CT_OCSD_FEED_ROOM, "the feed holds a packet");

static size_t decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final, void *packet,
                     size_t *count)
{
    return ct_itm_decode(decoder, data, size, pos, final, packet, 1, count);
}

static bool is_unsynced(const union ct_ocsd_software_packet *packet)
{
    return packet->itm.type == CT_ITM_NOT_SYNC;
}

/* Returns how many unsynchronised bytes a monitor sees at a time: up to a zero, which may begin an alignment
 * packet, and at most eight. */
static uint32_t unsynced_group(const uint8_t *bytes, uint32_t size)
{
    enum {
        MOST = 8,
    };
    uint32_t n = 1;
    while (n < size && n < MOST && (bytes[n] || !bytes[n - 1]))
        n++;
    return n;
}

/* Clears the flags in the last byte of a global timestamp: 1.8 shows a monitor only the time. */
static void set_place(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                      struct ct_ocsd_software_place *place)
{
    enum {
        TIME = 0x1f, /* bits of the time in the last byte */
    };
    struct ct_ocsd_itm *itm = (struct ct_ocsd_itm *)d;
    if (packet->itm.type != CT_ITM_GTS_1 || place->size != sizeof itm->bytes)
        return;
    memcpy(itm->bytes, place->bytes, sizeof itm->bytes);
    itm->bytes[sizeof itm->bytes - 1] &= TIME;
    place->bytes = itm->bytes;
}

static struct ct_ocsd_complaint complaint(const union ct_ocsd_software_packet *packet,
                                          const struct ct_ocsd_software_place *place)
{
    (void)place;
    if (packet->itm.type == CT_ITM_RESERVED)
        return (struct ct_ocsd_complaint){OCSD_ERR_INVALID_PCKT_HDR, "ITM: Reserved packet header"};
    if (packet->itm.type == CT_ITM_BAD_SEQUENCE)
        return (struct ct_ocsd_complaint){OCSD_ERR_BAD_PACKET_SEQ, "ITM: Invalid packet sequence"};
    return (struct ct_ocsd_complaint){0};
}

/* Resets the times and the page of ports at an invalid packet. Decoding then waits for an alignment
 * packet. */
static bool spoil(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet)
{
    struct ct_ocsd_itm *itm = (struct ct_ocsd_itm *)d;
    const bool is_first = !itm->waits;
    ct_ocsd_itm_take(itm, &packet->itm);
    itm->clock_changed = false;
    itm->waits = true;
    return is_first;
}

static void unsync(struct ct_ocsd_software *d)
{
    ct_itm_decoder_reset(d->packets);
}

static const void *convert(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                           const struct ct_ocsd_software_place *place)
{
    struct ct_ocsd_itm *itm = (struct ct_ocsd_itm *)d;
    (void)place;
    ct_ocsd_itm_convert(packet ? &packet->itm : NULL, &itm->packet);
    return &itm->packet;
}

static void take(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet)
{
    ct_ocsd_itm_take((struct ct_ocsd_itm *)d, &packet->itm);
}

static void reset(struct ct_ocsd_software *d)
{
    struct ct_ocsd_itm *itm = (struct ct_ocsd_itm *)d;
    ct_itm_decoder_reset(d->packets);
    ct_itm_resolver_reset(itm->resolver);
    itm->clock_changed = itm->waits = false;
}

static void free_parts(struct ct_ocsd_software *d)
{
    ct_itm_decoder_free(d->packets);
    ct_itm_resolver_free(((struct ct_ocsd_itm *)d)->resolver);
}

static const struct ct_ocsd_software_kind kind = {.text = ct_ocsd_itm_text,
                                                  .decode = decode,
                                                  .is_unsynced = is_unsynced,
                                                  .unsynced_group = unsynced_group,
                                                  .set_place = set_place,
                                                  .convert = convert,
                                                  .complaint = complaint,
                                                  .spoil = spoil,
                                                  .unsync = unsync,
                                                  .take = take,
                                                  .reset = reset,
                                                  .free = free_parts};

ocsd_err_t ct_ocsd_itm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out)
{
    struct ct_ocsd_itm *d = calloc(1, sizeof *d);
    struct ct_itm_decoder *packets = NULL;
    (void)create_flags;
    if (!d)
        return OCSD_ERR_MEM;
    ct_itm_decoder_new(NULL, source, &packets);
    d->software.packets = packets;
    ct_itm_resolver_new(NULL, source, &d->resolver);
    if (!ct_ocsd_software_init(&d->software, tree, source, &kind) || !d->resolver) {
        ct_ocsd_software_free(&d->software.base);
        return OCSD_ERR_MEM;
    }
    *out = &d->software.base;
    return OCSD_OK;
}
