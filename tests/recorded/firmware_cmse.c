/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware of a Cortex-M33 with TrustZone-M, on QEMU's mps2-an505, in two programs. The Secure one
 * (SECURE_SIDE) has gates from cmse_nonsecure_entry, calls functions that Non-secure code has given it, and
 * handles a fault of that code. The Non-secure one is linked against the Secure one's import library and has
 * two tasks. Both have ticks, and interrupts that interrupt each other's state. */
#include <stdint.h>

#define REG(addr)  (*(volatile uint32_t *)(addr))
#define ISER       REG(0xe000e100)
#define ISPR       REG(0xe000e200)
#define IPR(group) REG(0xe000e400 + 4 * (group))
#define ICSR       REG(0xe000ed04)
#define SHPR3      REG(0xe000ed20)
#define SYST_CSR   REG(0xe000e010)
#define SYST_RVR   REG(0xe000e014)
#define PENDSV     0x10000000u
#define ROUNDS     12u

typedef uint32_t function(uint32_t);

/* The gates. */
uint32_t gate_add(uint32_t n);
uint32_t gate_call(function *back, uint32_t n);
uint32_t gate_float(uint32_t n);
void gate_pend(void);
void gate_quit(void);

#ifdef SECURE_SIDE

#define MPC_INDEX  REG(0x58007018) /* memory protection: which blocks of memory are Non-secure */
#define MPC_BLOCKS REG(0x5800701c)
#define MPC_SIZE   0x8000u         /* bytes for each index */
#define NSC_CODE   REG(0x50080014) /* the code region may have gates */
#define ITNS       REG(0xe000e380) /* interrupts that are Non-secure */
#define SHCSR      REG(0xe000ed24)
#define CPACR      REG(0xe000ed88)
#define NSACR      REG(0xe000ed8c)
#define FPCCR      REG(0xe000ef34)
#define SAU_CTRL   REG(0xe000edd0)
#define SAU_RNR    REG(0xe000edd8)
#define SAU_RBAR   REG(0xe000eddc)
#define SAU_RLAR   REG(0xe000ede0)
#define VTOR_NS    REG(0xe002ed08)
#define CPACR_NS   REG(0xe002ed88)
#define GATES      0x10004000u
#define NS_BEGIN   0x10000u
#define NS_END     0x40000u
#define GATE       __attribute__((cmse_nonsecure_entry, noinline))

typedef uint32_t __attribute__((cmse_nonsecure_call)) ns_function(uint32_t);

static volatile uint32_t ticks, faults, irqs;
static volatile float sum;

GATE uint32_t gate_add(uint32_t n)
{
    ticks++;
    return n + 1;
}

GATE uint32_t gate_call(function *back, uint32_t n)
{
    ns_function *call = (ns_function *)((uint32_t)back & ~1u);
    return call(n) + call(n + 1);
}

GATE uint32_t gate_float(uint32_t n)
{
    for (uint32_t i = 0; i < 20; i++)
        sum += (float)(n + i);
    return (uint32_t)sum;
}

GATE void gate_pend(void)
{
    ISPR = 1u << 5; /* IRQ 5 is Secure */
    __asm__ volatile("dsb\n isb");
    sum += 1.0f;
}

GATE void gate_quit(void)
{
    register uint32_t r0 __asm__("r0") = 0x18;
    register uint32_t r1 __asm__("r1") = 0x20026;
    __asm__ volatile("bkpt 0xab" : : "r"(r0), "r"(r1) : "memory");
    for (;;)
        ;
}

static void on_tick(void)
{
    ticks++;
    if (ticks % 3 == 0)
        ISPR = 1u << 4; /* IRQ 4 is Non-secure */
}

static void on_irq(void)
{
    irqs++;
    sum -= 1.0f;
    if (irqs % 2)
        ICSR = PENDSV;
}

static void on_pend(void)
{
    irqs++;
}

__attribute__((used)) static void skip(uint32_t *frame)
{
    faults++;
    frame[6] += 2; /* the load was one of two bytes */
}

__attribute__((naked)) static void on_secure_fault(void)
{
    __asm__ volatile("mrs r0, psp_ns\n b skip"); /* of a task */
}

static void set_region(uint32_t number, uint32_t base, uint32_t limit)
{
    SAU_RNR = number;
    SAU_RBAR = base;
    SAU_RLAR = limit;
}

extern uint32_t stack_end;

void reset_handler(void)
{
    const uint32_t *vectors = (const uint32_t *)NS_BEGIN;
    for (uint32_t i = NS_BEGIN; i < NS_END; i += MPC_SIZE) {
        MPC_INDEX = i / MPC_SIZE;
        MPC_BLOCKS = 0xffffffff;
    }
    NSC_CODE |= 1;
    set_region(0, GATES, (GATES + 0xfe0) | 3);
    set_region(1, 0, 0x0fffffe0 | 1);
    SAU_CTRL = 1;
    VTOR_NS = NS_BEGIN;
    SHCSR = 1u << 19; /* SecureFault */
    CPACR = CPACR_NS = 0xf << 20;
    NSACR = 3 << 10;
    FPCCR |= SECURE_FLOAT;
    ITNS = 1u << 4 | 1u << 3;
    ISER = 1u << 5;
    IPR(0) = 0x60000000;
    IPR(1) = 0x2040;
    SYST_RVR = 907;
    SYST_CSR = 7;
    __asm__ volatile("msr msp_ns, %0\n dsb\n isb" : : "r"(vectors[0]));
    ((ns_function *)(vectors[1] & ~1u))(0);
    gate_quit();
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16 + 8] = {
    [0] = &stack_end,
    [1] = (const void *)reset_handler,
    [7] = (const void *)on_secure_fault,
    [14] = (const void *)on_pend,
    [15] = (const void *)on_tick,
    [16 + 5] = (const void *)on_irq};

#else

static volatile uint32_t ticks, irqs, calls;

static uint32_t back(uint32_t n)
{
    calls++;
    return n ^ gate_add(n);
}

__attribute__((noinline)) static uint32_t spin(uint32_t n)
{
    for (volatile uint32_t i = 0; i < 200; i++)
        n = n % 5 ? n + 7 : n * 3;
    return n;
}

static void on_tick(void)
{
    ticks++;
    gate_add(ticks);
    if (ticks % 2)
        ISPR = 1u << 3;
}

static void on_irq(void)
{
    irqs++;
    ICSR = PENDSV;
}

__attribute__((used)) static void on_pend(void)
{
    irqs++;
    if (irqs % 4 == 1)
        gate_pend();
}

/* What the task that does not run has on its stack: R4 to R11 and EXC_RETURN, a frame that returns to its
 * begin. */
#define FRAME_WORDS 17u
static void second_task(void);
static uint32_t first_stack[300], second_stack[300];
__attribute__((used)) static uint32_t *other_sp;

/* Switches tasks, unless the interrupted one is in Secure code. */
__attribute__((naked)) static void on_switch(void)
{
    __asm__ volatile("push {r4, lr}\n bl on_pend\n pop {r4, lr}\n"
                     " tst lr, #0x40\n bne 1f\n"
                     " mrs r0, psp\n tst lr, #0x10\n it eq\n vstmdbeq r0!, {s16-s31}\n"
                     " stmdb r0!, {r4-r11, lr}\n"
                     " ldr r1, =other_sp\n ldr r2, [r1]\n str r0, [r1]\n"
                     " ldmia r2!, {r4-r11, lr}\n tst lr, #0x10\n it eq\n vldmiaeq r2!, {s16-s31}\n"
                     " msr psp, r2\n1: bx lr\n.ltorg");
}

__attribute__((used)) static uint32_t *first_sp(void)
{
    uint32_t *frame = second_stack + 300 - FRAME_WORDS;
    other_sp = frame;
    frame[8] = 0xffffffbc;
    frame[15] = (uint32_t)second_task & ~1u;
    frame[16] = 0x01000000;
    return first_stack + 300;
}

__attribute__((naked)) static void start(void)
{
    __asm__ volatile("bl first_sp\n msr psp, r0\n mov r0, #2\n msr control, r0\n isb\n b main");
}

static void second_task(void)
{
    for (uint32_t n = 0;;)
        n += gate_add(n);
}

/* The fault at the end is handled by Secure code. */
static uint32_t fault(void)
{
    uint32_t got = 0;
    __asm__ volatile("ldr %0, [%1]" : "=l"(got) : "l"(0x38000000), "0"(got));
    return got;
}

uint32_t main(void)
{
    volatile float f = 1.0f;
    uint32_t n = 0;
    ISER = 1u << 4 | 1u << 3;
    SHPR3 = 0x80e00000; /* PendSV comes last */
    SYST_RVR = 611;
    SYST_CSR = 7;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (uint32_t k = 0; k < 40; k++)
            n += gate_add(k);
        n = spin(n) + gate_call(back, n);
        f = f * 1.5f + (float)gate_float(n);
        gate_pend();
        n += fault();
        __asm__ volatile("svc 0");
    }
    gate_quit();
    return n;
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16 + 8] = {
    [0] = (const void *)0x38000,    [1] = (const void *)start,    [11] = (const void *)on_pend,
    [14] = (const void *)on_switch, [15] = (const void *)on_tick, [16 + 3] = (const void *)on_irq,
    [16 + 4] = (const void *)on_irq};

#endif
