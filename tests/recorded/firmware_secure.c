/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware of a Cortex-M33 with the Security Extension, on QEMU's mps2-an505: Secure code calls Non-secure
 * code, which calls back through a gate, and a Secure tick interrupts both. */
#include <stdint.h>

#define REG(addr)  (*(volatile uint32_t *)(addr))
#define MPC_MAX    REG(0x58007010) /* memory protection: which blocks of memory are Non-secure */
#define MPC_INDEX  REG(0x58007018)
#define MPC_BLOCKS REG(0x5800701c)
#define NSC_CODE   REG(0x50080014) /* the code region may have gates */
#define SYST_CSR   REG(0xe000e010)
#define SYST_RVR   REG(0xe000e014)
#define SAU_CTRL   REG(0xe000edd0)
#define SAU_RNR    REG(0xe000edd8)
#define SAU_RBAR   REG(0xe000eddc)
#define SAU_RLAR   REG(0xe000ede0)
#define VTOR_NS    REG(0xe002ed08)

#define GATE       0x10004000u
#define NS_STACK   0x30000u
#define NS_VECTORS 0x18000u
#define NS_BLOCKS  2u /* from 0x10000 on: 32 KiB for each index */

extern uint32_t stack_end;
static volatile uint32_t calls, ticks;

static void quit(void)
{
    register uint32_t r0 __asm__("r0") = 0x18;
    register uint32_t r1 __asm__("r1") = 0x20026;
    __asm__ volatile("bkpt 0xab" : : "r"(r0), "r"(r1) : "memory");
    for (;;)
        ;
}

void systick_handler(void)
{
    ticks++;
}

__attribute__((used)) uint32_t gate_body(uint32_t n)
{
    calls++;
    return n + 1;
}

__attribute__((naked, used, section(".gate"))) void gate(void)
{
    __asm__ volatile("sg\n push {r4, lr}\n bl gate_body\n pop {r4, lr}\n bxns lr");
}

__attribute__((noinline, section(".ns"))) static void spin(void)
{
    for (volatile uint32_t i = 0; i < 2000; i++)
        ;
}

__attribute__((used, section(".ns"))) void ns_main(void)
{
    uint32_t (*call)(uint32_t) = (uint32_t(*)(uint32_t))(GATE | 1);
    for (uint32_t i = 0; i < 5; i++) {
        call(i);
        spin();
    }
}

static void set_region(uint32_t number, uint32_t base, uint32_t limit)
{
    SAU_RNR = number;
    SAU_RBAR = base;
    SAU_RLAR = limit;
}

void reset_handler(void)
{
    for (uint32_t i = NS_BLOCKS; i <= MPC_MAX; i++) {
        MPC_INDEX = i;
        MPC_BLOCKS = 0xffffffff;
    }
    NSC_CODE |= 1;
    set_region(0, GATE, (GATE + 0xfe0) | 3);
    set_region(1, 0, 0x0fffffe0 | 1);
    SAU_CTRL = 1;
    VTOR_NS = NS_VECTORS;
    SYST_RVR = 20000;
    SYST_CSR = 7;
    __asm__ volatile("msr msp_ns, %0\n dsb\n isb" : : "r"(NS_STACK));
    for (int i = 0; i < 3; i++) {
        register uint32_t r4 __asm__("r4") = (uint32_t)ns_main & ~1u;
        __asm__ volatile("blxns r4" : : "r"(r4) : "r0", "r1", "r2", "r3", "r12", "lr", "memory", "cc");
    }
    quit();
}

__attribute__((section(".ns_vectors"), used)) static const void *const ns_vectors[16] = {(void *)NS_STACK};
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    [0] = &stack_end, [1] = (const void *)reset_handler, [15] = (const void *)systick_handler};
