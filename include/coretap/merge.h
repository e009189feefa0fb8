/* SPDX-License-Identifier: Apache-2.0 */
/* coretap merge: the events of all sources of a capture in one order, by their timestamps and the cycle
 * counts between them.
 *
 *     struct ct_merge_batch batch;
 *     ct_merge_new(ctx, capture->buffers, capture->buffer_count, NULL, &merge);
 *     while ((rc = ct_merge_next(merge, &batch)) == CT_OK && batch.count)
 *         for (size_t i = 0; i < batch.count; i++)
 *             printf("%02x %llu\n", batch.source->id, (unsigned long long)batch.events[i].time);
 *     ct_merge_free(merge);
 *
 * The timestamps must be of one clock. Sources without timestamps come last, one after the other. */
#ifndef CORETAP_MERGE_H
#define CORETAP_MERGE_H

#include "coretap/base.h"
#include "coretap/decode.h"
#include "coretap/filter.h"
#include "coretap/input.h"
#include "coretap/session.h"
#include "coretap/timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ct_merge_options {
    size_t size;     /* sizeof(struct ct_merge_options) */
    uint64_t ids[2]; /* as in struct ct_chain_options */
    void *user;      /* of `progress` */
    /* Input bytes decoded so far; those of several sources in one buffer count for each. May be NULL. A
     * result other than 0 ends the merging, and ct_merge_next returns it. */
    int (*progress)(void *user, uint64_t bytes);
    uint8_t from;   /* enum ct_events_from */
    uint8_t pad[7]; /* 0 */
    /* Settled (ct_filter_settle); what it refers to has to stay. NULL: all. A window in ticks is one of the
     * common times, of which a source without timestamps comes before all; one in cycles is of each source.
     */
    const struct ct_filter *filter;
    const struct ct_maps *maps; /* of the capture, for the filter's processes; may be NULL */
    uint16_t threads; /* that decode the sources, with the same result; 0 and 1: the caller's alone. With more
                         the events of some megabytes of trace are held for each source */
    uint8_t pad2[6];  /* 0 */
    /* Takes the steps of source number `source`, when that is pulled; then there are no events, and those
     * of software trace have marks alone. A result other than 0 ends the pull, which returns it. May be NULL.
     */
    int (*steps)(void *user, size_t source, const struct ct_step_batch *batch);
    struct ct_programs *programs; /* that ran, for what the filter of steps names; may be NULL */
};

/* One of the sources that are merged. */
struct ct_merge_source {
    const struct ct_buffer *buffer;
    const struct ct_source *source;
    const struct ct_chain *chain; /* that decodes it; NULL before its first event is looked for */
    uint8_t id;                   /* as listed: 0 in a buffer without frames */
    uint8_t level;                /* enum ct_level: FLOW along the program, or ELEMENT; STEPS with `steps` */
    uint8_t timed;                /* 1: it has timestamps */
    uint8_t has_trace;            /* 1: there is a byte of it */
    uint8_t pad[4];               /* 0 */
    uint64_t first_time;          /* its first timestamp, when it has some */
};

/* Events of one source, borrowed until the next call. */
struct ct_merge_batch {
    const struct ct_merge_source *source;
    const struct ct_timed_event *events; /* without timestamps their times say nothing */
    size_t count;
};

struct ct_merge;

/* Makes an object that gives events of buffers (not owned) in one order. It reads each source up to its first
 * timestamp to see whether there is one, and later once more: buffers have to be files, not "-". The errors
 * of ct_chain_new, ct_chain_run and ct_event_sieve_new, CT_ERR_ARG. */
CT_API int ct_merge_new(struct ct_ctx *ctx, const struct ct_buffer *buffers, size_t count,
                        const struct ct_merge_options *options, struct ct_merge **out);
CT_API void ct_merge_free(struct ct_merge *merge);

/* Returns the sources, by buffer. They stay where they are as long as the object. */
CT_API const struct ct_merge_source *ct_merge_sources(const struct ct_merge *merge, size_t *count);

/* Tells whether a source has a timestamp at or behind a time, in *reaches. It is decoded once more for that,
 * up to this timestamp. The errors of ct_chain_new and ct_chain_run, CT_ERR_ARG. */
CT_API int ct_merge_reaches(const struct ct_merge *merge, size_t source, uint64_t time, int *reaches);

/* Gives the next events: as many of one source as come before those of all others. None are there when all
 * were given. The errors of ct_chain_new and ct_chain_run, CT_ERR_ARG, what `progress` returned; after one
 * each call returns it. */
CT_API int ct_merge_next(struct ct_merge *merge, struct ct_merge_batch *out);

/* Decodes one more piece of a source, by its number in ct_merge_sources, where the options have `steps`: so
 * whoever takes them keeps sources of different speed side by side. *more is 0 when that was the end of it.
 * The errors of ct_chain_new and ct_chain_run, of the filter, CT_ERR_ARG, what a receiver returned. */
CT_API int ct_merge_pull(struct ct_merge *merge, size_t source, int *more);

/* Returns what the filter saw so far of all sources, brought up to date by this call; zero without one. */
CT_API const struct ct_sieve_seen *ct_merge_sieved(struct ct_merge *merge);

/* Returns what was seen so far of all sources; it is brought up to date by this call. */
CT_API const struct ct_seen *ct_merge_seen(struct ct_merge *merge);

#ifdef __cplusplus
}
#endif
#endif
