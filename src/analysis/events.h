/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the event stream, which the fast path of ETMv4 accesses, too. */
#pragma once

#include <stdbool.h>

#include "coretap/event.h"

/* most events that wait for a cycle count or a target; when more wait, the oldest leave without one */
#define CT_EVENTS_WAITING 64

struct ct_events {
    struct ct_event waiting[CT_EVENTS_WAITING];
    unsigned count;
    bool open_branch;      /* the newest waiting branch has no target yet */
    unsigned branch;       /* its index in `waiting` */
    bool timestamp_counts; /* the cycle count of a timestamp adds up with the others (PTM, ETMv3) */
    bool after_timestamp;  /* the last element was a timestamp */
    bool branched;         /* without a flow: the last atom was E, so the next address is its target */
    uint64_t next;         /* with a flow: the address behind the last range */
    uint64_t q_instructions;
    uint64_t cycle;
    uint16_t memory; /* the memory of the next records */
    uint64_t gap_offset;
    uint8_t gap;
    bool in_gap;
    bool gap_is_loss;         /* the gap is a loss, by ct_elem_loss */
    struct ct_elem sw_source; /* software trace: the source of the next values */
    uint8_t el_sec;           /* of the last context; unused for ETMv4 and ETE, which repeat no context */
    bool local_time;          /* the last element was a local time, whose sum follows */
};
