/* A block that has to take 16 to 23 microseconds (validation.tessla). Built with -DBUG, it is once too short
 * and once too long. */
#include <stdio.h>

enum {
    SHORT = 1000,
    RIGHT = 2600,
    LONG = 5000
};

static volatile int work;

__attribute__((noinline)) void block_start(void)
{
    work++;
}

__attribute__((noinline)) void block_end(void)
{
    work--;
}

__attribute__((noinline)) static void spin(int rounds)
{
    for (int i = 0; i < rounds; i++)
        work ^= i;
}

int main(void)
{
    for (int k = 0; k < 6; k++) {
        block_start();
#ifdef BUG
        spin(k == 2 ? SHORT : k == 4 ? LONG : RIGHT);
#else
        spin(RIGHT);
#endif
        block_end();
    }
    printf("%d\n", work);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
