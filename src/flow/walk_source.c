/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/walk_source.h"

#include "flow/walk_atoms.h"
#include "flow/walk_insns.h"

/* Puts out a range for each waypoint on the way to a source address; none of these was taken. Returns false
 * when the sink is full; call it again, and it continues from w->addr. */
static bool split_range(struct ct_walk *w, uint64_t source, struct ct_walk_sink *sink)
{
    while (w->addr <= source) {
        if (sink->cap - sink->count < CT_WALK_STEP_RECORDS)
            return false;
        struct ct_walk_range range = {.start = w->addr};
        do {
            if (range.n == CT_WALK_MAX_BLOCK || !ct_walk_insn(w, &range)) {
                ct_walk_put_broken(w, sink, &range,
                                   range.n == CT_WALK_MAX_BLOCK ? CT_WALK_TOO_LONG : CT_WALK_NO_ACCESS);
                return true;
            }
        } while (w->addr <= source && w->insn.type == CT_INSN_OTHER);
        ct_walk_put_range(w, sink, &range, w->addr > source);
    }
    return true;
}

/* Puts out the way to a source address as one range. Where all instructions have the same size, counting them
 * needs no memory. */
static void put_way(struct ct_walk *w, uint64_t source, const struct ct_insn *insn, struct ct_walk_sink *sink)
{
    struct ct_walk_range range = {.start = w->addr, .last_cond = insn->cond};
    const uint64_t words = (source - w->addr) / 4 + 1;
    enum ct_walk_found found = CT_WALK_FOUND;
    if (w->isa == CT_ISA_T32 || words > UINT32_MAX) {
        found = ct_walk_to(w, CT_WALK_STOP_AFTER, source, &range);
    } else {
        range.n = (uint32_t)words;
        w->insn = *insn;
        w->addr = source + insn->size;
    }
    if (found == CT_WALK_FOUND)
        ct_walk_put_range(w, sink, &range, true);
    else
        ct_walk_put_broken(w, sink, &range, found);
}

/* Returns whether execution can have come to a source address with no branch taken on the way:
 * CT_WALK_TOO_LONG when it cannot. Changes nothing. */
static enum ct_walk_found try_way(const struct ct_walk *w, uint64_t source)
{
    struct ct_walk trial = *w;
    struct ct_walk_range range = {.start = w->addr};
    while (trial.addr != source) {
        if (range.n == CT_WALK_MAX_BLOCK || trial.addr > source)
            return CT_WALK_TOO_LONG;
        if (!ct_walk_insn(&trial, &range))
            return CT_WALK_NO_ACCESS;
        if (ct_walk_is_always_taken(&trial, &range))
            return CT_WALK_TOO_LONG;
    }
    return CT_WALK_FOUND;
}

/* Puts out what is wrong with the way to a source address, whether or not its waypoints end ranges. */
static void doubt_way(struct ct_walk *w, uint64_t source, struct ct_walk_sink *sink)
{
    const enum ct_walk_found found = w->doubt ? CT_WALK_FOUND : try_way(w, source);
    if (found == CT_WALK_TOO_LONG)
        ct_walk_contradict(w, sink);
    if (found != CT_WALK_NO_ACCESS)
        return;
    ct_walk_put_no_access(w, sink, w->addr);
    sink->records[sink->count - 1].unlisted = 1;
    w->doubt = true;
}

bool ct_walk_on_source(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    w->stack.wait_address = false;
    if (w->need_context) {
        ct_walk_pass_over(w, sink);
        return true;
    }
    struct ct_insn insn;
    if (!ct_fetch_insn(&w->fetch, elem->v, (enum ct_isa)w->isa, ct_walk_space(w), &insn)) {
        ct_walk_end_doubt(w);
        ct_walk_put_no_access(w, sink, elem->v);
        ct_return_stack_doubt(&w->stack);
        w->need_address = w->told = true;
        return true;
    }
    /* A return before the source address went where the return stack says. If that is empty, only the source
     * address is known. */
    uint64_t target;
    uint8_t isa;
    if (w->stack.pop_pending && ct_walk_pop_return(w, sink, &target, &isa))
        ct_walk_go_to(w, target, isa);
    w->stack.pop_pending = false;
    if (w->need_address)
        ct_walk_end_doubt(w);
    if (w->need_address || w->addr > elem->v)
        ct_walk_go_to(w, elem->v, w->isa);
    doubt_way(w, elem->v, sink);
    if (!w->split_source_ranges)
        put_way(w, elem->v, &insn, sink);
    else if (!split_range(w, elem->v, sink))
        return false;
    /* Execution is now behind the instruction, whatever the way was. */
    w->insn = insn;
    ct_walk_go_to(w, elem->v + insn.size, w->isa);
    ct_walk_put_eret(w, sink);
    ct_walk_take_waypoint(w);
    ct_walk_end_doubt(w);
    return true;
}
