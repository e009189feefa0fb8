/* SPDX-License-Identifier: Apache-2.0 */
/* How long a byte of trace takes by hops, and how long by elements. Which of them is quicker depends on the
 * program and on the caches of the machine, so it is measured, in processor time of the thread. Results do
 * not depend on it. */
#ifndef CT_ETM4_HOPS_PACE_H
#define CT_ETM4_HOPS_PACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct ct_hops_pace {
    bool begun;       /* a measurement is under way */
    uint64_t at;      /* position in the stream at which the measurement began */
    uint64_t time;    /* processor time at which the measurement began, in ns */
    pthread_t thread; /* the thread whose processor time is measured */
    uint64_t seen;    /* the last position that was told */
    double hops;      /* ns that hops took for a byte when they were measured last; 0: not yet */
    double elems;     /* the same of elements */
};

/* Begins to measure at a position in the stream. */
void ct_hops_pace_begin(struct ct_hops_pace *pace, uint64_t position);

/* Tells a position on the way. Where the stream did not come there step by step, the time passed with other
 * work, and nothing is measured. */
void ct_hops_pace_see(struct ct_hops_pace *pace, uint64_t position);

/* Ends the measurement. Result: ns a byte; 0 where none was under way. */
double ct_hops_pace_end(struct ct_hops_pace *pace, uint64_t position);

#endif
