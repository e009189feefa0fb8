/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the exceptions of a processor of the M profile (DDI 0403 B1.5, DDI 0553 B3). QEMU does not report
 * them, but the number of the exception that is handled changes between two blocks, and at the first
 * instruction of a handler the frame on the stack has the return address. */
#pragma once

#include "guest_m.h"
#include "trace_stream.h"

#define EXCEPTIONS_M_NESTED  64 /* most exceptions that are active at a time */
#define EXCEPTIONS_M_TAKEN   8  /* most that are taken at a time */
#define EXCEPTIONS_M_NUMBERS 1024

/* With the Security Extension some exceptions exist twice, as both states have a SysTick. To the number of
 * the one that is taken to Secure state this is added, everywhere here. */
#define EXCEPTIONS_M_SECURE TRACE_M_SECURE

/* An exception that is active, and the code that it interrupted. */
struct exception_m_active {
    uint32_t number; /* 0: Thread mode */
    uint32_t return_to;
    bool secure;
};

struct exceptions_m {
    struct guest_m cpu;
    uint32_t reset_at;                                     /* address of the first instruction */
    struct exception_m_active active[EXCEPTIONS_M_NESTED]; /* the handled one last, Thread mode first */
    unsigned depth;
    uint32_t handlers[EXCEPTIONS_M_NUMBERS]; /* addresses where the handlers began that have run */
};

/* An exception that was taken. */
struct exception_m {
    uint32_t number;
    uint32_t return_to;   /* from the frame */
    uint32_t interrupted; /* number of the exception whose handler it interrupted; 0: Thread mode */
    bool secure;          /* the code that it interrupted was Secure */
    bool after_sg;        /* an SG instruction led to that code; if the block before is Secure, it had run */
};

enum exceptions_m_change {
    EXCEPTIONS_M_NONE,
    EXCEPTIONS_M_RETURNED,       /* to the exception that is handled now */
    EXCEPTIONS_M_RETURNED_TO_SG, /* the same, but to the SG instruction directly before the block */
    EXCEPTIONS_M_TAKEN_SOME,
    EXCEPTIONS_M_RESET, /* perhaps: execution is at the reset handler, with the registers of a reset */
    EXCEPTIONS_M_LOST,  /* it is unknown how execution came to the exception that is handled now */
};

/* Returns whether an SG instruction is directly before `addr`. */
bool exceptions_m_is_behind_sg(const struct guest_m *cpu, uint32_t addr);

/* Begins with a processor that executes its first block, at `addr`. */
void exceptions_m_begin(struct exceptions_m *e, const struct guest_m *cpu, uint32_t addr);

/* Returns whether each security state has an exception of this number: MemManage, UsageFault, SVC, PendSV and
 * SysTick. */
static inline bool exceptions_m_is_twofold(uint32_t number)
{
    const uint32_t these = 1u << 4 | 1u << 6 | 1u << 11 | 1u << 14 | 1u << 15;
    return number < 16 && these >> number & 1;
}

/* Returns whether an exception may have been taken or have returned before the block at `addr`, which begins
 * now. `handler`: a handler begins there. */
static inline bool exceptions_m_may_change(const struct exceptions_m *e, bool handler, uint32_t addr)
{
    const uint32_t handled = e->active[e->depth - 1].number;
    return __builtin_expect(*e->cpu.exception != handled, 0) || handler || addr == e->reset_at ||
           (e->cpu.secure && exceptions_m_is_twofold(handled));
}

/* Finds what happened before the block at `addr`. `taken` receives the exceptions that were taken, in order;
 * before all but the first one, no instruction was executed. When the first one did not interrupt the handler
 * that ran before, that handler returned first. A handler that jumps to its begin looks as if it returned and
 * its exception were taken again. */
enum exceptions_m_change exceptions_m_follow(struct exceptions_m *e, bool handler, uint32_t addr,
                                             struct exception_m taken[EXCEPTIONS_M_TAKEN], unsigned *count);
