/* SPDX-License-Identifier: Apache-2.0 */
#include "exceptions_m.h"

#include <string.h>

#include "guest.h"

/* Bits of EXC_RETURN (DDI 0553 B3.18). Before Armv8-M, only those of mode, stack and frame. */
enum {
    TO_SECURE_HANDLER = 1, /* ES: the exception was taken to Secure state */
    PROCESS_STACK = 4,
    PLAIN_FRAME = 0x10, /* without floating-point registers */
    DEFAULT_RULES = 0x20,
    SECURE_STACK = 0x40,
};

/* Words of a frame, and its sizes in bytes. */
enum {
    FRAME_LR = 5,
    FRAME_RETURN = 6,
    FRAME_XPSR = 7,
    FRAME_WORDS = 8,
    FRAME_SIZE = 0x20,
    FLOAT_FRAME_SIZE = 0x68,
    CALLEE_SIZE = 0x28, /* registers of Secure code that are saved from Non-secure handlers */
};

#define XPSR_NUMBER 0x1ffu
#define XPSR_ALIGNS 0x200u /* the stack was aligned by four bytes */
#define RESET_LR    0xffffffffu

/* The stack pointers, by state and use. */
struct stacks {
    uint32_t at[2][2]; /* [Secure][process] */
};

void exceptions_m_begin(struct exceptions_m *e, const struct guest_m *cpu, uint32_t addr)
{
    *e = (struct exceptions_m){.cpu = *cpu, .reset_at = addr, .depth = 1};
}

static bool is_exc_return(uint32_t value)
{
    return value >= 0xffffff80;
}

/* Returns the stack pointers at the begin of a handler, which always uses the main stack. */
static struct stacks stacks_of(const struct guest_m *m)
{
    const bool secure = m->secure && *m->secure;
    struct stacks stacks = {{{0}}};
    stacks.at[secure][0] = m->regs[13];
    stacks.at[secure][1] = *m->other_sp;
    if (m->secure) {
        stacks.at[!secure][0] = *m->other_state_msp;
        stacks.at[!secure][1] = *m->other_state_psp;
    }
    return stacks;
}

/* Reads the frame that belongs to an EXC_RETURN value, and takes it off its stack. */
static bool pop_frame(const struct guest_m *m, struct stacks *stacks, uint32_t exc_return,
                      uint32_t frame[FRAME_WORDS])
{
    const bool secure = m->secure && exc_return & SECURE_STACK;
    uint32_t *sp = &stacks->at[secure][(exc_return & PROCESS_STACK) != 0];
    if (secure && (exc_return & (TO_SECURE_HANDLER | DEFAULT_RULES)) != (TO_SECURE_HANDLER | DEFAULT_RULES))
        *sp += CALLEE_SIZE;
    if (!guest_machine_memory(m->cpu, *sp, frame, FRAME_SIZE))
        return false;
    *sp += exc_return & PLAIN_FRAME ? FRAME_SIZE : FLOAT_FRAME_SIZE;
    *sp += frame[FRAME_XPSR] & XPSR_ALIGNS ? 4 : 0;
    return true;
}

/* Returns the place of an exception among the active ones, or `depth`. */
static unsigned place_of(const struct exceptions_m *e, uint32_t number)
{
    unsigned i = e->depth;
    while (i && e->active[i - 1] != number)
        i--;
    return i ? i - 1 : e->depth;
}

/* Finds the exceptions that were taken, the latest first: down to the frame of code that ran before, in the
 * handler of `handled` or one that it had interrupted. Returns how many, or 0 when a frame is not what it
 * should be. */
static unsigned find_taken(const struct exceptions_m *e, uint32_t handled, uint32_t number,
                           struct exception_m latest[EXCEPTIONS_M_TAKEN])
{
    struct stacks stacks = stacks_of(&e->cpu);
    uint32_t exc_return = e->cpu.regs[14];
    for (unsigned n = 0; n < EXCEPTIONS_M_TAKEN; n++) {
        uint32_t frame[FRAME_WORDS];
        if (!is_exc_return(exc_return) || !pop_frame(&e->cpu, &stacks, exc_return, frame))
            return 0;
        latest[n] = (struct exception_m){.number = number,
                                         .return_to = frame[FRAME_RETURN] & ~1u,
                                         .interrupted = frame[FRAME_XPSR] & XPSR_NUMBER};
        number = latest[n].interrupted;
        exc_return = frame[FRAME_LR];
        /* a handler at its first instruction may have been taken anew */
        const bool begins = number == handled && handled && latest[n].return_to == e->handlers[number] &&
                            is_exc_return(exc_return);
        if (place_of(e, number) < e->depth && !begins)
            return n + 1;
    }
    return 0;
}

static enum exceptions_m_change lose(struct exceptions_m *e, uint32_t number)
{
    e->depth = number ? 2 : 1;
    e->active[1] = number;
    return EXCEPTIONS_M_LOST;
}

enum exceptions_m_change exceptions_m_follow(struct exceptions_m *e, bool handler, uint32_t addr,
                                             struct exception_m taken[EXCEPTIONS_M_TAKEN], unsigned *count)
{
    const uint32_t number = *e->cpu.exception;
    const bool same = number == e->active[e->depth - 1];
    struct exception_m latest[EXCEPTIONS_M_TAKEN];
    *count = 0;
    if (!number && addr == e->reset_at && e->cpu.regs[14] == RESET_LR) {
        e->depth = 1;
        return EXCEPTIONS_M_RESET;
    }
    if (same && !(handler && number && is_exc_return(e->cpu.regs[14])))
        return EXCEPTIONS_M_NONE;
    const unsigned place = place_of(e, number);
    if (!same && place < e->depth) {
        e->depth = place + 1;
        return EXCEPTIONS_M_RETURNED;
    }
    const uint32_t handled = e->active[e->depth - 1];
    e->depth -= same; /* it can only be taken again when it is not active */
    *count = find_taken(e, handled, number, latest);
    const unsigned outer = *count ? place_of(e, latest[*count - 1].interrupted) + 1 : 0;
    if (!*count || outer + *count > EXCEPTIONS_M_NESTED)
        return lose(e, number);
    e->depth = outer;
    for (unsigned i = 0; i < *count; i++) {
        taken[i] = latest[*count - 1 - i];
        e->active[e->depth++] = taken[i].number;
        e->handlers[taken[i].number] = i + 1 < *count ? latest[*count - 2 - i].return_to : addr;
    }
    return EXCEPTIONS_M_TAKEN_SOME;
}
