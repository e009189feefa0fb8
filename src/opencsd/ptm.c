/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/ptm.h"

#include <stdlib.h>

#include "base/v7_config.h"
#include "opencsd/log.h"
#include "opencsd/packet_out.h"
#include "opencsd/ptm_text.h"

static size_t decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final, void *packet,
                     size_t *count)
{
    return ct_ptm_decode(decoder, data, size, pos, final, packet, 1, count);
}

/* Says that the return stack was empty. 1.3.3 decodes no further. */
static ocsd_datapath_resp_t give_up(const struct ct_ocsd_ptm *d)
{
    ct_ocsd_log(d->base.name, OCSD_ERR_SEV_ERROR, OCSD_ERR_RET_STACK_OVERFLOW, d->index, d->base.id,
                "Return stack error processing atom packet.");
    return OCSD_RESP_FATAL_INVALID_DATA;
}

/* Puts out what is to leave, up to an answer of the client that is not CONT. */
static ocsd_datapath_resp_t pump(struct ct_ocsd_ptm *d)
{
    struct ct_ocsd_output *output = &d->path.output;
    ocsd_datapath_resp_t resp = ct_ocsd_output_drain(output);
    if (output->lacks_memory)
        return OCSD_RESP_FATAL_SYS_ERR;
    if (!OCSD_DATA_RESP_IS_CONT(resp))
        return resp;
    if (d->lacks_return)
        return give_up(d);
    if (!d->ending)
        return resp;
    d->ending = false;
    ct_ocsd_output_add(output, OCSD_GEN_TRC_ELEM_EO_TRACE, d->index)->unsync_eot_info = UNSYNC_EOT;
    return ct_ocsd_output_drain(output);
}

/* Makes elements of a packet, unless packets are all that is wanted. */
static ocsd_datapath_resp_t make_elements(struct ct_ocsd_ptm *d, const struct ct_ptm_packet *packet)
{
    if (d->base.only_packets)
        return OCSD_RESP_CONT;
    ct_ocsd_ptm_take(d, packet);
    return pump(d);
}

/* Says that a packet is bad. Who makes elements of packets says nothing of it. */
static void log_bad(const struct ct_ocsd_ptm *d, const struct ct_ptm_packet *packet)
{
    if (d->base.only_packets && packet->type == CT_PTM_BAD_SEQUENCE)
        ct_ocsd_log(d->base.packet_name, OCSD_ERR_SEV_ERROR, OCSD_ERR_BAD_PACKET_SEQ, d->index, d->base.id,
                    "Bad Async packet");
}

/* Hands a packet to whoever wants packets, and makes elements of it. */
static ocsd_datapath_resp_t take(struct ct_ocsd_ptm *d, struct ct_ptm_packet *packet,
                                 const struct ct_ocsd_fed *fed)
{
    d->unsynced.told = false;
    ct_ocsd_ptm_correct_isa(d, packet, fed->bytes);
    log_bad(d, packet);
    if (ct_ocsd_packets_wanted(&d->base)) {
        ct_ocsd_ptm_convert(d, packet, fed->bytes);
        ct_ocsd_packet_show(&d->base, d->index, &d->packet, fed->bytes, (uint32_t)fed->taken);
        const ocsd_datapath_resp_t resp = ct_ocsd_packet_give(&d->base, d->index, &d->packet);
        if (!OCSD_DATA_RESP_IS_CONT(resp))
            return resp;
    }
    return make_elements(d, packet);
}

/* Takes bytes that are of no packet. */
static ocsd_datapath_resp_t take_unsynced(struct ct_ocsd_ptm *d, const struct ct_ocsd_fed *fed)
{
    static const struct ct_ptm_packet none = {.type = CT_PTM_NOT_SYNC};
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    ct_ocsd_ptm_convert(d, &none, fed->bytes);
    for (uint32_t at = 0, group; at < fed->taken; at += group) {
        group = ct_ocsd_unsynced_group(fed->bytes + at, (uint32_t)fed->taken - at);
        ct_ocsd_packet_show(&d->base, fed->first + at, &d->packet, fed->bytes + at, group);
    }
    if (d->unsynced.told)
        return resp;
    d->unsynced.told = true;
    resp = ct_ocsd_packet_give(&d->base, d->index, &d->packet);
    return OCSD_DATA_RESP_IS_CONT(resp) ? make_elements(d, &none) : resp;
}

/* Takes what the feed gave: a packet, or bytes of none. */
static ocsd_datapath_resp_t take_fed(struct ct_ocsd_ptm *d, struct ct_ptm_packet *packet,
                                     const struct ct_ocsd_fed *fed)
{
    if (fed->have || fed->taken)
        d->index = fed->first;
    if (fed->have && packet->type != CT_PTM_NOT_SYNC)
        return take(d, packet, fed);
    return fed->taken ? take_unsynced(d, fed) : OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t data(struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                 const uint8_t *bytes, uint32_t size, uint32_t *used)
{
    struct ct_ocsd_ptm *d = (struct ct_ocsd_ptm *)decoder;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    for (*used = 0; *used < size && OCSD_DATA_RESP_IS_CONT(resp);) {
        struct ct_ptm_packet packet;
        struct ct_ocsd_fed fed;
        *used += ct_ocsd_feed_next(&d->feed, bytes + *used, size - *used, index + *used, &packet, &fed);
        resp = take_fed(d, &packet, &fed);
    }
    return resp;
}

static ocsd_datapath_resp_t flush(struct ct_ocsd_decoder *decoder)
{
    ct_ocsd_operation_out(decoder, OCSD_OP_FLUSH);
    return pump((struct ct_ocsd_ptm *)decoder);
}

static ocsd_datapath_resp_t reset(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_ptm *d = (struct ct_ocsd_ptm *)decoder;
    ct_ocsd_operation_out(decoder, OCSD_OP_RESET);
    ct_ptm_decoder_reset(d->packets);
    ct_ocsd_feed_reset(&d->feed);
    ct_ocsd_output_drop(&d->path.output);
    d->ending = d->lacks_return = d->unsynced.told = false;
    d->alt_isa = false;
    d->packet = (ocsd_ptm_pkt){.curr_isa = ocsd_isa_unknown, .prev_isa = ocsd_isa_unknown};
    d->path.output.context = (ocsd_pe_context){0};
    ct_ocsd_ptm_lose(d, UNSYNC_RESET_DECODER);
    return OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t finish(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_ptm *d = (struct ct_ocsd_ptm *)decoder;
    struct ct_ptm_packet packet;
    struct ct_ocsd_fed fed;
    ct_ocsd_feed_finish(&d->feed, &packet, &fed);
    take_fed(d, &packet, &fed);
    ct_ocsd_operation_out(decoder, OCSD_OP_EOT);
    d->ending = !d->base.only_packets;
    return pump(d);
}

static void free_ptm(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_ptm *d = (struct ct_ocsd_ptm *)decoder;
    ct_ptm_decoder_free(d->packets);
    ct_ocsd_code_free(d->path.code);
    ct_ocsd_output_deinit(&d->path.output);
    free(d);
}

static const struct ct_ocsd_protocol protocol = {.data = data,
                                                 .flush = flush,
                                                 .reset = reset,
                                                 .finish = finish,
                                                 .text = ct_ocsd_ptm_text,
                                                 .free = free_ptm};

ocsd_err_t ct_ocsd_ptm_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                           struct ct_ocsd_decoder **out)
{
    struct ct_v7_config config;
    (void)create_flags;
    if (ct_v7_config_init(NULL, source, &config))
        return OCSD_ERR_HW_CFG_UNSUPP;
    struct ct_ocsd_ptm *d = calloc(1, sizeof *d);
    if (!d)
        return OCSD_ERR_MEM;
    d->base = (struct ct_ocsd_decoder){.protocol = &protocol, .tree = tree, .id = source->trace_id};
    d->path.returns.enabled = config.return_stack;
    d->path.code = ct_ocsd_code_new(&d->base, &source->arch, false, config.dsb_waypoint);
    if (!ct_ocsd_output_init(&d->path.output, &d->base) || !d->path.code ||
        ct_ptm_decoder_new(NULL, source, &d->packets)) {
        free_ptm(&d->base);
        return OCSD_ERR_MEM;
    }
    d->feed = (struct ct_ocsd_feed){.decode = decode, .decoder = d->packets};
    d->packet.curr_isa = d->packet.prev_isa = ocsd_isa_unknown;
    ct_ocsd_ptm_lose(d, UNSYNC_INIT_DECODER);
    *out = &d->base;
    return OCSD_OK;
}
