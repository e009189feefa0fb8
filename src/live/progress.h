/* SPDX-License-Identifier: Apache-2.0 */
/* Milestones of a run, as the page and the reports tell them. */
#ifndef CT_LIVE_PROGRESS_H
#define CT_LIVE_PROGRESS_H

#include "live/live.h"

/* Counts a hit of a place for the milestones that it is. */
void ct_live_milestone_hit(struct ct_live *live, uint16_t place, uint64_t cycle);

/* Writes the milestones, if there are any: how many were reached, and of each its state, when it was reached,
 * and what is left of the time to its deadline (negative: it is over). */
void ct_live_put_progress(struct ct_live *live, struct ct_json *json);

/* Writes a line of words for each. */
void ct_live_say_progress(const struct ct_live *live, struct ct_live_text *out);

/* Returns how many were reached behind their deadlines, or not before these were over. */
size_t ct_live_milestones_late(const struct ct_live *live);

#endif
