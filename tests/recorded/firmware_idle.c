/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware of a Cortex-M that never ends: it sleeps between the ticks of a timer, some each second. */
#include <stdint.h>

#define REG(addr) (*(volatile uint32_t *)(addr))

volatile uint32_t ticks;

void reset_handler(void)
{
    REG(0xe000e014) = 500000; /* SYST_RVR: 20 ms at 25 MHz */
    REG(0xe000e010) = 7;      /* SYST_CSR */
    for (;;)
        __asm__ volatile("wfi");
}

void systick_handler(void)
{
    ticks++;
}

static void fault_handler(void)
{
    for (;;)
        ;
}

extern uint32_t stack_end[];
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_end, reset_handler, [2 ... 14] = fault_handler, [15] = systick_handler};
