/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/player.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/ocsd_config.h"

enum {
    PAST = 64,       /* bytes behind those of a call */
    MOST_SMALL = 17, /* bytes of a small call: more than an alignment packet or a frame */
};

static void print_context(FILE *out, const ocsd_generic_trace_elem *e)
{
    const ocsd_pe_context *c = &e->context;
    fprintf(out, " sec=%d el=%d ctxt=%x vmid=%x bits64=%u valid=%u%u%u", (int)c->security_level,
            (int)c->exception_level, c->ctxt_id_valid ? c->context_id : 0, c->vmid_valid ? c->vmid : 0,
            c->bits64, c->ctxt_id_valid, c->vmid_valid, c->el_valid);
}

static void print_raw(FILE *out, const ocsd_generic_trace_elem *e)
{
    fprintf(out, " isa=%d st=%" PRIx64 " en=%" PRIx64, (int)e->isa, e->st_addr, e->en_addr);
    print_context(out, e);
    fprintf(out, " ts=%" PRIx64 " cc=%u type=%d sub=%d flags=%x payload=%x ext=%d", e->timestamp,
            e->cycle_count, (int)e->last_i_type, (int)e->last_i_subtype, e->flag_bits, e->num_instr_range,
            e->ptr_extended_data != NULL);
}

static void print_software(FILE *out, const ocsd_generic_trace_elem *e)
{
    uint64_t data = 0;
    const unsigned bits = e->sw_trace_info.swt_payload_pkt_bitsize;
    if (e->ptr_extended_data)
        memcpy(&data, e->ptr_extended_data, bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : bits ? 1 : 0);
    fprintf(out, " master=%u chan=%u bits=%x data=%" PRIx64 " ts=%" PRIx64,
            e->sw_trace_info.swt_id_valid ? e->sw_trace_info.swt_master_id : 0,
            e->sw_trace_info.swt_id_valid ? e->sw_trace_info.swt_channel_id : 0,
            e->sw_trace_info.swt_flag_bits, data, e->has_ts ? e->timestamp : 0);
}

/* Prints the members of an element that its type uses. */
static void print_members(FILE *out, const ocsd_generic_trace_elem *e, int hides_isa)
{
    switch (e->elem_type) {
    case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        fprintf(out, " isa=%d", hides_isa ? -1 : (int)e->isa);
        print_context(out, e);
        break;
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
    case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH:
        fprintf(out, " isa=%d st=%" PRIx64 " en=%" PRIx64 " n=%u type=%d sub=%d exec=%u sz=%u cond=%u",
                (int)e->isa, e->st_addr, e->en_addr, e->num_instr_range, (int)e->last_i_type,
                (int)e->last_i_subtype, e->last_instr_exec, e->last_instr_sz, e->last_instr_cond);
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        fprintf(out, " st=%" PRIx64, e->st_addr);
        break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION:
        fprintf(out, " number=%x ret=%u tgt=%u marker=%u en=%" PRIx64, e->exception_number, e->excep_ret_addr,
                e->excep_ret_addr_br_tgt, e->excep_data_marker, e->excep_ret_addr ? e->en_addr : 0);
        break;
    case OCSD_GEN_TRC_ELEM_TIMESTAMP:
        fprintf(out, " ts=%" PRIx64, e->timestamp);
        break;
    case OCSD_GEN_TRC_ELEM_EVENT:
        fprintf(out, " type=%u number=%u", e->trace_event.ev_type, e->trace_event.ev_number);
        break;
    case OCSD_GEN_TRC_ELEM_SWTRACE:
        print_software(out, e);
        break;
    case OCSD_GEN_TRC_ELEM_NO_SYNC:
    case OCSD_GEN_TRC_ELEM_EO_TRACE:
    case OCSD_GEN_TRC_ELEM_TRACE_ON:
    case OCSD_GEN_TRC_ELEM_MEMTRANS:
        fprintf(out, " reason=%d", (int)e->unsync_eot_info);
        break;
    case OCSD_GEN_TRC_ELEM_SYNC_MARKER:
        fprintf(out, " type=%d value=%x", (int)e->sync_marker.type, e->sync_marker.value);
        break;
    default:
        break;
    }
    if (e->has_cc)
        fprintf(out, " cc=%u", e->cycle_count);
}

static ocsd_datapath_resp_t take_element(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                         const ocsd_generic_trace_elem *e)
{
    struct player *player = (struct player *)context;
    fprintf(player->out, "E %u %02x %d", e->elem_type == OCSD_GEN_TRC_ELEM_EO_TRACE ? 0 : index, id,
            (int)e->elem_type);
    if (player->show_raw)
        print_raw(player->out, e);
    else
        print_members(player->out, e, player->hides_isa);
    fputc('\n', player->out);
    if (e->elem_type == OCSD_GEN_TRC_ELEM_NO_SYNC)
        return OCSD_RESP_CONT;
    player->elements++;
    return player->wait && player->elements % player->wait == 0 ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
}

static void take_text(const void *context, const char *text, const int size)
{
    struct player *player = (struct player *)context;
    player->texts++;
    fprintf(player->out, "T %d %.*s\n", size, size, text);
}

static uint32_t read_memory(const void *context, const ocsd_vaddr_t addr, const ocsd_mem_space_acc_t space,
                            const uint8_t id, const uint32_t size, uint8_t *bytes)
{
    const struct player *player = context;
    const uint32_t got = player->read(player, addr, (uint32_t)space, size, bytes);
    if (player->show_memory)
        fprintf(player->out, "M %02x %" PRIx64 " space=%x size=%u got=%u\n", id, addr, (unsigned)space, size,
                got);
    return got;
}

/* Returns the part of the payload that a packet of its type uses. */
static uint64_t stm_payload(const ocsd_stm_pkt *p)
{
    switch (p->type) {
    case STM_PKT_D64:
        return p->payload.D64;
    case STM_PKT_D32:
    case STM_PKT_FREQ:
        return p->payload.D32;
    case STM_PKT_D16:
    case STM_PKT_RESERVED:
        return p->payload.D16;
    case STM_PKT_D8:
    case STM_PKT_D4:
    case STM_PKT_VERSION:
    case STM_PKT_TRIG:
    case STM_PKT_GERR:
    case STM_PKT_MERR:
        return p->payload.D8;
    default:
        return 0;
    }
}

static void print_stm_packet(FILE *out, const ocsd_stm_pkt *p)
{
    fprintf(out, " type=%d master=%x chan=%x", (int)p->type, p->master, p->channel);
    if (p->pkt_has_ts)
        fprintf(out, " ts=%" PRIx64 " bits=%u how=%d", p->timestamp, p->pkt_ts_bits, (int)p->ts_type);
    fprintf(out, " marker=%u payload=%" PRIx64, p->pkt_has_marker, stm_payload(p));
    if (p->type == STM_PKT_BAD_SEQUENCE || p->type == STM_PKT_INCOMPLETE_EOT)
        fprintf(out, " err=%d", (int)p->err_type);
}

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    struct player *player = (struct player *)context;
    fprintf(player->out, "K op=%d", (int)op);
    if (op == OCSD_OP_DATA) {
        fprintf(player->out, " %u", index);
        print_stm_packet(player->out, packet);
    }
    fputc('\n', player->out);
    if (op != OCSD_OP_DATA || ((const ocsd_stm_pkt *)packet)->type == STM_PKT_NOTSYNC)
        return OCSD_RESP_CONT;
    player->elements++;
    return player->wait && player->elements % player->wait == 0 ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
}

static int add_packet_output(struct player *player, dcd_tree_handle_t tree, unsigned char id)
{
    if (player->as_packets < 3)
        return (int)player->library->ocsd_dt_set_pkt_protocol_printer(tree, id, player->as_packets > 1);
    return (int)player->library->ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK,
                                                                (void *)take_packet, player);
}

static int add_decoders(struct player *player, dcd_tree_handle_t tree)
{
    const int flags = player->create_flags |
                      (player->as_packets ? OCSD_CREATE_FLG_PACKET_PROC : OCSD_CREATE_FLG_FULL_DECODER);
    for (size_t i = 0; i < player->buffer->source_count; i++) {
        unsigned char id = 0xee;
        union ocsd_config config;
        const char *name = ocsd_config(&player->buffer->sources[i], 0, &config);
        if (!name) /* OpenCSD has no decoder for it */
            continue;
        const int err = (int)player->library->ocsd_dt_create_decoder(tree, name, flags, &config, &id);
        fprintf(player->out, "C %d %02x\n", err, id);
        if (err)
            return err;
        if (player->as_packets)
            fprintf(player->out, "P %d\n", add_packet_output(player, tree, id));
    }
    return 0;
}

/* Makes one call. With player->past the library gets a copy of the bytes, and behind it others that it must
 * not read. */
static void call(struct player *player, dcd_tree_handle_t tree, ocsd_datapath_op_t op, size_t at,
                 const uint8_t *bytes, uint32_t size, uint32_t *done, ocsd_datapath_resp_t *resp)
{
    uint8_t *copy = bytes && player->past ? malloc(size + PAST) : NULL;
    if (copy)
        memset((uint8_t *)memcpy(copy, bytes, size) + size, player->past, PAST);
    *done = 0xaaaa;
    *resp = player->library->ocsd_dt_process_data(tree, op, (ocsd_trc_index_t)at, size, copy ? copy : bytes,
                                                  done);
    free(copy);
    fprintf(player->out, "R op=%d at=%zu resp=%d done=%u\n", (int)op, at, (int)*resp, *done);
}

/* Flushes while the tree waits. Returns 0, or -1 after a fatal answer. */
static int drain(struct player *player, dcd_tree_handle_t tree, ocsd_datapath_resp_t resp)
{
    uint32_t done;
    while (OCSD_DATA_RESP_IS_WAIT(resp))
        call(player, tree, OCSD_OP_FLUSH, 0, NULL, 0, &done, &resp);
    return OCSD_DATA_RESP_IS_FATAL(resp) ? -1 : 0;
}

/* Makes an operation without bytes. Returns 0, or -1 after a fatal answer. */
static int operate(struct player *player, dcd_tree_handle_t tree, ocsd_datapath_op_t op)
{
    uint32_t done;
    ocsd_datapath_resp_t resp;
    call(player, tree, op, 0, NULL, 0, &done, &resp);
    return drain(player, tree, resp);
}

/* Makes random operations after some calls. Returns 0, or -1 after a fatal answer. */
static int operate_at_random(struct player *player, dcd_tree_handle_t tree)
{
    int err = 0;
    if (!player->ops || rng_below(&player->rng, player->ops))
        return 0;
    do {
        const uint32_t op = OCSD_OP_EOT + rng_below(&player->rng, OCSD_OP_RESET);
        if (!(player->op_set >> op & 1))
            continue;
        err = operate(player, tree, (ocsd_datapath_op_t)op);
        if (op == OCSD_OP_EOT && !player->goes_on && !err)
            err = operate(player, tree, OCSD_OP_RESET);
    } while (!err && rng_chance(&player->rng, 64));
    return err;
}

/* Makes the operations after the given number of calls. Returns 0, or -1 after a fatal answer. */
static int operate_between(struct player *player, dcd_tree_handle_t tree, uint32_t calls)
{
    int err = 0;
    if (player->flush && calls % player->flush == 0)
        err = operate(player, tree, OCSD_OP_FLUSH);
    if (!err && player->reset && calls % player->reset == 0)
        err = operate(player, tree, OCSD_OP_RESET);
    return err ? err : operate_at_random(player, tree);
}

static int feed(struct player *player, dcd_tree_handle_t tree, const uint8_t *trace, size_t size)
{
    uint32_t done, calls = 0;
    ocsd_datapath_resp_t resp;
    for (size_t at = 0; at < size;) {
        const uint32_t chunk = player->small ? 1 + rng_below(&player->rng, player->small) : player->chunk;
        const uint32_t most = size - at < chunk ? (uint32_t)(size - at) : chunk;
        call(player, tree, OCSD_OP_DATA, at, trace + at, most, &done, &resp);
        if (drain(player, tree, resp))
            return -1;
        at += done > most ? most : done;
        if (!done || operate_between(player, tree, ++calls))
            return -1;
    }
    return 0;
}

struct last_error {
    int code;
    ocsd_trc_index_t index;
    uint8_t id;
    char text[256];
};

static struct last_error last_error(const struct player *player)
{
    struct last_error e = {0};
    e.code = (int)player->library->ocsd_get_last_err(&e.index, &e.id, e.text, sizeof e.text);
    return e;
}

/* Prints the last error, unless it is the one from before the trace: libraries keep errors of other trees. */
static void print_last_error(struct player *player, const struct last_error *before)
{
    const struct last_error e = last_error(player);
    const bool is_new =
        e.code != before->code || e.index != before->index || strcmp(e.text, before->text) != 0;
    if (is_new)
        fprintf(player->out, "L %d %u %02x %s\n", e.code, e.index, e.id, e.text);
}

/* Prints the statistics of each source. */
static void print_stats(struct player *player, dcd_tree_handle_t tree)
{
    for (size_t i = 0; i < player->buffer->source_count; i++) {
        ocsd_decode_stats_t *s = NULL;
        const int err =
            (int)player->library->ocsd_dt_get_decode_stats(tree, player->buffer->sources[i].trace_id, &s);
        fprintf(player->out, "S %d", err);
        if (!err) {
            const ocsd_demux_stats_t *demux = &s->demux;
            fprintf(player->out, " %x %u: %" PRIu64 " %" PRIu64 " %u %u", s->version, s->revision,
                    s->channel_total, s->channel_unsynced, s->bad_header_errs, s->bad_sequence_errs);
            fprintf(player->out, ", %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                    demux->valid_id_bytes, demux->no_id_bytes, demux->reserved_id_bytes,
                    demux->unknown_id_bytes, demux->frame_bytes);
        }
        fputc('\n', player->out);
    }
}

void player_vary(struct player *player, struct rng *rng, unsigned op_set)
{
    player->small = rng_chance(rng, 64) ? MOST_SMALL : 0;
    player->ops = rng_chance(rng, 96) ? 1 + rng_below(rng, player->small ? 200 : 5) : 0;
    player->op_set = op_set;
    player->seed = rng_next(rng);
}

int player_play(struct player *player, const uint8_t *trace, size_t size)
{
    const struct library *l = player->library;
    const struct last_error before = last_error(player);
    uint32_t done;
    ocsd_datapath_resp_t resp;
    dcd_tree_handle_t tree = l->ocsd_create_dcd_tree(
        player->single ? OCSD_TRC_SRC_SINGLE : OCSD_TRC_SRC_FRAME_FORMATTED, (uint32_t)player->tree_flags);
    player->elements = player->texts = 0;
    player->rng.state = player->seed;
    l->ocsd_def_errlog_init((ocsd_err_severity_t)player->severity, 1);
    l->ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
    l->ocsd_def_errlog_set_strprint_cb(tree, player, take_text);
    if (player->frames)
        fprintf(player->out, "F %d\n", (int)l->ocsd_dt_set_raw_frame_printer(tree, player->frames));
    int err = add_decoders(player, tree);
    if (!err && !player->as_packets) {
        const int spaces = OCSD_MEM_SPACE_S | OCSD_MEM_SPACE_N; /* all spaces of 1.3.3 */
        err = (int)l->ocsd_dt_add_callback_trcid_mem_acc(tree, 0, UINT64_MAX, (ocsd_mem_space_acc_t)spaces,
                                                         read_memory, player);
        fprintf(player->out, "A %d\n", err);
        l->ocsd_dt_set_gen_elem_outfn(tree, take_element, player);
    }
    if (!err && !feed(player, tree, trace, size) && !player->no_end) {
        call(player, tree, OCSD_OP_EOT, 0, NULL, 0, &done, &resp);
        drain(player, tree, resp);
    }
    print_stats(player, tree);
    for (size_t i = 0; i < player->buffer->source_count; i++)
        fprintf(player->out, "Z %d\n",
                (int)l->ocsd_dt_reset_decode_stats(tree, player->buffer->sources[i].trace_id));
    print_stats(player, tree);
    if (player->texts)
        print_last_error(player, &before);
    l->ocsd_destroy_dcd_tree(tree);
    return err;
}
