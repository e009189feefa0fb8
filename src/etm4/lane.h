/* SPDX-License-Identifier: Apache-2.0 */
/* A lane: a cursor that follows trace as hops, a chunk at a time. It first lists the atom packets of a chunk,
 * each with the addresses before it; then one look-up for each packet leads from state to state. A look-up
 * waits for the one before it; several lanes side by side hide that wait. */
#pragma once

#include "coretap/frame.h"
#include "etm4/cuts.h"
#include "etm4/hop_table.h"

/* A lane, with the chunk that it follows. */
struct ct_etm4_lane {
    struct ct_hops *hops;
    const struct ct_etm4_scan_table *table;
    const struct ct_run *run;
    size_t at;                   /* first byte of the chunk in the run */
    uint32_t link;               /* link of the state before the next packet */
    unsigned next, count;        /* index of the next packet of the chunk, and number of packets */
    unsigned entry;              /* `*entry` as ct_etm4_scan left it */
    bool stuck;                  /* no hop could be found or made for the next packet */
    struct ct_cut_others others; /* packets up to `at` that are neither atoms nor addresses */
    struct ct_etm4_chunk chunk;
    struct ct_etm4_cuts cuts;
    uint16_t
        ends[CT_SCAN_BYTES + 1]; /* ends of the packets, in the bytes of the cuts; the first is their begin */
};

/* most lanes that go side by side */
#define CT_LANES 2u

/* Scans the chunk at lane->at. Returns false when too few bytes are left or the first packet is rare. */
bool ct_lane_cut(struct ct_etm4_lane *lane);

/* Scans as ct_lane_cut does, and lists the packets. Returns false when there are none. */
bool ct_lane_scan(struct ct_etm4_lane *lane);

/* Follows one lane, or CT_LANES of them together, until one of them has no quick hop for its next packet. */
void ct_lanes_follow(struct ct_etm4_lane *const lanes[], unsigned count);

/* Makes a hop for the next packet and follows it, or goes on to the next chunk. Returns false when the lane
 * ends; call ct_lane_pass then. */
bool ct_lane_step(struct ct_etm4_lane *lane);

/* Moves lane->at behind the packets that the lane has followed. */
void ct_lane_pass(struct ct_etm4_lane *lane);
