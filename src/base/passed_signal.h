/* SPDX-License-Identifier: Apache-2.0 */
/* A signal that this process received for a program that it runs. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#define CT_SIGNAL_GRACE 2 /* seconds that the program is given to end after the signal */

struct ct_passed_signal {
    const volatile int *number; /* set by a signal handler; NULL: none */
    bool told;                  /* the signal was sent to the program */
    struct timespec when;       /* when it was sent */
};

/* Sends the signal to a program once, and kills the program when it does not end in time. Returns true when
 * that time is over. */
static inline bool ct_signal_pass(struct ct_passed_signal *s, pid_t program)
{
    struct timespec now;
    if (!s->number || !*s->number || program <= 0)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!s->told) {
        s->told = true;
        s->when = now;
        kill(program, *s->number);
    }
    const bool over = now.tv_sec - s->when.tv_sec > CT_SIGNAL_GRACE;
    if (over)
        kill(program, SIGKILL);
    return over;
}
