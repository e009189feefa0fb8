/* SPDX-License-Identifier: Apache-2.0 */
/* Two stacks that alternate. The routine that switches them ends with a RET, to where the other stack was
 * left. Prints how often it was called. */
#include <stdio.h>

#define ROUNDS     4
#define SAVED      96 /* bytes that switch_stack() puts on a stack: the registers that a call keeps */
#define SAVED_LINK 1  /* index of the link register there */

static void *main_stack, *other_stack;
static void *room[8192] __attribute__((aligned(16)));
static unsigned switches;

void switch_stack(void **from, void *to);
__asm__(".text\n"
        ".global switch_stack\n"
        ".type switch_stack, %function\n"
        "switch_stack:\n"
        "    stp x29, x30, [sp, #-96]!\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x21, x22, [sp, #32]\n"
        "    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n"
        "    stp x27, x28, [sp, #80]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #16]\n"
        "    ldp x21, x22, [sp, #32]\n"
        "    ldp x23, x24, [sp, #48]\n"
        "    ldp x25, x26, [sp, #64]\n"
        "    ldp x27, x28, [sp, #80]\n"
        "    ldp x29, x30, [sp], #96\n"
        "    ret\n"
        ".size switch_stack, .-switch_stack\n");

__attribute__((noinline)) static void yield(void)
{
    switches++;
    switch_stack(&other_stack, main_stack);
    __asm__ volatile("");
}

__attribute__((noinline)) static void coroutine(void)
{
    for (;;)
        yield();
}

__attribute__((noinline)) static void resume(void)
{
    switches++;
    switch_stack(&main_stack, other_stack);
    __asm__ volatile("");
}

int main(void)
{
    void **frame = room + (sizeof room - SAVED) / sizeof *room;
    frame[SAVED_LINK] = (void *)coroutine;
    other_stack = frame;
    for (unsigned i = 0; i < ROUNDS; i++)
        resume();
    printf("%u\n", switches);
    return 0;
}
