/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, loops and calls for tests of analyses; needs no library. Prints nothing and exits with 0. */
#include "leave.h"

volatile int input = 7;
volatile int result;

__attribute__((noinline)) int leaf(int x)
{
    return x * 3 + 1;
}

__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i & 1)
            sum += leaf(i);
        else
            sum -= i;
    }
    return sum;
}

__attribute__((noinline)) int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) int passes_on(int x)
{
    return leaf(x + 1);
}

void _start(void)
{
    for (int k = 0; k < input; k++)
        result += work(10 + k);
    result += fib(input) + passes_on(result);
    leave();
}
