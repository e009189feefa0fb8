/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of an ETMv4 or ETE: what each of them adds to what is held, and what leaves because of it. IHI
 * 0064H chapter 5. */
#include "opencsd/etm4.h"
#include "opencsd/etm4_fields.h"
#include "opencsd/layout.h"
#include "opencsd/log.h"
#include "opencsd/packet_out.h"
#include "proto/etm4_finish.h"

/* Loses synchronisation, but keeps what is held. */
static void lose_path(struct ct_ocsd_etm4 *d, unsync_info_t reason)
{
    d->depth = d->commit = d->cancel = 0;
    d->mispredict = d->discard = d->pending_address = d->to_source = false;
    d->state = CT_OCSD_ETM4_NO_SYNC;
    d->mismatch = NULL;
    if (reason != UNSYNC_OVERFLOW && reason != UNSYNC_DISCARD) { /* 1.5.5 goes on to expect it there */
        d->has_next_start = false;
        d->told_failure = true;
    }
    if (d->address_waits) { /* 1.3.3 has held it, and drops it */
        d->path.addr = d->addr_before;
        d->path.isa = d->isa_before;
    }
    d->address_waits = false;
    d->reason = (uint8_t)reason;
    d->path.need_address = d->need_context = true;
    if (reason != UNSYNC_OVERFLOW && reason != UNSYNC_DISCARD)
        d->sf = false;
    if (reason == UNSYNC_BAD_PACKET)
        d->after_overflow = d->marker_seen = false;
    ct_ocsd_return_flush(&d->path.returns);
}

void ct_ocsd_etm4_lose(struct ct_ocsd_etm4 *d, unsync_info_t reason)
{
    lose_path(d, reason);
    ct_ocsd_held_clear(&d->held);
}

/* Tells whether the client wants decoding to end where it would begin anew. */
static bool halts(const struct ct_ocsd_etm4 *d)
{
    return d->base.flags & OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS;
}

/* Loses synchronisation because of a packet, and says why. */
static void fail(struct ct_ocsd_etm4 *d, ocsd_err_t code, const char *message)
{
    const bool is_error = d->base.flags & OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS;
    ct_ocsd_log(d->base.name, is_error ? OCSD_ERR_SEV_ERROR : OCSD_ERR_SEV_WARN, code, d->index, d->base.id,
                message);
    d->halted = halts(d);
    ct_ocsd_output_drop(&d->path.output);
    ct_ocsd_etm4_lose(d, UNSYNC_BAD_PACKET);
}

/* Says that synchronisation is missing, because of the packet in work. */
static void add_no_sync(struct ct_ocsd_etm4 *d)
{
    ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_NO_SYNC, d->index)->unsync_eot_info =
        (unsync_info_t)d->reason;
    d->state = CT_OCSD_ETM4_WAIT_SYNC;
}

/* Says that synchronisation was lost in the middle of a packet. While the client flushes, 1.3.3 says so with
 * the next packet, and where decoding ends too, if the client goes on. */
static void tell_loss(struct ct_ocsd_etm4 *d)
{
    if (!d->flushing && !d->halted)
        add_no_sync(d);
}

/* Loses synchronisation because a packet takes more of what is held than there is. What is held leaves after
 * the next synchronisation, as 1.3.3 has it. */
static void overrun(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, const char *message)
{
    ct_ocsd_log(d->base.name, OCSD_ERR_SEV_ERROR, OCSD_ERR_COMMIT_PKT_OVERRUN, index, d->base.id, message);
    ct_ocsd_output_drop(&d->path.output);
    lose_path(d, UNSYNC_BAD_PACKET);
    d->halted = halts(d);
    tell_loss(d);
}

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

/* Takes a packet that takes back P0 elements, or turns the newest atom round. Its own atoms come first. */
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

/* Takes the packets that say something of speculation, or that end synchronisation. */
static void on_control(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    switch (p->type) {
    case CT_ETM4_COMMIT:
        d->commit = p->count2;
        break;
    case CT_ETM4_CANCEL_F1:
    case CT_ETM4_CANCEL_F1_MISPRED:
    case CT_ETM4_CANCEL_F2:
    case CT_ETM4_CANCEL_F3:
    case CT_ETM4_MISPREDICT:
        on_cancel(d, p);
        break;
    case CT_ETM4_OVERFLOW:
        on_lost(d, UNSYNC_OVERFLOW);
        break;
    case CT_ETM4_DISCARD:
        on_lost(d, UNSYNC_DISCARD);
        break;
    case CT_ETM4_RESERVED:
        fail(d, OCSD_ERR_BAD_DECODE_PKT, "Reserved packet header");
        break;
    case CT_ETM4_BAD_SEQUENCE:
        fail(d, OCSD_ERR_BAD_DECODE_PKT, "Bad byte sequence in packet.");
        break;
    case CT_ETM4_NOT_SYNC:
    case CT_ETM4_BAD_TRACEMODE:
    case CT_ETM4_RESERVED_CFG:
    case CT_ETM4_EXTENSION:
    case CT_ETM4_PE_RESET: /* whose packet 1.3.3 knows, but not its decoder */
    case CT_ETM4_INCOMPLETE_EOT:
        fail(d, OCSD_ERR_BAD_DECODE_PKT, "Unknown packet type.");
        break;
    default:
        break;
    }
}

/* Holds what a packet adds, and notes what it demands. */
static void on_packet(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    switch (p->type) {
    case CT_ETM4_ATOM_F1:
    case CT_ETM4_ATOM_F2:
    case CT_ETM4_ATOM_F3:
    case CT_ETM4_ATOM_F4:
    case CT_ETM4_ATOM_F5:
    case CT_ETM4_ATOM_F6:
        on_atoms(d, p);
        break;
    case CT_ETM4_ADDR_S_IS0:
    case CT_ETM4_ADDR_S_IS1:
    case CT_ETM4_ADDR_L_32IS0:
    case CT_ETM4_ADDR_L_32IS1:
    case CT_ETM4_ADDR_L_64IS0:
    case CT_ETM4_ADDR_L_64IS1:
    case CT_ETM4_ADDR_CTXT_L_32IS0:
    case CT_ETM4_ADDR_CTXT_L_32IS1:
    case CT_ETM4_ADDR_CTXT_L_64IS0:
    case CT_ETM4_ADDR_CTXT_L_64IS1:
    case CT_ETM4_ADDR_MATCH:
        on_address(d, p);
        break;
    case CT_ETM4_SRC_ADDR_S_IS0:
    case CT_ETM4_SRC_ADDR_S_IS1:
    case CT_ETM4_SRC_ADDR_L_32IS0:
    case CT_ETM4_SRC_ADDR_L_32IS1:
    case CT_ETM4_SRC_ADDR_L_64IS0:
    case CT_ETM4_SRC_ADDR_L_64IS1:
    case CT_ETM4_SRC_ADDR_MATCH:
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
    if (!d->pending_address && !d->commit && d->depth > d->max_spec)
        d->commit = d->depth - d->max_spec;
}

static void on_first_info(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    d->state = CT_OCSD_ETM4_DECODE;
    d->depth = p->count2;
    if (p->flags & CT_ETM4_TSTATE)
        hold_transaction(d, OCSD_MEM_TRANS_TRACE_INIT, false);
}

/* Takes an exception, or a Q without an address, with the address that must follow it and may have a context
 * before it. Returns false when there is none. */
static bool release_with_address(struct ct_ocsd_etm4 *d, struct ct_ocsd_held item)
{
    if (d->held.count && ct_ocsd_held_at(&d->held, 0)->kind == CT_OCSD_HELD_CONTEXT) {
        struct ct_ocsd_held context = *ct_ocsd_held_at(&d->held, 0);
        context.index = item.index;
        ct_ocsd_etm4_execute(d, &context);
        ct_ocsd_held_pop(&d->held);
    }
    if (!d->held.count || ct_ocsd_held_at(&d->held, 0)->kind != CT_OCSD_HELD_ADDRESS)
        return false;
    const struct ct_ocsd_held address = *ct_ocsd_held_at(&d->held, 0);
    ct_ocsd_held_pop(&d->held);
    if (item.kind == CT_OCSD_HELD_EXCEPTION) {
        ct_ocsd_etm4_except(d, &item, &address);
        return true;
    }
    item.value = address.value;
    item.n = address.n;
    ct_ocsd_etm4_execute(d, &item);
    return true;
}

static void release_atoms(struct ct_ocsd_etm4 *d, struct ct_ocsd_held *atoms)
{
    const uint32_t done = ct_ocsd_etm4_atoms(d, atoms, d->commit);
    d->commit -= done;
    d->depth -= done;
    if (!atoms->n)
        ct_ocsd_held_pop(&d->held);
}

/* Takes the oldest item, or some of its atoms, for committed. Returns false when what must follow it is not
 * there. */
static bool release(struct ct_ocsd_etm4 *d)
{
    struct ct_ocsd_held *oldest = ct_ocsd_held_at(&d->held, 0);
    const struct ct_ocsd_held item = *oldest;
    if (item.kind == CT_OCSD_HELD_ATOMS) {
        release_atoms(d, oldest);
        return true;
    }
    const bool needs_address = item.kind == CT_OCSD_HELD_EXCEPTION ||
                               (item.kind == CT_OCSD_HELD_Q && !(item.aux & CT_ETM4_HAS_ADDR));
    if (!needs_address)
        ct_ocsd_etm4_execute(d, &item);
    if (d->to_source)
        return true;
    d->commit -= item.p0;
    d->depth -= item.p0;
    ct_ocsd_held_pop(&d->held);
    return !needs_address || release_with_address(d, item);
}

/* Loses synchronisation because the item of a packet at `index` cannot be committed: it has no address behind
 * it, or returned to where nobody knows. */
static void fail_commit(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index)
{
    if (d->lacks_return)
        ct_ocsd_log(d->base.name, OCSD_ERR_SEV_ERROR, OCSD_ERR_RET_STACK_OVERFLOW, OCSD_BAD_TRC_INDEX,
                    d->base.id, "Trace Return Stack Overflow.");
    else
        ct_ocsd_log(d->base.name, OCSD_ERR_SEV_ERROR, OCSD_ERR_BAD_PACKET_SEQ, d->index, d->base.id,
                    "Address missing in exception packet.");
    if (!halts(d) && !(d->late && d->lacks_return))
        ct_ocsd_log(d->base.name, OCSD_ERR_SEV_ERROR, OCSD_ERR_COMMIT_PKT_OVERRUN, d->late ? 0 : index,
                    d->base.id, "Not enough elements to commit");
    d->halted = halts(d);
    d->lacks_return = false;
    ct_ocsd_output_drop(&d->path.output);
    ct_ocsd_etm4_lose(d, UNSYNC_BAD_PACKET);
    tell_loss(d);
}

/* Loses synchronisation because of the program, at the item of a packet at `index`. */
static void fail_image(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index)
{
    const struct ct_ocsd_mismatch *mismatch = d->mismatch;
    ct_ocsd_log(d->base.name, OCSD_ERR_SEV_ERROR, mismatch->code, index, d->base.id, mismatch->message);
    ct_ocsd_output_drop(&d->path.output);
    ct_ocsd_etm4_lose(d, mismatch->reason);
    d->after_overflow = d->marker_seen = false;
    d->halted = mismatch->fatal || halts(d);
    tell_loss(d);
}

/* Takes one step of what is to be committed. */
static void commit_step(struct ct_ocsd_etm4 *d)
{
    if (!d->held.count) {
        overrun(d, d->commit_index, "Not enough elements to commit");
        return;
    }
    d->address_waits = false;
    const ocsd_trc_index_t index = d->commit_index = ct_ocsd_held_at(&d->held, 0)->index;
    if (!release(d) || d->lacks_return)
        fail_commit(d, index);
    else if (d->mismatch)
        fail_image(d, index);
    else if (d->path.output.leaving)
        d->commit_index = 0;
}

/* Tells whether an item leaves when the trace ends or, with `lost`, trace was lost. The end of a transaction
 * does where nothing can be taken back any more. */
static bool leaves(const struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item, bool lost)
{
    if (item->kind == CT_OCSD_HELD_TRANSACTION)
        return !lost && item->n >= OCSD_MEM_TRANS_COMMIT && !(d->max_spec && d->depth);
    return ct_ocsd_held_is_apart(item);
}

/* Tells whether what waits behind an item is dropped when the trace ends. 1.3.3 does not know source
 * addresses there. */
static bool ends_drain(const struct ct_ocsd_held *item)
{
    return (item->p0 && item->kind != CT_OCSD_HELD_SOURCE) || item->kind == CT_OCSD_HELD_TRACE_ON ||
           item->kind == CT_OCSD_HELD_RETURN;
}

/* Puts out what may leave of the items that wait: up to the first one of the path of execution when the trace
 * ends, all when trace was lost. Drops the others. */
static ocsd_datapath_resp_t drain_held(struct ct_ocsd_etm4 *d, bool lost)
{
    ocsd_datapath_resp_t resp = ct_ocsd_output_drain(&d->path.output);
    while (OCSD_DATA_RESP_IS_CONT(resp) && d->held.count) {
        struct ct_ocsd_held item = *ct_ocsd_held_at(&d->held, 0);
        ct_ocsd_held_pop(&d->held);
        if (leaves(d, &item, lost))
            ct_ocsd_etm4_execute(d, &item);
        else if (!lost && ends_drain(&item))
            ct_ocsd_held_clear(&d->held);
        resp = ct_ocsd_output_drain(&d->path.output);
    }
    return resp;
}

/* Drops what is held, but for what is about something else than the path of execution. */
static ocsd_datapath_resp_t discard(struct ct_ocsd_etm4 *d)
{
    const ocsd_datapath_resp_t resp = drain_held(d, true);
    const unsync_info_t reason = (unsync_info_t)d->reason;
    if (!OCSD_DATA_RESP_IS_CONT(resp))
        return resp;
    ct_ocsd_etm4_lose(d, reason);
    tell_loss(d);
    return ct_ocsd_output_drain(&d->path.output);
}

/* Tells whether all that is held is about something else than the path of execution: times, counts. */
static bool holds_no_path(const struct ct_ocsd_etm4 *d)
{
    for (uint32_t i = 0; i < d->held.count; i++)
        if (!ct_ocsd_held_is_apart(ct_ocsd_held_at(&d->held, i)))
            return false;
    return true;
}

/* Takes what is held for committed: an atom came. */
static void take_held(struct ct_ocsd_etm4 *d)
{
    for (uint32_t i = 0; i < d->held.count; i++)
        ct_ocsd_etm4_execute(d, ct_ocsd_held_at(&d->held, i));
    ct_ocsd_held_clear(&d->held);
}

/* Takes atoms that leave at once, and what is held before them. */
static void take_atoms(struct ct_ocsd_etm4 *d, uint8_t count, uint32_t atoms)
{
    struct ct_ocsd_held item = {
        .kind = CT_OCSD_HELD_ATOMS, .n = count, .p0 = count, .value = atoms, .index = d->index};
    d->address_waits = false;
    take_held(d);
    while (item.n && !d->lacks_return && !d->out_of_memory && !d->mismatch)
        ct_ocsd_etm4_atoms(d, &item, item.n);
    if (d->lacks_return)
        fail_commit(d, d->index);
    else if (d->mismatch)
        fail_image(d, d->index);
}

/* Tells whether atoms and addresses leave at once: nothing can be taken back, and nothing of the path is
 * held.
 */
static bool is_quick(const struct ct_ocsd_etm4 *d)
{
    return d->state == CT_OCSD_ETM4_DECODE && !d->max_spec && !d->depth && !d->pending_address &&
           holds_no_path(d);
}

/* Goes to the address of a packet, which leaves at once. */
static void take_address(struct ct_ocsd_etm4 *d, uint64_t addr, uint8_t is1)
{
    d->last_is1 = is1;
    if (!d->address_waits) {
        d->addr_before = d->path.addr;
        d->isa_before = d->path.isa;
    }
    d->address_waits = true;
    d->address_index = d->index;
    ct_ocsd_etm4_execute(d, &(const struct ct_ocsd_held){
                                .kind = CT_OCSD_HELD_ADDRESS, .n = is1, .value = addr, .index = d->index});
}

/* Tells whether a packet is an address without a context. */
static bool is_plain_address(const struct ct_etm4_packet *p)
{
    return (p->type >= CT_ETM4_ADDR_S_IS0 && p->type <= CT_ETM4_ADDR_L_64IS1) ||
           p->type == CT_ETM4_ADDR_MATCH;
}

/* Takes atoms and addresses where nothing can be taken back, and nothing of the path is held: most packets
 * are such. Returns false when it did not. */
static bool take_quickly(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    const bool has_atoms = p->type >= CT_ETM4_ATOM_F1 && p->type <= CT_ETM4_ATOM_F6;
    if (!is_quick(d) || !(has_atoms || is_plain_address(p)))
        return false;
    if (has_atoms)
        take_atoms(d, p->natoms, p->atoms);
    else
        take_address(d, p->value, p->is);
    return true;
}

void ct_ocsd_etm4_take(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *p)
{
    if (take_quickly(d, p))
        return;
    d->commit_index = d->address_waits ? d->address_index : 0;
    if (d->state == CT_OCSD_ETM4_NO_SYNC)
        add_no_sync(d);
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
        else if (p->type == CT_ETM4_EVENT && d->ete) /* all that 1.3.3 takes here */
            on_packet(d, p);
        break;
    default:
        on_packet(d, p);
        break;
    }
}

static void cancel(struct ct_ocsd_etm4 *d)
{
    if (ct_ocsd_held_cancel(&d->held, d->cancel)) {
        overrun(d, d->index, "Not enough elements to cancel");
        return;
    }
    d->depth -= d->cancel;
    d->cancel = 0;
}

static void mispredict(struct ct_ocsd_etm4 *d)
{
    d->mispredict = false;
    if (ct_ocsd_held_mispredict(&d->held))
        return;
    overrun(d, d->index, "Not found mispredict atom");
    ct_ocsd_held_clear(&d->held);
}

/* Does one step of what the last packet asked for. Returns false when there is nothing left to do. Elements
 * leave together when all is done, and are dropped when something is wrong on the way; but a context leaves
 * at once, since the client's memory may depend on it. */
static bool satisfy(struct ct_ocsd_etm4 *d)
{
    if (d->discard)
        return false;
    if (d->commit)
        commit_step(d);
    else if (d->cancel)
        cancel(d);
    else if (d->mispredict)
        mispredict(d);
    else
        return false;
    return true;
}

ocsd_datapath_resp_t ct_ocsd_etm4_pump(struct ct_ocsd_etm4 *d)
{
    for (;;) {
        ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
        if (d->path.output.leaving)
            resp = ct_ocsd_output_drain(&d->path.output);
        if (d->out_of_memory || d->path.output.lacks_memory)
            return OCSD_RESP_FATAL_SYS_ERR;
        if (!OCSD_DATA_RESP_IS_CONT(resp))
            return resp;
        if (d->halted) {
            d->halted = false;
            return OCSD_RESP_FATAL_INVALID_DATA;
        }
        if (satisfy(d))
            continue;
        if (d->path.output.count)
            d->path.output.leaving = true;
        else if (d->discard)
            return discard(d);
        else
            return d->ending ? ct_ocsd_etm4_end(d) : resp;
    }
}

/* Tells whether nothing can go wrong with atoms, so that each of their ranges may leave before the next is
 * known: there are as many return addresses as they can ask for. */
static bool is_safe(const struct ct_ocsd_etm4 *d, uint8_t count)
{
    const struct ct_ocsd_return_stack *returns = &d->path.returns;
    return !d->checks && !d->need_context && d->base.tree->take_element && !d->base.tree->late &&
           (!returns->enabled || returns->count >= count);
}

/* Takes atoms as take_atoms does, and what is held before them, and hands out what they make: as soon as it
 * is made while the client goes on and nothing can go wrong. Returns the client's answer. */
static ocsd_datapath_resp_t give_atoms(struct ct_ocsd_etm4 *d, uint8_t count, uint32_t atoms,
                                       ocsd_generic_trace_elem *range)
{
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    uint8_t done = 0;
    d->address_waits = false;
    if (is_safe(d, count)) {
        take_held(d);
        if (d->path.output.count)
            resp = ct_ocsd_output_drain(&d->path.output);
        done = ct_ocsd_etm4_give(d, atoms, count, range, &resp);
    }
    const bool all_left = done == count && !d->path.output.lacks_memory;
    if (done < count)
        take_atoms(d, (uint8_t)(count - done), atoms >> done);
    return all_left || !OCSD_DATA_RESP_IS_CONT(resp) ? resp : ct_ocsd_etm4_pump(d);
}

/* Reads the address packet at the begin of the bytes, whose header it knows, and goes there. Returns its
 * size; 0 when it is cut or something else. */
static uint32_t take_next_address(struct ct_ocsd_etm4 *d, const struct ct_etm4_header *header,
                                  const uint8_t *bytes, uint32_t size)
{
    struct ct_etm4_decoder *packets = d->packets;
    struct ct_etm4_cursor c = {.p = bytes + 1, .end = bytes + size};
    struct ct_etm4_address now = packets->history[0];
    if (header->type > CT_ETM4_ADDR_MATCH) /* a source address */
        return 0;
    if (header->form == CT_ETM4_FORM_ADDR_SHORT)
        ct_etm4_address_short(&c, header->is, &now);
    else if (header->form == CT_ETM4_FORM_ADDR_32)
        ct_etm4_address_32(&c, header->is, packets->sf, &now);
    else if (header->form == CT_ETM4_FORM_ADDR_64)
        ct_etm4_address_64(&c, header->is, &now);
    else
        now = packets->history[*bytes & 3];
    if (c.cut)
        return 0;
    ct_etm4_history_push(packets, &now);
    take_address(d, now.value, now.is);
    return (uint32_t)(c.p - bytes);
}

/* Takes the cycle count or timestamp at the begin of the bytes, which is held until an atom comes. Returns
 * its size; 0 when it is cut. */
static uint32_t take_next_time(struct ct_ocsd_etm4 *d, const uint8_t *bytes, uint32_t size,
                               ocsd_datapath_resp_t *resp)
{
    struct ct_etm4_packet packet;
    size_t count;
    const size_t used = ct_ocsd_etm4_decode(d->packets, bytes, size, d->feed.pos, 0, &packet, &count);
    if (!count)
        return 0;
    d->commit_index = 0;
    on_packet(d, &packet);
    if (d->out_of_memory)
        *resp = ct_ocsd_etm4_pump(d);
    return (uint32_t)used;
}

/* Takes the packet at the begin of the bytes when it is one of atoms, an address or a time. Returns its size,
 * or 0. */
static uint32_t take_next(struct ct_ocsd_etm4 *d, const uint8_t *bytes, uint32_t size,
                          ocsd_generic_trace_elem *range, ocsd_datapath_resp_t *resp)
{
    const struct ct_etm4_header *header = &d->packets->headers[*bytes];
    switch (header->form) {
    case CT_ETM4_FORM_ATOM:
        *resp = give_atoms(d, header->natoms, header->atoms, range);
        return 1;
    case CT_ETM4_FORM_ADDR_SHORT:
    case CT_ETM4_FORM_ADDR_32:
    case CT_ETM4_FORM_ADDR_64:
    case CT_ETM4_FORM_ADDR_MATCH:
        return take_next_address(d, header, bytes, size);
    case CT_ETM4_FORM_CCNT_F1:
    case CT_ETM4_FORM_CCNT_F2:
    case CT_ETM4_FORM_CCNT_F3:
    case CT_ETM4_FORM_TIMESTAMP:
        return take_next_time(d, bytes, size, resp);
    default:
        return 0;
    }
}

ocsd_datapath_resp_t ct_ocsd_etm4_take_run(struct ct_ocsd_etm4 *d, const struct ct_ocsd_piece *piece,
                                           uint32_t *at)
{
    ocsd_generic_trace_elem range;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    if (!d->packets->synced || d->feed.size || !is_quick(d) || ct_ocsd_output_lacks(&d->path.output))
        return resp;
    memcpy(&range, &d->path.output.blank, sizeof range);
    range.elem_type = OCSD_GEN_TRC_ELEM_INSTR_RANGE;
    while (*at < piece->size && OCSD_DATA_RESP_IS_CONT(resp) && d->state == CT_OCSD_ETM4_DECODE) {
        d->index = ct_ocsd_piece_index(piece, *at);
        resp = OCSD_RESP_CONT; /* an answer holds for its packet */
        const uint32_t taken = take_next(d, piece->bytes + *at, piece->size - *at, &range, &resp);
        if (!taken)
            break;
        d->feed.pos += taken;
        *at += taken;
    }
    return resp;
}

ocsd_datapath_resp_t ct_ocsd_etm4_end(struct ct_ocsd_etm4 *d)
{
    const ocsd_datapath_resp_t resp = drain_held(d, false);
    if (!OCSD_DATA_RESP_IS_CONT(resp))
        return resp;
    d->ending = false;
    ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_EO_TRACE, d->index)->unsync_eot_info =
        d->after_overflow ? UNSYNC_OVERFLOW : UNSYNC_EOT;
    return ct_ocsd_output_drain(&d->path.output);
}
