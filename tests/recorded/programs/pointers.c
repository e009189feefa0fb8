/* Calls through pointers: a table, a callback, an argument of qsort. */
#include <stdio.h>
#include <stdlib.h>

static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static int multiply(int a, int b) { return a * b; }
static int unused(int a, int b) { return a ? b : 0; }

static int (*const table[])(int, int) = {add, subtract, multiply, unused};

static int apply(int (*f)(int, int), int a, int b)
{
    return f(a, b);
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a;
    int y = *(const int *)b;
    if (x < y)
        return -1;
    return x > y;
}

static void each(const int *values, int n, void (*f)(int, void *), void *user)
{
    for (int i = 0; i < n; i++)
        f(values[i], user);
}

static void sum(int value, void *user)
{
    *(int *)user += value;
}

int main(void)
{
    int values[] = {9, 3, 7, 1, 8, 2};
    int total = 0;
    for (int i = 0; i < 3; i++)
        total += table[i](i + 5, 3) + apply(table[2 - i], 2, i);
    qsort(values, 6, sizeof *values, compare);
    each(values, 6, sum, &total);
    printf("%d %d\n", values[0], total);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
