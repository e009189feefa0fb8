/* SPDX-License-Identifier: Apache-2.0 */
/* Commits and cancels the held items of an ETMv4 or ETE, and outputs those left at the end. IHI 0064H chapter
 * 5. */
#include "opencsd/etm4.h"
#include "opencsd/layout.h"
#include "opencsd/packet_out.h"

/* Takes an exception, or a Q without an address, together with the address that must follow it, perhaps after
 * a context. Returns false when there is no address. */
static bool release_with_address(struct ct_ocsd_etm4 *d, struct ct_ocsd_held item)
{
    const bool has_context = d->held.count > 1 &&
                             ct_ocsd_held_at(&d->held, 0)->kind == CT_OCSD_HELD_CONTEXT &&
                             ct_ocsd_held_at(&d->held, 1)->kind == CT_OCSD_HELD_ADDRESS;
    if (has_context) {
        struct ct_ocsd_held context = *ct_ocsd_held_at(&d->held, 0);
        context.index = item.index;
        if (context.aux & CT_ETM4_HAS_CONTEXT)
            ct_ocsd_etm4_execute(d, &context);
        else /* nothing changed: only here, the context is output again */
            ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_PE_CONTEXT, item.index);
        d->path.output.leaving = false; /* only a context packet of its own is output immediately */
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

/* Takes the oldest item, or some of its atoms, as committed. Returns false when its required follower is
 * missing. */
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

/* Does one step of the pending commits. */
static void commit_step(struct ct_ocsd_etm4 *d)
{
    if (!d->held.count) {
        ct_ocsd_etm4_overrun(d, d->commit_index, "Not enough elements to commit");
        return;
    }
    d->address_waits = false;
    const ocsd_trc_index_t index = ct_ocsd_held_at(&d->held, 0)->index;
    if (index > d->commit_index) /* else a later address was applied before this item, a time */
        d->commit_index = index;
    if (!release(d) || d->lacks_return)
        ct_ocsd_etm4_fail_commit(d, index);
    else if (d->mismatch)
        ct_ocsd_etm4_fail_image(d, index);
    else if (d->path.output.leaving)
        d->commit_index = 0;
}

/* Returns whether an item is output when the trace ends or, with `lost`, when trace was lost. The end of a
 * transaction is, if nothing can be cancelled any more. */
static bool leaves(const struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item, bool lost)
{
    if (item->kind == CT_OCSD_HELD_TRANSACTION)
        return !lost && item->n >= OCSD_MEM_TRANS_COMMIT && !(d->max_spec && d->depth);
    return ct_ocsd_held_is_apart(item);
}

/* Returns whether an item makes all later ones be dropped when the trace ends. 1.3.3 does not treat source
 * addresses that way. */
static bool ends_drain(const struct ct_ocsd_held *item)
{
    return (item->p0 && item->kind != CT_OCSD_HELD_SOURCE) || item->kind == CT_OCSD_HELD_TRACE_ON ||
           item->kind == CT_OCSD_HELD_RETURN;
}

/* Outputs the items that may be output: at the end of trace up to the first item of the execution path, after
 * a loss all. Drops the others. */
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

/* Drops all held items that belong to the execution path, and outputs the others. */
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

/* Does one step of what the last packet requested. Returns false when nothing is left. Elements are output
 * together at the end, and dropped if an error occurs; but a context is output immediately, because the
 * client's memory may depend on it. */
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

static ocsd_datapath_resp_t end_trace(struct ct_ocsd_etm4 *d)
{
    const ocsd_datapath_resp_t resp = drain_held(d, false);
    if (!OCSD_DATA_RESP_IS_CONT(resp))
        return resp;
    d->ending = false;
    ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_EO_TRACE, d->index)->unsync_eot_info =
        d->after_overflow ? UNSYNC_OVERFLOW : UNSYNC_EOT;
    return ct_ocsd_output_drain(&d->path.output);
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
            return d->ending ? end_trace(d) : resp;
    }
}
