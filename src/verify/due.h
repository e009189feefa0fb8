/* SPDX-License-Identifier: Apache-2.0 */
/* Events of several sources on the way to the specifications, with the intervals that they may have been in.
 */
#ifndef CT_VERIFY_DUE_H
#define CT_VERIFY_DUE_H

#include "verify/verify.h"

/* An event, when it may have been. */
struct ct_verify_item {
    struct ct_watch_event event;
    uint64_t begin, end;
};

/* Takes an item, none of which begins before the one before. Each specification that wants it keeps it until
 * it is known whether others overlap it. CT_ERR_NOMEM. */
int ct_verify_due_take(struct ct_verifier *verifier, const struct ct_verify_item *item);

/* Gives the specifications what ends before `floor`: no item that begins before it comes any more. The errors
 * of ct_verifier_feed. */
int ct_verify_due_run(struct ct_verifier *verifier, uint64_t floor);

/* Gives a specification that ends what it was to be given. The same errors. */
int ct_verify_due_end(struct ct_verify_spec *spec);

/* Forgets what a specification was to be given. */
void ct_verify_due_clear(struct ct_verify_spec *spec);

/* Gives a member that leaves its group what is due to the lead. CT_ERR_NOMEM. */
int ct_verify_due_hand_on(struct ct_verify_spec *s, const struct ct_verify_spec *lead);

/* Gives the lead of a new group what is due to a member; `inputs` is by the member's input that of the lead.
 * CT_ERR_NOMEM. */
int ct_verify_due_take_over(struct ct_verify_spec *lead, const struct ct_verify_spec *s,
                            const uint32_t *inputs);

/* Tells whether two specifications with the same feeds are to be given the same, and know the same of what
 * came before. */
bool ct_verify_due_same(const struct ct_verify_spec *a, const struct ct_verify_spec *b);

/* ---- verify.c ---- */

/* Tells whether an event is of the same instruction as those of the current instant. */
bool ct_verify_is_same(const struct ct_verify_spec *spec, const struct ct_watch_event *event, uint64_t tick,
                       uint32_t input);

/* Takes an event at a tick, with the span that it was in (NULL: its order is known). */
int ct_verify_give(struct ct_verify_spec *spec, const struct ct_watch_event *event, uint64_t tick,
                   uint32_t input, const struct ct_monitor_span *span);

/* Says that events were lost at a tick, and that no event that begins before `begin` will come any more. */
int ct_verify_lose_before(struct ct_verify_spec *spec, uint64_t tick, uint64_t begin);

bool ct_verify_is_loss(const struct ct_watch_event *event);

#endif
