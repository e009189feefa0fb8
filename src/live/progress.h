/* SPDX-License-Identifier: Apache-2.0 */
/* Milestones of a run, for the page and the reports. */
#pragma once

#include "live/live.h"

/* Counts a hit of a place for its milestones. */
void ct_live_milestone_hit(struct ct_live *live, uint16_t place, uint64_t cycle);

/* Writes the milestones, if there are any: how many were reached, and for each its state, when it was
 * reached, and the time left until its deadline (negative when it has passed). */
void ct_live_put_progress(struct ct_live *live, struct ct_json *json);

/* Writes a line of words per milestone. */
void ct_live_say_progress(const struct ct_live *live, struct ct_live_text *out);

/* Returns how many milestones were reached late, or missed. */
size_t ct_live_milestones_late(const struct ct_live *live);
