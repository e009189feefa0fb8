/* SPDX-License-Identifier: Apache-2.0 */
/* How far the current block of a path was executed, where every exception is reported with the address at
 * which it interrupted: in the M profile, and in A32 and T32 of the A profile. */
#include "base/bytes.h"
#include "record/path_state.h"

/* The number of a debug halt (IHI 0064H tables 6-14 and 6-15). */
enum {
    DEBUG_HALT = 1,
    DEBUG_HALT_M = 0x18,
};

#define HLT_F000 0xd45e0000u /* the instruction of A64 for a debugger's function */

const struct ct_code_stop *ct_path_last_stop(const struct ct_code_block *b)
{
    const struct ct_code_stop *stop = b->stop_count ? &b->stops[b->stop_count - 1] : NULL;
    return stop && stop->index + 1 == b->insns ? stop : NULL;
}

bool ct_path_is_whole(const struct ct_path *p)
{
    return !p->partial || p->at >= p->now->insns; /* the last access may be one of a failed condition */
}

/* Returns whether the end of the block leads to `to`, and whether its branch is then taken. */
static bool leads_to(const struct ct_code_block *b, const struct ct_code_stop *stop, uint64_t to, bool *taken)
{
    *taken = stop != NULL;
    if (!stop || (stop->insn.type != CT_INSN_BR && stop->insn.type != CT_INSN_IBR))
        return to == b->end;
    const bool perhaps = stop->insn.cond || stop->in_it;
    *taken = !perhaps || to != b->end;
    return stop->insn.type == CT_INSN_IBR || (*taken ? to == stop->insn.target : true);
}

bool ct_path_find_ending(const struct ct_path *p, uint64_t to, struct ct_path_ending *e)
{
    const struct ct_code_block *b = p->now;
    *e = (struct ct_path_ending){.count = b->insns, .stop = ct_path_last_stop(b)};
    if (ct_path_is_whole(p) && leads_to(b, e->stop, to, &e->taken))
        return true;
    *e = (struct ct_path_ending){.count = 0};
    while (e->count < b->insns && ct_code_insn_addr(b, e->count) != to)
        e->count++;
    return e->count < b->insns;
}

int ct_path_tell_ending(struct ct_path *p, const struct ct_path_ending *e, struct ct_path_place to,
                        bool returns)
{
    const int status = ct_path_tell_insns(p, p->now, e->count);
    if (status || !e->stop)
        return status;
    struct ct_insn insn = e->stop->insn;
    if (returns)
        insn.sub = CT_INSN_SUB_ERET;
    ct_unit_next_level(p->unit, to.level);
    return ct_unit_branch(p->unit, &insn, e->taken, to.addr, to.isa);
}

int ct_path_lose(struct ct_path *p)
{
    p->unplaced++;
    return ct_unit_leave(p->unit);
}

bool ct_path_calls_debugger(const struct ct_path *p)
{
    const struct ct_code_block *b = p->now;
    if (p->m_profile)
        return b->end_how == CT_CODE_TRAP;
    if (b->isa != CT_ISA_A64)
        return b->end_how == CT_CODE_CALL;
    return ct_load32(b->bytes + (b->last - b->addr)) == HLT_F000;
}

int ct_path_end_halted(struct ct_path *p)
{
    struct ct_code_block *b = p->now;
    const bool calls = ct_path_calls_debugger(p);
    p->now = NULL;
    if (p->partial || !calls)
        return ct_unit_leave(p->unit);
    const int status = ct_path_tell_insns(p, b, b->insns);
    return status ? status : ct_unit_exception(p->unit, p->m_profile ? DEBUG_HALT_M : DEBUG_HALT);
}
