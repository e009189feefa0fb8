/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/stm.h"

#include <stdlib.h>
#include <string.h>

#include "opencsd/packet_text.h"
#include "proto/stm_header.h"

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

/* Corrects the place of a packet that begins or ends inside a byte. 1.3.3 assigns that byte to the packet
 * before, and shows its rest as an extra byte before the index. */
static void set_place(struct ct_ocsd_software *d, const union ct_ocsd_software_packet *packet,
                      struct ct_ocsd_software_place *place)
{
    struct ct_ocsd_stm *stm = (struct ct_ocsd_stm *)d;
    const struct ct_stm_packet *p = &packet->stm;
    place->ends_inside = p->size > place->size;
    place->size = p->size;
    if (p->flags & CT_STM_HALF) {
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
    stm->search = (struct ct_ocsd_stm_search){0};
}

static void free_packets(struct ct_ocsd_software *d)
{
    ct_stm_decoder_free(d->packets);
}

static const struct ct_ocsd_software_kind kind = {.text = ct_ocsd_stm_text,
                                                  .decode = decode,
                                                  .search = ct_ocsd_stm_search,
                                                  .set_place = set_place,
                                                  .convert = convert,
                                                  .complaint = complaint,
                                                  .take = take,
                                                  .reset = reset,
                                                  .free = free_packets};

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
    if (!ct_ocsd_software_init(&d->software, tree, source, &kind)) {
        ct_ocsd_software_free(&d->software.base);
        return OCSD_ERR_MEM;
    }
    *out = &d->software.base;
    return OCSD_OK;
}
