/* SPDX-License-Identifier: Apache-2.0 */
/* Packet lines of PTM, docs/listing.md. */
#include "format/listing.h"

const char *const ct_v7_isa_names[] = {"a32", "t32", "tee", "jaz", "unk"};
const char *const ct_sync_reason_names[] = {"periodic", "trace_enable", "restart_overflow", "debug_exit"};

static const char *const names[CT_PTM_TYPE_COUNT] = {
    [CT_PTM_NOT_SYNC] = "notsync",
    [CT_PTM_INCOMPLETE_EOT] = "incomplete_eot",
    [CT_PTM_BAD_SEQUENCE] = "bad_sequence",
    [CT_PTM_RESERVED] = "reserved",
    [CT_PTM_ASYNC] = "async",
    [CT_PTM_ISYNC] = "isync",
    [CT_PTM_ATOM] = "atom",
    [CT_PTM_BRANCH_ADDRESS] = "branch_address",
    [CT_PTM_WP_UPDATE] = "wp_update",
    [CT_PTM_TRIGGER] = "trigger",
    [CT_PTM_CTXTID] = "ctxtid",
    [CT_PTM_VMID] = "vmid",
    [CT_PTM_TIMESTAMP] = "timestamp",
    [CT_PTM_ERET] = "eret",
    [CT_PTM_IGNORE] = "ignore",
};

static void isa(struct ct_text *t, const struct ct_ptm_packet *p)
{
    ct_text_lit(t, " isa=");
    ct_text_string(t, ct_v7_isa_names[p->isa]);
}

static void security(struct ct_text *t, const struct ct_ptm_packet *p)
{
    ct_text_string(t, p->flags & CT_PTM_NS ? " sec=ns" : " sec=s");
    if (p->flags & CT_PTM_HYP)
        ct_text_lit(t, " hyp=1");
}

static void isync(struct ct_text *t, const struct ct_ptm_packet *p)
{
    ct_text_lit(t, " reason=");
    ct_text_string(t, ct_sync_reason_names[p->reason]);
    ct_list_hex(t, " addr=", p->value);
    isa(t, p);
    security(t, p);
    if (p->flags & CT_PTM_HAS_CTXT)
        ct_list_hex(t, " ctxt=", p->ctxt);
}

static void address(struct ct_text *t, const struct ct_ptm_packet *p)
{
    ct_list_hex(t, " addr=", p->value);
    if (p->valid < 32)
        ct_list_dec(t, " valid=", p->valid);
    if (p->flags & CT_PTM_ISA_CHANGED)
        isa(t, p);
    if (p->flags & CT_PTM_HAS_SEC)
        security(t, p);
    if (p->flags & CT_PTM_HAS_EXC)
        ct_list_hex(t, " exc=", p->exc);
}

static void atoms(struct ct_text *t, const struct ct_ptm_packet *p)
{
    ct_text_lit(t, " atoms=");
    ct_text_atoms(t, p->atoms, p->natoms);
}

static void fields(struct ct_text *t, const struct ct_ptm_packet *p)
{
    switch (p->type) {
    case CT_PTM_NOT_SYNC:
        ct_list_dec(t, " bytes=", p->value);
        break;
    case CT_PTM_ISYNC:
        isync(t, p);
        break;
    case CT_PTM_ATOM:
        atoms(t, p);
        break;
    case CT_PTM_BRANCH_ADDRESS:
    case CT_PTM_WP_UPDATE:
        address(t, p);
        break;
    case CT_PTM_CTXTID:
        ct_list_hex(t, " ctxt=", p->ctxt);
        break;
    case CT_PTM_VMID:
        ct_list_hex(t, " vmid=", p->value);
        break;
    case CT_PTM_TIMESTAMP:
        ct_list_hex(t, " ts=", p->value);
        break;
    case CT_PTM_BAD_SEQUENCE:
        ct_text_lit(t, " err=");
        ct_text_string(t, names[p->err]);
        break;
    default:
        break;
    }
    if (p->flags & CT_PTM_HAS_CC)
        ct_list_dec(t, " cc=", p->cc);
}

static void list(struct ct_text *t, uint8_t id, uint64_t offset, const uint8_t *bytes, const void *packet,
                 const struct ct_source *source)
{
    const struct ct_ptm_packet *p = packet;
    (void)source;
    ct_list_packet_start(t, id, offset, bytes, p->size, names[p->type]);
    fields(t, p);
    ct_text_char(t, '\n');
}

const struct ct_packet_listing ct_list_ptm = {
    .names = names,
    .types = CT_PTM_TYPE_COUNT,
    .size = sizeof(struct ct_ptm_packet),
    .pos = offsetof(struct ct_ptm_packet, pos),
    .list = list,
};
