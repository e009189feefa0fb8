/* The trigger has to come less than two microseconds after a call of first (timing.tessla). Built with
 * -DBUG, it comes once without such a call, at the start, and later once too late, after a preparation
 * that takes long. */
#include <stdio.h>

static volatile int work;

__attribute__((noinline)) static void first(void)
{
    work++;
}

__attribute__((noinline)) static void trigger(void)
{
    work += 2;
}

__attribute__((noinline)) static void prepare(int rounds)
{
    for (int i = 0; i < rounds; i++)
        work ^= i;
}

int main(void)
{
    for (int k = 0; k < 5; k++) {
#ifdef BUG
        if (k > 0)
            first();
        prepare(k == 3 ? 1000 : 10);
#else
        first();
        prepare(10);
#endif
        trigger();
    }
    printf("%d\n", work);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
