/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/itm_client.h"

#include <inttypes.h>
#include <string.h>

struct itm_info itm_info_of(const ocsd_generic_trace_elem *element)
{
    struct itm_info info;
    memcpy(&info, (const char *)element + ITM_ELEMENT_PAYLOAD, sizeof info);
    return info;
}

/* Returns the answer to an element or packet: WAIT for every `wait`-th one. */
static ocsd_datapath_resp_t answer(struct itm_client *c)
{
    c->taken++;
    return c->wait && c->taken % c->wait == 0 ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
}

static unsigned id_of(const struct itm_client *c)
{
    return c->tcr >> 16 & 0x7f;
}

static void print_itm(FILE *out, const ocsd_generic_trace_elem *e)
{
    enum {
        SWIT,
        DWT,
        LOCAL,
        GLOBAL = 6,
    };
    const struct itm_info info = itm_info_of(e);
    if (info.pkt_type == SWIT)
        fprintf(out, " itm_trace type=swit src=%x data=%0*x", info.payload_src_id, 2 * info.payload_size,
                info.value);
    else if (info.pkt_type == DWT)
        fprintf(out, " itm_trace type=dwt desc=%x data=%0*x", info.payload_src_id, 2 * info.payload_size,
                info.value);
    else if (info.pkt_type == GLOBAL)
        fprintf(out, " itm_trace type=ts_global ts=%" PRIx64, e->timestamp);
    else
        fprintf(out, " itm_trace type=ts_local delta=%x tc=%u ts=%" PRIx64, info.value, info.pkt_type - LOCAL,
                e->timestamp);
    if (e->has_ts != (info.pkt_type >= LOCAL))
        fprintf(out, " has_ts=%u", e->has_ts);
    if (info.overflow)
        fprintf(out, " overflow=1");
}

static ocsd_datapath_resp_t take(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                 const ocsd_generic_trace_elem *e)
{
    static const char *const reasons[] = {"undefined", "init_decoder", "reset_decoder",     "overflow",
                                          "discard",   "bad_packet",   "bad_program_image", "end_of_trace"};
    struct itm_client *c = (struct itm_client *)context;
    uint32_t reason;
    memcpy(&reason, (const char *)e + ITM_ELEMENT_PAYLOAD, sizeof reason);
    fprintf(c->out, "%u %02x", index, id_of(c));
    if ((int)e->elem_type == ITM_ELEMENT)
        print_itm(c->out, e);
    else if (e->elem_type == OCSD_GEN_TRC_ELEM_NO_SYNC)
        fprintf(c->out, " no_sync reason=%s", reasons[reason & 7]);
    else if (e->elem_type == OCSD_GEN_TRC_ELEM_EO_TRACE)
        fprintf(c->out, " eo_trace reason=%s", reasons[reason & 7]);
    else
        fprintf(c->out, " element of type %d", (int)e->elem_type);
    if (id != id_of(c))
        fprintf(c->out, " ID=%02x", id);
    fprintf(c->out, "\n");
    return answer(c);
}

static const char *const names[] = {
    "itm_notsync",  "itm_incomplete_eot", "itm_no_err_type", "itm_async", "itm_overflow",  "itm_swit",
    "itm_dwt",      "itm_ts_local",       "itm_gts_1",       "itm_gts_2", "itm_extension", "itm_bad_sequence",
    "itm_reserved",
};

static void print_fields(FILE *out, const struct itm_packet *p)
{
    const uint64_t value = (uint64_t)p->val_ext << 32 | p->value;
    if (!strcmp(names[p->type], "itm_swit"))
        fprintf(out, " src=%x data=%0*x", p->src_id, 2 * p->val_sz, p->value);
    if (!strcmp(names[p->type], "itm_dwt"))
        fprintf(out, " desc=%x data=%0*x", p->src_id, 2 * p->val_sz, p->value);
    if (!strcmp(names[p->type], "itm_ts_local"))
        fprintf(out, " ts=%x tc=%u", p->value, p->src_id);
    if (!strcmp(names[p->type], "itm_gts_1"))
        fprintf(out, " ts=%x%s%s", p->value, p->src_id & 1 ? " clkch=1" : "", p->src_id & 2 ? " wrap=1" : "");
    if (!strcmp(names[p->type], "itm_gts_2"))
        fprintf(out, " ts=%" PRIx64, value);
    if (!strcmp(names[p->type], "itm_extension") && p->src_id == 2)
        fprintf(out, " page=%x", p->value);
    else if (!strcmp(names[p->type], "itm_extension"))
        fprintf(out, " bits=%u data=%x", (p->src_id & 0x1fu) + 1, p->value);
    if (!strcmp(names[p->type], "itm_bad_sequence") || !strcmp(names[p->type], "itm_incomplete_eot"))
        fprintf(out, " err=%s", names[p->err_type]);
}

/* Prints how many bytes without synchronisation a monitor saw, without their position. */
static void print_unsynced(struct itm_client *c)
{
    if (c->unsynced)
        fprintf(c->out, "* %02x - itm_notsync bytes=%" PRIu64 "\n", id_of(c), c->unsynced);
    c->unsynced = 0;
}

/* Prints a packet that a monitor sees. The last byte of a full global timestamp lacks its flags, as in
 * OpenCSD. */
static void see(const void *context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                const void *packet, const uint32_t size, const uint8_t *bytes)
{
    struct itm_client *c = (struct itm_client *)context;
    struct itm_packet p;
    if (op != OCSD_OP_DATA)
        return;
    memcpy(&p, packet, sizeof p);
    if (!p.type) {
        c->unsynced += size;
        return;
    }
    print_unsynced(c);
    fprintf(c->out, "%u %02x ", index, id_of(c));
    for (uint32_t i = 0; i < size; i++)
        fprintf(c->out, "%02x", bytes[i] | (i == 4 && bytes[0] == 0x94 ? (p.src_id & 3u) << 5 : 0));
    fprintf(c->out, " %s", p.type < sizeof names / sizeof *names ? names[p.type] : "?");
    print_fields(c->out, &p);
    fprintf(c->out, "\n");
}

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    struct itm_client *c = (struct itm_client *)context;
    (void)index;
    (void)packet;
    return op == OCSD_OP_DATA ? answer(c) : OCSD_RESP_CONT;
}

ocsd_err_t itm_client_begin(struct itm_client *c)
{
    const struct library *l = c->library;
    const struct itm_config config = {c->tcr};
    unsigned char id = 0xee;
    c->tree = l->ocsd_create_dcd_tree(c->framed ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
                                      c->framed ? OCSD_DFRMTR_FRAME_MEM_ALIGN : 0);
    l->ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
    l->ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
    const int create = c->packets ? OCSD_CREATE_FLG_PACKET_PROC : OCSD_CREATE_FLG_FULL_DECODER;
    const ocsd_err_t err = l->ocsd_dt_create_decoder(c->tree, ITM_NAME, create | c->flags, &config, &id);
    if (err)
        return err;
    if (c->packets) {
        l->ocsd_dt_attach_packet_callback(c->tree, id, OCSD_C_API_CB_PKT_MON, (void *)see, c);
        l->ocsd_dt_attach_packet_callback(c->tree, id, OCSD_C_API_CB_PKT_SINK, (void *)take_packet, c);
    } else {
        l->ocsd_dt_set_gen_elem_outfn(c->tree, take, c);
    }
    return OCSD_OK;
}

/* Makes a call, and flushes while the tree wants to wait. Returns the number of bytes consumed. Prints a line
 * when a call that continues consumed none. */
static uint32_t call(struct itm_client *c, ocsd_datapath_op_t op, uint32_t index, const uint8_t *bytes,
                     uint32_t size)
{
    uint32_t done = 0;
    ocsd_datapath_resp_t resp =
        c->library->ocsd_dt_process_data(c->tree, op, index, size, size ? bytes : NULL, &done);
    if (size && !done && OCSD_DATA_RESP_IS_CONT(resp))
        fprintf(c->out, "answer %d at %u, and nothing taken\n", (int)resp, index);
    while (OCSD_DATA_RESP_IS_WAIT(resp))
        resp = c->library->ocsd_dt_process_data(c->tree, OCSD_OP_FLUSH, 0, 0, NULL, NULL);
    c->fatal += OCSD_DATA_RESP_IS_FATAL(resp);
    return done;
}

void itm_client_give(struct itm_client *c, uint32_t index, const uint8_t *bytes, size_t size)
{
    for (uint32_t at = 0; at < size;) {
        const uint32_t left = (uint32_t)size - at;
        const uint32_t done =
            call(c, OCSD_OP_DATA, index + at, bytes + at, c->chunk && c->chunk < left ? c->chunk : left);
        at += done;
        c->calls++;
        if (c->flush && c->calls % c->flush == 0)
            call(c, OCSD_OP_FLUSH, 0, NULL, 0);
    }
}

void itm_client_reset(struct itm_client *c)
{
    call(c, OCSD_OP_RESET, 0, NULL, 0);
}

void itm_client_end(struct itm_client *c)
{
    call(c, OCSD_OP_EOT, 0, NULL, 0);
    print_unsynced(c);
    c->library->ocsd_destroy_dcd_tree(c->tree);
}
