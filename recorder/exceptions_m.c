/* SPDX-License-Identifier: Apache-2.0 */
#include "exceptions_m.h"

#include <string.h>

#include "guest.h"

/* Bits of EXC_RETURN (DDI 0553 B3.18). Before Armv8-M, only those of mode, stack and frame. */
enum {
    TO_SECURE_HANDLER = 1, /* ES: the exception was taken to Secure state */
    PROCESS_STACK = 4,     /* what CONTROL.SPSEL was, in the state that the exception was taken to */
    TO_THREAD = 8,
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
#define SG          0xe97fe97fu /* the instruction */
#define SHCSR       0xe000ed24u /* which system exceptions are active, of each state */

#define CONTROL_SPSEL 2u

/* The stack pointers, by state and use. */
struct stacks {
    uint32_t at[2][2]; /* [Secure][process] */
    bool process[2];   /* [Secure]: Thread mode uses the process stack, as CONTROL.SPSEL says */
};

void exceptions_m_begin(struct exceptions_m *e, const struct guest_m *cpu, uint32_t addr)
{
    *e = (struct exceptions_m){.cpu = *cpu, .reset_at = addr, .depth = 1};
}

bool exceptions_m_is_behind_sg(const struct guest_m *cpu, uint32_t addr)
{
    uint32_t before;
    return guest_m_memory(cpu, true, addr - (uint32_t)sizeof before, &before, sizeof before) && before == SG;
}

static bool is_exc_return(uint32_t value)
{
    return value >= 0xffffff80;
}

/* Returns the stack pointers at the begin of a handler, which always uses the main stack. */
static struct stacks stacks_of(const struct guest_m *m)
{
    const bool secure = m->secure && *m->secure;
    struct stacks stacks = {.process = {*m->control[0] & CONTROL_SPSEL}};
    stacks.at[secure][0] = m->regs[13];
    stacks.at[secure][1] = *m->other_sp;
    if (m->secure) {
        stacks.at[!secure][0] = *m->other_state_msp;
        stacks.at[!secure][1] = *m->other_state_psp;
        stacks.process[1] = *m->control[1] & CONTROL_SPSEL;
    }
    return stacks;
}

/* Reads the frame that belongs to an EXC_RETURN value, and takes it off its stack. */
static bool pop_frame(const struct guest_m *m, struct stacks *stacks, uint32_t exc_return,
                      uint32_t frame[FRAME_WORDS])
{
    const bool secure = m->secure && exc_return & SECURE_STACK;
    stacks->process[m->secure && exc_return & TO_SECURE_HANDLER] = exc_return & PROCESS_STACK;
    uint32_t *sp = &stacks->at[secure][exc_return & TO_THREAD && stacks->process[secure]];
    if (secure && (exc_return & (TO_SECURE_HANDLER | DEFAULT_RULES)) != (TO_SECURE_HANDLER | DEFAULT_RULES))
        *sp += CALLEE_SIZE;
    if (!guest_m_memory(m, secure, *sp, frame, FRAME_SIZE))
        return false;
    *sp += exc_return & PLAIN_FRAME ? FRAME_SIZE : FLOAT_FRAME_SIZE;
    *sp += frame[FRAME_XPSR] & XPSR_ALIGNS ? 4 : 0;
    return true;
}

/* Returns the place of an exception among the active ones, or `depth`. */
static unsigned place_of(const struct exceptions_m *e, uint32_t number)
{
    unsigned i = e->depth;
    while (i && e->active[i - 1].number != number)
        i--;
    return i ? i - 1 : e->depth;
}

/* ---- exceptions that each security state has ---- */

static uint32_t of_state(uint32_t number, bool secure)
{
    return number | (secure ? EXCEPTIONS_M_SECURE : 0);
}

/* Returns whether an exception that exists twice is active. */
static bool is_active(const struct guest_m *m, uint32_t number)
{
    static const uint8_t bits[16] = {[4] = 0, [6] = 3, [11] = 7, [14] = 10, [15] = 11};
    uint32_t shcsr;
    return !guest_m_memory(m, number & EXCEPTIONS_M_SECURE, SHCSR, &shcsr, sizeof shcsr) ||
           shcsr >> bits[number & 15] & 1;
}

/* Returns the innermost active exception with the number `number`, of either state, or 0. When both are
 * nested directly in each other, the inner one may have returned. */
static uint32_t innermost(const struct exceptions_m *e, uint32_t number)
{
    unsigned i = e->depth - 1;
    while (i && (e->active[i].number & XPSR_NUMBER) != number)
        i--;
    const uint32_t found = e->active[i].number;
    if (i && i == e->depth - 1 && e->active[i - 1].number == (found ^ EXCEPTIONS_M_SECURE) &&
        !is_active(&e->cpu, found))
        return e->active[i - 1].number;
    return found;
}

/* Returns the exception that is handled now, with its state. */
static uint32_t handled_now(const struct exceptions_m *e)
{
    const uint32_t number = *e->cpu.exception, link = e->cpu.regs[14];
    if (!e->cpu.secure || !exceptions_m_is_twofold(number))
        return number;
    const uint32_t active = innermost(e, number);
    const uint32_t taken = of_state(number, is_exc_return(link) ? link & TO_SECURE_HANDLER : *e->cpu.secure);
    if (!active || (is_exc_return(link) && place_of(e, taken) == e->depth))
        return taken; /* its EXC_RETURN is still in the link register */
    return active;
}

/* Returns the exception with the number `number` that another one has interrupted. When it had not executed
 * anything, its EXC_RETURN was in the link register. */
static uint32_t interrupted_by(const struct exceptions_m *e, uint32_t by, uint32_t number, uint32_t link)
{
    if (!e->cpu.secure || !exceptions_m_is_twofold(number))
        return number;
    if (number == (by & XPSR_NUMBER))
        return by ^ EXCEPTIONS_M_SECURE;
    const uint32_t active = innermost(e, number);
    return active ? active : of_state(number, link & TO_SECURE_HANDLER);
}

/* ---- exceptions that were taken ---- */

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
        latest[n] = (struct exception_m){
            .number = number,
            .return_to = frame[FRAME_RETURN] & ~1u,
            .interrupted = interrupted_by(e, number, frame[FRAME_XPSR] & XPSR_NUMBER, frame[FRAME_LR]),
            .secure = e->cpu.secure && exc_return & SECURE_STACK};
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

/* Returns whether a frame that was taken off the stack pointer `sp` is still below it, and returned to
 * `addr`. */
static bool is_frame_below(const struct guest_m *m, uint32_t sp, uint32_t addr)
{
    static const uint8_t sizes[] = {FRAME_SIZE, FRAME_SIZE + 4, FLOAT_FRAME_SIZE, FLOAT_FRAME_SIZE + 4};
    for (unsigned i = 0; i < sizeof sizes; i++) {
        uint32_t frame[FRAME_WORDS];
        if (guest_m_memory(m, false, sp - sizes[i], frame, sizeof frame) &&
            (frame[FRAME_RETURN] & ~1u) == addr && !(frame[FRAME_XPSR] & XPSR_ALIGNS) == !(sizes[i] & 4))
            return true;
    }
    return false;
}

/* Returns whether the handler of `ended` returned to an SG instruction in Non-secure state, which led to
 * `addr`. QEMU executes SG without a block. A handler may return to another thread than the interrupted
 * one. */
static bool is_return_to_sg(const struct guest_m *m, const struct exception_m_active *ended, uint32_t addr)
{
    if (!m->secure || !*m->secure || !exceptions_m_is_behind_sg(m, addr))
        return false;
    if (ended->return_to == (ended->secure ? addr : addr - 4))
        return !ended->secure;
    return is_frame_below(m, *m->other_state_msp, addr - 4) ||
           is_frame_below(m, *m->other_state_psp, addr - 4);
}

/* Notes whether an SG instruction led to the code that was interrupted. When a handler has returned before,
 * it did not if that one had interrupted the same place. */
static void find_sg(const struct guest_m *m, const struct exception_m_active *handled, struct exception_m *e)
{
    const bool chained = e->interrupted != handled->number;
    e->after_sg = e->secure && exceptions_m_is_behind_sg(m, e->return_to) &&
                  !(chained && handled->secure && handled->return_to == e->return_to);
}

static enum exceptions_m_change lose(struct exceptions_m *e, uint32_t number)
{
    e->depth = number ? 2 : 1;
    e->active[1] = (struct exception_m_active){.number = number};
    return EXCEPTIONS_M_LOST;
}

enum exceptions_m_change exceptions_m_follow(struct exceptions_m *e, bool handler, uint32_t addr,
                                             struct exception_m taken[EXCEPTIONS_M_TAKEN], unsigned *count)
{
    const uint32_t number = handled_now(e);
    const bool same = number == e->active[e->depth - 1].number;
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
        return is_return_to_sg(&e->cpu, &e->active[place + 1], addr) ? EXCEPTIONS_M_RETURNED_TO_SG
                                                                     : EXCEPTIONS_M_RETURNED;
    }
    const struct exception_m_active handled = e->active[e->depth - 1];
    e->depth -= same; /* it can only be taken again when it is not active */
    *count = find_taken(e, handled.number, number, latest);
    const unsigned outer = *count ? place_of(e, latest[*count - 1].interrupted) + 1 : 0;
    if (!*count || outer + *count > EXCEPTIONS_M_NESTED)
        return lose(e, number);
    find_sg(&e->cpu, &handled, &latest[*count - 1]);
    e->depth = outer;
    for (unsigned i = 0; i < *count; i++) {
        taken[i] = latest[*count - 1 - i];
        e->active[e->depth++] =
            (struct exception_m_active){taken[i].number, taken[i].return_to, taken[i].secure};
        e->handlers[taken[i].number] = i + 1 < *count ? latest[*count - 2 - i].return_to : addr;
    }
    return EXCEPTIONS_M_TAKEN_SOME;
}
