/* Inline functions, which are calls where nothing is optimised. */
#include <stdio.h>

static inline int square(int n)
{
    return n * n;
}

static inline __attribute__((always_inline)) int absolute(int n)
{
    if (n < 0)
        return -n;
    return n;
}

static inline __attribute__((always_inline)) int distance(int a, int b)
{
    return absolute(a - b);
}

static inline int unused(int n)
{
    return n + 1;
}

static int total(const int *v, int n)
{
    int sum = 0;
    for (int i = 1; i < n; i++)
        sum += distance(v[i], v[i - 1]) + square(v[i]);
    return sum;
}

int main(void)
{
    int v[] = {3, 9, -4, 7, 7};
    printf("%d\n", total(v, 5));
    return sizeof(unused(1)) == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
