/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/etm4.h"

#include <stdlib.h>
#include <string.h>

#include "base/etm4_config.h"
#include "opencsd/etm4_fields.h"
#include "opencsd/etm4_packet.h"
#include "opencsd/layout.h"
#include "opencsd/log.h"
#include "opencsd/packet_out.h"
#include "opencsd/packet_text.h"
#include "proto/etm4_state.h"

static bool is_header_bad(const struct ct_etm4_packet *packet)
{
    return packet->type == CT_ETM4_RESERVED || packet->type == CT_ETM4_RESERVED_CFG;
}

static bool is_bad(const struct ct_etm4_packet *packet)
{
    return is_header_bad(packet) || packet->type == CT_ETM4_BAD_SEQUENCE;
}

/* Reports an invalid header to clients that want only packets; making elements reports it separately. */
static void log_header(const struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet)
{
    if (d->base.only_packets && is_header_bad(packet))
        ct_ocsd_log(d->base.packet_name, OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PCKT_HDR, d->index, d->base.id,
                    "");
}

/* Shows a packet to the monitors. Returns whether it goes on to the sink. */
static bool show_packet(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet, const uint8_t *bytes,
                        uint32_t size)
{
    log_header(d, packet);
    ct_ocsd_etm4_convert(packet, bytes, d->version, d->m_profile, d->widths, &d->packet);
    if (ct_ocsd_packet_is_shown(&d->base, is_bad(packet)))
        ct_ocsd_packet_show(&d->base, d->index, &d->packet, bytes, size);
    return ct_ocsd_packet_goes_on(&d->base, is_bad(packet));
}

/* Passes a packet to the clients that want packets. */
static ocsd_datapath_resp_t put_packet(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet,
                                       const struct ct_ocsd_fed *fed)
{
    return show_packet(d, packet, fed->bytes, (uint32_t)fed->taken)
               ? ct_ocsd_packet_give(&d->base, d->index, &d->packet)
               : OCSD_RESP_CONT;
}

/* Outputs pending elements, or refuses if nothing takes them. */
static ocsd_datapath_resp_t pump_if_ready(struct ct_ocsd_etm4 *d)
{
    return ct_ocsd_output_lacks(&d->path.output) ? ct_ocsd_output_refuse(&d->path.output)
                                                 : ct_ocsd_etm4_pump(d);
}

/* Passes a packet to the clients that want packets, and makes elements of it. */
static ocsd_datapath_resp_t take(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet,
                                 const struct ct_ocsd_fed *fed)
{
    if (ct_ocsd_packets_wanted(&d->base)) {
        const ocsd_datapath_resp_t resp = put_packet(d, packet, fed);
        if (d->base.only_packets || !OCSD_DATA_RESP_IS_CONT(resp))
            return resp;
    }
    if (!ct_ocsd_packet_goes_on(&d->base, is_bad(packet)))
        return ct_ocsd_etm4_pump(d);
    if (ct_ocsd_output_lacks(&d->path.output))
        return ct_ocsd_output_refuse(&d->path.output);
    ct_ocsd_etm4_take(d, packet);
    return ct_ocsd_etm4_pump(d);
}

/* Notes the state in a packet's context. A context packet without one means that nothing changed; after a
 * reset, where 1.3.3 keeps the last context, it restores that state. */
static void note_context(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet)
{
    if (packet->flags & CT_ETM4_HAS_CONTEXT) {
        d->context_sf = packet->flags & CT_ETM4_SF;
    } else if (packet->type == CT_ETM4_CTXT) {
        d->packets->sf = d->context_sf;
        d->packet.context.SF = d->context_sf;
    }
}

/* Takes a packet that was found before synchronisation. Only the first one that reports missing
 * synchronisation goes further than to monitors. */
static ocsd_datapath_resp_t take_found(struct ct_ocsd_etm4 *d, const struct ct_ocsd_etm4_found *found)
{
    struct ct_etm4_packet packet = {.type = found->type, .err = found->err};
    struct ct_ocsd_fed fed = {.bytes = found->bytes, .taken = found->size};
    const bool reports = !found->aligned && (found->type == CT_ETM4_NOT_SYNC || found->type == CT_ETM4_ASYNC);
    const bool only_shown = reports && d->told_unsynced;
    if (found->aligned) {
        ct_ocsd_feed_next(&d->feed, found->bytes, found->size, found->first, &packet, &fed);
        d->synced = true;
    }
    d->base.stats.channel_unsynced += reports ? found->size : 0;
    d->index = found->first;
    d->told_unsynced |= reports;
    if (!only_shown)
        return take(d, &packet, &fed);
    if (ct_ocsd_packets_wanted(&d->base))
        show_packet(d, &packet, found->bytes, found->size);
    return OCSD_RESP_CONT;
}

/* Searches for the alignment packet up to the end of the next packet. Sets *used to the number of bytes
 * taken. */
static ocsd_datapath_resp_t search(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, const uint8_t *bytes,
                                   uint32_t size, uint32_t *used)
{
    struct ct_ocsd_etm4_found found;
    for (*used = 0; *used < size;) {
        bool taken;
        const bool have = ct_ocsd_etm4_search_next(&d->search, bytes[*used], index + *used, &found, &taken);
        *used += taken;
        if (have)
            return take_found(d, &found);
    }
    return OCSD_RESP_CONT;
}

/* Takes the next packet, or bytes of no packet. Sets *used to the number of bytes taken. */
static ocsd_datapath_resp_t take_next(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, const uint8_t *bytes,
                                      uint32_t size, uint32_t *used)
{
    struct ct_etm4_packet packet;
    struct ct_ocsd_fed fed;
    if (!d->synced)
        return search(d, index, bytes, size, used);
    *used = ct_ocsd_feed_next(&d->feed, bytes, size, index, &packet, &fed);
    if (!fed.have)
        return OCSD_RESP_CONT;
    d->index = fed.first;
    d->base.stats.bad_header_errs += is_header_bad(&packet);
    note_context(d, &packet);
    return take(d, &packet, &fed);
}

static ocsd_datapath_resp_t take_piece(struct ct_ocsd_decoder *decoder, const struct ct_ocsd_piece *piece,
                                       uint32_t *used, uint32_t *begun)
{
    struct ct_ocsd_etm4 *d = (struct ct_ocsd_etm4 *)decoder;
    const bool runs = !ct_ocsd_packets_wanted(decoder);
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    uint32_t at = 0, last = 0;
    while (at < piece->size && OCSD_DATA_RESP_IS_CONT(resp)) {
        uint32_t taken;
        if (runs)
            resp = ct_ocsd_etm4_take_run(d, piece, &at);
        if (at == piece->size || !OCSD_DATA_RESP_IS_CONT(resp))
            break;
        last = at;
        resp = take_next(d, ct_ocsd_piece_index(piece, at), piece->bytes + at, ct_ocsd_piece_left(piece, at),
                         &taken);
        at += taken;
    }
    *used = at;
    *begun =
        (at > last ? at - 1 : last) / CT_OCSD_FRAME_DATA + 1; /* a packet may consist of kept bytes alone */
    d->base.stats.channel_total += at;
    return resp;
}

static ocsd_datapath_resp_t data(struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                 const uint8_t *bytes, uint32_t size, uint32_t *used)
{
    uint32_t begun;
    return take_piece(decoder, &(const struct ct_ocsd_piece){index, bytes, size, false}, used, &begun);
}

static ocsd_datapath_resp_t flush(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_etm4 *d = (struct ct_ocsd_etm4 *)decoder;
    d->flushing = true;
    d->told_failure = false;
    d->commit_index = 0;
    const ocsd_datapath_resp_t resp = pump_if_ready(d);
    d->flushing = false;
    ct_ocsd_operation_out(decoder, OCSD_OP_FLUSH);
    return d->late && d->told_failure && resp == OCSD_RESP_CONT ? OCSD_RESP_ERR_CONT : resp;
}

/* Resets the packet decoder. 1.3.3 keeps the addresses, but does not know how wide the last one is. */
static void reset_packets(struct ct_ocsd_etm4 *d)
{
    struct ct_etm4_address history[CT_OCSD_ETM4_ADDRESSES];
    memcpy(history, d->packets->history, sizeof history);
    ct_etm4_decoder_reset(d->packets);
    memcpy(d->packets->history, history, sizeof history);
    d->packet.v_addr.valid_bits = 0;
    d->packet.context.SF = 0;
}

static ocsd_datapath_resp_t reset(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_etm4 *d = (struct ct_ocsd_etm4 *)decoder;
    reset_packets(d);
    ct_ocsd_feed_reset(&d->feed);
    ct_ocsd_output_drop(&d->path.output);
    d->ending = d->synced = d->last_is1 = false;
    d->search = (struct ct_ocsd_etm4_search){0};
    d->told_unsynced = false;
    ct_ocsd_etm4_lose(d, UNSYNC_RESET_DECODER);
    d->after_overflow = d->marker_seen = false;
    const ocsd_datapath_resp_t resp = pump_if_ready(d);
    ct_ocsd_operation_out(decoder, OCSD_OP_RESET);
    return resp;
}

static ocsd_datapath_resp_t finish(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_etm4 *d = (struct ct_ocsd_etm4 *)decoder;
    struct ct_etm4_packet packet;
    struct ct_ocsd_fed fed;
    struct ct_ocsd_etm4_found found;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    if (!d->synced) {
        if (ct_ocsd_etm4_search_end(&d->search, &found))
            resp = take_found(d, &found);
    } else if (ct_ocsd_feed_finish(&d->feed, &packet, &fed)) {
        d->index = fed.first;
        resp = take(d, &packet, &fed);
    }
    d->ending = !d->base.only_packets;
    if (!OCSD_DATA_RESP_IS_FATAL(resp))
        resp = pump_if_ready(d);
    ct_ocsd_operation_out(decoder, OCSD_OP_EOT);
    return resp;
}

static void free_etm4(struct ct_ocsd_decoder *decoder)
{
    struct ct_ocsd_etm4 *d = (struct ct_ocsd_etm4 *)decoder;
    ct_etm4_decoder_free(d->packets);
    ct_ocsd_code_free(d->path.code);
    ct_ocsd_held_deinit(&d->held);
    ct_ocsd_output_deinit(&d->path.output);
    free(d);
}

static const struct ct_ocsd_protocol protocol = {
    .data = data, .frames = take_piece, .flush = flush, .reset = reset, .finish = finish, .free = free_etm4};

static void configure(struct ct_ocsd_etm4 *d, const struct ct_etm4_config *config)
{
    d->ete = config->ete;
    d->m_profile = config->m_profile;
    d->v7m = config->v7m;
    d->cycle_count = config->cycle_count;
    d->trans_start_p0 = config->trans_start_p0;
    d->ts_markers = config->ts_markers;
    d->max_spec = config->max_spec;
    d->version = config->version;
    d->path.returns.enabled = config->return_stack;
}

/* Returns the limit of instructions per range, set in the environment; 0: unlimited. */
static uint32_t range_limit(void)
{
    const char *text = getenv("OPENCSD_INSTR_RANGE_LIMIT");
    const long limit = text ? strtol(text, NULL, 0) : 0;
    return limit < 0 ? 0 : limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
}

/* Sets the checks of programs that the client and the environment request. */
static void set_checks(struct ct_ocsd_etm4 *d, int create_flags)
{
    d->checks = create_flags & CT_OCSD_CHECKS;
    if (getenv("OPENCSD_ERR_ON_AA64_BAD_OPCODE"))
        d->checks |= CT_OCSD_CHECK_OPCODES;
    d->path.limit = range_limit();
    if (d->path.limit)
        d->checks |= CT_OCSD_CHECK_LENGTH;
}

ocsd_err_t ct_ocsd_etm4_new(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                            struct ct_ocsd_decoder **out)
{
    struct ct_etm4_config config;
    if (ct_etm4_config_init(NULL, source, &config))
        return OCSD_ERR_HW_CFG_UNSUPP;
    struct ct_ocsd_etm4 *d = calloc(1, sizeof *d);
    if (!d)
        return OCSD_ERR_MEM;
    d->base = (struct ct_ocsd_decoder){.protocol = &protocol,
                                       .text = ct_ocsd_etm4_text,
                                       .tree = tree,
                                       .id = source->trace_id,
                                       .counts = true};
    d->source = *source;
    configure(d, &config);
    ct_ocsd_etm4_init_widths(d->widths);
    d->late = ct_ocsd_version() >= CT_OCSD_LATE_VERSION;
    if (d->late)
        set_checks(d, create_flags);
    d->split_source = create_flags & ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS;
    const struct ct_ocsd_core core = {.arch = source->arch,
                                      .wfi_waypoint = config.wfi_branch,
                                      .checks_opcodes = d->checks & CT_OCSD_CHECK_OPCODES,
                                      .late = d->late};
    d->path.code = ct_ocsd_code_new(&d->base, &core);
    if (!ct_ocsd_output_init(&d->path.output, &d->base) || !d->path.code ||
        ct_etm4_decoder_new(NULL, source, &d->packets)) {
        free_etm4(&d->base);
        return OCSD_ERR_MEM;
    }
    ct_ocsd_etm4_lengthen(d->packets);
    d->feed = (struct ct_ocsd_feed){.decode = ct_ocsd_etm4_decode, .decoder = d->packets};
    d->path.isa = CT_ISA_A32;
    ct_ocsd_code_set_context(d->path.code, 0, OCSD_MEM_SPACE_S);
    ct_ocsd_etm4_lose(d, UNSYNC_INIT_DECODER);
    *out = &d->base;
    return OCSD_OK;
}
