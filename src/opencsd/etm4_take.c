/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of an ETMv4 or ETE: the items that each adds. IHI 0064H chapter 5. */
#include "opencsd/etm4.h"
#include "opencsd/layout.h"

static void hold(struct ct_ocsd_etm4 *d, struct ct_ocsd_held item)
{
    item.index = d->index;
    if (item.p0)
        d->pending_address = false;
    if (!ct_ocsd_held_push(&d->held, &item))
        d->out_of_memory = true;
    d->depth += item.p0;
}

static void hold_context(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_CONTEXT,
                                  .n = p->el_sec,
                                  .aux = p->flags,
                                  .count = d->last_is1,
                                  .value = (uint64_t)p->vmid << 32 | p->ctxt});
}

static void on_address(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    if (p->type >= CT_ETM4_ADDR_CTXT_L_32IS0 && p->type <= CT_ETM4_ADDR_CTXT_L_64IS1)
        hold_context(d, p);
    hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_ADDRESS, .n = p->is, .value = p->value});
    d->pending_address = false;
}

static void on_source(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_SOURCE, .n = p->is, .value = p->value, .p0 = 1});
}

static void on_atoms(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    if (p->natoms)
        hold(d, (struct ct_ocsd_held){
                    .kind = CT_OCSD_HELD_ATOMS, .n = p->natoms, .p0 = p->natoms, .value = p->atoms});
}

static void on_exception(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_EXCEPTION, .n = p->idx, .aux = p->info, .p0 = 1});
    d->pending_address = true;
}

static void on_q(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    const bool has_address = p->flags & CT_ETM4_HAS_ADDR;
    hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_Q,
                                  .n = p->is,
                                  .aux = p->flags,
                                  .value = p->value,
                                  .count = p->flags & CT_ETM4_HAS_COUNT ? p->count : 0,
                                  .p0 = 1});
    d->pending_address = !has_address;
}

static void on_timestamp(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    hold(d, (struct ct_ocsd_held){
                .kind = CT_OCSD_HELD_TIMESTAMP, .value = p->value, .n = d->cycle_count, .count = p->count});
}

static void on_cycles(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_CYCLES, .count = p->count});
}

/* Takes a packet that cancels P0 elements, or inverts the newest atom. Its own atoms come first. */
static void on_cancel(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    on_atoms(d, p);
    d->cancel = p->count2;
    d->mispredict = p->type != CT_ETM4_CANCEL_F1;
}

static void on_lost(struct ct_ocsd_etm4 *d, unsync_info_t reason)
{
    d->discard = true;
    d->after_overflow |= reason == UNSYNC_OVERFLOW;
    d->reason = d->after_overflow ? UNSYNC_OVERFLOW : (uint8_t)reason;
}

static void hold_transaction(struct ct_ocsd_etm4 *d, trace_memtrans_t what, bool p0)
{
    hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_TRANSACTION, .n = (uint8_t)what, .p0 = p0});
}

/* Takes packets about speculation, and those that end synchronisation. */
static void on_control(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    switch (p->type) {
    case CT_ETM4_COMMIT:
        d->commit = p->count2;
        break;
    case CT_ETM4_CANCEL_F1 ... CT_ETM4_MISPREDICT:
        on_cancel(d, p);
        break;
    case CT_ETM4_OVERFLOW:
        on_lost(d, UNSYNC_OVERFLOW);
        break;
    case CT_ETM4_DISCARD:
        on_lost(d, UNSYNC_DISCARD);
        break;
    case CT_ETM4_RESERVED:
        ct_ocsd_etm4_fail(d, OCSD_ERR_BAD_DECODE_PKT, "Reserved packet header");
        break;
    case CT_ETM4_BAD_SEQUENCE:
        ct_ocsd_etm4_fail(d, OCSD_ERR_BAD_DECODE_PKT, "Bad byte sequence in packet.");
        break;
    case CT_ETM4_NOT_SYNC:
    case CT_ETM4_BAD_TRACEMODE:
    case CT_ETM4_RESERVED_CFG:
    case CT_ETM4_EXTENSION:
    case CT_ETM4_PE_RESET: /* 1.3.3 decodes this packet, but makes nothing of it */
    case CT_ETM4_INCOMPLETE_EOT:
        ct_ocsd_etm4_fail(d, OCSD_ERR_BAD_DECODE_PKT, "Unknown packet type.");
        break;
    default:
        break;
    }
}

void ct_ocsd_etm4_hold(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    switch (p->type) {
    case CT_ETM4_ATOM_F1 ... CT_ETM4_ATOM_F6:
        on_atoms(d, p);
        break;
    case CT_ETM4_ADDR_S_IS0 ... CT_ETM4_ADDR_MATCH:
        on_address(d, p);
        break;
    case CT_ETM4_SRC_ADDR_S_IS0 ... CT_ETM4_SRC_ADDR_MATCH:
        on_source(d, p);
        break;
    case CT_ETM4_CTXT:
        hold_context(d, p);
        break;
    case CT_ETM4_TRACE_ON:
        hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_TRACE_ON});
        break;
    case CT_ETM4_TRACE_INFO:
        ct_ocsd_return_flush(&d->path.returns);
        break;
    case CT_ETM4_EXCEPT:
        on_exception(d, p);
        break;
    case CT_ETM4_EXCEPT_RTN:
        hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_RETURN, .p0 = d->v7m});
        break;
    case CT_ETM4_FUNC_RET:
        hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_FUNCTION_RETURN, .p0 = 1});
        break;
    case CT_ETM4_Q:
        on_q(d, p);
        break;
    case CT_ETM4_CCNT_F1:
    case CT_ETM4_CCNT_F2:
    case CT_ETM4_CCNT_F3:
        on_cycles(d, p);
        break;
    case CT_ETM4_TIMESTAMP:
        on_timestamp(d, p);
        break;
    case CT_ETM4_TS_MARKER:
        hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_MARKER});
        break;
    case CT_ETM4_EVENT:
        hold(d, (struct ct_ocsd_held){.kind = CT_OCSD_HELD_EVENT, .n = (uint8_t)p->info});
        break;
    case CT_ETM4_TRANS_ST:
        hold_transaction(d, OCSD_MEM_TRANS_START, d->trans_start_p0);
        break;
    case CT_ETM4_TRANS_COMMIT:
        hold_transaction(d, OCSD_MEM_TRANS_COMMIT, false);
        break;
    case CT_ETM4_TRANS_FAIL:
        hold_transaction(d, OCSD_MEM_TRANS_FAIL, false);
        break;
    default:
        on_control(d, p);
        break;
    }
    const bool too_many = (int32_t)d->depth > (int32_t)d->max_spec; /* signed, as in 1.3.3 */
    if (!d->pending_address && !d->commit && too_many)
        d->commit = d->depth - d->max_spec;
}

static void on_first_info(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    d->state = CT_OCSD_ETM4_DECODE;
    d->depth = p->count2;
    if (p->flags & CT_ETM4_TSTATE)
        hold_transaction(d, OCSD_MEM_TRANS_TRACE_INIT, false);
}

void ct_ocsd_etm4_take(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    if (ct_ocsd_etm4_take_quickly(d, p))
        return;
    d->commit_index = d->address_waits ? d->address_index : 0;
    if (d->state == CT_OCSD_ETM4_NO_SYNC)
        ct_ocsd_etm4_no_sync(d);
    if ((p->type >= CT_ETM4_ADDR_S_IS0 && p->type <= CT_ETM4_ADDR_MATCH) || p->flags & CT_ETM4_HAS_ADDR)
        d->last_is1 = p->is;
    switch (d->state) {
    case CT_OCSD_ETM4_WAIT_SYNC:
        if (p->type == CT_ETM4_ASYNC)
            d->state = CT_OCSD_ETM4_WAIT_INFO;
        break;
    case CT_OCSD_ETM4_WAIT_INFO:
        if (p->type == CT_ETM4_TRACE_INFO)
            on_first_info(d, p);
        else if (p->type == CT_ETM4_EVENT && d->ete) /* the only packet that 1.3.3 takes here */
            ct_ocsd_etm4_hold(d, p);
        break;
    default:
        ct_ocsd_etm4_hold(d, p);
        break;
    }
}
