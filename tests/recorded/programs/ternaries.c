/* Conditional expressions, short circuits and conditions on several lines. */
#include <stdio.h>

static int sign(int n)
{
    return n > 0 ? 1 : n < 0 ? -1 : 0;
}

static int clamp(int n, int low, int high)
{
    return n < low ? low : n > high ? high : n;
}

static int both(int a, int b)
{
    if (a && b)
        return 1;
    return 0;
}

static int either(int a, int b, int c)
{
    if (a || b ||
        c)
        return 1;
    return 0;
}

static int mixed(int a, int b, int c, int d)
{
    if ((a && b) || (c && d))
        return 1;
    else if (!(a || d) && c)
        return 2;
    return 3;
}

static int value(int a, int b)
{
    int x = a < b;
    int y = (a & 1) ? b + 1 : a - 1;
    int z = a && b;
    return x + y + z + (a == b);
}

int main(void)
{
    int sum = 0;
    for (int i = -3; i < 4; i++) {
        sum += sign(i) + clamp(i, -1, 2) + value(i, 2);
        for (int j = 0; j < 2; j++)
            sum += both(i, j) + either(i, j, 0);
    }
    for (int i = 0; i < 16; i++)
        sum += mixed(i & 1, i & 2, i & 4, i & 8);
    printf("%d\n", sum);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
