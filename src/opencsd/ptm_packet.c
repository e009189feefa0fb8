/* SPDX-License-Identifier: Apache-2.0 */
/* Converts packets of packet_ptm.h to those of OpenCSD. */
#include "opencsd/ptm.h"
#include "opencsd/v7_packet.h"

static const ocsd_ptm_pkt_type types[CT_PTM_TYPE_COUNT] = {
    [CT_PTM_NOT_SYNC] = PTM_PKT_NOTSYNC,
    [CT_PTM_INCOMPLETE_EOT] = PTM_PKT_INCOMPLETE_EOT,
    [CT_PTM_BAD_SEQUENCE] = PTM_PKT_BAD_SEQUENCE,
    [CT_PTM_RESERVED] = PTM_PKT_RESERVED,
    [CT_PTM_ASYNC] = PTM_PKT_A_SYNC,
    [CT_PTM_ISYNC] = PTM_PKT_I_SYNC,
    [CT_PTM_ATOM] = PTM_PKT_ATOM,
    [CT_PTM_BRANCH_ADDRESS] = PTM_PKT_BRANCH_ADDRESS,
    [CT_PTM_WP_UPDATE] = PTM_PKT_WPOINT_UPDATE,
    [CT_PTM_TRIGGER] = PTM_PKT_TRIGGER,
    [CT_PTM_CTXTID] = PTM_PKT_CONTEXT_ID,
    [CT_PTM_VMID] = PTM_PKT_VMID,
    [CT_PTM_TIMESTAMP] = PTM_PKT_TIMESTAMP,
    [CT_PTM_ERET] = PTM_PKT_EXCEPTION_RET,
    [CT_PTM_IGNORE] = PTM_PKT_IGNORE,
};

/* Corrects the instruction set of a branch or waypoint packet. */
static void correct_branch(struct ct_ocsd_ptm *d, struct ct_ptm_packet *packet, const uint8_t *bytes)
{
    const bool is_waypoint = packet->type == CT_PTM_WP_UPDATE;
    const uint8_t *address = bytes + is_waypoint;
    const unsigned size = ct_ocsd_v7_address_size(address);
    const bool has_info =
        is_waypoint ? packet->size > 1 + CT_OCSD_V7_ADDRESS_SIZE : packet->flags & CT_PTM_HAS_EXC;
    if (has_info)
        d->alt_isa = address[size] & 0x40;
    const bool is_thumb = packet->isa == CT_V7_T32 || packet->isa == CT_V7_TEE;
    if (is_thumb)
        packet->isa = d->alt_isa ? CT_V7_TEE : CT_V7_T32;
}

void ct_ocsd_ptm_correct_isa(struct ct_ocsd_ptm *d, struct ct_ptm_packet *packet, const uint8_t *bytes)
{
    if (packet->type == CT_PTM_BRANCH_ADDRESS || packet->type == CT_PTM_WP_UPDATE)
        correct_branch(d, packet, bytes);
    else if (packet->type != CT_PTM_ISYNC)
        return;
    packet->flags &= (uint8_t)~CT_PTM_ISA_CHANGED;
    if (packet->isa != d->isa)
        packet->flags |= CT_PTM_ISA_CHANGED;
    d->isa = packet->isa;
}

static void set_address(const struct ct_ptm_packet *in, uint8_t bits, ocsd_ptm_pkt *out)
{
    out->addr =
        (ocsd_pkt_vaddr){.size = VA_32BIT, .val = in->value, .pkt_bits = bits, .valid_bits = in->valid};
    out->curr_isa = ct_ocsd_v7_ocsd_isa(in->isa);
}

static void set_context(const struct ct_ptm_packet *in, ocsd_ptm_pkt *out)
{
    out->context.updated = 1;
    out->context.curr_NS = (in->flags & CT_PTM_NS) != 0;
    out->context.curr_Hyp = (in->flags & CT_PTM_HYP) != 0;
}

static void set_context_id(const struct ct_ptm_packet *in, ocsd_ptm_pkt *out)
{
    out->context.updated_c = 1;
    out->context.ctxtID = in->ctxt;
}

static void set_branch(const struct ct_ptm_packet *in, ocsd_ptm_pkt *out)
{
    if (!(in->flags & CT_PTM_HAS_EXC))
        return;
    set_context(in, out);
    out->exception.bits.present = 1;
    out->exception.number = in->exc;
    out->exception.type = ct_ocsd_v7_exception(in->exc);
}

/* Clears the fields that belong to a single packet. */
static void clear_packet(ocsd_ptm_pkt *out)
{
    out->context.updated = out->context.updated_c = out->context.updated_v = 0;
    out->atom = (ocsd_pkt_atom){0};
    out->cycle_count = 0;
    out->cc_valid = 0;
    out->ts_update_bits = 0;
    out->exception.bits.present = 0;
    out->err_type = PTM_PKT_NOERROR;
    out->prev_isa = out->curr_isa;
}

void ct_ocsd_ptm_convert(struct ct_ocsd_ptm *d, const struct ct_ptm_packet *in, const uint8_t *bytes)
{
    ocsd_ptm_pkt *out = &d->packet;
    clear_packet(out);
    out->type = types[in->type];
    out->cc_valid = (in->flags & CT_PTM_HAS_CC) != 0;
    out->cycle_count = in->cc;
    switch (in->type) {
    case CT_PTM_ISYNC:
        out->i_sync_reason = (ocsd_iSync_reason)in->reason;
        set_address(in, 32, out);
        set_context(in, out);
        if (in->flags & CT_PTM_HAS_CTXT)
            set_context_id(in, out);
        break;
    case CT_PTM_BRANCH_ADDRESS:
        set_address(in, ct_ocsd_v7_address_bits(bytes, in->isa, true), out);
        set_branch(in, out);
        break;
    case CT_PTM_WP_UPDATE:
        set_address(in, ct_ocsd_v7_address_bits(bytes + 1, in->isa, true), out);
        break;
    case CT_PTM_ATOM:
        out->atom = (ocsd_pkt_atom){.En_bits = in->atoms, .num = in->natoms};
        break;
    case CT_PTM_CTXTID:
        set_context_id(in, out);
        break;
    case CT_PTM_VMID:
        out->context.updated_v = 1;
        out->context.VMID = (uint8_t)in->value;
        break;
    case CT_PTM_TIMESTAMP:
        out->timestamp = in->value;
        out->ts_update_bits = in->valid;
        break;
    case CT_PTM_BAD_SEQUENCE:
    case CT_PTM_INCOMPLETE_EOT:
        out->err_type = types[in->err];
        break;
    default:
        break;
    }
}
