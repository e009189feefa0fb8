/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: specifications fed by the same watchpoints run as one (monitor/joint.h), as fast as if one file
 * contained them. To their owners they stay separate: each can be removed or exchanged, and when one fails
 * the others continue. Events and losses since a checkpoint are kept, so that each member can take them again
 * alone when the joint run fails. */
#pragma once

#include "verify/verify.h"

struct ct_verify_group;

enum {
    /* events per specification that are fed to single specifications before groups are formed again: feeding
     * one alone costs about 50 ns per event, forming a joint about 30 us per part */
    CT_VERIFY_WASTE = 1000,
    CT_VERIFY_JOURNAL = 2048, /* most events and losses between two checkpoints */
};

/* Determines whether a bound specification may join a group. */
void ct_verify_group_fits(struct ct_verify_spec *spec);

/* Forms the groups of a run that begins, unless those of the last run are still right. Error:
 * CT_ERR_NOMEM. */
int ct_verify_groups_begin(struct ct_verifier *verifier);

/* For tests: sets after how many events per specification groups are formed again, and after how many events
 * of a group a checkpoint is made, at most CT_VERIFY_JOURNAL. */
void ct_verify_groups_tune(struct ct_verifier *verifier, uint64_t waste, size_t journal);

/* Counts `events` more events, and forms groups again when enough of them went to specifications outside
 * groups. Error: CT_ERR_NOMEM. */
int ct_verify_regroup(struct ct_verifier *verifier, size_t events);

/* Frees the groups that have ended. */
void ct_verify_groups_sweep(struct ct_verifier *verifier);
void ct_verify_groups_free(struct ct_verifier *verifier);

/* Returns the specification that is fed in place of the members. */
struct ct_verify_spec *ct_verify_group_lead(struct ct_verify_group *group);

/* Returns whether a specification is the first member of its group. */
bool ct_verify_group_first(const struct ct_verify_spec *spec);

/* Takes a specification out of its group, if it is in one, so that it continues alone. Call between two
 * batches, and ct_verify_index afterwards. On CT_ERR_NOMEM it stays in the group. */
int ct_verify_group_leave(struct ct_verify_spec *spec);

/* Do for all members what ct_verify_flush, ct_verify_lose and ct_verify_end do for one specification. After a
 * failure the group has ended. */
int ct_verify_group_flush(struct ct_verify_group *group);
int ct_verify_group_lose(struct ct_verify_group *group, uint64_t tick);
int ct_verify_group_end(struct ct_verify_group *group);

/* Notes that the joint run lost events, after it was advanced to time `advanced` (0: it was not). */
int ct_verify_group_lost(struct ct_verify_group *group, uint64_t advanced);

/* Ends the group after a failure of the joint run: each member takes the events since the checkpoint again,
 * alone. Members that fail have failed, the others continue. Returns the first error. */
int ct_verify_group_split(struct ct_verify_group *group);

/* Passes an event for the lead of an ended group to its members. */
int ct_verify_group_pass(struct ct_verify_group *group, const struct ct_watch_event *e, uint32_t input);

/* Passes each result of the joint run to the member that it belongs to. */
void ct_verify_group_tell(struct ct_verify_group *group, const struct ct_monitor_result *results,
                          size_t count);
