/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/ocsd.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

/* Suppresses leaks in the library: it does not free elements and callbacks of trees that it destroys. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libopencsd";
}

void ocsd_free(struct ocsd *ocsd)
{
    free(ocsd->packets);
    free(ocsd->elems);
    *ocsd = (struct ocsd){0};
}

static void *grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room ? 2 * *room : 1024;
    void *more = realloc(array, *room * size);
    if (!more)
        abort();
    return more;
}

static unsigned packet_type(ocsd_etmv4_i_pkt_type type)
{
    static const struct {
        uint16_t ocsd;
        uint8_t type;
    } map[] = {
        {ETM4_PKT_I_NOTSYNC, CT_ETM4_NOT_SYNC},
        {ETM4_PKT_I_INCOMPLETE_EOT, CT_ETM4_INCOMPLETE_EOT},
        {ETM4_PKT_I_BAD_SEQUENCE, CT_ETM4_BAD_SEQUENCE},
        {ETM4_PKT_I_BAD_TRACEMODE, CT_ETM4_BAD_TRACEMODE},
        {ETM4_PKT_I_RESERVED, CT_ETM4_RESERVED},
        {ETM4_PKT_I_RESERVED_CFG, CT_ETM4_RESERVED_CFG},
        {ETM4_PKT_I_EXTENSION, CT_ETM4_EXTENSION},
        {ETM4_PKT_I_ASYNC, CT_ETM4_ASYNC},
        {ETM4_PKT_I_DISCARD, CT_ETM4_DISCARD},
        {ETM4_PKT_I_OVERFLOW, CT_ETM4_OVERFLOW},
        {ETM4_PKT_I_TRACE_INFO, CT_ETM4_TRACE_INFO},
        {ETM4_PKT_I_TRACE_ON, CT_ETM4_TRACE_ON},
        {ETM4_PKT_I_TIMESTAMP, CT_ETM4_TIMESTAMP},
        {ETE_PKT_I_TS_MARKER, CT_ETM4_TS_MARKER},
        {ETM4_PKT_I_CTXT, CT_ETM4_CTXT},
        {ETM4_PKT_I_ADDR_S_IS0, CT_ETM4_ADDR_S_IS0},
        {ETM4_PKT_I_ADDR_S_IS1, CT_ETM4_ADDR_S_IS1},
        {ETM4_PKT_I_ADDR_L_32IS0, CT_ETM4_ADDR_L_32IS0},
        {ETM4_PKT_I_ADDR_L_32IS1, CT_ETM4_ADDR_L_32IS1},
        {ETM4_PKT_I_ADDR_L_64IS0, CT_ETM4_ADDR_L_64IS0},
        {ETM4_PKT_I_ADDR_L_64IS1, CT_ETM4_ADDR_L_64IS1},
        {ETM4_PKT_I_ADDR_CTXT_L_32IS0, CT_ETM4_ADDR_CTXT_L_32IS0},
        {ETM4_PKT_I_ADDR_CTXT_L_32IS1, CT_ETM4_ADDR_CTXT_L_32IS1},
        {ETM4_PKT_I_ADDR_CTXT_L_64IS0, CT_ETM4_ADDR_CTXT_L_64IS0},
        {ETM4_PKT_I_ADDR_CTXT_L_64IS1, CT_ETM4_ADDR_CTXT_L_64IS1},
        {ETM4_PKT_I_ADDR_MATCH, CT_ETM4_ADDR_MATCH},
        {ETE_PKT_I_SRC_ADDR_S_IS0, CT_ETM4_SRC_ADDR_S_IS0},
        {ETE_PKT_I_SRC_ADDR_S_IS1, CT_ETM4_SRC_ADDR_S_IS1},
        {ETE_PKT_I_SRC_ADDR_L_32IS0, CT_ETM4_SRC_ADDR_L_32IS0},
        {ETE_PKT_I_SRC_ADDR_L_32IS1, CT_ETM4_SRC_ADDR_L_32IS1},
        {ETE_PKT_I_SRC_ADDR_L_64IS0, CT_ETM4_SRC_ADDR_L_64IS0},
        {ETE_PKT_I_SRC_ADDR_L_64IS1, CT_ETM4_SRC_ADDR_L_64IS1},
        {ETE_PKT_I_SRC_ADDR_MATCH, CT_ETM4_SRC_ADDR_MATCH},
        {ETM4_PKT_I_ATOM_F1, CT_ETM4_ATOM_F1},
        {ETM4_PKT_I_ATOM_F2, CT_ETM4_ATOM_F2},
        {ETM4_PKT_I_ATOM_F3, CT_ETM4_ATOM_F3},
        {ETM4_PKT_I_ATOM_F4, CT_ETM4_ATOM_F4},
        {ETM4_PKT_I_ATOM_F5, CT_ETM4_ATOM_F5},
        {ETM4_PKT_I_ATOM_F6, CT_ETM4_ATOM_F6},
        {ETM4_PKT_I_Q, CT_ETM4_Q},
        {ETM4_PKT_I_CCNT_F1, CT_ETM4_CCNT_F1},
        {ETM4_PKT_I_CCNT_F2, CT_ETM4_CCNT_F2},
        {ETM4_PKT_I_CCNT_F3, CT_ETM4_CCNT_F3},
        {ETM4_PKT_I_COMMIT, CT_ETM4_COMMIT},
        {ETM4_PKT_I_CANCEL_F1, CT_ETM4_CANCEL_F1},
        {ETM4_PKT_I_CANCEL_F1_MISPRED, CT_ETM4_CANCEL_F1_MISPRED},
        {ETM4_PKT_I_CANCEL_F2, CT_ETM4_CANCEL_F2},
        {ETM4_PKT_I_CANCEL_F3, CT_ETM4_CANCEL_F3},
        {ETM4_PKT_I_MISPREDICT, CT_ETM4_MISPREDICT},
        {ETM4_PKT_I_COND_I_F1, CT_ETM4_COND_I_F1},
        {ETM4_PKT_I_COND_I_F2, CT_ETM4_COND_I_F2},
        {ETM4_PKT_I_COND_I_F3, CT_ETM4_COND_I_F3},
        {ETM4_PKT_I_COND_FLUSH, CT_ETM4_COND_FLUSH},
        {ETM4_PKT_I_COND_RES_F1, CT_ETM4_COND_RES_F1},
        {ETM4_PKT_I_COND_RES_F2, CT_ETM4_COND_RES_F2},
        {ETM4_PKT_I_COND_RES_F3, CT_ETM4_COND_RES_F3},
        {ETM4_PKT_I_COND_RES_F4, CT_ETM4_COND_RES_F4},
        {ETM4_PKT_I_EXCEPT, CT_ETM4_EXCEPT},
        {ETM4_PKT_I_EXCEPT_RTN, CT_ETM4_EXCEPT_RTN},
        {ETM4_PKT_I_FUNC_RET, CT_ETM4_FUNC_RET},
        {ETM4_PKT_I_EVENT, CT_ETM4_EVENT},
        {ETM4_PKT_I_NUM_DS_MKR, CT_ETM4_NUM_DS_MKR},
        {ETM4_PKT_I_UNNUM_DS_MKR, CT_ETM4_UNNUM_DS_MKR},
        {ETE_PKT_I_TRANS_ST, CT_ETM4_TRANS_ST},
        {ETE_PKT_I_TRANS_COMMIT, CT_ETM4_TRANS_COMMIT},
        {ETE_PKT_I_TRANS_FAIL, CT_ETM4_TRANS_FAIL},
        {ETE_PKT_I_PE_RESET, CT_ETM4_PE_RESET},
        {ETM4_PKT_I_IGNORE, CT_ETM4_IGNORE},
    };
    for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
        if (map[i].ocsd == type)
            return map[i].type;
    return CT_ETM4_TYPE_COUNT;
}

static void set_context(const ocsd_etmv4_i_pkt *in, struct ct_etm4_packet *out)
{
    if (!in->context.updated)
        return;
    unsigned sec = (unsigned)(in->context.NSE << 1 | in->context.NS);
    out->flags |= CT_ETM4_HAS_CONTEXT;
    out->el_sec = (uint8_t)(in->context.EL | sec << 4);
    if (in->context.SF)
        out->flags |= CT_ETM4_SF;
    if (in->context.updated_c) {
        out->flags |= CT_ETM4_HAS_CTXT;
        out->ctxt = in->context.ctxtID;
    }
    if (in->context.updated_v) {
        out->flags |= CT_ETM4_HAS_VMID;
        out->vmid = in->context.VMID;
    }
}

static void set_address(const ocsd_etmv4_i_pkt *in, struct ct_etm4_packet *out)
{
    unsigned size = in->v_addr.size == VA_64BIT ? 64 : 32;
    out->value = in->v_addr.val;
    out->valid = in->v_addr.valid_bits < size ? in->v_addr.valid_bits : 64;
    out->is = in->v_addr_ISA;
}

static void set_ccnt(const ocsd_etmv4_i_pkt *in, struct ct_etm4_packet *out)
{
    out->count = in->cycle_count;
    if (in->pkt_valid.bits.commit_elem_valid) {
        out->flags |= CT_ETM4_HAS_COMMIT;
        out->count2 = in->commit_elements;
    }
}

static void set_trace_info(const ocsd_etmv4_i_pkt *in, struct ct_etm4_packet *out)
{
    out->info = (uint8_t)in->trace_info.val;
    if (out->info & 1) {
        out->flags |= CT_ETM4_HAS_CCTHR;
        out->count = in->pkt_valid.bits.cc_thresh_valid ? in->cc_threshold : 0;
    }
    if (in->pkt_valid.bits.spec_depth_valid) {
        out->flags |= CT_ETM4_HAS_SPEC;
        out->count2 = in->curr_spec_depth;
    }
}

static void set_q(const ocsd_etmv4_i_pkt *in, struct ct_etm4_packet *out)
{
    if (in->Q_pkt.count_present) {
        out->flags |= CT_ETM4_HAS_COUNT;
        out->count = in->Q_pkt.q_count;
    }
    if (!in->Q_pkt.addr_present)
        return;
    out->flags |= CT_ETM4_HAS_ADDR;
    set_address(in, out);
    if (in->Q_pkt.addr_match) {
        out->flags |= CT_ETM4_MATCH;
        out->idx = in->addr_exact_match_idx;
    }
}

static void set_exception(const ocsd_etmv4_i_pkt *in, struct ct_etm4_packet *out)
{
    out->info = in->exception_info.exceptionType;
    out->idx = in->exception_info.addr_interp;
    if (in->exception_info.m_fault_pending)
        out->flags |= CT_ETM4_FAULT_PENDING;
}

/* Converts a packet, with the members that the listing shows. */
static void convert_packet(const ocsd_etmv4_i_pkt *in, uint32_t index, struct ct_etm4_packet *out)
{
    *out = (struct ct_etm4_packet){.pos = index, .type = (uint8_t)packet_type(in->type)};
    unsigned type = out->type;
    if (type >= CT_ETM4_ADDR_S_IS0 && type <= CT_ETM4_SRC_ADDR_MATCH)
        set_address(in, out);
    if (type == CT_ETM4_CTXT || (type >= CT_ETM4_ADDR_CTXT_L_32IS0 && type <= CT_ETM4_ADDR_CTXT_L_64IS1))
        set_context(in, out);
    if (type >= CT_ETM4_ATOM_F1 && type <= CT_ETM4_ATOM_F6) {
        out->atoms = in->atom.En_bits;
        out->natoms = in->atom.num;
    }
    switch (type) {
    case CT_ETM4_INCOMPLETE_EOT:
    case CT_ETM4_BAD_SEQUENCE:
    case CT_ETM4_RESERVED_CFG:
        out->err = (uint8_t)packet_type(in->err_type);
        break;
    case CT_ETM4_TRACE_INFO:
        set_trace_info(in, out);
        break;
    case CT_ETM4_TIMESTAMP:
        out->value = in->ts.timestamp;
        if (in->pkt_valid.bits.cc_valid) {
            out->flags |= CT_ETM4_HAS_COUNT;
            out->count = in->cycle_count;
        }
        break;
    case CT_ETM4_ADDR_MATCH:
    case CT_ETM4_SRC_ADDR_MATCH:
        out->idx = in->addr_exact_match_idx;
        break;
    case CT_ETM4_Q:
        set_q(in, out);
        break;
    case CT_ETM4_CCNT_F1:
    case CT_ETM4_CCNT_F2:
    case CT_ETM4_CCNT_F3:
        set_ccnt(in, out);
        break;
    case CT_ETM4_COMMIT:
        out->count2 = in->commit_elements;
        break;
    case CT_ETM4_CANCEL_F1:
    case CT_ETM4_CANCEL_F1_MISPRED:
        out->count2 = in->cancel_elements;
        break;
    case CT_ETM4_CANCEL_F2:
    case CT_ETM4_CANCEL_F3:
        out->count2 = in->cancel_elements;
        out->atoms = in->atom.En_bits;
        out->natoms = in->atom.num;
        break;
    case CT_ETM4_MISPREDICT:
        out->atoms = in->atom.En_bits;
        out->natoms = in->atom.num;
        break;
    case CT_ETM4_EXCEPT:
        set_exception(in, out);
        break;
    case CT_ETM4_EVENT:
        out->info = in->event_val;
        break;
    default:
        break;
    }
    if (!out->natoms)
        out->atoms = 0;
}

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    struct ocsd *ocsd = (struct ocsd *)context;
    if (op != OCSD_OP_DATA)
        return OCSD_RESP_CONT;
    ocsd->packets = grow(ocsd->packets, ocsd->packet_count, &ocsd->packet_room, sizeof(*ocsd->packets));
    struct ct_etm4_packet *out = &ocsd->packets[ocsd->packet_count];
    convert_packet(packet, index, out);
    if (out->type == CT_ETM4_NOT_SYNC && ocsd->packet_count && out[-1].type == CT_ETM4_NOT_SYNC)
        return OCSD_RESP_CONT; /* the same unsynchronised bytes, reported in several pieces */
    ocsd->packet_count++;
    return OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t take_elem(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                      const ocsd_generic_trace_elem *elem)
{
    struct ocsd *ocsd = (struct ocsd *)context;
    (void)id;
    ocsd->elems = grow(ocsd->elems, ocsd->elem_count, &ocsd->elem_room, sizeof(*ocsd->elems));
    ocsd->elems[ocsd->elem_count++] = (struct ocsd_elem){index, *elem};
    return OCSD_RESP_CONT;
}

int ocsd_create(dcd_tree_handle_t tree, const struct ct_source *source, int flags, int as_etm4,
                unsigned char *id)
{
    union ocsd_config config;
    const char *name = ocsd_config(source, as_etm4, &config);
    return (int)ocsd_dt_create_decoder(tree, name, flags, &config, id);
}

/* Passes bytes to a tree, at most `most` at a time. */
static void feed(struct ocsd *ocsd, dcd_tree_handle_t tree, const uint8_t *bytes, size_t size, size_t most)
{
    uint32_t done = 0;
    ocsd->used = 0;
    ocsd->fatal = 0;
    while (ocsd->used < size && !ocsd->fatal) {
        const size_t piece = size - ocsd->used < most ? size - ocsd->used : most;
        ocsd_datapath_resp_t resp = ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)ocsd->used,
                                                         (uint32_t)piece, bytes + ocsd->used, &done);
        ocsd->used += done;
        if (OCSD_DATA_RESP_IS_FATAL(resp)) {
            uint8_t id;
            char message[128];
            ocsd->fatal = (int)resp;
            ocsd_get_last_err(&ocsd->fatal_index, &id, message, sizeof(message));
        }
    }
    if (!ocsd->fatal)
        ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, &done);
}

int ocsd_run_packets(struct ocsd *ocsd, const struct ct_source *source, const uint8_t *bytes, size_t size)
{
    unsigned char id;
    ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    int err = ocsd_create(tree, source, OCSD_CREATE_FLG_PACKET_PROC, 1, &id);
    ocsd->packet_count = 0;
    if (!err)
        err =
            (int)ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK, (void *)take_packet, ocsd);
    if (!err)
        feed(ocsd, tree, bytes, size, size);
    ocsd_destroy_dcd_tree(tree);
    for (size_t i = 0; i < ocsd->packet_count; i++) { /* a packet ends where the next one begins */
        uint64_t next = i + 1 < ocsd->packet_count ? ocsd->packets[i + 1].pos : ocsd->used;
        if (ocsd->packets[i].type == CT_ETM4_NOT_SYNC)
            ocsd->packets[i].value = next - ocsd->packets[i].pos;
        else
            ocsd->packets[i].size = (uint8_t)(next - ocsd->packets[i].pos);
    }
    return err;
}

static sigjmp_buf crash;

static void on_crash(int signal)
{
    siglongjmp(crash, signal);
}

/* Passes bytes like `feed`, but survives a crash of the library. After one the tree cannot be used or
 * destroyed. */
static void feed_carefully(struct ocsd *ocsd, dcd_tree_handle_t tree, const uint8_t *bytes, size_t size,
                           size_t most)
{
    const struct sigaction ours = {.sa_handler = on_crash};
    struct sigaction before;
    sigaction(SIGSEGV, &ours, &before);
    ocsd->crashed = sigsetjmp(crash, 1) != 0;
    if (!ocsd->crashed)
        feed(ocsd, tree, bytes, size, most);
    sigaction(SIGSEGV, &before, NULL);
}

static int run_elems(struct ocsd *ocsd, const struct ct_source *source, const struct ocsd_region *regions,
                     unsigned region_count, const uint8_t *bytes, size_t size, size_t most)
{
    static const uint8_t nothing[4];
    unsigned char id;
    int talk = getenv("CT_LOG") != NULL; /* messages of OpenCSD about the stream */
    ocsd_def_errlog_init(talk ? OCSD_ERR_SEV_INFO : OCSD_ERR_SEV_NONE, talk);
    if (talk)
        ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_STDERR, NULL);
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    int err = ocsd_create(tree, source, OCSD_CREATE_FLG_FULL_DECODER, 0, &id);
    ocsd->elem_count = 0;
    if (!err)
        err = (int)ocsd_dt_set_gen_elem_outfn(tree, take_elem, ocsd);
    for (unsigned i = 0; i < region_count && !err; i++)
        err = (int)ocsd_dt_add_buffer_mem_acc(tree, regions[i].addr, (ocsd_mem_space_acc_t)regions[i].space,
                                              regions[i].bytes, regions[i].size);
    if (!err && !region_count) /* without any memory it refuses to decode */
        err = (int)ocsd_dt_add_buffer_mem_acc(tree, 0xfffffffffffff000, OCSD_MEM_SPACE_ANY, nothing,
                                              sizeof(nothing));
    ocsd->crashed = 0;
    if (!err)
        feed_carefully(ocsd, tree, bytes, size, most);
    if (!ocsd->crashed)
        ocsd_destroy_dcd_tree(tree);
    return err;
}

int ocsd_run_elems(struct ocsd *ocsd, const struct ct_source *source, const struct ocsd_region *regions,
                   unsigned region_count, const uint8_t *bytes, size_t size)
{
    const int err = run_elems(ocsd, source, regions, region_count, bytes, size, size);
    return ocsd->crashed ? run_elems(ocsd, source, regions, region_count, bytes, size, 1) : err;
}
