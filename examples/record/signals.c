/* Signals of many kinds: sent to itself, from a timer that interrupts loops, faults that a handler repairs,
 * jumps out of handlers, a handler that is interrupted itself.
 *
 *   signals [ROUNDS] */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks, faults, traps, nested;
static sigjmp_buf out;
static char *page;

static void on_tick(int number)
{
    (void)number;
    ticks++;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    faults++;
    mprotect(page, 4096, PROT_READ | PROT_WRITE); /* the access is repeated */
}

static void on_trap(int number)
{
    traps++;
    siglongjmp(out, number);
}

static void on_user(int number)
{
    if (number == SIGUSR1 && nested++ % 3 == 0)
        raise(SIGUSR2);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, NULL);
}

/* Runs code to be interrupted: direct and indirect branches, loads, stores. */
static unsigned spin(unsigned n)
{
    static unsigned table[64];
    unsigned sum = 1;
    for (unsigned i = 0; i < n; i++) {
        sum = sum * 1103515245 + 12345;
        if (sum >> 16 & 1)
            table[sum >> 26] += sum;
        else
            sum ^= table[i & 63];
        switch (sum >> 28) {
        case 1:
            sum += 3;
            break;
        case 2:
            sum ^= 5;
            break;
        case 3:
            sum -= table[7];
            break;
        case 4:
            table[9] = sum;
            break;
        case 5:
            sum *= 3;
            break;
        default:
            break;
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 20;
    struct sigaction fault;
    memset(&fault, 0, sizeof fault);
    fault.sa_sigaction = on_fault;
    fault.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &fault, NULL);
    handle(SIGALRM, on_tick);
    handle(SIGUSR1, on_user);
    handle(SIGUSR2, on_user);
    handle(SIGTRAP, on_trap);
    handle(SIGILL, on_trap);
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, NULL);
    unsigned sum = 0;
    for (int i = 0; i < rounds; i++) {
        mprotect(page, 4096, PROT_READ);
        page[i]++;
        if (!sigsetjmp(out, 1))
            __builtin_trap();
        raise(SIGUSR1);
        sum += spin(20000);
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    printf("faults %d, traps %d, ticks %s\n", (int)faults, (int)traps, ticks ? "some" : "none");
    return sum == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
