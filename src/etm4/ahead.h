/* SPDX-License-Identifier: Apache-2.0 */
/* A second lane that decodes ahead. It starts behind a later synchronisation point, where the trace says all
 * that a state is made of as soon as there was an atom. If the first lane reaches that point in another
 * state, the counts made here are undone. The second lane ends where the program is new to it, so that nodes
 * and edges get their numbers in the order of the trace. */
#ifndef CT_ETM4_AHEAD_H
#define CT_ETM4_AHEAD_H

#include "etm4/fast.h"
#include "etm4/lane.h"

struct ct_ahead {
    struct ct_etm4_lane lane;        /* with hops and table */
    bool ended;                      /* it can go no further by itself */
    struct ct_run run;               /* the bytes that it may decode */
    size_t begin;                    /* where it began in them */
    uint32_t first;                  /* the state that it assumed there */
    struct ct_etm4_scan_table table; /* the lane's when it began: trace info or a context may bring
                                        another one */
};

/* Where the next second lane may begin. */
struct ct_ahead_search {
    uint64_t searched; /* before this position of the stream there is no synchronisation point worth a lane */
    unsigned misled;   /* lanes in a row that were undone */
    unsigned skip;     /* synchronisation points to leave out, because of those */
};

/* Starts a lane behind the first synchronisation point of the run that is some way behind `from`, in blocks
 * of `domain`. False: there is no such point. */
bool ct_ahead_begin(struct ct_ahead *ahead, struct ct_ahead_search *search, struct ct_etm4_fast *bytes,
                    const struct ct_run *run, size_t from, uint16_t domain);

/* Tells whether packets are still read as they were when the lane began. If not, its counts have to be
 * undone. */
bool ct_ahead_is_current(const struct ct_ahead *ahead);

/* Decodes the next packet as ct_lane_step does, or sets ahead->ended. */
void ct_ahead_step(struct ct_ahead *ahead);

/* Keeps the counts: the first lane arrived in the assumed state. This lane then goes on in its place. */
void ct_ahead_keep(struct ct_ahead *ahead, struct ct_ahead_search *search, const struct ct_run *run);

/* Undoes the counts: the first lane arrived in another state. An error is in lane.hops. */
void ct_ahead_undo(struct ct_ahead *ahead, struct ct_ahead_search *search);

#endif
