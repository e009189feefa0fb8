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
 * All timestamps must come from one clock. Sources without timestamps come last, one after the other. */
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
    void *user;      /* passed to `progress` and `steps` */
    /* Receives the number of input bytes decoded so far; bytes of a buffer count for each of its sources. May
     * be NULL. A result other than 0 ends the merging, and ct_merge_next returns it. */
    int (*progress)(void *user, uint64_t bytes);
    uint8_t from;   /* enum ct_events_from */
    uint8_t pad[7]; /* 0 */
    /* Settled (ct_filter_settle); what it points to must stay valid. NULL: everything. A window in ticks is
     * in the common time, in which a source without timestamps comes before all others; one in cycles applies
     * to each source. */
    const struct ct_filter *filter;
    const struct ct_maps *maps; /* of the capture, for the filter's processes; may be NULL */
    uint16_t threads; /* threads that decode the sources, with the same result; 0 and 1: only the caller's.
                         With more, the events of some megabytes of trace are held for each source */
    uint8_t pad2[6];  /* 0 */
    /* Receives the steps of source number `source` during ct_merge_pull. With it no events are given, and
     * software trace gives only marks. A result other than 0 ends ct_merge_pull and becomes its result. May
     * be NULL. */
    int (*steps)(void *user, size_t source, const struct ct_step_batch *batch);
    struct ct_programs *programs; /* the programs that ran, for a filter of steps; may be NULL */
};

/* One of the merged sources. */
struct ct_merge_source {
    const struct ct_buffer *buffer;
    const struct ct_source *source;
    const struct ct_chain *chain; /* its decoder; NULL before its first event is needed */
    uint8_t id;                   /* as listed: 0 in a buffer without frames */
    uint8_t level;                /* enum ct_level: FLOW along the program, or ELEMENT; STEPS with `steps` */
    uint8_t timed;                /* 1: it has timestamps */
    uint8_t has_trace;            /* 1: there is at least a byte of it */
    uint8_t pad[4];               /* 0 */
    uint64_t first_time;          /* its first timestamp, if it has any */
};

/* Events of one source, borrowed until the next call. */
struct ct_merge_batch {
    const struct ct_merge_source *source;
    const struct ct_timed_event *events; /* without timestamps their times have no meaning */
    size_t count;
};

struct ct_merge;

/* Makes an object that gives events of buffers (not owned) in one order. It reads each source up to its first
 * timestamp to see whether there is one, and later a second time, so buffers must be files, not "-". The
 * errors of ct_chain_new, ct_chain_run and ct_event_sieve_new, CT_ERR_ARG. */
CT_API int ct_merge_new(struct ct_ctx *ctx, const struct ct_buffer *buffers, size_t count,
                        const struct ct_merge_options *options, struct ct_merge **out);
CT_API void ct_merge_free(struct ct_merge *merge);

/* Returns the sources, by buffer. They stay valid as long as the object. */
CT_API const struct ct_merge_source *ct_merge_sources(const struct ct_merge *merge, size_t *count);

/* Finds out whether a source has a timestamp at or after a time, in *reaches. The source is decoded again up
 * to that timestamp. The errors of ct_chain_new and ct_chain_run, CT_ERR_ARG. */
CT_API int ct_merge_reaches(const struct ct_merge *merge, size_t source, uint64_t time, int *reaches);

/* Returns the next events: as many of one source as come before those of all others. An empty batch is the
 * end. The errors of ct_chain_new and ct_chain_run, CT_ERR_ARG, also from a receiver, what `progress`
 * returned; after an error each call returns it again. */
CT_API int ct_merge_next(struct ct_merge *merge, struct ct_merge_batch *out);

/* Decodes one more piece of a source, by its number in ct_merge_sources; for options with `steps`. The caller
 * chooses the source, and so keeps sources of different speed side by side. *more is 0 at the end of the
 * source. The errors of ct_chain_new and ct_chain_run, of the filter, CT_ERR_ARG, also from a receiver, what
 * a receiver returned; after an error each call returns it again. */
CT_API int ct_merge_pull(struct ct_merge *merge, size_t source, int *more);

/* Returns the filter's statistics over all sources, updated by this call; zeros without a filter. */
CT_API const struct ct_sieve_seen *ct_merge_sieved(struct ct_merge *merge);

/* Returns the statistics over all sources, updated by this call. */
CT_API const struct ct_seen *ct_merge_seen(struct ct_merge *merge);

#ifdef __cplusplus
}
#endif
#endif
