/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware of a Cortex-M that resets itself, first in Thread mode, then in the handler of SVC, and ends. */
#include <stdint.h>

#define REG(addr) (*(volatile uint32_t *)(addr))
#define BOOTS     REG(0x20008000) /* keeps its value */
#define AIRCR     REG(0xe000ed0c)
#define RESET     0x05fa0004

static void quit(void)
{
    register uint32_t r0 __asm__("r0") = 0x18;
    register uint32_t r1 __asm__("r1") = 0x20026;
    __asm__ volatile("bkpt 0xab" : : "r"(r0), "r"(r1) : "memory");
    for (;;)
        ;
}

__attribute__((noinline)) static void reset(void)
{
    AIRCR = RESET;
    __asm__ volatile("dsb");
    for (;;)
        ;
}

void svc_handler(void)
{
    reset();
}

void reset_handler(void)
{
    BOOTS = BOOTS > 3 ? 1 : BOOTS + 1;
    if (BOOTS == 3)
        quit();
    if (BOOTS == 2)
        __asm__ volatile("svc 0");
    reset();
}

extern uint32_t stack_end;

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    [0] = &stack_end, [1] = (const void *)reset_handler, [11] = (const void *)svc_handler};
