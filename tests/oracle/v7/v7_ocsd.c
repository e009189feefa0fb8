/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/v7/v7_ocsd.h"

#include <inttypes.h>
#include <opencsd/c_api/opencsd_c_api.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "oracle/ocsd_config.h"

static const char *const isas[] = {"a32", "t32", "a64", "tee", "jaz", "cst", "unk"};
static const char *const reasons[] = {"periodic", "trace_enable", "restart_overflow", "debug_exit"};

void v7_lines_free(struct v7_lines *lines)
{
    free(lines->text);
    *lines = (struct v7_lines){0};
}

void v7_add(struct v7_lines *lines, const char *fmt, ...)
{
    va_list args;
    if (lines->room - lines->size < 4096) {
        lines->room = 2 * lines->room + 65536;
        lines->text = realloc(lines->text, lines->room);
        if (!lines->text)
            abort();
    }
    va_start(args, fmt);
    lines->size += (size_t)vsnprintf(lines->text + lines->size, 4096, fmt, args);
    va_end(args);
}

static void add_atoms(struct v7_lines *l, const ocsd_pkt_atom *atom)
{
    v7_add(l, " atoms=");
    for (unsigned i = 0; i < atom->num; i++)
        v7_add(l, "%c", atom->En_bits >> i & 1 ? 'E' : 'N');
}

static void add_address(struct v7_lines *l, const ocsd_pkt_vaddr *addr)
{
    v7_add(l, " addr=%" PRIx64, (uint64_t)addr->val);
    if (addr->valid_bits < 32)
        v7_add(l, " valid=%u", addr->valid_bits);
}

static void add_security(struct v7_lines *l, int ns, int hyp)
{
    v7_add(l, ns ? " sec=ns" : " sec=s");
    if (hyp)
        v7_add(l, " hyp=1");
}

/* ---- PTM ---- */

static const char *ptm_name(ocsd_ptm_pkt_type type)
{
    switch (type) {
    case PTM_PKT_NOTSYNC:
        return "notsync";
    case PTM_PKT_INCOMPLETE_EOT:
        return "incomplete_eot";
    case PTM_PKT_BRANCH_ADDRESS:
        return "branch_address";
    case PTM_PKT_A_SYNC:
        return "async";
    case PTM_PKT_I_SYNC:
        return "isync";
    case PTM_PKT_TRIGGER:
        return "trigger";
    case PTM_PKT_WPOINT_UPDATE:
        return "wp_update";
    case PTM_PKT_IGNORE:
        return "ignore";
    case PTM_PKT_CONTEXT_ID:
        return "ctxtid";
    case PTM_PKT_VMID:
        return "vmid";
    case PTM_PKT_ATOM:
        return "atom";
    case PTM_PKT_TIMESTAMP:
        return "timestamp";
    case PTM_PKT_EXCEPTION_RET:
        return "eret";
    case PTM_PKT_BAD_SEQUENCE:
        return "bad_sequence";
    case PTM_PKT_RESERVED:
        return "reserved";
    default:
        return "unknown";
    }
}

static void add_ptm_fields(struct v7_lines *l, const ocsd_ptm_pkt *p)
{
    switch (p->type) {
    case PTM_PKT_I_SYNC:
        v7_add(l, " reason=%s addr=%" PRIx64 " isa=%s", reasons[p->i_sync_reason], (uint64_t)p->addr.val,
               isas[p->curr_isa]);
        add_security(l, p->context.curr_NS, p->context.curr_Hyp);
        if (p->context.updated_c)
            v7_add(l, " ctxt=%x", p->context.ctxtID);
        break;
    case PTM_PKT_ATOM:
        add_atoms(l, &p->atom);
        break;
    case PTM_PKT_BRANCH_ADDRESS:
    case PTM_PKT_WPOINT_UPDATE:
        add_address(l, &p->addr);
        if (p->curr_isa != p->prev_isa)
            v7_add(l, " isa=%s", isas[p->curr_isa]);
        if (p->context.updated)
            add_security(l, p->context.curr_NS, p->context.curr_Hyp);
        if (p->exception.bits.present)
            v7_add(l, " exc=%x", p->exception.number);
        break;
    case PTM_PKT_CONTEXT_ID:
        v7_add(l, " ctxt=%x", p->context.ctxtID);
        break;
    case PTM_PKT_VMID:
        v7_add(l, " vmid=%x", p->context.VMID);
        break;
    case PTM_PKT_TIMESTAMP:
        v7_add(l, " ts=%" PRIx64, p->timestamp);
        break;
    case PTM_PKT_BAD_SEQUENCE:
        v7_add(l, " err=%s", ptm_name(p->err_type));
        break;
    default:
        break;
    }
    if (p->cc_valid && p->type != PTM_PKT_INCOMPLETE_EOT && p->type != PTM_PKT_BAD_SEQUENCE)
        v7_add(l, " cc=%u", p->cycle_count);
}

/* ---- ETMv3 ---- */

static const char *etm3_name(ocsd_etmv3_pkt_type type)
{
    static const char *const names[] = {
        "noerror",       "notsync",         "incomplete_eot",  "branch_address", "a_sync",     "cycle_count",
        "i_sync",        "i_sync_cycle",    "trigger",         "p_hdr",          "store_fail", "ooo_data",
        "ooo_addr_plc",  "norm_data",       "data_suppressed", "val_not_traced", "ignore",     "context_id",
        "vmid",          "exception_entry", "exception_exit",  "timestamp",      "bypass",     "bad_sequence",
        "bad_tracemode", "reserved"};
    return names[type];
}

static void add_p_header(struct v7_lines *l, const ocsd_etmv3_pkt *p)
{
    unsigned cycles = p->p_hdr_fmt == 1 ? 0 : p->cycle_count;
    v7_add(l, " atoms=");
    for (unsigned i = 0; i < cycles; i++)
        v7_add(l, "W");
    for (unsigned i = 0; i < p->atom.num; i++)
        v7_add(l, "%s%c", p->p_hdr_fmt == 1 && p->cycle_count ? "W" : "",
               p->atom.En_bits >> i & 1 ? 'E' : 'N');
    if (!cycles && !p->atom.num)
        v7_add(l, "-");
    if (p->cycle_count)
        v7_add(l, " cc=%u", p->cycle_count);
}

static void add_etm3_branch(struct v7_lines *l, const ocsd_etmv3_pkt *p)
{
    add_address(l, &p->addr);
    if (p->curr_isa != p->prev_isa)
        v7_add(l, " isa=%s", isas[p->curr_isa]);
    if (p->context.updated)
        add_security(l, p->context.curr_NS, p->context.curr_Hyp);
    if (!p->exception.bits.present)
        return;
    if (p->exception.type == Excp_Reserved)
        v7_add(l, " exc=reserved");
    else
        v7_add(l, " exc=%x", p->exception.number);
    if (p->exception.bits.cm_type)
        v7_add(l, " mprof=1");
    if (p->exception.bits.cm_resume)
        v7_add(l, " resume=%u", p->exception.bits.cm_resume);
    if (p->exception.bits.cancel)
        v7_add(l, " cancel=1");
}

static void add_etm3_fields(struct v7_lines *l, const ocsd_etmv3_pkt *p)
{
    switch (p->type) {
    case ETM3_PKT_BRANCH_ADDRESS:
        add_etm3_branch(l, p);
        break;
    case ETM3_PKT_I_SYNC:
    case ETM3_PKT_I_SYNC_CYCLE:
        v7_add(l, " reason=%s", reasons[p->isync_info.reason]);
        if (!p->isync_info.no_address)
            v7_add(l, " addr=%" PRIx64, (uint64_t)p->addr.val);
        if (p->isync_info.has_LSipAddress)
            v7_add(l, " curr=%" PRIx64, (uint64_t)p->data.addr.val);
        if (!p->isync_info.no_address)
            v7_add(l, " isa=%s", isas[p->curr_isa]);
        add_security(l, p->context.curr_NS, p->context.curr_Hyp);
        if (p->context.updated_c)
            v7_add(l, " ctxt=%x", p->context.ctxtID);
        if (p->type == ETM3_PKT_I_SYNC_CYCLE)
            v7_add(l, " cc=%u", p->cycle_count);
        break;
    case ETM3_PKT_P_HDR:
        add_p_header(l, p);
        break;
    case ETM3_PKT_CYCLE_COUNT:
        v7_add(l, " cc=%u", p->cycle_count);
        break;
    case ETM3_PKT_CONTEXT_ID:
        v7_add(l, " ctxt=%x", p->context.ctxtID);
        break;
    case ETM3_PKT_VMID:
        v7_add(l, " vmid=%x", p->context.VMID);
        break;
    case ETM3_PKT_TIMESTAMP:
        v7_add(l, " ts=%" PRIx64, p->timestamp);
        break;
    case ETM3_PKT_OOO_DATA:
        v7_add(l, " data=%x tag=%x", p->data.value, p->data.ooo_tag);
        break;
    case ETM3_PKT_OOO_ADDR_PLC:
        v7_add(l, " tag=%x", p->data.ooo_tag);
        break;
    case ETM3_PKT_NORM_DATA:
        if (p->data.update_dval)
            v7_add(l, " data=%x", p->data.value);
        break;
    case ETM3_PKT_BAD_SEQUENCE:
        v7_add(l, " err=%s", etm3_name(p->err_type));
        break;
    default:
        break;
    }
}

/* ---- elements ---- */

static void add_range(struct v7_lines *l, const ocsd_generic_trace_elem *e)
{
    static const char *const types[] = {"other", "br", "ibr", "isb", "dsb_dmb", "wfi_wfe", "tstart"};
    static const char *const subs[] = {"none", "link", "ret", "eret", "v7_ret"};
    v7_add(l,
           " instr_range start=%" PRIx64 " end=%" PRIx64
           " n=%u last_sz=%u isa=%s exec=%c type=%s sub=%s cond=%u",
           e->st_addr, e->en_addr, e->num_instr_range, e->last_instr_sz, isas[e->isa],
           e->last_instr_exec ? 'E' : 'N', types[e->last_i_type], subs[e->last_i_subtype],
           e->last_instr_cond);
}

/* Adds a context without its instruction set, which docs/listing.md leaves open. */
static void add_context(struct v7_lines *l, const ocsd_generic_trace_elem *e)
{
    v7_add(l, " pe_context");
    if (e->context.el_valid)
        v7_add(l, " el=%d", e->context.exception_level);
    v7_add(l, " sec=%s bits=%s", e->context.security_level ? "ns" : "s", e->context.bits64 ? "64" : "32");
    if (e->context.ctxt_id_valid)
        v7_add(l, " ctxt=%x", e->context.context_id);
    if (e->context.vmid_valid)
        v7_add(l, " vmid=%x", e->context.vmid);
}

/* Adds an element. After a bad PTM packet OpenCSD does not report why synchronisation is lost. */
static void add_elem(struct v7_lines *l, const ocsd_generic_trace_elem *e)
{
    static const char *const ons[] = {"begin_or_filter", "overflow", "debug_restart"};
    static const char *const gaps[] = {"undefined", "init_decoder", "reset_decoder", "overflow",
                                       "discard",   "bad_packet",   "end_of_trace"};
    switch (e->elem_type) {
    case OCSD_GEN_TRC_ELEM_NO_SYNC:
        v7_add(l, " no_sync reason=%s", gaps[e->unsync_eot_info ? e->unsync_eot_info : UNSYNC_BAD_PACKET]);
        break;
    case OCSD_GEN_TRC_ELEM_TRACE_ON:
        v7_add(l, " trace_on reason=%s", ons[e->trace_on_reason]);
        break;
    case OCSD_GEN_TRC_ELEM_EO_TRACE:
        v7_add(l, " eo_trace reason=%s", gaps[e->unsync_eot_info]);
        break;
    case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        add_context(l, e);
        break;
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
        add_range(l, e);
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        v7_add(l, " addr_nacc addr=%" PRIx64, e->st_addr);
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN:
        v7_add(l, " addr_unknown");
        break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION:
        v7_add(l, " exception exc=%x", e->exception_number);
        if (e->excep_ret_addr)
            v7_add(l, " ret=%" PRIx64, e->en_addr);
        break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION_RET:
        v7_add(l, " exception_ret");
        break;
    case OCSD_GEN_TRC_ELEM_TIMESTAMP:
        v7_add(l, " timestamp ts=%" PRIx64, e->timestamp);
        break;
    case OCSD_GEN_TRC_ELEM_CYCLE_COUNT:
        v7_add(l, " cycle_count");
        break;
    case OCSD_GEN_TRC_ELEM_EVENT:
        v7_add(l, " event type=trigger");
        break;
    default:
        v7_add(l, " unknown");
        break;
    }
    if (e->has_cc)
        v7_add(l, " cc=%u", e->cycle_count);
}

/* ---- running OpenCSD ---- */

struct run {
    struct v7_lines *lines;
    int etm3;
    int unsynced; /* the last line was unsynchronised bytes, which are reported in pieces */
};

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    struct run *run = (struct run *)context;
    if (op != OCSD_OP_DATA)
        return OCSD_RESP_CONT;
    const ocsd_ptm_pkt *ptm = packet;
    const ocsd_etmv3_pkt *etm3 = packet;
    int unsynced = run->etm3 ? etm3->type == ETM3_PKT_NOTSYNC : ptm->type == PTM_PKT_NOTSYNC;
    if (unsynced && run->unsynced)
        return OCSD_RESP_CONT;
    run->unsynced = unsynced;
    v7_add(run->lines, "%u %s", (unsigned)index, run->etm3 ? etm3_name(etm3->type) : ptm_name(ptm->type));
    if (run->etm3)
        add_etm3_fields(run->lines, etm3);
    else
        add_ptm_fields(run->lines, ptm);
    v7_add(run->lines, "\n");
    return OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t take_elem(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                      const ocsd_generic_trace_elem *elem)
{
    struct run *run = (struct run *)context;
    (void)id;
    v7_add(run->lines, "%u", (unsigned)index);
    add_elem(run->lines, elem);
    v7_add(run->lines, "\n");
    return OCSD_RESP_CONT;
}

int v7_ocsd_create(dcd_tree_handle_t tree, const struct ct_source *source, int flags, unsigned char *id)
{
    union ocsd_config config;
    const char *name = ocsd_config(source, 0, &config);
    return (int)ocsd_dt_create_decoder(tree, name, flags, &config, id);
}

static int feed(dcd_tree_handle_t tree, const uint8_t *bytes, size_t size)
{
    uint32_t done = 0;
    for (size_t used = 0; used < size; used += done) {
        ocsd_datapath_resp_t resp = ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)used,
                                                         (uint32_t)(size - used), bytes + used, &done);
        if (OCSD_DATA_RESP_IS_FATAL(resp) || !done)
            return resp ? (int)resp : -1;
    }
    ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, &done);
    return 0;
}

int v7_ocsd_packets(struct v7_lines *lines, const struct ct_source *source, const uint8_t *bytes, size_t size)
{
    unsigned char id;
    struct run run = {.lines = lines, .etm3 = source->protocol == CT_PROTOCOL_ETM3};
    lines->size = 0;
    ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    int err = v7_ocsd_create(tree, source, OCSD_CREATE_FLG_PACKET_PROC, &id);
    if (!err)
        err = ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK, (void *)take_packet, &run);
    if (!err)
        err = feed(tree, bytes, size);
    ocsd_destroy_dcd_tree(tree);
    return err;
}

int v7_ocsd_elems(struct v7_lines *lines, const struct ct_source *source, const struct v7_region *regions,
                  unsigned region_count, const uint8_t *bytes, size_t size)
{
    unsigned char id;
    struct run run = {.lines = lines};
    lines->size = 0;
    ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    int err = v7_ocsd_create(tree, source, OCSD_CREATE_FLG_FULL_DECODER, &id);
    if (!err)
        err = ocsd_dt_set_gen_elem_outfn(tree, take_elem, &run);
    for (unsigned i = 0; i < region_count && !err; i++)
        err = ocsd_dt_add_buffer_mem_acc(tree, regions[i].addr, OCSD_MEM_SPACE_ANY, regions[i].bytes,
                                         regions[i].size);
    if (!err)
        err = feed(tree, bytes, size);
    ocsd_destroy_dcd_tree(tree);
    return err;
}
