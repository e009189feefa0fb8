/* Compiled by the test of the source lines: loops, several statements a line, inlined calls in inlined calls,
 * a function that the linker throws away. */
#include "sample.h"

volatile int input = 5;
volatile int output;

int thrown_away(int a)
{
    return a * 17;
}

static __attribute__((noinline)) int looped(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += sample_mix(i, input);
        input = sum & 3;
    }
    return sum;
}

static __attribute__((noinline, cold)) void rare(void)
{
    output = -1;
}

int main(void)
{
    int n = input;
    if (n > 100)
        rare();
    output = looped(n) + sample_mix(n, n + 1);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
