/* SPDX-License-Identifier: Apache-2.0 */
/* Works in stages: each line of input is one more. What is traced can be exchanged between them:
 *
 *   coretap fractal run --section .text --section .bss --mode points --control stages.sock -o stages.log --
 * ./stages coretap ctl --control stages.sock point add table        (in another terminal, before a line is
 * typed)
 */
#include <stdio.h>

#define KEEP __attribute__((noinline))

static volatile int table[64] __attribute__((aligned(64))); /* four cache lines */

KEEP static int even(int x)
{
    return x * 3 + 1;
}

/* Shares a cache line of 64 bytes with the function before it. */
KEEP static int odd(int x)
{
    return x * 5 + 2;
}

KEEP static void stage(int rounds)
{
    for (int i = 0; i < rounds; i++)
        table[i % 64] = i % 2 ? odd(i) : even(i);
}

int main(void)
{
    char line[64];
    stage(1000);
    while (fgets(line, sizeof line, stdin)) {
        stage(1000);
        puts("done");
        fflush(stdout);
    }
    return 0;
}
