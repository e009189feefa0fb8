/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a processor of the M profile: how execution came from one block to the next one, through
 * exceptions that were taken and have returned. An exception's return address tells how far the block before
 * it was executed (DDI 0403 B1.5, DDI 0553 B3). */
#include <string.h>

#include "record/path_state.h"
#include "recorder/trace_stream.h"

/* Numbers of exceptions in trace (IHI 0064H table 6-15). */
enum {
    RESET = 1,
    FIRST_IRQ = 16, /* up to IRQ7; also the number that the processor gives IRQ0 */
    FIRST_LATER_IRQ = 24,
    LATER_IRQS = 0x200, /* IRQ8 is 0x208 */
};

void ct_path_taken_m(struct ct_path *p, uint32_t number, uint32_t return_to, uint32_t interrupted)
{
    struct ct_path_m *m = &p->m;
    m->change = TRACE_M_TAKEN;
    m->next_handled = number;
    if (m->taken_count == CT_PATH_TAKEN)
        return;
    m->taken[m->taken_count].number = number;
    m->taken[m->taken_count].return_to = return_to;
    m->taken[m->taken_count].after_sg = interrupted & TRACE_M_SG;
    m->taken[m->taken_count++].interrupted = interrupted & ~TRACE_M_SG;
}

uint64_t ct_path_unplaced(const struct ct_path *p)
{
    return p->unplaced;
}

static unsigned traced_number(uint32_t exception)
{
    const uint32_t number = exception & ~TRACE_M_SECURE;
    return number < FIRST_LATER_IRQ ? number : number - FIRST_IRQ + LATER_IRQS;
}

/* ---- ways from one block to the next ---- */

#define NON_SECURE 0u /* the level of the M profile that is not CT_UNIT_SECURE */

static struct ct_path_place place_of(uint64_t addr, unsigned level)
{
    return (struct ct_path_place){addr, CT_ISA_T32, level};
}

/* Passes on the current block, whose end leads to `to`. `enters`: to the SG instruction directly before
 * `to`, by which Non-secure code enters Secure state. QEMU executes it outside of blocks. */
static int tell_ending(struct ct_path *p, const struct ct_path_ending *e, struct ct_path_place to,
                       bool returns, bool enters)
{
    if (!enters)
        return ct_path_tell_ending(p, e, to, returns);
    const struct ct_path_place gate = place_of(to.addr - CT_CODE_SG_SIZE, NON_SECURE);
    const int status = ct_path_tell_ending(p, e, gate, returns);
    ct_unit_insns(p->unit, 1, gate.addr, to.addr, true);
    ct_unit_next_level(p->unit, CT_UNIT_SECURE);
    return status;
}

/* Continues at `b` without an exception. */
static int flow_to(struct ct_path *p, const struct ct_code_block *b, bool *left)
{
    const bool enters = p->now->level != CT_UNIT_SECURE && b->level == CT_UNIT_SECURE && b->after_sg;
    struct ct_path_ending e;
    *left = !ct_path_find_ending(p, enters ? b->addr - CT_CODE_SG_SIZE : b->addr, &e);
    return *left ? ct_path_lose(p) : tell_ending(p, &e, place_of(b->addr, b->level), false, enters);
}

/* Finds the end of a block with a return from an exception. */
static bool find_return(const struct ct_path *p, struct ct_path_ending *e)
{
    *e = (struct ct_path_ending){.count = p->now->insns, .stop = ct_path_last_stop(p->now), .taken = true};
    return ct_path_is_whole(p) && e->stop && e->stop->insn.type == CT_INSN_IBR;
}

static int return_to(struct ct_path *p, const struct ct_code_block *b, bool *left)
{
    struct ct_path_ending e;
    *left = !find_return(p, &e);
    return *left ? ct_path_lose(p) : tell_ending(p, &e, place_of(b->addr, b->level), true, p->m.to_sg);
}

/* Drops the first exception when it was not taken: the handler jumped to its begin. */
static void drop_jump(struct ct_path *p)
{
    struct ct_path_m *m = &p->m;
    struct ct_path_ending e;
    if (m->taken[0].number == m->handled && !find_return(p, &e))
        memmove(m->taken, m->taken + 1, --m->taken_count * sizeof *m->taken);
}

/* Passes on the exceptions that were taken before `b`, which is the handler of the last one. */
static int take(struct ct_path *p, const struct ct_code_block *b, bool *left)
{
    const struct ct_path_m *m = &p->m;
    struct ct_path_ending e;
    drop_jump(p);
    if (!m->taken_count)
        return flow_to(p, b, left);
    const bool returned = m->taken[0].interrupted != m->handled;
    const bool enters = m->taken[0].after_sg && (returned || p->now->level != CT_UNIT_SECURE);
    const uint64_t return_to = returned && !enters ? CT_UNIT_CHAINED : m->taken[0].return_to;
    if (!(returned ? find_return(p, &e)
                   : ct_path_find_ending(p, enters ? return_to - CT_CODE_SG_SIZE : return_to, &e))) {
        *left = true;
        return ct_path_lose(p);
    }
    int status = tell_ending(p, &e, place_of(return_to, p->now->level), returned, enters);
    for (unsigned i = 0; i < m->taken_count && !status; i++) {
        status = ct_unit_exception(p->unit, traced_number(m->taken[i].number));
        ct_unit_next_level(p->unit, b->level);
        if (!status)
            status = ct_unit_enter(p->unit, i + 1 < m->taken_count ? m->taken[i + 1].return_to : b->addr,
                                   CT_ISA_T32);
    }
    return status;
}

/* Continues at the reset handler, after a reset unless the block leads there by itself. */
static int reset(struct ct_path *p, const struct ct_code_block *b, bool *left)
{
    struct ct_path_ending e;
    if (ct_path_find_ending(p, b->addr, &e))
        return flow_to(p, b, left);
    const struct ct_code_stop *stop = ct_path_last_stop(p->now);
    const uint64_t next = stop && stop->insn.type == CT_INSN_BR ? stop->insn.target : p->now->end;
    if ((stop && (stop->insn.cond || stop->in_it || stop->insn.type == CT_INSN_IBR)) ||
        !ct_path_find_ending(p, next, &e)) {
        *left = true;
        return ct_path_lose(p);
    }
    int status = ct_path_tell_ending(p, &e, place_of(next, p->now->level), false);
    if (!status)
        status = ct_unit_exception(p->unit, RESET);
    ct_unit_next_level(p->unit, b->level);
    return status ? status : ct_unit_enter(p->unit, b->addr, CT_ISA_T32);
}

int ct_path_enter_m(struct ct_path *p, const struct ct_code_block *b)
{
    bool left = !p->now;
    int status = CT_OK;
    if (p->now)
        switch (p->m.change) {
        case TRACE_M_TAKEN:
            status = take(p, b, &left);
            break;
        case TRACE_M_RETURNED:
            status = return_to(p, b, &left);
            break;
        case TRACE_M_RESET:
            status = reset(p, b, &left);
            break;
        case TRACE_M_LOST:
            left = true;
            status = ct_path_lose(p);
            break;
        default:
            status = flow_to(p, b, &left);
            break;
        }
    if (p->m.change)
        p->m.handled = p->m.next_handled;
    p->m.change = p->m.taken_count = 0;
    p->m.to_sg = false;
    if (status || !left)
        return status;
    ct_unit_next_level(p->unit, b->level);
    return ct_unit_place(p->unit, b->addr, CT_ISA_T32);
}
