/* Functions that call themselves and each other. */
#include <stdio.h>

static int factorial(int n)
{
    if (n < 2)
        return 1;
    return n * factorial(n - 1);
}

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int odd(int n);

static int even(int n)
{
    if (n == 0)
        return 1;
    return odd(n - 1);
}

static int odd(int n)
{
    if (n == 0)
        return 0;
    return even(n - 1);
}

static int ackermann(int m, int n)
{
    if (!m)
        return n + 1;
    if (!n)
        return ackermann(m - 1, 1);
    return ackermann(m - 1,
                     ackermann(m, n - 1));
}

static void hanoi(int n, int from, int to, int by, int *moves)
{
    if (n == 0)
        return;
    hanoi(n - 1, from, by, to, moves);
    ++*moves;
    hanoi(n - 1, by, to, from, moves);
}

int main(void)
{
    int moves = 0;
    hanoi(5, 0, 1, 2, &moves);
    printf("%d %d %d %d %d\n", factorial(10), fibonacci(11), even(9), ackermann(2, 3), moves);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
