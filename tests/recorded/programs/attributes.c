/* What runs before and behind main, statement expressions, nested functions, variadic ones. */
#include <stdarg.h>
#include <stdio.h>

static int prepared;

__attribute__((constructor)) static void before(void)
{
    prepared = 1;
}

__attribute__((destructor)) static void behind(void)
{
    prepared = 0;
}

static void tidy(int *value)
{
    *value = 0;
}

static int sum(int n, ...)
{
    va_list args;
    int total = 0;
    va_start(args, n);
    for (int i = 0; i < n; i++)
        total += va_arg(args, int);
    va_end(args);
    return total;
}

static int cleaned(int n)
{
    __attribute__((cleanup(tidy))) int held = n;
    if (n > 2)
        return held + 1;
    held++;
    return held;
}

static int expression(int n)
{
    int x = ({
        int t = n * 2;
        if (t > 4)
            t -= 3;
        t;
    });
    return x;
}

static int outer(int n)
{
    int calls = 0;
    int inner(int k)
    {
        calls++;
        return k > 0 ? inner(k - 1) + 1 : 0;
    }
    return inner(n) + calls;
}

int main(void)
{
    int total = sum(3, 1, 2, 3) + sum(0);
    for (int i = 0; i < 5; i++)
        total += cleaned(i) + expression(i);
    total += outer(4);
    printf("%d %d\n", prepared, total);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
