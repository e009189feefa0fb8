/* SPDX-License-Identifier: Apache-2.0 */
/* Loss of synchronisation of an ETMv4 or ETE, and its messages. */
#include "opencsd/etm4.h"
#include "opencsd/layout.h"
#include "opencsd/log.h"
#include "opencsd/packet_out.h"

/* Loses synchronisation, but keeps what is held. */
static void lose_path(struct ct_ocsd_etm4 *d, unsync_info_t reason)
{
    d->depth = d->commit = d->cancel = 0;
    d->mispredict = d->discard = d->pending_address = d->to_source = false;
    d->state = CT_OCSD_ETM4_NO_SYNC;
    d->mismatch = NULL;
    if (reason != UNSYNC_OVERFLOW && reason != UNSYNC_DISCARD) { /* after these, 1.5.5 still expects the next
                                                                  * range there */
        d->has_next_start = false;
        d->told_failure = true;
    }
    if (d->address_waits) { /* 1.3.3 would have held the address, and drops it */
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

/* Returns whether the client wants decoding to stop where it would otherwise restart. */
static bool halts(const struct ct_ocsd_etm4 *d)
{
    return d->base.flags & OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS;
}

void ct_ocsd_etm4_fail(struct ct_ocsd_etm4 *d, ocsd_err_t code, const char *message)
{
    const bool is_error = d->base.flags & OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS;
    ct_ocsd_log(d->base.name, is_error ? OCSD_ERR_SEV_ERROR : OCSD_ERR_SEV_WARN, code, d->index, d->base.id,
                message);
    d->halted = halts(d);
    ct_ocsd_output_drop(&d->path.output);
    ct_ocsd_etm4_lose(d, UNSYNC_BAD_PACKET);
}

void ct_ocsd_etm4_no_sync(struct ct_ocsd_etm4 *d)
{
    ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_NO_SYNC, d->index)->unsync_eot_info =
        (unsync_info_t)d->reason;
    d->state = CT_OCSD_ETM4_WAIT_SYNC;
}

void ct_ocsd_etm4_tell_loss(struct ct_ocsd_etm4 *d)
{
    if (!d->flushing && !d->halted)
        ct_ocsd_etm4_no_sync(d);
}

void ct_ocsd_etm4_overrun(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, const char *message)
{
    ct_ocsd_log(d->base.name, OCSD_ERR_SEV_ERROR, OCSD_ERR_COMMIT_PKT_OVERRUN, index, d->base.id, message);
    ct_ocsd_output_drop(&d->path.output);
    lose_path(d, UNSYNC_BAD_PACKET);
    d->halted = halts(d);
    ct_ocsd_etm4_tell_loss(d);
}

void ct_ocsd_etm4_fail_commit(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index)
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
    ct_ocsd_etm4_tell_loss(d);
}

void ct_ocsd_etm4_fail_image(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index)
{
    const struct ct_ocsd_mismatch *mismatch = d->mismatch;
    ct_ocsd_log(d->base.name, OCSD_ERR_SEV_ERROR, mismatch->code, index, d->base.id, mismatch->message);
    ct_ocsd_output_drop(&d->path.output);
    ct_ocsd_etm4_lose(d, mismatch->reason);
    d->after_overflow = d->marker_seen = false;
    d->halted = mismatch->fatal || halts(d);
    ct_ocsd_etm4_tell_loss(d);
}
