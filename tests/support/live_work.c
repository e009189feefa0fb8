/* SPDX-License-Identifier: Apache-2.0 */
/* The program that live tests trace: loops, recursion, and branches in both directions, for a few hundred
 * thousand instructions. */
#include <stdio.h>

static unsigned seed = 1;

static unsigned next(void)
{
    seed = seed * 1103515245u + 12345u;
    return seed >> 16;
}

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void sort(int *a, int n)
{
    for (int i = 1; i < n; i++) {
        int v = a[i];
        int k = i;
        for (; k && a[k - 1] > v; k--)
            a[k] = a[k - 1];
        a[k] = v;
    }
}

static int seldom(int n)
{
    return n * 3;
}

int main(void)
{
    int a[64];
    int sum = 0;
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 64; i++)
            a[i] = (int)(next() % 1000);
        sort(a, 16 + (int)(next() % 48));
        sum += fib(3 + (int)(next() % 6));
        if (next() % 32 == 0)
            sum += seldom(a[0]);
    }
    printf("%d\n", sum);
    return sum < 0;
}
