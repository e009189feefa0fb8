/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/walk_reached.h"

#include "flow/walk_atoms.h"
#include "flow/walk_insns.h"

/* preferred return address of a tail-chained exception (M profile) */
#define TAIL_CHAIN 0xfffffffeu

void ct_walk_on_exception(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    struct ct_elem out = *elem;
    bool tail_chain = w->config.m_profile && elem->v == TAIL_CHAIN;
    if (tail_chain)
        out.n &= (uint8_t)~CT_EXCEPTION_HAS_RET;
    w->paused = w->paused || elem->n & CT_EXCEPTION_TARGET; /* the address is the target of the last branch */
    if (elem->n & CT_EXCEPTION_TARGET)
        ct_walk_on_address(
            w, &(struct ct_elem){.n = elem->n & CT_EXCEPTION_IS1 ? CT_IS1 : CT_IS0, .v = elem->v});
    else
        ct_walk_settle_return(w, sink);
    if (!w->need_context && !w->lost && (out.n & CT_EXCEPTION_HAS_RET) && w->addr < elem->v) {
        struct ct_walk_range range;
        w->stale = w->need_address;
        enum ct_walk_found found = ct_walk_to(w, CT_WALK_STOP_BEFORE, elem->v, &range);
        if (range.crossed)
            ct_walk_contradict(w, sink);
        if (found == CT_WALK_FOUND)
            ct_walk_put_range(w, sink, &range, true);
        else
            ct_walk_put_broken(w, sink, &range, found);
        w->stale = false;
    }
    ct_walk_put_elem(w, sink, out);
    w->need_address = true;
}

void ct_walk_on_pft_exception(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    struct ct_elem out = *elem;
    if (!w->need_address && !w->need_context) {
        out.n |= CT_EXCEPTION_HAS_RET;
        out.v = w->addr;
    }
    ct_walk_put_elem(w, sink, out);
    w->need_address = true;
}

void ct_walk_on_waypoint(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    if (w->need_address || w->need_context) {
        ct_walk_pass_over(w, sink);
        return;
    }
    struct ct_walk_range range;
    enum ct_walk_found found = ct_walk_to(w, CT_WALK_STOP_AFTER, elem->v, &range);
    if (range.crossed)
        ct_walk_contradict(w, sink);
    if (found != CT_WALK_FOUND) {
        ct_walk_put_broken(w, sink, &range, found);
        return;
    }
    ct_walk_put_range(w, sink, &range, true);
    ct_walk_take_waypoint(w);
    w->stack.pop_pending = false;
    ct_walk_end_doubt(w);
}

void ct_walk_on_q(struct ct_walk *w, const struct ct_elem *q, struct ct_walk_sink *sink)
{
    ct_walk_settle_return(w, sink);
    struct ct_walk_range range = {.start = w->addr};
    bool branch = false;
    if (!w->need_address && !w->need_context)
        while (range.n < w->q_count && range.n < CT_WALK_MAX_BLOCK && !branch && ct_walk_insn(w, &range))
            branch = w->insn.type == CT_INSN_BR || w->insn.type == CT_INSN_IBR;
    if (range.n && range.n == w->q_count && (w->addr == q->v || branch)) {
        ct_walk_put_range(w, sink, &range, true);
    } else if (!w->need_context) {
        sink->records[sink->count++] = (struct ct_flow){.offset = w->offset,
                                                        .kind = CT_FLOW_RANGE_NOPATH,
                                                        .start = range.start,
                                                        .end = q->v,
                                                        .n = w->q_count,
                                                        .space = (uint8_t)ct_walk_space(w),
                                                        .isa = ct_walk_isa(w, q->n)};
    } else {
        ct_walk_pass_over(w, sink);
    }
    w->paused = true;
    ct_walk_on_address(w, q);
}
