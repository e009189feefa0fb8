/* Two threads take turns over one slot: a number is produced after the last one was consumed (turns.tessla).
 * Built with -DBUG, one thread believes that there are two slots, and overwrites a number that the other one,
 * which was busy, had not read yet. The trace of one core alone does not show that. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NUMBERS 8
#ifndef LOOKS
#define LOOKS 500 /* before other threads may run */
#endif

#ifdef BUG
#define LOST 4 /* the number that is overwritten */
#else
#define LOST NUMBERS
#endif

static atomic_uint full, empty;
static unsigned slot, sum;
static volatile unsigned turns[2]; /* of each thread; counted before a call, so that the call is timed */

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
