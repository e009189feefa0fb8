/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/walk_insns.h"

bool ct_walk_insn(struct ct_walk *w, struct ct_walk_range *range)
{
    if (!ct_fetch_insn(&w->fetch, w->addr, (enum ct_isa)w->isa, ct_walk_space(w), &w->insn))
        return false;
    range->last_in_it = w->it_left != 0;
    range->last_cond = w->insn.cond || (w->it_left && w->config.it_conditions);
    if (w->it_left)
        w->it_left--;
    else
        w->it_left = w->insn.it;
    w->addr += w->insn.size;
    range->n++;
    return true;
}

enum ct_walk_found ct_walk_to(struct ct_walk *w, enum ct_walk_stop stop, uint64_t at,
                              struct ct_walk_range *range)
{
    *range = (struct ct_walk_range){.start = w->addr};
    for (;;) {
        uint64_t here = w->addr;
        if (range->n == CT_WALK_MAX_BLOCK)
            return CT_WALK_TOO_LONG;
        range->crossed |= range->n && w->insn.type != CT_INSN_OTHER;
        if (!ct_walk_insn(w, range))
            return CT_WALK_NO_ACCESS;
        if ((stop == CT_WALK_STOP_BEFORE && w->addr >= at) || (stop == CT_WALK_STOP_AFTER && here == at))
            return CT_WALK_FOUND;
    }
}

/* Walks over the instructions from w->addr on that are certainly not waypoints. */
static void walk_straight(struct ct_walk *w, struct ct_walk_range *range)
{
    if (w->it_left)
        return;
    const uint32_t n = ct_fetch_straight(&w->fetch, w->addr, (enum ct_isa)w->isa, ct_walk_space(w),
                                         CT_WALK_MAX_BLOCK - range->n);
    if (!n)
        return;
    w->insn = (struct ct_insn){.type = CT_INSN_OTHER, .size = 4, .isa = CT_ISA_A64};
    w->addr += (uint64_t)n * 4;
    range->n += n;
}

enum ct_walk_found ct_walk_plainly_to_waypoint(struct ct_walk *w, struct ct_walk_range *range)
{
    *range = (struct ct_walk_range){.start = w->addr};
    for (;;) {
        walk_straight(w, range);
        if (range->n == CT_WALK_MAX_BLOCK)
            return CT_WALK_TOO_LONG;
        if (!ct_walk_insn(w, range))
            return CT_WALK_NO_ACCESS;
        if (w->insn.type != CT_INSN_OTHER)
            return CT_WALK_FOUND;
    }
}

/* Returns false for short ranges in T32: an exception may have returned into an IT block, whose last
 * instructions they are. */
bool ct_walk_is_always_taken(const struct ct_walk *w, const struct ct_walk_range *range)
{
    const struct ct_insn *insn = &w->insn;
    return (insn->type == CT_INSN_BR || insn->type == CT_INSN_IBR) && !insn->cond && !range->last_in_it &&
           (w->isa != CT_ISA_T32 || range->n > 4);
}
