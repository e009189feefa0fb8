/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/ptm.h"

#include <stdlib.h>

#include "opencsd/log.h"
#include "opencsd/packet_text.h"
#include "opencsd/unsynced.h"

static const struct ct_ptm_packet unsynced = {.type = CT_PTM_NOT_SYNC};

static const union ct_ocsd_v7_packet cut = {.ptm = {.type = CT_PTM_INCOMPLETE_EOT, .err = CT_PTM_NOT_SYNC}};

static size_t decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final, void *packet,
                     size_t *count)
{
    return ct_ptm_decode(decoder, data, size, pos, final, packet, 1, count);
}

static bool is_unsynced(const union ct_ocsd_v7_packet *packet)
{
    return packet->ptm.type == CT_PTM_NOT_SYNC;
}

/* Reports a bad packet, but only for clients that want packets, not elements. */
static void look(struct ct_ocsd_v7 *d, union ct_ocsd_v7_packet *packet, const uint8_t *bytes)
{
    ct_ocsd_ptm_correct_isa((struct ct_ocsd_ptm *)d, &packet->ptm, bytes);
    if (d->base.only_packets && packet->ptm.type == CT_PTM_BAD_SEQUENCE)
        ct_ocsd_log(d->base.packet_name, OCSD_ERR_SEV_ERROR, OCSD_ERR_BAD_PACKET_SEQ, d->index, d->base.id,
                    "Bad Async packet");
}

static const void *convert(struct ct_ocsd_v7 *d, const union ct_ocsd_v7_packet *packet, const uint8_t *bytes)
{
    struct ct_ocsd_ptm *ptm = (struct ct_ocsd_ptm *)d;
    ct_ocsd_ptm_convert(ptm, packet ? &packet->ptm : &unsynced, bytes);
    return &ptm->packet;
}

static void take(struct ct_ocsd_v7 *d, const union ct_ocsd_v7_packet *packet)
{
    ct_ocsd_ptm_take(d, packet ? &packet->ptm : &unsynced);
}

static void init_packet(struct ct_ocsd_ptm *d)
{
    d->isa = CT_V7_ISA_UNKNOWN;
    d->packet = (ocsd_ptm_pkt){.curr_isa = ocsd_isa_unknown, .prev_isa = ocsd_isa_unknown};
}

static void reset(struct ct_ocsd_v7 *d)
{
    struct ct_ocsd_ptm *ptm = (struct ct_ocsd_ptm *)d;
    ct_ptm_decoder_reset(d->packets);
    ptm->alt_isa = false;
    init_packet(ptm);
}

static void free_packets(struct ct_ocsd_v7 *d)
{
    ct_ptm_decoder_free(d->packets);
}

static const struct ct_ocsd_v7_kind kind = {.text = ct_ocsd_ptm_text,
                                            .decode = decode,
                                            .is_unsynced = is_unsynced,
                                            .cut = &cut,
                                            .unsynced_group = ct_ocsd_unsynced_ptm,
                                            .look = look,
                                            .convert = convert,
                                            .take = take,
                                            .reset = reset,
                                            .free = free_packets};

ocsd_err_t ct_ocsd_ptm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out)
{
    struct ct_ocsd_ptm *d = calloc(1, sizeof *d);
    struct ct_ptm_decoder *packets = NULL;
    (void)create_flags;
    if (!d)
        return OCSD_ERR_MEM;
    ct_ptm_decoder_new(NULL, source, &packets);
    d->v7.packets = packets;
    init_packet(d);
    if (!ct_ocsd_v7_init(&d->v7, tree, source, &kind)) {
        ct_ocsd_v7_free(&d->v7.base);
        return OCSD_ERR_MEM;
    }
    *out = &d->v7.base;
    return OCSD_OK;
}
