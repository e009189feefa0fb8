/* SPDX-License-Identifier: Apache-2.0 */
/* What runs beside a program. Usage: started THREADS PROCESSES [PROGRAM]
 * Runs threads one after the other, each of which begins before the last one has ended. Then starts
 * processes, and calls exec, which fails; and once more with PROGRAM. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sum;
static sem_t may_end[2];

__attribute__((noinline)) static void in_thread(void)
{
    sum++;
}

static void *thread(void *number)
{
    in_thread();
    sem_wait(&may_end[(uintptr_t)number % 2]);
    return NULL;
}

static void run_threads(unsigned count)
{
    pthread_t last, next;
    sem_init(&may_end[0], 0, 0);
    sem_init(&may_end[1], 0, 0);
    for (uintptr_t i = 0; i < count; i++) {
        pthread_create(&next, NULL, thread, (void *)i);
        if (i) {
            sem_post(&may_end[(i - 1) % 2]);
            pthread_join(last, NULL);
        }
        last = next;
    }
    if (count) {
        sem_post(&may_end[(count - 1) % 2]);
        pthread_join(last, NULL);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    run_threads((unsigned)atoi(argv[1]));
    for (int i = 0; i < atoi(argv[2]); i++)
        if (fork() == 0)
            _exit(fork() == 0 ? 0 : wait(NULL) < 0);
        else
            wait(NULL);
    execl("/nowhere/at/all", "all", NULL);
    if (argv[3])
        execl(argv[3], argv[3], NULL);
    return 0;
}
