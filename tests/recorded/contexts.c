/* SPDX-License-Identifier: Apache-2.0 */
/* Coroutines by swapcontext(), which is called at several depths. Prints how often a coroutine ran. */
#include <stdio.h>
#include <ucontext.h>

#define COROUTINES 3
#define ROUNDS     5

static ucontext_t scheduler, contexts[COROUTINES];
static char stacks[COROUTINES][65536];
static volatile unsigned runs;

__attribute__((noinline)) static void pause_at(int number, int depth)
{
    if (depth)
        pause_at(number, depth - 1);
    else
        swapcontext(&contexts[number], &scheduler);
    runs += depth == 0;
}

__attribute__((noinline)) static void pauses(int number)
{
    for (int i = 0; i < ROUNDS; i++)
        pause_at(number, i % 3);
}

__attribute__((noinline)) static void schedule(int number)
{
    swapcontext(&scheduler, &contexts[number]);
    __asm__ volatile("");
}

int main(void)
{
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i];
        contexts[i].uc_stack.ss_size = sizeof stacks[i];
        contexts[i].uc_link = &scheduler;
        makecontext(&contexts[i], (void (*)(void))pauses, 1, i);
    }
    for (int round = 0; round <= ROUNDS; round++)
        for (int i = 0; i < COROUTINES; i++)
            schedule(i);
    printf("%u\n", runs);
    return 0;
}
