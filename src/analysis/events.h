/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the event stream, for the fast path that shares it. */
#ifndef CT_ANALYSIS_EVENTS_H
#define CT_ANALYSIS_EVENTS_H

#include <stdbool.h>

#include "coretap/event.h"

/* Events that wait for a cycle count or a target. When there are more, the oldest leave without. */
#define CT_EVENTS_WAITING 64

struct ct_events {
    struct ct_event waiting[CT_EVENTS_WAITING];
    unsigned count;
    bool open_branch;      /* the newest branch that waits has no target yet */
    unsigned branch;       /* its place */
    bool timestamp_counts; /* the count of a timestamp is one of those that add up (PTM, ETMv3) */
    bool after_timestamp;  /* the last element was a timestamp */
    bool branched;         /* elements: the last atom was E, the address that comes is its target */
    uint64_t next;         /* flow: the instruction behind the last range */
    uint64_t q_instructions;
    uint64_t cycle;
    uint16_t memory; /* of what comes */
    uint64_t gap_offset;
    uint8_t gap;
    bool in_gap;
    bool gap_is_loss;         /* by ct_elem_loss */
    struct ct_elem sw_source; /* of software trace */
    uint8_t el_sec;           /* of the last context; ETMv4 and ETE, which repeat none, do not need it */
    bool local_time;          /* the last element was one, and its sum comes next */
};

#endif
