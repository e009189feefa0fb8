/* Threads that start and end, wait for a lock and pass work on.
 *
 *   threads [ROUNDS] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static unsigned long total;

static unsigned long work(unsigned long seed)
{
    for (int i = 0; i < 500; i++)
        seed = seed & 1 ? 3 * seed + 1 : seed / 2 + (unsigned long)i;
    return seed;
}

static void *take_turns(void *number)
{
    const int mine = *(int *)number;
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&lock);
    while (turn != mine)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    const unsigned long sum = work((unsigned long)mine + 27);
    pthread_mutex_lock(&lock);
    total += sum & 0xff;
    turn = (turn + 1) % WORKERS;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 3;
    pthread_barrier_init(&all, NULL, WORKERS);
    for (int round = 0; round < rounds; round++) {
        pthread_t threads[WORKERS];
        int numbers[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            numbers[i] = i;
            pthread_create(&threads[i], NULL, take_turns, &numbers[i]);
        }
        for (int i = 0; i < WORKERS; i++)
            pthread_join(threads[i], NULL);
    }
    printf("%lu\n", total);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
