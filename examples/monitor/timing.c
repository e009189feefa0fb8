/* The trigger has to come no sooner than two microseconds after the preparation (timing.tessla). Built with -DBUG, it
 * once does not wait. */
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
        first();
#ifdef BUG
        prepare(k == 3 ? 10 : 1000);
#else
        prepare(1000);
#endif
        trigger();
    }
    printf("%d\n", work);
    return 0;
}
