/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a processor in A32 or T32 of the A profile. The recorder reports each exception with the
 * address at which it interrupted, which tells how far the block before it was executed (DDI 0406C B1.8). */
#include "record/path_state.h"

/* Entries of the vector table. */
enum {
    UNDEFINED = 1,
    SVC = 2,
    PREFETCH_ABORT = 3,
    DATA_ABORT = 4,
    IRQ = 6,
    FIQ = 7,
};

/* Returns the number of the exception in trace (IHI 0064H table 6-14). */
static unsigned traced_number(unsigned entry)
{
    static const uint8_t numbers[] = {
        [UNDEFINED] = 3, [SVC] = 2, [PREFETCH_ABORT] = 11, [DATA_ABORT] = 12, [IRQ] = 14, [FIQ] = 15};
    return entry < sizeof numbers ? numbers[entry] : 0;
}

/* Returns whether a block of A32 is not aligned: it is an alignment fault, with an address that trace cannot
 * have. */
static bool is_misaligned(const struct ct_code_block *b)
{
    return b->isa == CT_ISA_A32 && b->addr & 3;
}

/* Continues at `at` without an exception, unless trace has no such address. */
static int flow_to(struct ct_path *p, struct ct_path_place at, bool traceable, bool *left)
{
    struct ct_path_ending e;
    *left = !traceable || !ct_path_find_ending(p, at.addr, &e);
    return *left ? ct_path_lose(p) : ct_path_tell_ending(p, &e, at, false);
}

/* Returns whether the current block ended as the exception tells. */
static bool is_exception(const struct ct_path *p, struct ct_path_ending *e)
{
    return ct_path_find_ending(p, p->arm.interrupted.addr, e) &&
           (p->arm.entry != SVC || (e->count == p->now->insns && p->now->end_how == CT_CODE_CALL));
}

static int take(struct ct_path *p, const struct ct_path_ending *e, struct ct_path_place vector)
{
    struct ct_path_place at = p->arm.interrupted;
    at.level = p->now->level;
    int status = ct_path_tell_ending(p, e, at, false);
    if (!status)
        status = ct_unit_exception(p->unit, traced_number(p->arm.entry));
    ct_unit_next_level(p->unit, vector.level);
    return status ? status : ct_unit_enter(p->unit, vector.addr, vector.isa);
}

int ct_path_enter_arm(struct ct_path *p, const struct ct_code_block *b)
{
    const struct ct_path_place here = {b->addr, (enum ct_isa)b->isa, b->level};
    struct ct_path_ending e;
    bool left = !p->now;
    int status = CT_OK;
    const bool traceable = !is_misaligned(b) && (!p->now || !is_misaligned(p->now));
    if (p->now && traceable && p->arm.entry && is_exception(p, &e))
        status = take(p, &e, here);
    else if (p->now)
        status = flow_to(p, here, traceable, &left);
    p->arm.entry = 0;
    if (status || !left)
        return status;
    ct_unit_next_level(p->unit, here.level);
    return ct_unit_place(p->unit, here.addr, here.isa);
}
