/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: specifications that are fed by the same watchpoints run as one (monitor/joint.h), which is as fast
 * as if one file held them. To their owners they stay separate: each can be removed or exchanged, and
 * when one fails the others go on. Events and losses since a checkpoint are kept, so that the members can
 * take them once more, each by itself, when the joint run fails. */
#ifndef CT_VERIFY_GROUP_H
#define CT_VERIFY_GROUP_H

#include "verify/verify.h"

struct ct_verify_group;

enum {
    /* A specification that is fed alone costs about 50 ns for each event, and making a joint some 30 us for
     * each of its parts: so many events of specifications alone, for each part, before one is made anew. */
    CT_VERIFY_WASTE = 1000,
    CT_VERIFY_JOURNAL = 2048, /* the most events and losses between two checkpoints */
};

/* Finds out whether a specification that is bound may be a member of a group. */
void ct_verify_group_fits(struct ct_verify_spec *spec);

/* Makes the groups of a run that begins, unless those of the last run are still right. CT_ERR_NOMEM. */
int ct_verify_groups_begin(struct ct_verifier *verifier);

/* For tests: makes other groups after so many events for each specification, and checkpoints after so many of
 * a group, at most CT_VERIFY_JOURNAL. */
void ct_verify_groups_tune(struct ct_verifier *verifier, uint64_t waste, size_t journal);

/* Makes other groups when so many more events were fed that it is worth it: of specifications that came
 * since. CT_ERR_NOMEM. */
int ct_verify_regroup(struct ct_verifier *verifier, size_t events);

/* Frees those groups that have ended. */
void ct_verify_groups_sweep(struct ct_verifier *verifier);
void ct_verify_groups_free(struct ct_verifier *verifier);

/* Returns what is fed in place of the members. */
struct ct_verify_spec *ct_verify_group_lead(struct ct_verify_group *group);

/* Tells whether a specification is the first member of its group. */
bool ct_verify_group_first(const struct ct_verify_spec *spec);

/* Takes a specification out of its group, if it is in one: between two batches it goes on by itself. The
 * index has to follow. CT_ERR_NOMEM: it stays in the group. */
int ct_verify_group_leave(struct ct_verify_spec *spec);

/* Do for all members what ct_verify_flush, ct_verify_lose and ct_verify_end do for one specification. After a
 * failure the group has ended. */
int ct_verify_group_flush(struct ct_verify_group *group);
int ct_verify_group_lose(struct ct_verify_group *group, uint64_t tick);
int ct_verify_group_end(struct ct_verify_group *group);

/* Notes that the joint run lost events, after it was advanced to a time (0: it was not). */
int ct_verify_group_lost(struct ct_verify_group *group, uint64_t advanced);

/* Ends the group because the joint run failed: its members take what came since the checkpoint by themselves.
 * Those that fail have failed, the first error of which is returned; the others go on. */
int ct_verify_group_split(struct ct_verify_group *group);

/* Gives an event that was meant for the lead of a group that has ended to the members. */
int ct_verify_group_pass(struct ct_verify_group *group, const struct ct_watch_event *e, uint32_t input);

/* Gives each result of the joint run to the member that it belongs to. */
void ct_verify_group_tell(struct ct_verify_group *group, const struct ct_monitor_result *results,
                          size_t count);

#endif
