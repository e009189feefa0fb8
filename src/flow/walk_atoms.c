/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/walk_atoms.h"

#include "flow/walk_ways.h"

/* Returns whether the last instruction returns from an exception and no packet will say so (ETE). */
static bool is_exception_return(const struct ct_walk *w)
{
    return w->config.eret_is_return && w->insn.sub == CT_INSN_SUB_ERET;
}

void ct_walk_take_waypoint(struct ct_walk *w)
{
    uint64_t next = w->addr;
    uint8_t isa = w->isa;
    if (w->insn.type == CT_INSN_BR)
        ct_walk_go_to(w, w->insn.target, w->insn.isa);
    else if (w->insn.type == CT_INSN_IBR)
        w->need_address = true;
    else
        return;
    if (w->insn.sub == CT_INSN_SUB_LINK)
        ct_return_stack_push(&w->stack, next, isa);
    w->stack.pop_pending = w->insn.type == CT_INSN_IBR && w->stack.enabled && !is_exception_return(w);
}

void ct_walk_put_eret(struct ct_walk *w, struct ct_walk_sink *sink)
{
    if (!is_exception_return(w))
        return;
    ct_walk_put_elem(w, sink, (struct ct_elem){.kind = CT_ELEM_RETURN, .pos = (uint32_t)w->offset});
    sink->records[sink->count - 1].stale = w->doubt;
}

bool ct_walk_pop_return(struct ct_walk *w, struct ct_walk_sink *sink, uint64_t *addr, uint8_t *isa)
{
    if (ct_return_stack_pop(&w->stack, addr, isa))
        return true;
    if (!ct_return_stack_pop_doubted(&w->stack, addr, isa))
        return false;
    ct_walk_contradict(w, sink);
    return true;
}

void ct_walk_settle_return(struct ct_walk *w, struct ct_walk_sink *sink)
{
    uint64_t addr;
    uint8_t isa;
    if (!w->stack.pop_pending)
        return;
    if (ct_walk_pop_return(w, sink, &addr, &isa))
        ct_walk_go_to(w, addr, isa);
    else
        ct_walk_put_bad_image(w, sink);
}

void ct_walk_pass_over(struct ct_walk *w, struct ct_walk_sink *sink)
{
    if (!w->told)
        ct_walk_contradict(w, sink);
    ct_return_stack_doubt(&w->stack);
    w->told = true;
    w->doubt |= !w->need_address;
}

/* Walks to the waypoint of an atom, and puts out the range up to it. Returns true when the waypoint was
 * reached and executed. */
static bool put_atom(struct ct_walk *w, bool executed, struct ct_walk_sink *sink)
{
    if (w->need_address || w->need_context) {
        ct_walk_pass_over(w, sink);
        return false;
    }
    struct ct_walk_range range;
    enum ct_walk_found found = ct_walk_to_waypoint(w, &range);
    if (found != CT_WALK_FOUND) {
        ct_walk_put_broken(w, sink, &range, found);
        return false;
    }
    if (!executed && ct_walk_is_always_taken(w, &range))
        ct_walk_contradict(w, sink);
    ct_walk_put_range(w, sink, &range, executed);
    return executed;
}

static void on_atom(struct ct_walk *w, bool executed, struct ct_walk_sink *sink)
{
    ct_walk_settle_return(w, sink);
    if (!put_atom(w, executed, sink))
        return;
    ct_walk_put_eret(w, sink);
    ct_walk_take_waypoint(w);
}

/* PTM: takes an atom. An indirect branch that is traced as an atom has its target on the return stack. The
 * target is popped before the branch may push its own return address. `target`: an address follows, which is
 * the target instead. */
static void on_pft_atom(struct ct_walk *w, bool executed, bool target, struct ct_walk_sink *sink)
{
    if (!put_atom(w, executed, sink))
        return;
    uint64_t addr;
    uint8_t isa;
    bool from_stack = w->insn.type == CT_INSN_IBR && !target;
    bool found_it = from_stack && ct_walk_pop_return(w, sink, &addr, &isa);
    ct_walk_take_waypoint(w);
    w->stack.pop_pending = false;
    if (found_it)
        ct_walk_go_to(w, addr, isa);
    else if (from_stack && w->stack.enabled)
        ct_walk_put_bad_image(w, sink);
}

bool ct_walk_on_atoms(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    ct_walk_follow_ways(w, elem, sink);
    while (w->atoms_done < elem->n) {
        if (sink->cap - sink->count < CT_WALK_STEP_RECORDS)
            return false;
        bool executed = elem->v >> w->atoms_done & 1;
        w->placed = false;
        if (w->config.atom_returns)
            on_pft_atom(w, executed, elem->aux & CT_ATOMS_TARGET, sink);
        else
            on_atom(w, executed, sink);
        w->atoms_done++;
    }
    w->atoms_done = 0;
    return true;
}
