/* setjmp and longjmp: out of nested calls, several times. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf place;

static void deep(int n)
{
    if (n == 0)
        longjmp(place, 7);
    deep(n - 1);
    puts("never");
}

static int attempt(int n)
{
    int code = setjmp(place);
    if (code == 0) {
        deep(n);
        return -1;
    }
    return code;
}

static int retry(void)
{
    volatile int tries = 0;
    if (setjmp(place) < 3) {
        tries++;
        longjmp(place, tries);
    }
    return tries;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += attempt(i);
    sum += retry();
    printf("%d\n", sum);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
