/* SPDX-License-Identifier: Apache-2.0 */
/* Converts packets of packet_etm3.h to those of OpenCSD. */
#include "opencsd/etm3.h"
#include "opencsd/v7_packet.h"

static const ocsd_etmv3_pkt_type types[CT_ETM3_TYPE_COUNT] = {
    [CT_ETM3_NOT_SYNC] = ETM3_PKT_NOTSYNC,
    [CT_ETM3_BAD_SEQUENCE] = ETM3_PKT_BAD_SEQUENCE,
    [CT_ETM3_BAD_TRACEMODE] = ETM3_PKT_BAD_TRACEMODE,
    [CT_ETM3_RESERVED] = ETM3_PKT_RESERVED,
    [CT_ETM3_A_SYNC] = ETM3_PKT_A_SYNC,
    [CT_ETM3_I_SYNC] = ETM3_PKT_I_SYNC,
    [CT_ETM3_I_SYNC_CYCLE] = ETM3_PKT_I_SYNC_CYCLE,
    [CT_ETM3_P_HDR] = ETM3_PKT_P_HDR,
    [CT_ETM3_BRANCH_ADDRESS] = ETM3_PKT_BRANCH_ADDRESS,
    [CT_ETM3_CYCLE_COUNT] = ETM3_PKT_CYCLE_COUNT,
    [CT_ETM3_TRIGGER] = ETM3_PKT_TRIGGER,
    [CT_ETM3_CONTEXT_ID] = ETM3_PKT_CONTEXT_ID,
    [CT_ETM3_VMID] = ETM3_PKT_VMID,
    [CT_ETM3_TIMESTAMP] = ETM3_PKT_TIMESTAMP,
    [CT_ETM3_EXCEPTION_ENTRY] = ETM3_PKT_EXCEPTION_ENTRY,
    [CT_ETM3_EXCEPTION_EXIT] = ETM3_PKT_EXCEPTION_EXIT,
    [CT_ETM3_NORM_DATA] = ETM3_PKT_NORM_DATA,
    [CT_ETM3_OOO_DATA] = ETM3_PKT_OOO_DATA,
    [CT_ETM3_OOO_ADDR_PLC] = ETM3_PKT_OOO_ADDR_PLC,
    [CT_ETM3_VAL_NOT_TRACED] = ETM3_PKT_VAL_NOT_TRACED,
    [CT_ETM3_STORE_FAIL] = ETM3_PKT_STORE_FAIL,
    [CT_ETM3_DATA_SUPPRESSED] = ETM3_PKT_DATA_SUPPRESSED,
    [CT_ETM3_IGNORE] = ETM3_PKT_IGNORE,
};

/* exceptions of the M profile; other numbers are interrupts */
static const ocsd_armv7_exception exceptions_m[] = {
    Excp_NoException,    Excp_CMIRQn,      Excp_CMIRQn,   Excp_CMIRQn,       Excp_CMIRQn,   Excp_CMIRQn,
    Excp_CMIRQn,         Excp_CMIRQn,      Excp_CMIRQn,   Excp_CMUsageFault, Excp_CMNMI,    Excp_SVC,
    Excp_CMDebugMonitor, Excp_CMMemManage, Excp_CMPendSV, Excp_CMSysTick,    Excp_Reserved, Excp_Reset,
    Excp_Reserved,       Excp_CMHardFault, Excp_Reserved, Excp_CMBusFault,   Excp_Reserved, Excp_Reserved,
};

enum {
    M_EXCEPTIONS = sizeof exceptions_m / sizeof *exceptions_m,
    FIRST_IRQS = 8, /* IRQ1 to IRQ7 are numbers 1 to 7; IRQ0 is 8 */
};

static void set_address(const struct ct_etm3_packet *in, uint8_t bits, ocsd_etmv3_pkt *out)
{
    out->addr =
        (ocsd_pkt_vaddr){.size = VA_32BIT, .val = in->value, .pkt_bits = bits, .valid_bits = in->valid};
    out->curr_isa = ct_ocsd_v7_ocsd_isa(in->isa);
}

/* Returns the instruction set of a branch address: A32 while it is unknown. */
static uint8_t isa_of(const struct ct_etm3_packet *in)
{
    return in->isa == CT_V7_ISA_UNKNOWN ? CT_V7_A32 : in->isa;
}

static void set_context(const struct ct_etm3_packet *in, ocsd_etmv3_pkt *out)
{
    if (!(in->flags & CT_ETM3_HAS_SEC))
        return;
    out->context.updated = 1;
    out->context.curr_NS = (in->flags & CT_ETM3_NS) != 0;
    out->context.curr_Hyp = (in->flags & CT_ETM3_HYP) != 0;
}

static void set_context_id(const struct ct_etm3_packet *in, ocsd_etmv3_pkt *out)
{
    out->context.updated_c = 1;
    out->context.ctxtID = in->ctxt;
}

static void set_m_exception(const struct ct_etm3_packet *in, ocsd_etmv3_excep *out)
{
    out->bits.cm_type = 1;
    out->bits.cm_resume = in->resume & 15u;
    out->type = in->exc < M_EXCEPTIONS ? exceptions_m[in->exc] : Excp_CMIRQn;
    out->bits.cm_irq_n = in->exc == FIRST_IRQS    ? 0
                         : in->exc < FIRST_IRQS   ? in->exc & 7u
                         : in->exc < M_EXCEPTIONS ? 0
                                                  : (in->exc - (unsigned)M_EXCEPTIONS + FIRST_IRQS) & 0x1ffu;
}

static void set_exception(const struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *in, ocsd_etmv3_pkt *out)
{
    ocsd_etmv3_excep *e = &out->exception;
    if (!(in->flags & CT_ETM3_HAS_EXC))
        return;
    *e = (ocsd_etmv3_excep){.number = in->exc, .type = ct_ocsd_v7_exception(in->exc & 15u)};
    e->bits.present = 1;
    e->bits.cancel = (in->flags & CT_ETM3_CANCEL) != 0;
    if (d->m_profile)
        set_m_exception(in, e);
}

static void set_sync(const struct ct_etm3_packet *in, ocsd_etmv3_pkt *out)
{
    out->isync_info.reason = (ocsd_iSync_reason)in->reason;
    out->isync_info.has_cycle_count = in->type == CT_ETM3_I_SYNC_CYCLE;
    out->isync_info.has_LSipAddress = (in->flags & CT_ETM3_HAS_CURR) != 0;
    out->isync_info.no_address = !(in->flags & CT_ETM3_HAS_ADDR);
    set_context(in, out);
    if (in->flags & CT_ETM3_HAS_ADDR)
        set_address(in, 32, out);
    if (in->flags & CT_ETM3_HAS_CTXT)
        set_context_id(in, out);
    if (in->type == CT_ETM3_I_SYNC_CYCLE)
        out->cycle_count = in->cc;
}

static void set_data(const struct ct_etm3_packet *in, ocsd_etmv3_pkt *out)
{
    out->data.ooo_tag = in->tag & 3u;
    out->data.value = in->data;
    out->data.update_dval = (in->flags & CT_ETM3_HAS_DATA) != 0;
    out->data.update_addr = (in->flags & CT_ETM3_HAS_ADDR) != 0;
    if (in->flags & CT_ETM3_HAS_ADDR)
        out->data.addr = (ocsd_pkt_vaddr){.size = VA_32BIT, .val = in->value, .valid_bits = in->valid};
}

/* Clears the fields that belong to a single packet. */
static void clear_packet(ocsd_etmv3_pkt *out)
{
    out->context.updated = out->context.updated_c = out->context.updated_v = 0;
    out->atom = (ocsd_pkt_atom){0};
    out->addr.pkt_bits = 0;
    out->cycle_count = 0;
    out->p_hdr_fmt = 0;
    out->ts_update_bits = 0;
    out->exception.bits.present = 0;
    out->isync_info.has_cycle_count = 0;
    out->data.update_dval = out->data.update_addr = 0;
    out->data.value = 0;
    out->data.ooo_tag = 0;
    out->err_type = ETM3_PKT_NOERROR;
    out->prev_isa = out->curr_isa;
}

void ct_ocsd_etm3_convert(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *in, const uint8_t *bytes)
{
    ocsd_etmv3_pkt *out = &d->packet;
    const ocsd_etmv3_pkt_type before = out->type;
    clear_packet(out);
    out->type = types[in->type];
    if (in->flags & CT_ETM3_CUT)
        return;
    switch (in->type) {
    case CT_ETM3_I_SYNC:
    case CT_ETM3_I_SYNC_CYCLE:
        set_sync(in, out);
        break;
    case CT_ETM3_BRANCH_ADDRESS:
        set_address(in, ct_ocsd_v7_address_bits(bytes, isa_of(in), d->alt_branch), out);
        set_context(in, out);
        set_exception(d, in, out);
        break;
    case CT_ETM3_P_HDR:
        out->atom = (ocsd_pkt_atom){.En_bits = in->atoms, .num = in->natoms};
        out->p_hdr_fmt = in->format;
        out->cycle_count = in->cc;
        break;
    case CT_ETM3_CYCLE_COUNT:
        out->cycle_count = in->cc;
        break;
    case CT_ETM3_CONTEXT_ID:
        set_context_id(in, out);
        break;
    case CT_ETM3_VMID:
        out->context.updated_v = 1;
        out->context.VMID = (uint8_t)in->value;
        break;
    case CT_ETM3_TIMESTAMP:
        out->timestamp = in->value;
        break;
    case CT_ETM3_NORM_DATA:
    case CT_ETM3_OOO_DATA:
    case CT_ETM3_OOO_ADDR_PLC:
    case CT_ETM3_VAL_NOT_TRACED:
        set_data(in, out);
        break;
    case CT_ETM3_BAD_SEQUENCE:
        out->err_type = types[in->err];
        break;
    case CT_ETM3_BAD_TRACEMODE: /* in most of these, 1.3.3 has the type of the previous packet */
        out->err_type = in->err == CT_ETM3_OOO_ADDR_PLC ? types[in->err] : before;
        break;
    default:
        break;
    }
}
