/* Loops of every form, nested, with break and continue, and whole ones on one line. */
#include <stdio.h>

static int triangle(int n)
{
    int sum = 0;
    for (int i = 1; i <= n; i++)
        sum += i;
    return sum;
}

static int nested(int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            if ((i ^ j) & 1)
                continue;
            if (j > 7)
                break;
            count++;
        }
    }
    return count;
}

static unsigned steps(unsigned n)
{
    unsigned count = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        count++;
    }
    return count;
}

static int digits(int n)
{
    int count = 0;
    do {
        n /= 10;
        count++;
    } while (n);
    return count;
}

static int one_line(int n)
{
    int x = 0;
    for (int i = 0; i < n; i++) x += i * i;
    while (x > 10) x -= 7;
    do x++; while (x < 20);
    return x;
}

static int forever(void)
{
    int n = 0;
    for (;;) {
        if (++n == 5)
            return n;
    }
}

static int never(int n)
{
    for (int i = 0; i < n; i++)
        puts("never");
    while (n)
        n--;
    return n;
}

int main(void)
{
    printf("%d %d %u %d %d %d %d\n", triangle(10), nested(12), steps(27), digits(12345), one_line(9), forever(), never(0));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
