/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/etm4_packet.h"

#include <string.h>

#include "opencsd/etm4_fields.h"

static const uint16_t types[CT_ETM4_TYPE_COUNT] = {
    [CT_ETM4_NOT_SYNC] = ETM4_PKT_I_NOTSYNC,
    [CT_ETM4_INCOMPLETE_EOT] = ETM4_PKT_I_INCOMPLETE_EOT,
    [CT_ETM4_BAD_SEQUENCE] = ETM4_PKT_I_BAD_SEQUENCE,
    [CT_ETM4_BAD_TRACEMODE] = ETM4_PKT_I_BAD_TRACEMODE,
    [CT_ETM4_RESERVED] = ETM4_PKT_I_RESERVED,
    [CT_ETM4_RESERVED_CFG] = ETM4_PKT_I_RESERVED_CFG,
    [CT_ETM4_EXTENSION] = ETM4_PKT_I_EXTENSION,
    [CT_ETM4_ASYNC] = ETM4_PKT_I_ASYNC,
    [CT_ETM4_DISCARD] = ETM4_PKT_I_DISCARD,
    [CT_ETM4_OVERFLOW] = ETM4_PKT_I_OVERFLOW,
    [CT_ETM4_TRACE_INFO] = ETM4_PKT_I_TRACE_INFO,
    [CT_ETM4_TRACE_ON] = ETM4_PKT_I_TRACE_ON,
    [CT_ETM4_TIMESTAMP] = ETM4_PKT_I_TIMESTAMP,
    [CT_ETM4_TS_MARKER] = ETE_PKT_I_TS_MARKER,
    [CT_ETM4_CTXT] = ETM4_PKT_I_CTXT,
    [CT_ETM4_ADDR_S_IS0] = ETM4_PKT_I_ADDR_S_IS0,
    [CT_ETM4_ADDR_S_IS1] = ETM4_PKT_I_ADDR_S_IS1,
    [CT_ETM4_ADDR_L_32IS0] = ETM4_PKT_I_ADDR_L_32IS0,
    [CT_ETM4_ADDR_L_32IS1] = ETM4_PKT_I_ADDR_L_32IS1,
    [CT_ETM4_ADDR_L_64IS0] = ETM4_PKT_I_ADDR_L_64IS0,
    [CT_ETM4_ADDR_L_64IS1] = ETM4_PKT_I_ADDR_L_64IS1,
    [CT_ETM4_ADDR_CTXT_L_32IS0] = ETM4_PKT_I_ADDR_CTXT_L_32IS0,
    [CT_ETM4_ADDR_CTXT_L_32IS1] = ETM4_PKT_I_ADDR_CTXT_L_32IS1,
    [CT_ETM4_ADDR_CTXT_L_64IS0] = ETM4_PKT_I_ADDR_CTXT_L_64IS0,
    [CT_ETM4_ADDR_CTXT_L_64IS1] = ETM4_PKT_I_ADDR_CTXT_L_64IS1,
    [CT_ETM4_ADDR_MATCH] = ETM4_PKT_I_ADDR_MATCH,
    [CT_ETM4_SRC_ADDR_S_IS0] = ETE_PKT_I_SRC_ADDR_S_IS0,
    [CT_ETM4_SRC_ADDR_S_IS1] = ETE_PKT_I_SRC_ADDR_S_IS1,
    [CT_ETM4_SRC_ADDR_L_32IS0] = ETE_PKT_I_SRC_ADDR_L_32IS0,
    [CT_ETM4_SRC_ADDR_L_32IS1] = ETE_PKT_I_SRC_ADDR_L_32IS1,
    [CT_ETM4_SRC_ADDR_L_64IS0] = ETE_PKT_I_SRC_ADDR_L_64IS0,
    [CT_ETM4_SRC_ADDR_L_64IS1] = ETE_PKT_I_SRC_ADDR_L_64IS1,
    [CT_ETM4_SRC_ADDR_MATCH] = ETE_PKT_I_SRC_ADDR_MATCH,
    [CT_ETM4_ATOM_F1] = ETM4_PKT_I_ATOM_F1,
    [CT_ETM4_ATOM_F2] = ETM4_PKT_I_ATOM_F2,
    [CT_ETM4_ATOM_F3] = ETM4_PKT_I_ATOM_F3,
    [CT_ETM4_ATOM_F4] = ETM4_PKT_I_ATOM_F4,
    [CT_ETM4_ATOM_F5] = ETM4_PKT_I_ATOM_F5,
    [CT_ETM4_ATOM_F6] = ETM4_PKT_I_ATOM_F6,
    [CT_ETM4_Q] = ETM4_PKT_I_Q,
    [CT_ETM4_CCNT_F1] = ETM4_PKT_I_CCNT_F1,
    [CT_ETM4_CCNT_F2] = ETM4_PKT_I_CCNT_F2,
    [CT_ETM4_CCNT_F3] = ETM4_PKT_I_CCNT_F3,
    [CT_ETM4_COMMIT] = ETM4_PKT_I_COMMIT,
    [CT_ETM4_CANCEL_F1] = ETM4_PKT_I_CANCEL_F1,
    [CT_ETM4_CANCEL_F1_MISPRED] = ETM4_PKT_I_CANCEL_F1_MISPRED,
    [CT_ETM4_CANCEL_F2] = ETM4_PKT_I_CANCEL_F2,
    [CT_ETM4_CANCEL_F3] = ETM4_PKT_I_CANCEL_F3,
    [CT_ETM4_MISPREDICT] = ETM4_PKT_I_MISPREDICT,
    [CT_ETM4_COND_I_F1] = ETM4_PKT_I_COND_I_F1,
    [CT_ETM4_COND_I_F2] = ETM4_PKT_I_COND_I_F2,
    [CT_ETM4_COND_I_F3] = ETM4_PKT_I_COND_I_F3,
    [CT_ETM4_COND_FLUSH] = ETM4_PKT_I_COND_FLUSH,
    [CT_ETM4_COND_RES_F1] = ETM4_PKT_I_COND_RES_F1,
    [CT_ETM4_COND_RES_F2] = ETM4_PKT_I_COND_RES_F2,
    [CT_ETM4_COND_RES_F3] = ETM4_PKT_I_COND_RES_F3,
    [CT_ETM4_COND_RES_F4] = ETM4_PKT_I_COND_RES_F4,
    [CT_ETM4_EXCEPT] = ETM4_PKT_I_EXCEPT,
    [CT_ETM4_EXCEPT_RTN] = ETM4_PKT_I_EXCEPT_RTN,
    [CT_ETM4_FUNC_RET] = ETM4_PKT_I_FUNC_RET,
    [CT_ETM4_EVENT] = ETM4_PKT_I_EVENT,
    [CT_ETM4_NUM_DS_MKR] = ETM4_PKT_I_NUM_DS_MKR,
    [CT_ETM4_UNNUM_DS_MKR] = ETM4_PKT_I_UNNUM_DS_MKR,
    [CT_ETM4_ITE] = ETM4_PKT_I_RESERVED,
    [CT_ETM4_TRANS_ST] = ETE_PKT_I_TRANS_ST,
    [CT_ETM4_TRANS_COMMIT] = ETE_PKT_I_TRANS_COMMIT,
    [CT_ETM4_TRANS_FAIL] = ETE_PKT_I_TRANS_FAIL,
    [CT_ETM4_PE_RESET] = ETE_PKT_I_PE_RESET,
    [CT_ETM4_IGNORE] = ETM4_PKT_I_IGNORE,
};

/* Returns how many low bits of an address its packet contains. */
static uint8_t address_bits(const struct ct_etm4_packet *in)
{
    switch (in->type) {
    case CT_ETM4_ADDR_S_IS0:
    case CT_ETM4_SRC_ADDR_S_IS0:
        return in->size > 2 ? 17 : 9;
    case CT_ETM4_ADDR_S_IS1:
    case CT_ETM4_SRC_ADDR_S_IS1:
        return in->size > 2 ? 16 : 8;
    case CT_ETM4_ADDR_L_32IS0:
    case CT_ETM4_ADDR_L_32IS1:
    case CT_ETM4_ADDR_CTXT_L_32IS0:
    case CT_ETM4_ADDR_CTXT_L_32IS1:
    case CT_ETM4_SRC_ADDR_L_32IS0:
    case CT_ETM4_SRC_ADDR_L_32IS1:
        return 32;
    default:
        return 64;
    }
}

void ct_ocsd_etm4_init_widths(struct ct_ocsd_etm4_width *widths)
{
    for (int i = 0; i < CT_OCSD_ETM4_ADDRESSES; i++)
        widths[i] = (struct ct_ocsd_etm4_width){.size = VA_64BIT, .valid = 64};
}

/* Adds the width of a packet's address to the history. */
static void push_width(struct ct_ocsd_etm4_width *widths, const ocsd_pkt_vaddr *address)
{
    memmove(widths + 1, widths, (CT_OCSD_ETM4_ADDRESSES - 1) * sizeof *widths);
    widths[0] = (struct ct_ocsd_etm4_width){.size = (uint8_t)address->size, .valid = address->valid_bits};
}

/* Returns the width of an address. A match has that of the address that it repeats. Others have the bits that
 * are in the packet, and the higher ones that were valid before. */
static struct ct_ocsd_etm4_width width_of(const struct ct_etm4_packet *in,
                                          const struct ct_ocsd_etm4_width *widths,
                                          const ocsd_etmv4_i_pkt *before)
{
    const uint8_t bits = address_bits(in);
    if (in->type == CT_ETM4_ADDR_MATCH || in->type == CT_ETM4_SRC_ADDR_MATCH)
        return widths[in->idx];
    return (struct ct_ocsd_etm4_width){.size = bits == 64 || (bits == 32 && before->context.SF) ? VA_64BIT
                                               : bits == 32                                     ? VA_32BIT
                                                            : (uint8_t)before->v_addr.size,
                                       .valid = bits > before->v_addr.valid_bits ? bits
                                                                                 : before->v_addr.valid_bits};
}

static void set_address(const struct ct_etm4_packet *in, struct ct_ocsd_etm4_width *widths,
                        ocsd_etmv4_i_pkt *out)
{
    const struct ct_ocsd_etm4_width width = width_of(in, widths, out);
    out->v_addr = (ocsd_pkt_vaddr){.size = (ocsd_pkt_va_size)width.size,
                                   .val = in->value,
                                   .pkt_bits = address_bits(in),
                                   .valid_bits = width.valid};
    push_width(widths, &out->v_addr);
    out->v_addr_ISA = in->is;
}

static void set_context(const struct ct_etm4_packet *in, ocsd_etmv4_i_pkt *out)
{
    etmv4_context_t *context = &out->context;
    context->updated = context->updated_c = context->updated_v = 0;
    out->pkt_valid.bits.context_valid = 1;
    if (!(in->flags & CT_ETM4_HAS_CONTEXT))
        return;
    context->updated = 1;
    context->EL = in->el_sec & 3u;
    context->NS = in->el_sec >> 4 & 1u;
    context->NSE = in->el_sec >> 5 & 1u;
    context->SF = (in->flags & CT_ETM4_SF) != 0;
    if (in->flags & CT_ETM4_HAS_CTXT) {
        context->updated_c = 1;
        context->ctxtID = in->ctxt;
    }
    if (in->flags & CT_ETM4_HAS_VMID) {
        context->updated_v = 1;
        context->VMID = in->vmid;
    }
}

static void set_count(const struct ct_etm4_packet *in, ocsd_etmv4_i_pkt *out)
{
    out->cycle_count = in->count;
    out->pkt_valid.bits.cc_valid = 1;
    if (in->flags & CT_ETM4_HAS_COMMIT) {
        out->commit_elements = in->count2;
        out->pkt_valid.bits.commit_elem_valid = 1;
    }
}

/* Sets the fields of a trace info packet. A missing threshold keeps its value. Addresses have 64 bits from
 * now on. */
static void set_trace_info(const uint8_t *bytes, struct ct_ocsd_etm4_width *widths, ocsd_etmv4_i_pkt *out)
{
    const struct ct_ocsd_trace_info info = ct_ocsd_etm4_trace_info(bytes);
    out->trace_info.val = info.info;
    out->v_addr.size = VA_64BIT;
    out->v_addr.valid_bits = 64;
    ct_ocsd_etm4_init_widths(widths);
    out->pkt_valid.bits.trace_info_valid = 1;
    if (info.sections & 4) {
        out->curr_spec_depth = info.spec;
        out->pkt_valid.bits.spec_depth_valid = 1;
    }
    if (info.sections & 8) {
        out->cc_threshold = info.threshold;
        out->pkt_valid.bits.cc_thresh_valid = 1;
    }
}

static void set_timestamp(const struct ct_etm4_packet *in, ocsd_etmv4_i_pkt *out)
{
    out->ts.timestamp = in->value;
    out->pkt_valid.bits.ts_valid = 1;
    if (in->flags & CT_ETM4_HAS_COUNT) {
        out->cycle_count = in->count;
        out->pkt_valid.bits.cc_valid = 1;
    }
}

static void set_exception(const struct ct_etm4_packet *in, int m_profile, ocsd_etmv4_i_pkt *out)
{
    out->exception_info.exceptionType = in->info & 0x3ffu;
    out->exception_info.addr_interp = in->idx & 3u;
    out->exception_info.m_fault_pending = m_profile && (in->flags & CT_ETM4_FAULT_PENDING);
    out->exception_info.m_type = m_profile != 0;
}

static void set_q(const struct ct_etm4_packet *in, struct ct_ocsd_etm4_width *widths, ocsd_etmv4_i_pkt *out)
{
    out->Q_pkt.q_type = in->header & 0xfu;
    out->Q_pkt.count_present = (in->flags & CT_ETM4_HAS_COUNT) != 0;
    out->Q_pkt.q_count = in->count;
    out->Q_pkt.addr_present = (in->flags & CT_ETM4_HAS_ADDR) != 0;
    out->Q_pkt.addr_match = (in->flags & CT_ETM4_MATCH) != 0;
    if (in->flags & CT_ETM4_HAS_ADDR)
        set_address(in, widths, out);
}

/* Clears the fields that belong to a single packet. */
static void clear_packet(ocsd_etmv4_i_pkt *out)
{
    out->pkt_valid.val = 0;
    out->atom = (ocsd_pkt_atom){0};
    out->commit_elements = out->cancel_elements = 0;
    out->cycle_count = 0;
    out->err_type = ETM4_PKT_I_NO_ERR_TYPE;
}

void ct_ocsd_etm4_convert(const struct ct_etm4_packet *in, const uint8_t *bytes, uint8_t version,
                          int m_profile, struct ct_ocsd_etm4_width *widths, ocsd_etmv4_i_pkt *out)
{
    const unsigned type = in->type;
    clear_packet(out);
    out->type = (ocsd_etmv4_i_pkt_type)types[type];
    out->protocol_version = version;
    out->atom = (ocsd_pkt_atom){.En_bits = in->atoms, .num = in->natoms};
    out->addr_exact_match_idx = in->idx;
    if (type >= CT_ETM4_ADDR_S_IS0 && type <= CT_ETM4_SRC_ADDR_MATCH)
        set_address(in, widths, out);
    if (type == CT_ETM4_CTXT || (type >= CT_ETM4_ADDR_CTXT_L_32IS0 && type <= CT_ETM4_ADDR_CTXT_L_64IS1))
        set_context(in, out);
    switch (type) {
    case CT_ETM4_INCOMPLETE_EOT:
    case CT_ETM4_BAD_SEQUENCE:
    case CT_ETM4_RESERVED_CFG:
        out->err_type = (ocsd_etmv4_i_pkt_type)types[in->err];
        out->err_hdr_val = in->header;
        break;
    case CT_ETM4_TRACE_INFO:
        set_trace_info(bytes, widths, out);
        break;
    case CT_ETM4_TIMESTAMP:
        set_timestamp(in, out);
        break;
    case CT_ETM4_Q:
        set_q(in, widths, out);
        break;
    case CT_ETM4_CCNT_F1:
    case CT_ETM4_CCNT_F2:
    case CT_ETM4_CCNT_F3:
        set_count(in, out);
        break;
    case CT_ETM4_COMMIT:
        out->commit_elements = in->count2;
        out->pkt_valid.bits.commit_elem_valid = 1;
        break;
    case CT_ETM4_CANCEL_F1 ... CT_ETM4_CANCEL_F3:
        out->cancel_elements = in->count2;
        break;
    case CT_ETM4_PE_RESET: /* both have an address of 64 bits, which is zero */
    case CT_ETM4_TRANS_FAIL:
        out->v_addr = (ocsd_pkt_vaddr){.size = VA_64BIT, .valid_bits = 64};
        push_width(widths, &out->v_addr);
        break;
    case CT_ETM4_EXCEPT:
        set_exception(in, m_profile, out);
        break;
    case CT_ETM4_EVENT:
        out->event_val = (uint8_t)in->info;
        break;
    default:
        break;
    }
}
