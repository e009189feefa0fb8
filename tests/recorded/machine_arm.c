/* SPDX-License-Identifier: Apache-2.0 */
/* A program for a bare machine with a processor of the A profile in A32 and T32 (QEMU's virt): exceptions of
 * each kind from both instruction sets, interrupts of a timer that nest, returns into IT blocks, and User
 * mode. It ends QEMU by the debugger's function SYS_EXIT. */
#include <stdint.h>

#define REG(addr)   (*(volatile uint32_t *)(addr))
#define GICD_CTLR   REG(0x08000000)
#define GICD_ENABLE REG(0x08000100)
#define GICC_CTLR   REG(0x08010000)
#define GICC_PMR    REG(0x08010004)
#define GICC_IAR    REG(0x0801000c)
#define GICC_EOIR   REG(0x08010010)
#define TIMER       27
#define NOWHERE     REG(0x0fff0000) /* an access is a data abort */
#define ROUNDS      20
#define ARM         __attribute__((noinline, target("arm")))
#define THUMB       __attribute__((noinline, target("thumb")))

uint32_t stacks[5][256];
volatile uint32_t irqs, calls, undefined, aborts, level;

static void set_timer(void)
{
    __asm__ volatile("mcr p15, 0, %0, c14, c3, 0\n mcr p15, 0, %1, c14, c3, 1" : : "r"(3000), "r"(1));
}

ARM void irq_body(void)
{
    const uint32_t number = GICC_IAR;
    irqs++;
    if (irqs < 4 * ROUNDS)
        set_timer();
    else
        __asm__ volatile("mcr p15, 0, %0, c14, c3, 1" : : "r"(2));
    GICC_EOIR = number;
}

ARM static void quit(void)
{
    register uint32_t r0 __asm__("r0") = 0x18;
    register uint32_t r1 __asm__("r1") = 0x20026;
    __asm__ volatile("svc 0x123456" : : "r"(r0), "r"(r1) : "memory");
    for (;;)
        ;
}

/* The call behind those of all rounds ends QEMU, which has no debugger's functions for User mode. */
THUMB void svc_body(void)
{
    calls++;
    level += calls;
    if (calls > 2 * ROUNDS * 3)
        quit();
}

ARM void undefined_body(void)
{
    undefined++;
}

ARM void abort_body(void)
{
    aborts++;
}

__asm__(".arm\n.balign 32\n"
        "vectors: b reset\n b on_undefined\n b on_svc\n b on_prefetch\n b on_data\n nop\n b on_irq\n b .\n"
        "on_undefined: push {r0-r3, r12, lr}\n bl undefined_body\n ldm sp!, {r0-r3, r12, pc}^\n"
        "on_svc: srsdb sp!, #0x13\n push {r0-r3, r12, lr}\n cpsie i\n bl svc_body\n cpsid i\n"
        " pop {r0-r3, r12, lr}\n rfeia sp!\n"
        "on_prefetch: push {r0-r3, r12, lr}\n bl abort_body\n pop {r0-r3, r12, lr}\n movs pc, lr\n"
        "on_data: push {r0-r3, r12, lr}\n bl abort_body\n pop {r0-r3, r12, lr}\n subs pc, lr, #4\n"
        "on_irq: sub lr, lr, #4\n push {r0-r3, r12, lr}\n bl irq_body\n ldm sp!, {r0-r3, r12, pc}^\n"
        ".globl reset\nreset: ldr r0, =stacks+0x400\n"
        " cps #0x12\n mov sp, r0\n add r0, #0x400\n cps #0x17\n mov sp, r0\n add r0, #0x400\n"
        " cps #0x1b\n mov sp, r0\n add r0, #0x400\n cps #0x13\n mov sp, r0\n add r0, #0x400\n"
        " cps #0x1f\n mov sp, r0\n cps #0x13\n"
        " ldr r0, =vectors\n mcr p15, 0, r0, c12, c0, 0\n isb\n b begin\n.ltorg\n");

ARM static void raise_in_arm(void)
{
    __asm__ volatile("svc 0\n udf 1\n bkpt 2\n" ::: "lr", "memory");
    (void)NOWHERE;
}

/* In an IT block an SVC returns to the instructions behind it. */
THUMB static uint32_t raise_in_thumb(uint32_t n)
{
    __asm__ volatile("svc 0\n"
                     " udf 1\n"
                     " cmp %0, %0\n itte eq\n svceq 0\n addeq %0, #1\n addne %0, #2\n"
                     : "+r"(n)::"lr", "cc", "memory");
    __asm__ volatile("ldr.w r3, [%0]" : : "r"(&NOWHERE) : "r3"); /* four bytes, as its handler expects */
    return n;
}

THUMB static uint32_t spin(uint32_t n)
{
    for (volatile uint32_t i = 0; i < 300; i++)
        n = n % 7 ? n * 3 : n + 5;
    return n;
}

ARM void begin(void)
{
    uint32_t n = 1;
    GICD_CTLR = 1;
    GICD_ENABLE = 1u << TIMER;
    GICC_PMR = 0xff;
    GICC_CTLR = 1;
    set_timer();
    __asm__ volatile("cpsie i");
    for (uint32_t i = 0; i < ROUNDS; i++) {
        raise_in_arm();
        n = raise_in_thumb(spin(n));
    }
    __asm__ volatile("cps #0x10"); /* User mode, with the stack of System mode */
    for (uint32_t i = 0; i < ROUNDS; i++) {
        raise_in_arm();
        n = raise_in_thumb(spin(n));
    }
    __asm__ volatile("svc 0" ::: "lr", "memory");
    for (;;)
        ;
}
