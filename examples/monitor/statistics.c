/* Limits how often an algorithm calls itself (statistics.tessla): at most 8 times, but with -DBUG 20 times
 * for one input. */
#include <stdio.h>

static volatile int result;

__attribute__((noinline)) static int rec(int n)
{
    return n ? rec(n - 1) + result : 0;
}

__attribute__((noinline)) static void algorithm(int n)
{
    result = 1; /* line 13 */
    result = rec(n);
}

int main(void)
{
    static const int depths[] = {3, 7, 5,
#ifdef BUG
                                 19,
#endif
                                 2};
    for (unsigned i = 0; i < sizeof depths / sizeof *depths; i++)
        algorithm(depths[i]);
    printf("%d\n", result);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
