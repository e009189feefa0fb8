/* Two threads take turns over one slot: a number is produced once the one before was consumed (turns.tessla).
 * Built with -DBUG, one of them believes that there are two slots, and writes over a number that the other
 * one, which was busy, did not look at yet. On neither core alone can that be seen. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NUMBERS 8
#ifndef LOOKS
#define LOOKS 500 /* before others may run */
#endif

#ifdef BUG
#define LOST 4 /* the number that is written over */
#else
#define LOST NUMBERS
#endif

static atomic_uint full, empty;
static unsigned slot, sum;
static volatile unsigned turns[2]; /* of each thread; what is done before a call, so that it is timed */

__attribute__((noinline)) static void produce(unsigned number)
{
    slot = number; /* line 26 */
    atomic_store_explicit(&full, number, memory_order_release);
}

__attribute__((noinline)) static void consume(unsigned number)
{
    sum += slot; /* line 32 */
    atomic_store_explicit(&empty, number, memory_order_release);
}

static void wait_for(const atomic_uint *what, unsigned number)
{
    for (unsigned looks = 1; atomic_load_explicit(what, memory_order_acquire) != number; looks++)
        if (looks % LOOKS == 0)
            sched_yield();
}

static void *take(void *unused)
{
    for (unsigned number = 1; number <= NUMBERS; number++) {
        wait_for(&full, number == LOST && LOST < NUMBERS ? number + 1 : number);
        turns[1]++;
        consume(number);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, take, NULL))
        return 1;
    for (unsigned number = 1; number <= NUMBERS; number++) {
        if (number != LOST + 1)
            wait_for(&empty, number - 1);
        turns[0]++;
        produce(number);
    }
    pthread_join(thread, NULL);
    printf("%u\n", sum);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
