/* SPDX-License-Identifier: Apache-2.0 */
/* Packet lines of ETMv3, docs/listing.md. */
#include "format/listing.h"

static const char *const names[CT_ETM3_TYPE_COUNT] = {
    [CT_ETM3_NOT_SYNC] = "notsync",
    [CT_ETM3_BAD_SEQUENCE] = "bad_sequence",
    [CT_ETM3_BAD_TRACEMODE] = "bad_tracemode",
    [CT_ETM3_RESERVED] = "reserved",
    [CT_ETM3_A_SYNC] = "a_sync",
    [CT_ETM3_I_SYNC] = "i_sync",
    [CT_ETM3_I_SYNC_CYCLE] = "i_sync_cycle",
    [CT_ETM3_P_HDR] = "p_hdr",
    [CT_ETM3_BRANCH_ADDRESS] = "branch_address",
    [CT_ETM3_CYCLE_COUNT] = "cycle_count",
    [CT_ETM3_TRIGGER] = "trigger",
    [CT_ETM3_CONTEXT_ID] = "context_id",
    [CT_ETM3_VMID] = "vmid",
    [CT_ETM3_TIMESTAMP] = "timestamp",
    [CT_ETM3_EXCEPTION_ENTRY] = "exception_entry",
    [CT_ETM3_EXCEPTION_EXIT] = "exception_exit",
    [CT_ETM3_NORM_DATA] = "norm_data",
    [CT_ETM3_OOO_DATA] = "ooo_data",
    [CT_ETM3_OOO_ADDR_PLC] = "ooo_addr_plc",
    [CT_ETM3_VAL_NOT_TRACED] = "val_not_traced",
    [CT_ETM3_STORE_FAIL] = "store_fail",
    [CT_ETM3_DATA_SUPPRESSED] = "data_suppressed",
    [CT_ETM3_IGNORE] = "ignore",
};

static void isa(struct ct_text *t, const struct ct_etm3_packet *p)
{
    ct_text_lit(t, " isa=");
    ct_text_string(t, ct_v7_isa_names[p->isa]);
}

static void security(struct ct_text *t, const struct ct_etm3_packet *p)
{
    ct_text_string(t, p->flags & CT_ETM3_NS ? " sec=ns" : " sec=s");
    if (p->flags & CT_ETM3_HYP)
        ct_text_lit(t, " hyp=1");
}

static void address(struct ct_text *t, const struct ct_etm3_packet *p)
{
    if (!(p->flags & CT_ETM3_HAS_ADDR))
        return;
    ct_list_hex(t, " addr=", p->value);
    if (p->valid < 32)
        ct_list_dec(t, " valid=", p->valid);
}

static void branch(struct ct_text *t, const struct ct_etm3_packet *p, const struct ct_source *source)
{
    address(t, p);
    if (p->flags & CT_ETM3_ISA_CHANGED)
        isa(t, p);
    if (p->flags & CT_ETM3_HAS_SEC)
        security(t, p);
    if (!(p->flags & CT_ETM3_HAS_EXC))
        return;
    if (ct_etm3_exception_reserved(source, p))
        ct_text_lit(t, " exc=reserved");
    else
        ct_list_hex(t, " exc=", p->exc);
    if (source->arch.profile == CT_PROFILE_M)
        ct_text_lit(t, " mprof=1");
    if (p->resume)
        ct_list_dec(t, " resume=", p->resume);
    if (p->flags & CT_ETM3_CANCEL)
        ct_text_lit(t, " cancel=1");
}

static void i_sync(struct ct_text *t, const struct ct_etm3_packet *p)
{
    ct_text_lit(t, " reason=");
    ct_text_string(t, ct_sync_reason_names[p->reason]);
    if (p->flags & CT_ETM3_HAS_ADDR)
        ct_list_hex(t, " addr=", p->value);
    if (p->flags & CT_ETM3_HAS_CURR)
        ct_list_hex(t, " curr=", p->curr);
    if (p->flags & CT_ETM3_HAS_ADDR)
        isa(t, p);
    security(t, p);
    if (p->flags & CT_ETM3_HAS_CTXT)
        ct_list_hex(t, " ctxt=", p->ctxt);
    if (p->type == CT_ETM3_I_SYNC_CYCLE)
        ct_list_dec(t, " cc=", p->cc);
}

/* Appends atoms and cycles. A cycle precedes each atom in format 1; otherwise all cycles come first. */
static void p_header(struct ct_text *t, const struct ct_etm3_packet *p)
{
    ct_text_lit(t, " atoms=");
    unsigned cycles = p->format == 1 ? 0 : p->cc;
    for (unsigned i = 0; i < cycles; i++)
        ct_text_char(t, 'W');
    for (unsigned i = 0; i < p->natoms; i++) {
        if (p->format == 1 && p->cc)
            ct_text_char(t, 'W');
        ct_text_char(t, p->atoms >> i & 1 ? 'E' : 'N');
    }
    if (!p->natoms && !cycles)
        ct_text_char(t, '-');
    if (p->cc)
        ct_list_dec(t, " cc=", p->cc);
}

static void fields(struct ct_text *t, const struct ct_etm3_packet *p, const struct ct_source *source)
{
    switch (p->type) {
    case CT_ETM3_NOT_SYNC:
        ct_list_dec(t, " bytes=", p->value);
        break;
    case CT_ETM3_BRANCH_ADDRESS:
        branch(t, p, source);
        break;
    case CT_ETM3_I_SYNC:
    case CT_ETM3_I_SYNC_CYCLE:
        i_sync(t, p);
        break;
    case CT_ETM3_P_HDR:
        p_header(t, p);
        break;
    case CT_ETM3_CYCLE_COUNT:
        ct_list_dec(t, " cc=", p->cc);
        break;
    case CT_ETM3_CONTEXT_ID:
        ct_list_hex(t, " ctxt=", p->ctxt);
        break;
    case CT_ETM3_VMID:
        ct_list_hex(t, " vmid=", p->value);
        break;
    case CT_ETM3_TIMESTAMP:
        ct_list_hex(t, " ts=", p->value);
        break;
    case CT_ETM3_OOO_DATA:
        ct_list_hex(t, " data=", p->data);
        ct_list_hex(t, " tag=", p->tag);
        break;
    case CT_ETM3_OOO_ADDR_PLC:
        address(t, p);
        ct_list_hex(t, " tag=", p->tag);
        break;
    case CT_ETM3_NORM_DATA:
        address(t, p);
        if (p->flags & CT_ETM3_HAS_DATA)
            ct_list_hex(t, " data=", p->data);
        break;
    case CT_ETM3_VAL_NOT_TRACED:
        address(t, p);
        break;
    case CT_ETM3_BAD_SEQUENCE:
    case CT_ETM3_BAD_TRACEMODE:
        ct_text_lit(t, " err=");
        ct_text_string(t, names[p->err]);
        break;
    default:
        break;
    }
}

static void list(struct ct_text *t, uint8_t id, uint64_t offset, const uint8_t *bytes, const void *packet,
                 const struct ct_source *source)
{
    const struct ct_etm3_packet *p = packet;
    ct_list_packet_start(t, id, offset, bytes, p->size, names[p->type]);
    fields(t, p, source);
    ct_text_char(t, '\n');
}

const struct ct_packet_listing ct_list_etm3 = {
    .names = names,
    .types = CT_ETM3_TYPE_COUNT,
    .size = sizeof(struct ct_etm3_packet),
    .pos = offsetof(struct ct_etm3_packet, pos),
    .list = list,
};
