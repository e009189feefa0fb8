/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware of a Cortex-M, to record without a board: two tasks that PendSV switches, a tick, interrupts that
 * nest and chain, system calls, faults, and floating point where there is any.
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mfloat-abi=hard -mthumb -O2 -g -ffreestanding -nostdlib
 *       -T firmware.ld -o firmware.elf firmware.c
 *   coretap record --system -o capture -- qemu-system-arm -M mps2-an386 -nographic -semihosting
 *       -kernel firmware.elf */
#include <stdint.h>

#define REG(addr)   (*(volatile uint32_t *)(addr))
#define SYST_CSR    REG(0xe000e010)
#define SYST_RVR    REG(0xe000e014)
#define NVIC_ISER   REG(0xe000e100)
#define NVIC_ISPR   REG(0xe000e200)
#define NVIC_IPR(n) REG(0xe000e400 + 4 * (n))
#define ICSR        REG(0xe000ed04)
#define CCR         REG(0xe000ed14)
#define SHPR2       REG(0xe000ed1c)
#define SHPR3       REG(0xe000ed20)
#define SHCSR       REG(0xe000ed24)
#define CPACR       REG(0xe000ed88)

#define PEND_SV    (1u << 28)
#define LOW_IRQ    0
#define HIGH_IRQ   1
#define LATER_IRQ  30
#define ROUNDS     40
#define TASK_WORDS 256
#define SAVED      9 /* R4 to R11, EXC_RETURN */
#define MAINLINE   (__ARM_ARCH_ISA_THUMB >= 2)

static uint32_t nothing[32], stacks[2][TASK_WORDS] __attribute__((aligned(8)));
static uint32_t *waiting_sp[3];
static unsigned running;
volatile uint32_t ticks, low_irqs, high_irqs, later_irqs, calls, faults, sums[2];

/* ---- the debugger's functions (semihosting) ---- */

static void semihost(uint32_t function, const void *argument)
{
    register uint32_t r0 __asm__("r0") = function;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void quit(void)
{
    semihost(0x18, (const void *)0x20026); /* SYS_EXIT, ADP_Stopped_ApplicationExit */
    for (;;)
        ;
}

/* ---- handlers ---- */

void systick_handler(void)
{
    ticks++;
    ICSR = PEND_SV; /* chains */
}

void low_handler(void)
{
    low_irqs++;
    NVIC_ISPR = 1u << HIGH_IRQ;  /* nests */
    NVIC_ISPR = 1u << LATER_IRQ; /* chains */
    __asm__ volatile("isb");
}

void high_handler(void)
{
    high_irqs++;
}

void later_handler(void)
{
    later_irqs++;
}

void svc_body(uint32_t *frame)
{
    calls++;
    frame[0] = frame[0] * 2 + 1;
}

/* Goes on behind the instruction that faulted, and moves an IT block on by one instruction. */
void fault_body(uint32_t *frame)
{
    const uint16_t first = *(const uint16_t *)frame[6];
    uint32_t it = (frame[7] >> 25 & 3) | (frame[7] >> 8 & 0xfc);
    faults++;
    frame[6] += first >> 11 >= 29 ? 4 : 2;
    if (it & 15) {
        it = it & 7 ? (it & 0xe0) | (it << 1 & 0x1f) : 0;
        frame[7] = (frame[7] & ~0x0600fc00u) | (it & 3) << 25 | (it & 0xfc) << 8;
    }
}

/* Calls a function with the stack that the interrupted code uses. */
#define WITH_FRAME(function)                                                                                 \
    __asm__ volatile("movs r0, #4\n mov r1, lr\n tst r0, r1\n beq 1f\n mrs r0, psp\n b 2f\n"                 \
                     "1: mrs r0, msp\n 2: push {r4, lr}\n bl " #function "\n pop {r4, pc}")

__attribute__((naked)) void svc_handler(void)
{
    WITH_FRAME(svc_body);
}

__attribute__((naked)) void fault_handler(void)
{
    WITH_FRAME(fault_body);
}

uint32_t *next_task(uint32_t *sp)
{
    waiting_sp[running] = sp;
    running = running == 0;
    return waiting_sp[running];
}

__attribute__((naked)) void pendsv_handler(void)
{
    __asm__ volatile("mrs r0, psp\n"
#ifdef __ARM_FP
                     "tst lr, #16\n it eq\n vstmdbeq r0!, {s16-s31}\n"
#endif
#if MAINLINE
                     "stmdb r0!, {r4-r11, lr}\n bl next_task\n ldmia r0!, {r4-r11, lr}\n"
#else
                     "mov r1, r8\n mov r2, r9\n mov r3, r10\n mov r12, r11\n subs r0, #36\n"
                     "stmia r0!, {r4-r7}\n stmia r0!, {r1-r3}\n mov r1, r12\n mov r2, lr\n"
                     "stmia r0!, {r1, r2}\n subs r0, #36\n bl next_task\n"
                     "ldmia r0!, {r4-r7}\n ldmia r0!, {r1-r3}\n mov r8, r1\n mov r9, r2\n mov r10, r3\n"
                     "ldmia r0!, {r1, r2}\n mov r11, r1\n mov lr, r2\n"
#endif
#ifdef __ARM_FP
                     "tst lr, #16\n it eq\n vldmiaeq r0!, {s16-s31}\n"
#endif
                     "msr psp, r0\n bx lr");
}

void unexpected_handler(void)
{
    quit();
}

/* ---- tasks ---- */

static uint32_t call(uint32_t value)
{
    register uint32_t r0 __asm__("r0") = value;
    __asm__ volatile("svc 1" : "+r"(r0) : : "memory");
    return r0;
}

__attribute__((noinline)) static uint32_t work(uint32_t seed)
{
    float x = (float)seed;
    for (unsigned i = 0; i < 20; i++)
        x = x * 1.5f + (float)(seed >> (i & 7));
    return (uint32_t)(x / 1000000.0f);
}

/* Faults: an undefined instruction, a division by zero, a load from nowhere inside an IT block whose last
 * instruction is a branch. */
__attribute__((noinline)) static uint32_t fail(uint32_t n)
{
#if MAINLINE
    __asm__ volatile("udf 7\n"
                     "movs r1, #0\n udiv r2, %0, r1\n"
                     "mov r1, #0xa0000000\n cmp %0, %0\n ittt eq\n ldreq r2, [r1]\n addeq %0, #1\n beq 1f\n"
                     "add %0, #100\n 1:"
                     : "+r"(n)
                     :
                     : "r1", "r2", "cc");
#endif
    return n + 1;
}

__attribute__((noinline)) static void yield(void)
{
    ICSR = PEND_SV;
    __asm__ volatile("dsb\n isb");
}

static void task_a(void)
{
    for (uint32_t i = 0;; i++) {
        sums[0] += work(call(i));
        NVIC_ISPR = 1u << LOW_IRQ;
        yield();
        if (i == ROUNDS)
            quit();
    }
}

static void task_b(void)
{
    for (uint32_t i = 0;; i++) {
        sums[1] += work(fail(i));
        yield();
    }
}

/* ---- the begin ---- */

static void make_task(unsigned n, void (*task)(void))
{
    uint32_t *frame = stacks[n] + TASK_WORDS - 8;
    frame[6] = (uint32_t)task & ~1u;
    frame[7] = 1u << 24; /* T32 */
    waiting_sp[n] = frame - SAVED;
    waiting_sp[n][SAVED - 1] = 0xfffffffd;
}

void reset_handler(void)
{
#ifdef __ARM_FP
    CPACR |= 0xfu << 20;
    __asm__ volatile("dsb\n isb");
#endif
#if MAINLINE
    SHCSR |= 7u << 16;
    CCR |= 1u << 4; /* division by zero faults */
#endif
    running = 2; /* no task yet */
    make_task(0, task_a);
    make_task(1, task_b);
    SHPR2 = 0x40u << 24;               /* SVC */
    SHPR3 = 0x80u << 24 | 0xffu << 16; /* SysTick, PendSV */
    NVIC_IPR(0) = 0xc0u | 0x40u << 8;
    NVIC_IPR(LATER_IRQ / 4) = 0xc0u << LATER_IRQ % 4 * 8;
    NVIC_ISER = 1u << LOW_IRQ | 1u << HIGH_IRQ | 1u << LATER_IRQ;
    __asm__ volatile("msr psp, %0" : : "r"(nothing + 32)); /* what the first switch saves is not needed */
    SYST_RVR = 9999;
    SYST_CSR = 7;
    ICSR = PEND_SV;
    for (;;)
        ;
}

extern uint32_t stack_end;

#define VECTOR(handler) ((const void *)(handler))
__attribute__((section(".vectors"), used)) static const void *const vectors[16 + 32] = {
    [0] = &stack_end,
    [1] = VECTOR(reset_handler),
    [2] = VECTOR(unexpected_handler),
    [3 ... 6] = VECTOR(fault_handler),
    [7] = VECTOR(unexpected_handler),
    [11] = VECTOR(svc_handler),
    [14] = VECTOR(pendsv_handler),
    [15] = VECTOR(systick_handler),
    [16 + LOW_IRQ] = VECTOR(low_handler),
    [16 + HIGH_IRQ] = VECTOR(high_handler),
    [16 + LATER_IRQ] = VECTOR(later_handler),
};
