/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware of a Cortex-M that writes to the stimulus ports of its ITM, as CMSIS does, and to variables that a
 * DWT watches. In the end it turns off port 0, and then all packets of the DWT. */
#include <stdint.h>

#define REG(addr) (*(volatile uint32_t *)(addr))
#define PORT(n)   REG(0xe0000000 + 4 * (n))
#define PORT8(n)  (*(volatile uint8_t *)(0xe0000000 + 4 * (n)))
#define PORT16(n) (*(volatile uint16_t *)(0xe0000000 + 4 * (n)))
#define ITM_TER   REG(0xe0000e00)
#define ITM_TCR   REG(0xe0000e80)
#define STACK_END 0x1000 /* bytes behind the begin of the variables */

volatile uint32_t level;
volatile uint16_t speed;
volatile struct {
    uint8_t on;
    uint32_t limit;
} motor;
volatile uint32_t ports[4];
uint32_t stack[STACK_END / 4];

static void quit(void)
{
    register uint32_t r0 __asm__("r0") = 0x18;
    register uint32_t r1 __asm__("r1") = 0x20026;
    __asm__ volatile("bkpt 0xab" : : "r"(r0), "r"(r1) : "memory");
    for (;;)
        ;
}

static void send(uint8_t c)
{
    if (!(ITM_TCR & 1) || !(ITM_TER & 1))
        return;
    while (!PORT(0))
        ;
    PORT8(0) = c;
}

__attribute__((noinline)) void work(void)
{
    send('h');
    send('i');
    send(0);
    send('!');
    PORT16(3) = 0x1234;
    PORT(1) = 0xdeadbeef;
    PORT(40) = 77;
    level = 5;
    speed = 7;
    speed = (uint16_t)(speed + level);
    motor.limit = 99;
    ports[2] = 0xabcd;
    ITM_TER = 0xfffffffe;
    send('y');
    PORT(0) = 1;
    PORT(1) = 2;
    ITM_TCR = 1;
    level = 6;
    PORT(1) = 3;
    ITM_TCR = 0;
    PORT(1) = 4;
}

void reset_handler(void)
{
    work();
    quit();
}

static void fault_handler(void)
{
    for (;;)
        ;
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack[STACK_END / 4], reset_handler, fault_handler, fault_handler};
