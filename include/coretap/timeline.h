/* SPDX-License-Identifier: Apache-2.0 */
/* coretap timeline: puts the events of a source on the axis of its timestamps, so that several sources can be
 * read in one order. A timestamp comes after the events it belongs to; cycle counts between two timestamps
 * give the position of an event between them.
 *
 *     ct_timeline_new(ctx, &timeline);
 *     taken = ct_timeline_push(timeline, events, count);
 *     while ((timed_count = ct_timeline_fetch(timeline, timed, 64)) > 0)
 *         for (size_t i = 0; i < timed_count; i++)
 *             printf("%llu\n", (unsigned long long)timed[i].time);
 *     ct_timeline_free(timeline); */
#ifndef CORETAP_TIMELINE_H
#define CORETAP_TIMELINE_H

#include "coretap/base.h"
#include "coretap/event.h"
#include "coretap/input.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ct_timed_event {
    struct ct_event event;
    uint64_t time; /* in ticks of the timestamps; never less than in the event before */
};

struct ct_timeline;

/* Maximal number of events that wait for their timestamp. Beyond it, the oldest are given the time of the
 * timestamp before. */
#define CT_TIMELINE_WAITING 65536

/* Makes a timeline for the events of one stream. CT_ERR_NOMEM. */
CT_API int ct_timeline_new(struct ct_ctx *ctx, struct ct_timeline **out);
CT_API void ct_timeline_free(struct ct_timeline *timeline);

/* Takes events in order. The END event releases all. The time of an event at cycle c between the timestamps
 * T0 and T1, with the cycle counts C0 and C1, is T1 - (C1 - c) / (C1 - C0) * (T1 - T0); without cycles
 * between them it is T1, the latest possible time. After the last timestamp time continues at the last known
 * rate, or stays at it. Returns the number of events taken; less than `size` when timed events wait to be
 * fetched. */
CT_API size_t ct_timeline_push(struct ct_timeline *timeline, const struct ct_event *events, size_t size);

/* Returns at most `cap` timed events, oldest first. Returns their number; 0 when more must be pushed. */
CT_API size_t ct_timeline_fetch(struct ct_timeline *timeline, struct ct_timed_event *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
