/* A buffer has to be given back before it is taken again (structure.tessla). Built with -DBUG, an early
 * return once forgets to give it back. */
#include <stdio.h>

static volatile int taken;
static volatile int total;

__attribute__((noinline)) static void take(void)
{
    taken++; /* line 10 */
}

__attribute__((noinline)) static void give_back(void)
{
    taken--; /* line 15 */
}

__attribute__((noinline)) static int handle(int message)
{
    take();
#ifdef BUG
    if (message == 3)
        return -1;
#endif
    total += message;
    give_back();
    return 0;
}

int main(void)
{
    for (int message = 0; message < 6; message++)
        handle(message);
    printf("%d\n", total);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
