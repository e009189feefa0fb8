/* SPDX-License-Identifier: Apache-2.0 */
/* Loops inside of loops and of functions called in loops, recursion, and a signal whose handler is in the
 * loops that it interrupts; A64, needs no library. Prints nothing and exits with 0. */
#include "leave.h"

volatile int input = 12;
volatile int result;

static long call(long number, long a, long b, long c, long d)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}

/* The inner loop goes round i times in round i. */
__attribute__((noinline)) int triangle(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            sum += result & j;
    return sum;
}

__attribute__((noinline)) int count(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += result & i;
    return sum;
}

/* The loop of count goes round as often as the inner one of triangle. */
__attribute__((noinline)) int many(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += count(i);
    return sum;
}

__attribute__((noinline)) int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) int twice(int n)
{
    return fib(n) + fib(n - 1);
}

__attribute__((noinline)) int shallow(int n)
{
    return n < 1 ? result : result ^ 3 * shallow(n - 1);
}

/* A recursion that calls another one, for which that goes less deep each time. */
__attribute__((noinline)) int deep(int n)
{
    if (n < 1)
        return 0;
    const int sum = shallow(n);
    return sum ^ 3 * deep(n - 1);
}

/* Raises the signal in the middle of its loop. */
__attribute__((noinline)) int interrupted(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += result & i;
        if (i == n / 2)
            call(129, call(172, 0, 0, 0, 0), 10, 0, 0); /* kill(getpid(), SIGUSR1) */
    }
    return sum;
}

static int handled;

static void on_signal(int number)
{
    handled = count(3);
    if (number == 10 && !result++)
        interrupted(0);
}

int main(void)
{
    const struct {
        void (*handler)(int);
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } action = {on_signal, 0, 0, 0};
    call(134, 10, (long)&action, 0, 8); /* rt_sigaction */
    for (int k = 0; k < 3; k++)
        result += triangle(input - k) + many(input - k) + twice(8 - k) + interrupted(20 - k);
    result += deep(input);
    return 0;
}

void _start(void)
{
    main();
    leave();
}
