/* SPDX-License-Identifier: Apache-2.0 */
/* What leaves of what is held of an ETMv4 or ETE: what is committed or taken back, and what is left at the
 * end. IHI 0064H chapter 5. */
#include "opencsd/etm4.h"
#include "opencsd/layout.h"
#include "opencsd/packet_out.h"

/* Takes an exception, or a Q without an address, with the address that must follow it and may have a context
 * before it. Returns false when there is none. */
static bool release_with_address(struct ct_ocsd_etm4 *d, struct ct_ocsd_held item)
{
    if (d->held.count && ct_ocsd_held_at(&d->held, 0)->kind == CT_OCSD_HELD_CONTEXT) {
        struct ct_ocsd_held context = *ct_ocsd_held_at(&d->held, 0);
        context.index = item.index;
        if (context.aux & CT_ETM4_HAS_CONTEXT)
            ct_ocsd_etm4_execute(d, &context);
        else /* nothing changed: said again, here alone */
            ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_PE_CONTEXT, item.index);
        d->path.output.leaving = false; /* only contexts of their own leave at once */
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

/* Takes one step of what is to be committed. */
static void commit_step(struct ct_ocsd_etm4 *d)
{
    if (!d->held.count) {
        ct_ocsd_etm4_overrun(d, d->commit_index, "Not enough elements to commit");
        return;
    }
    d->address_waits = false;
    const ocsd_trc_index_t index = d->commit_index = ct_ocsd_held_at(&d->held, 0)->index;
    if (!release(d) || d->lacks_return)
        ct_ocsd_etm4_fail_commit(d, index);
    else if (d->mismatch)
        ct_ocsd_etm4_fail_image(d, index);
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
    ct_ocsd_etm4_tell_loss(d);
    return ct_ocsd_output_drain(&d->path.output);
}

static void cancel(struct ct_ocsd_etm4 *d)
{
    if (ct_ocsd_held_cancel(&d->held, d->cancel)) {
        ct_ocsd_etm4_overrun(d, d->index, "Not enough elements to cancel");
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
    ct_ocsd_etm4_overrun(d, d->index, "Not found mispredict atom");
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
