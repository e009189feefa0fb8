/* SPDX-License-Identifier: Apache-2.0 */
/* Events of several sources on their way to the specifications, with the intervals in which they happened. */
#pragma once

#include "verify/verify.h"

/* An event and the interval in which it happened. */
struct ct_verify_item {
    struct ct_watch_event event;
    uint64_t begin, end;
};

/* Takes an item. It must not begin before the previous one. Each specification that takes it keeps it until
 * all items that may overlap it are known. Error: CT_ERR_NOMEM. */
int ct_verify_due_take(struct ct_verifier *verifier, const struct ct_verify_item *item);

/* Passes to the specifications the items that end before `floor`. No later item may begin before `floor`.
 * Returns the errors of ct_verifier_feed. */
int ct_verify_due_run(struct ct_verifier *verifier, uint64_t floor);

/* Ends all intervals of pending items, and of those that were passed on, at `end` at the latest. */
void ct_verify_due_limit(struct ct_verifier *verifier, uint64_t end);

/* Passes all pending items to a specification that ends. Returns the same errors. */
int ct_verify_due_end(struct ct_verify_spec *spec);

/* Drops the pending items of a specification. */
void ct_verify_due_clear(struct ct_verify_spec *spec);

/* Copies the lead's pending items to a member that leaves its group. Error: CT_ERR_NOMEM. */
int ct_verify_due_hand_on(struct ct_verify_spec *s, const struct ct_verify_spec *lead);

/* Moves a member's pending items to the lead of a new group; `inputs` maps the member's inputs to those of
 * the lead. Error: CT_ERR_NOMEM. */
int ct_verify_due_take_over(struct ct_verify_spec *lead, const struct ct_verify_spec *s,
                            const uint32_t *inputs);

/* Returns whether two specifications with the same feeds have the same pending items, and know the same about
 * earlier ones. */
bool ct_verify_due_same(const struct ct_verify_spec *a, const struct ct_verify_spec *b);

/* ---- verify.c ---- */

/* Returns whether an event belongs to the same instruction as the events of the current instant. */
bool ct_verify_is_same(const struct ct_verify_spec *spec, const struct ct_watch_event *event, uint64_t tick,
                       uint32_t input);

/* Takes an event at a tick. `span`: interval in which it happened; NULL: its order is known. */
int ct_verify_give(struct ct_verify_spec *spec, const struct ct_watch_event *event, uint64_t tick,
                   uint32_t input, const struct ct_monitor_span *span);

/* Notes that events were lost at a tick, and that no later event begins before `begin`. */
int ct_verify_lose_before(struct ct_verify_spec *spec, uint64_t tick, uint64_t begin);

bool ct_verify_is_loss(const struct ct_watch_event *event);
