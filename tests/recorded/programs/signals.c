/* A signal handler that runs while the program does something else. */
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t seen;

static void on_signal(int number)
{
    if (number == SIGUSR1)
        seen++;
    else
        seen += 100;
}

static int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += i;
        if (i % 4 == 1)
            raise(SIGUSR1);
    }
    return sum;
}

int main(void)
{
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    int sum = work(10);
    raise(SIGUSR2);
    printf("%d %d\n", sum, (int)seen);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
