/* SPDX-License-Identifier: Apache-2.0 */
/* coretap timeline: events of a source put on the axis of its timestamps. Several sources can be read in one
 * order then. A timestamp arrives after what it stamps; cycle counts
 * between two of them say where between. */
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
    uint64_t time; /* in ticks of the timestamps; never less than that of the event before */
};

struct ct_timeline;

/* Events that may wait for the timestamp that stamps them; when there are more, the oldest leave with the
 * time of the timestamp before. */
#define CT_TIMELINE_WAITING 65536

/* Makes a timeline for the events of one stream. CT_ERR_NOMEM. */
CT_API int ct_timeline_new(struct ct_ctx *ctx, struct ct_timeline **out);
CT_API void ct_timeline_free(struct ct_timeline *timeline);

/* Takes events in order. The END event lets all go. The time of an event between the timestamps T0 and T1,
 * which have the cycle counts C0 and C1, is T1 less its share (C1 - c) / (C1 - C0) of T1 - T0; without cycles
 * between them T1, which is when it had happened at the latest. Behind the last timestamp: on at the last
 * known rate, or T1. Result: how many were taken; less than `size` when timed events wait to be fetched. */
CT_API size_t ct_timeline_push(struct ct_timeline *timeline, const struct ct_event *events, size_t size);

/* Gives at most `cap` timed events, oldest first. Result: how many; 0 when more must be pushed. */
CT_API size_t ct_timeline_fetch(struct ct_timeline *timeline, struct ct_timed_event *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
