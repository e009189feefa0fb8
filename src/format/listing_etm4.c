/* SPDX-License-Identifier: Apache-2.0 */
/* Packet lines of ETMv4 and ETE, docs/listing.md. */
#include "format/listing.h"

static const struct ct_word names[CT_ETM4_TYPE_COUNT] = {
    [CT_ETM4_NOT_SYNC] = CT_WORD("i_not_sync"),
    [CT_ETM4_INCOMPLETE_EOT] = CT_WORD("i_incomplete_eot"),
    [CT_ETM4_BAD_SEQUENCE] = CT_WORD("i_bad_sequence"),
    [CT_ETM4_BAD_TRACEMODE] = CT_WORD("i_bad_tracemode"),
    [CT_ETM4_RESERVED] = CT_WORD("i_reserved"),
    [CT_ETM4_RESERVED_CFG] = CT_WORD("i_reserved_cfg"),
    [CT_ETM4_EXTENSION] = CT_WORD("i_extension"),
    [CT_ETM4_ASYNC] = CT_WORD("i_async"),
    [CT_ETM4_DISCARD] = CT_WORD("i_discard"),
    [CT_ETM4_OVERFLOW] = CT_WORD("i_overflow"),
    [CT_ETM4_TRACE_INFO] = CT_WORD("i_trace_info"),
    [CT_ETM4_TRACE_ON] = CT_WORD("i_trace_on"),
    [CT_ETM4_TIMESTAMP] = CT_WORD("i_timestamp"),
    [CT_ETM4_TS_MARKER] = CT_WORD("i_ts_marker"),
    [CT_ETM4_CTXT] = CT_WORD("i_ctxt"),
    [CT_ETM4_ADDR_S_IS0] = CT_WORD("i_addr_s_is0"),
    [CT_ETM4_ADDR_S_IS1] = CT_WORD("i_addr_s_is1"),
    [CT_ETM4_ADDR_L_32IS0] = CT_WORD("i_addr_l_32is0"),
    [CT_ETM4_ADDR_L_32IS1] = CT_WORD("i_addr_l_32is1"),
    [CT_ETM4_ADDR_L_64IS0] = CT_WORD("i_addr_l_64is0"),
    [CT_ETM4_ADDR_L_64IS1] = CT_WORD("i_addr_l_64is1"),
    [CT_ETM4_ADDR_CTXT_L_32IS0] = CT_WORD("i_addr_ctxt_l_32is0"),
    [CT_ETM4_ADDR_CTXT_L_32IS1] = CT_WORD("i_addr_ctxt_l_32is1"),
    [CT_ETM4_ADDR_CTXT_L_64IS0] = CT_WORD("i_addr_ctxt_l_64is0"),
    [CT_ETM4_ADDR_CTXT_L_64IS1] = CT_WORD("i_addr_ctxt_l_64is1"),
    [CT_ETM4_ADDR_MATCH] = CT_WORD("i_addr_match"),
    [CT_ETM4_SRC_ADDR_S_IS0] = CT_WORD("i_src_addr_s_is0"),
    [CT_ETM4_SRC_ADDR_S_IS1] = CT_WORD("i_src_addr_s_is1"),
    [CT_ETM4_SRC_ADDR_L_32IS0] = CT_WORD("i_src_addr_l_32is0"),
    [CT_ETM4_SRC_ADDR_L_32IS1] = CT_WORD("i_src_addr_l_32is1"),
    [CT_ETM4_SRC_ADDR_L_64IS0] = CT_WORD("i_src_addr_l_64is0"),
    [CT_ETM4_SRC_ADDR_L_64IS1] = CT_WORD("i_src_addr_l_64is1"),
    [CT_ETM4_SRC_ADDR_MATCH] = CT_WORD("i_src_addr_match"),
    [CT_ETM4_ATOM_F1] = CT_WORD("i_atom_f1"),
    [CT_ETM4_ATOM_F2] = CT_WORD("i_atom_f2"),
    [CT_ETM4_ATOM_F3] = CT_WORD("i_atom_f3"),
    [CT_ETM4_ATOM_F4] = CT_WORD("i_atom_f4"),
    [CT_ETM4_ATOM_F5] = CT_WORD("i_atom_f5"),
    [CT_ETM4_ATOM_F6] = CT_WORD("i_atom_f6"),
    [CT_ETM4_Q] = CT_WORD("i_q"),
    [CT_ETM4_CCNT_F1] = CT_WORD("i_ccnt_f1"),
    [CT_ETM4_CCNT_F2] = CT_WORD("i_ccnt_f2"),
    [CT_ETM4_CCNT_F3] = CT_WORD("i_ccnt_f3"),
    [CT_ETM4_COMMIT] = CT_WORD("i_commit"),
    [CT_ETM4_CANCEL_F1] = CT_WORD("i_cancel_f1"),
    [CT_ETM4_CANCEL_F1_MISPRED] = CT_WORD("i_cancel_f1_mispred"),
    [CT_ETM4_CANCEL_F2] = CT_WORD("i_cancel_f2"),
    [CT_ETM4_CANCEL_F3] = CT_WORD("i_cancel_f3"),
    [CT_ETM4_MISPREDICT] = CT_WORD("i_mispredict"),
    [CT_ETM4_COND_I_F1] = CT_WORD("i_cond_i_f1"),
    [CT_ETM4_COND_I_F2] = CT_WORD("i_cond_i_f2"),
    [CT_ETM4_COND_I_F3] = CT_WORD("i_cond_i_f3"),
    [CT_ETM4_COND_FLUSH] = CT_WORD("i_cond_flush"),
    [CT_ETM4_COND_RES_F1] = CT_WORD("i_cond_res_f1"),
    [CT_ETM4_COND_RES_F2] = CT_WORD("i_cond_res_f2"),
    [CT_ETM4_COND_RES_F3] = CT_WORD("i_cond_res_f3"),
    [CT_ETM4_COND_RES_F4] = CT_WORD("i_cond_res_f4"),
    [CT_ETM4_EXCEPT] = CT_WORD("i_except"),
    [CT_ETM4_EXCEPT_RTN] = CT_WORD("i_except_rtn"),
    [CT_ETM4_FUNC_RET] = CT_WORD("i_func_ret"),
    [CT_ETM4_EVENT] = CT_WORD("i_event"),
    [CT_ETM4_NUM_DS_MKR] = CT_WORD("i_num_ds_mkr"),
    [CT_ETM4_UNNUM_DS_MKR] = CT_WORD("i_unnum_ds_mkr"),
    [CT_ETM4_ITE] = CT_WORD("i_ite"),
    [CT_ETM4_TRANS_ST] = CT_WORD("i_trans_st"),
    [CT_ETM4_TRANS_COMMIT] = CT_WORD("i_trans_commit"),
    [CT_ETM4_TRANS_FAIL] = CT_WORD("i_trans_fail"),
    [CT_ETM4_PE_RESET] = CT_WORD("i_pe_reset"),
    [CT_ETM4_IGNORE] = CT_WORD("i_ignore"),
};

const char *ct_etm4_type_name(enum ct_etm4_type type)
{
    return names[type].text;
}

static void atoms(struct ct_text *t, const struct ct_etm4_packet *p)
{
    ct_text_lit(t, " atoms=");
    ct_text_atoms(t, p->atoms, p->natoms);
}

static void address(struct ct_text *t, const struct ct_etm4_packet *p)
{
    ct_list_hex(t, " addr=", p->value);
    if (p->valid < 64)
        ct_list_dec(t, " valid=", p->valid);
}

static void context(struct ct_text *t, const struct ct_etm4_packet *p)
{
    static const char *const worlds[] = {" sec=s", " sec=ns", " sec=root", " sec=realm"};
    if (!(p->flags & CT_ETM4_HAS_CONTEXT)) {
        ct_text_lit(t, " ctx=same");
        return;
    }
    ct_text_string(t, p->flags & CT_ETM4_SF ? " sf=64" : " sf=32");
    ct_list_dec(t, " el=", p->el_sec & 15u);
    ct_text_string(t, worlds[p->el_sec >> 4 & 3]);
    if (p->flags & CT_ETM4_HAS_CTXT)
        ct_list_hex(t, " ctxt=", p->ctxt);
    if (p->flags & CT_ETM4_HAS_VMID)
        ct_list_hex(t, " vmid=", p->vmid);
}

static void trace_info(struct ct_text *t, const struct ct_etm4_packet *p)
{
    ct_list_hex(t, " info=", p->info);
    if (p->flags & CT_ETM4_HAS_CCTHR)
        ct_list_dec(t, " ccthr=", p->count);
    if (!(p->flags & CT_ETM4_FIRST_INFO))
        return;
    if (p->flags & CT_ETM4_HAS_SPEC)
        ct_list_dec(t, " spec=", p->count2);
    ct_text_lit(t, " first=1");
}

static void q(struct ct_text *t, const struct ct_etm4_packet *p)
{
    if (p->flags & CT_ETM4_HAS_COUNT)
        ct_list_dec(t, " count=", p->count);
    else
        ct_text_lit(t, " count=unknown");
    if (p->flags & CT_ETM4_HAS_ADDR)
        address(t, p);
    if (p->flags & CT_ETM4_MATCH)
        ct_list_dec(t, " idx=", p->idx);
}

static void exception(struct ct_text *t, const struct ct_etm4_packet *p, const struct ct_source *source)
{
    ct_list_hex(t, " exc=", p->info);
    ct_list_dec(t, " ea=", p->idx);
    if (source->arch.profile == CT_PROFILE_M && p->flags & CT_ETM4_FAULT_PENDING)
        ct_text_lit(t, " pend=1");
}

static void cancel(struct ct_text *t, const struct ct_etm4_packet *p)
{
    if (p->natoms)
        atoms(t, p);
    ct_list_dec(t, " cancel=", p->count2);
}

static void fields(struct ct_text *t, const struct ct_etm4_packet *p, const struct ct_source *source)
{
    switch (p->type) {
    case CT_ETM4_NOT_SYNC:
        ct_list_dec(t, " bytes=", p->value);
        break;
    case CT_ETM4_ATOM_F1 ... CT_ETM4_ATOM_F6:
        atoms(t, p);
        break;
    case CT_ETM4_ADDR_S_IS0 ... CT_ETM4_ADDR_L_64IS1:
    case CT_ETM4_SRC_ADDR_S_IS0 ... CT_ETM4_SRC_ADDR_L_64IS1:
        address(t, p);
        break;
    case CT_ETM4_ADDR_MATCH:
    case CT_ETM4_SRC_ADDR_MATCH:
        address(t, p);
        ct_list_dec(t, " idx=", p->idx);
        break;
    case CT_ETM4_ADDR_CTXT_L_32IS0 ... CT_ETM4_ADDR_CTXT_L_64IS1:
        address(t, p);
        context(t, p);
        break;
    case CT_ETM4_CTXT:
        context(t, p);
        break;
    case CT_ETM4_CCNT_F1:
    case CT_ETM4_CCNT_F2:
    case CT_ETM4_CCNT_F3:
        ct_list_dec(t, " cc=", p->count);
        if (p->flags & CT_ETM4_HAS_COMMIT)
            ct_list_dec(t, " commit=", p->count2);
        break;
    case CT_ETM4_TIMESTAMP:
        ct_list_hex(t, " ts=", p->value);
        if (p->flags & CT_ETM4_HAS_COUNT)
            ct_list_dec(t, " cc=", p->count);
        break;
    case CT_ETM4_TRACE_INFO:
        trace_info(t, p);
        break;
    case CT_ETM4_EXCEPT:
        exception(t, p, source);
        break;
    case CT_ETM4_COMMIT:
        ct_list_dec(t, " commit=", p->count2);
        break;
    case CT_ETM4_CANCEL_F1 ... CT_ETM4_CANCEL_F3:
        cancel(t, p);
        break;
    case CT_ETM4_MISPREDICT:
        if (p->natoms)
            atoms(t, p);
        break;
    case CT_ETM4_EVENT:
        ct_list_hex(t, " event=", p->info);
        break;
    case CT_ETM4_Q:
        q(t, p);
        break;
    case CT_ETM4_ITE:
        ct_list_dec(t, " el=", p->el_sec & 15u);
        ct_list_hex(t, " value=", p->value);
        break;
    case CT_ETM4_BAD_SEQUENCE:
    case CT_ETM4_INCOMPLETE_EOT:
    case CT_ETM4_RESERVED_CFG:
        ct_text_lit(t, " err=");
        ct_text_word(t, &names[p->err]);
        break;
    default:
        break;
    }
}

void ct_list_etm4_packet(struct ct_text *t, uint8_t id, uint64_t offset, const uint8_t *bytes,
                         const struct ct_etm4_packet *p, const struct ct_source *source)
{
    ct_text_room(t);
    ct_text_offset(t, offset);
    ct_list_etm4_rest(t, id, bytes, p, source);
}

void ct_list_etm4_rest(struct ct_text *t, uint8_t id, const uint8_t *bytes, const struct ct_etm4_packet *p,
                       const struct ct_source *source)
{
    ct_list_packet_bytes(t, id, bytes, p->size);
    ct_text_word(t, &names[p->type]);
    fields(t, p, source);
    ct_text_char(t, '\n');
}
