/* SPDX-License-Identifier: Apache-2.0 */
/* A lane that begins where nobody is yet: behind a synchronisation point further on, where the trace says all
 * that a state is made of as soon as there was an atom. It meets nothing new in the program, so that numbers
 * are given in the order of the trace; and when the trace before it turns out to lead to another state, what
 * it counted is taken back. */
#ifndef CT_DECODE_ETM4_AHEAD_H
#define CT_DECODE_ETM4_AHEAD_H

#include "decode/etm4_fast.h"
#include "decode/etm4_lane.h"

struct ct_ahead {
    struct ct_etm4_lane lane;        /* with hops and table */
    bool ended;                      /* it can go no further by itself */
    struct ct_run run;               /* what it may go over … */
    size_t begin;                    /* … where it began there … */
    uint32_t first;                  /* … and in what state */
    struct ct_etm4_scan_table table; /* the lane's when it began: trace info or a context may bring
                                        another one */
};

/* Where lanes begin. */
struct ct_ahead_search {
    uint64_t searched; /* before this position of the stream there is no synchronisation point worth a lane */
    unsigned misled;   /* how many lanes in a row were taken back … */
    unsigned skip;     /* … and how many synchronisation points are left out for it */
};

/* A lane begins behind the first synchronisation point of the run that is some way behind `from`, in blocks
 * of `domain`. False: none does. */
bool ct_ahead_begin(struct ct_ahead *ahead, struct ct_ahead_search *search, struct ct_etm4_fast *bytes,
                    const struct ct_run *run, size_t from, uint16_t domain);

/* Tells whether packets are still what they were when the lane began. If not, what
 * it counted has to be taken back. */
bool ct_ahead_is_current(const struct ct_ahead *ahead);

/* As ct_lane_step; ahead->ended where it ends. */
void ct_ahead_step(struct ct_ahead *ahead);

/* The trace before it led to its first state: what it counted is true, and it goes on
 * like any other lane of the run. */
void ct_ahead_keep(struct ct_ahead *ahead, struct ct_ahead_search *search, const struct ct_run *run);

/* … or not: it did not count anything. An error is in lane.hops. */
void ct_ahead_undo(struct ct_ahead *ahead, struct ct_ahead_search *search);

#endif
