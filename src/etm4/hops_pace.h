/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long hops and elements take for a byte of trace, in processor time of the thread. Which of
 * them is quicker depends on the program and on the caches of the machine. The results of decoding do not
 * depend on it. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A measurement, and the results of earlier ones. */
struct ct_hops_pace {
    bool begun;       /* a measurement is under way */
    uint64_t at;      /* position in the stream at which the measurement began */
    uint64_t time;    /* processor time at which the measurement began, in ns */
    pthread_t thread; /* the thread whose processor time is measured */
    uint64_t seen;    /* the last position given to ct_hops_pace_see */
    double hops;      /* ns a byte of hops, as last measured; 0: not measured yet */
    double elems;     /* ns a byte of elements, as last measured; 0: not measured yet */
};

/* Begins to measure at a position in the stream. */
void ct_hops_pace_begin(struct ct_hops_pace *pace, uint64_t position);

/* Notes that decoding has reached `position`. A jump of more than a stride means that the thread did other
 * work meanwhile, so the measurement is dropped. */
void ct_hops_pace_see(struct ct_hops_pace *pace, uint64_t position);

/* Ends the measurement and returns ns a byte; 0 when none was under way. */
double ct_hops_pace_end(struct ct_hops_pace *pace, uint64_t position);
