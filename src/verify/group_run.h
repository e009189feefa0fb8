/* SPDX-License-Identifier: Apache-2.0 */
/* A group, as group.c forms it and group_run.c runs it. */
#pragma once

#include "monitor/joint.h"
#include "verify/group.h"

/* A journal entry of a group: an event or a loss since the checkpoint. */
struct ct_verify_entry {
    struct ct_monitor_event event; /* for a loss: the time to which the run was advanced before; 0: not
                                    * advanced */
    struct ct_monitor_span span;   /* for an event in doubt */
    bool lost, doubtful;
};

struct ct_verify_group {
    struct ct_verify_group *next;
    struct ct_verify_spec *lead; /* specification that takes the events; its monitor is the joint run */
    struct ct_monitor_spec *joint;
    struct ct_verify_spec **members; /* in the order of their outputs; NULL: it left */
    size_t member_count, live;
    uint32_t *member_of; /* by output of the joint: its member */
    bool ended;
    /* for recovery: the state at the checkpoint, and everything since */
    struct ct_monitor *checkpoint; /* NULL: the run began there */
    struct ct_verify_entry *journal;
    size_t journal_count;
    struct ct_mon_place *streams,
        *inputs; /* room for the places of all streams and inputs, for moving states */
    /* for passing on results: */
    struct ct_monitor_result *sorted;
    size_t *counts; /* by member */
    size_t sorted_cap;
};

/* Ends a group whose members have to continue separately, from the current state of the joint run. Returns
 * the errors of ct_verify_flush or CT_ERR_NOMEM, of members that failed. */
int ct_verify_group_part(struct ct_verify_group *group);

/* Notes that a member left the group. */
void ct_verify_group_detach(struct ct_verify_group *group, struct ct_verify_spec *spec);

/* Makes a checkpoint of the joint run. Error: CT_ERR_NOMEM. */
int ct_verify_group_checkpoint(struct ct_verify_group *group);
