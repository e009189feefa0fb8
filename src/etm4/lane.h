/* SPDX-License-Identifier: Apache-2.0 */
/* Trace followed as hops from one place on, a chunk at a time. The atom packets of a chunk are listed first,
 * with the addresses before them; then one look-up for each leads from state to state. A look-up waits for
 * the one before, and several lanes side by side wait less. */
#ifndef CT_ETM4_LANE_H
#define CT_ETM4_LANE_H

#include "coretap/frame.h"
#include "etm4/cuts.h"
#include "etm4/hop_table.h"

struct ct_etm4_lane {
    struct ct_hops *hops;
    const struct ct_etm4_scan_table *table;
    const struct ct_run *run;
    size_t at;                   /* of the chunk in the run */
    uint32_t link;               /* of the state before the next packet */
    unsigned next, count;        /* packets of the chunk that come, and all of them */
    unsigned entry;              /* as ct_etm4_scan left it */
    bool stuck;                  /* there is no hop for the next packet */
    struct ct_cut_others others; /* packets up to `at` that are neither atoms nor addresses */
    struct ct_etm4_chunk chunk;
    struct ct_etm4_cuts cuts;
    uint16_t
        ends[CT_SCAN_BYTES + 1]; /* behind each packet, in the bytes of the cuts; first where they begin */
};

/* Lanes that go side by side. */
#define CT_LANES 2u

/* Scans what begins at lane->at. False: there is too little of it, or it is rare. */
bool ct_lane_cut(struct ct_etm4_lane *lane);

/* Scans as ct_lane_cut does, and lists the packets. False: there are none. */
bool ct_lane_scan(struct ct_etm4_lane *lane);

/* Follows one lane, or CT_LANES of them, until one of them has no quick hop for its next packet. */
void ct_lanes_follow(struct ct_etm4_lane *const lanes[], unsigned count);

/* Makes a hop for the next packet and follows it, or goes to the next chunk. False: the lane ends; its
 * packets are passed, or ct_lane_pass does that. */
bool ct_lane_step(struct ct_etm4_lane *lane);

/* Moves lane->at behind what was done. */
void ct_lane_pass(struct ct_etm4_lane *lane);

#endif
