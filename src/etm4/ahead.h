/* SPDX-License-Identifier: Apache-2.0 */
/* A second lane, which decodes ahead of the first one. It starts after a later synchronisation point, where
 * the trace itself gives the whole state once there was an atom. If the first lane reaches that point in
 * another state, the counts made here are undone. The second lane ends where the program is new to it, so
 * that nodes and edges get their numbers in the order of the trace. */
#pragma once

#include "etm4/fast.h"
#include "etm4/lane.h"

struct ct_ahead {
    struct ct_etm4_lane lane;        /* the lane, with its hops and table */
    bool ended;                      /* the lane cannot go on by itself */
    struct ct_run run;               /* bytes that the lane may decode */
    size_t begin;                    /* byte of the run at which the lane began */
    uint32_t first;                  /* state that the lane assumed at `begin` */
    struct ct_etm4_scan_table table; /* table when the lane began; trace info or a context may change it */
};

/* State of the search for the begin of the next second lane. */
struct ct_ahead_search {
    uint64_t searched; /* position in the stream before which no synchronisation point is worth a lane */
    unsigned misled;   /* number of lanes in a row that were undone */
    unsigned skip;     /* number of synchronisation points to leave out because of `misled` */
};

/* Starts a lane after the first synchronisation point of the run that is far enough behind `from`, in blocks
 * of `domain`. Returns false when there is no such point. */
bool ct_ahead_begin(struct ct_ahead *ahead, struct ct_ahead_search *search, struct ct_etm4_fast *bytes,
                    const struct ct_run *run, size_t from, uint16_t domain);

/* Returns whether packets are still read as they were when the lane began. If not, its counts have to be
 * undone. */
bool ct_ahead_is_current(const struct ct_ahead *ahead);

/* Follows the next packet as ct_lane_step does, or sets ahead->ended. */
void ct_ahead_step(struct ct_ahead *ahead);

/* Keeps the counts, because the first lane arrived in the assumed state. This lane then takes its place. */
void ct_ahead_keep(struct ct_ahead *ahead, struct ct_ahead_search *search, const struct ct_run *run);

/* Undoes the counts, because the first lane arrived in another state. Sets lane.hops->error when that
 * fails. */
void ct_ahead_undo(struct ct_ahead *ahead, struct ct_ahead_search *search);
