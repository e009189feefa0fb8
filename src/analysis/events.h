/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the event stream, which the fast path of ETMv4 shares. */
#ifndef CT_ANALYSIS_EVENTS_H
#define CT_ANALYSIS_EVENTS_H

#include <stdbool.h>

#include "coretap/event.h"

/* the most events that wait for a cycle count or a target; when there are more, the oldest leave without
 * one */
#define CT_EVENTS_WAITING 64

struct ct_events {
    struct ct_event waiting[CT_EVENTS_WAITING];
    unsigned count;
    bool open_branch;      /* the newest branch that waits has no target yet */
    unsigned branch;       /* its index among those that wait */
    bool timestamp_counts; /* the count of a timestamp adds up with the others (PTM, ETMv3) */
    bool after_timestamp;  /* the last element was a timestamp */
    bool branched;         /* for elements: the last atom was E, so that the next address is its target */
    uint64_t next;         /* for records of the walk: the address behind the last range */
    uint64_t q_instructions;
    uint64_t cycle;
    uint16_t memory; /* the memory of the records to come */
    uint64_t gap_offset;
    uint8_t gap;
    bool in_gap;
    bool gap_is_loss;         /* the gap is a loss, by ct_elem_loss */
    struct ct_elem sw_source; /* of software trace: the source of the next values */
    uint8_t el_sec;           /* of the last context; ETMv4 and ETE repeat none, so that they do not need
                                 it */
    bool local_time;          /* the last element was a local time, whose sum follows */
};

#endif
