/* Early returns, functions that do not return, functions that are never called. */
#include <stdio.h>
#include <stdlib.h>

static int classify(int n)
{
    if (n < 0)
        return -1;
    if (n == 0)
        return 0;
    if (n % 2 == 0) {
        if (n % 4 == 0)
            return 4;
        return 2;
    }
    return 1;
}

static void nothing(int n)
{
    if (n > 2)
        return;
    n++;
}

static void empty(void)
{
}

static int never_called(int n)
{
    if (n)
        return 1;
    return 2;
}

static __attribute__((noreturn)) void leave(int code)
{
    printf("leaving\n");
    exit(code);
}

int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = -2; i < 9; i++) {
        sum += classify(i);
        nothing(i);
        empty();
    }
    if (argc > 100)
        return never_called(argc) + argv[0][0];
    printf("%d\n", sum);
    leave(0);
}

/* SPDX-License-Identifier: Apache-2.0 */
