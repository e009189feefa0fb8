/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/walk_etm3.h"

#include "flow/walk_atoms.h"
#include "flow/walk_insns.h"

/* Puts out that instructions ran at an unknown address: the first time with their cycles attached, then only
 * the cycles. */
static void put_lost_address(struct ct_walk *w, const struct ct_elem *elem, uint64_t cycles,
                             struct ct_walk_sink *sink)
{
    bool counted = elem->aux & CT_ATOMS_CYCLES;
    struct ct_elem out = {.kind = CT_ELEM_LOST_ADDRESS, .pos = elem->pos};
    if (!w->lost_told)
        ct_walk_put_elem(w, sink, out);
    out = (struct ct_elem){.kind = CT_ELEM_CYCLES,
                           .n = w->lost_told ? CT_CYCLES_ALONE : CT_CYCLES_ATTACHED,
                           .pos = elem->pos,
                           .v = cycles};
    if (counted)
        ct_walk_put_elem(w, sink, out);
    w->lost_told = true;
}

/* Takes one atom, which stands for one instruction. */
static void on_insn_atom(struct ct_walk *w, bool executed, struct ct_walk_sink *sink)
{
    struct ct_walk_range range = {.start = w->addr};
    w->owners[0].known = false;
    w->lost_told = false;
    if (!ct_walk_insn(w, &range)) {
        ct_walk_put_broken(w, sink, &range, CT_WALK_NO_ACCESS);
        w->placed = true; /* its cycles are put out with the address */
        return;
    }
    ct_walk_put_range(w, sink, &range, executed);
    w->owners[0] = (struct ct_data_owner){range.start, true};
    if (executed)
        ct_walk_take_waypoint(w);
}

bool ct_walk_on_insn_atoms(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    uint64_t total = elem->v >> 32;
    if (!elem->n) {
        struct ct_elem cycles = {.kind = CT_ELEM_CYCLES, .pos = elem->pos, .v = total};
        ct_walk_put_elem(w, sink, cycles);
        w->lost_told |= w->need_address;
    }
    while (w->atoms_done < elem->n) {
        if (sink->cap - sink->count < CT_WALK_STEP_RECORDS)
            return false;
        bool each = elem->aux & CT_ATOMS_EACH;
        uint64_t before = each ? w->atoms_done : w->atoms_done ? total : 0;
        if (w->need_address || w->need_context) {
            w->owners[0].known = false;
            ct_walk_pass_over(w, sink);
            put_lost_address(w, elem, total - before, sink);
            break;
        }
        w->placed = false;
        on_insn_atom(w, elem->v >> w->atoms_done & 1, sink);
        w->atoms_done++;
        struct ct_elem cycles = {.kind = CT_ELEM_CYCLES,
                                 .n = w->placed ? CT_CYCLES_ATTACHED : CT_CYCLES_UNPLACED,
                                 .pos = elem->pos,
                                 .v = each ? 1 : total - before};
        if (elem->aux & CT_ATOMS_CYCLES)
            ct_walk_put_elem(w, sink, cycles);
    }
    w->atoms_done = 0;
    return true;
}

void ct_walk_on_data(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    unsigned tag = (elem->aux & CT_DATA_TAG) >> CT_DATA_TAG_SHIFT;
    if (elem->n == CT_DATA_LATER)
        w->owners[tag] = w->owners[0];
    const struct ct_data_owner *owner = &w->owners[elem->n == CT_DATA_LATE ? tag : 0];
    ct_walk_put_elem(w, sink, *elem);
    sink->records[sink->count - 1].start = owner->known ? owner->addr : 0;
    sink->records[sink->count - 1].n = owner->known;
}
