/* Two threads that pass numbers to each other through memory: a thread that waits polls, and sometimes lets
 * others run.
 *
 *   pingpong [ROUNDS] */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOKS 500 /* before other threads may run */

static atomic_uint full, empty;
static unsigned slot, sum, rounds = 20;

__attribute__((noinline)) void produce(unsigned number)
{
    slot = number * number;
    atomic_store_explicit(&full, number, memory_order_release);
}

__attribute__((noinline)) void consume(unsigned number)
{
    sum += slot;
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
    for (unsigned number = 1; number <= rounds; number++) {
        wait_for(&full, number);
        consume(number);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    if (pthread_create(&thread, NULL, take, NULL))
        return 1;
    for (unsigned number = 1; number <= rounds; number++) {
        wait_for(&empty, number - 1);
        produce(number);
    }
    pthread_join(thread, NULL);
    printf("%u\n", sum);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
