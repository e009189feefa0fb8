/* SPDX-License-Identifier: Apache-2.0 */
/* A group, as group.c makes it and group_run.c runs it. */
#ifndef CT_VERIFY_GROUP_RUN_H
#define CT_VERIFY_GROUP_RUN_H

#include "monitor/joint.h"
#include "verify/group.h"

/* What a group did since its checkpoint: an event that it took, or a loss. */
struct ct_verify_entry {
    struct ct_monitor_event event; /* of a loss the time to which it was advanced before: 0 is nowhere */
    struct ct_monitor_span span;   /* of an event in doubt */
    bool lost, doubtful;
};

struct ct_verify_group {
    struct ct_verify_group *next;
    struct ct_verify_spec *lead; /* takes the events: its monitor is the joint run */
    struct ct_monitor_spec *joint;
    struct ct_verify_spec **members; /* in the order of their outputs; NULL: it left */
    size_t member_count, live;
    uint32_t *member_of; /* by output of the joint */
    bool ended;
    /* for failures: the state at the checkpoint, and what came since then */
    struct ct_monitor *checkpoint; /* NULL: that is where the run began */
    struct ct_verify_entry *journal;
    size_t journal_count;
    struct ct_mon_place *streams,
        *inputs; /* room for the inputs of a joint run or a member, for taking over states */
    /* for handing on results */
    struct ct_monitor_result *sorted;
    size_t *counts; /* by member */
    size_t sorted_cap;
};

/* Ends a group whose members have to go on by themselves, from where the joint run is. The errors of
 * ct_verify_flush, CT_ERR_NOMEM: of those that failed. */
int ct_verify_group_part(struct ct_verify_group *group);

/* Notes that a member left: it is fed by itself, or in another group. */
void ct_verify_group_detach(struct ct_verify_group *group, struct ct_verify_spec *spec);

/* Remembers where the joint run is now. CT_ERR_NOMEM. */
int ct_verify_group_checkpoint(struct ct_verify_group *group);

#endif
