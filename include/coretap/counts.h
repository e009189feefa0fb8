/* SPDX-License-Identifier: Apache-2.0 */
/* coretap counts: how often what was seen, by name, in any number of captures. What is counted depends on the
 * kind: what comes by watchpoints, events of the trace and of software, or how much trace there was. All of
 * them keep the contract of analyses (analysis.h): they add up, and are saved and loaded.
 *
 *     struct ct_counts *counts;
 *     ct_watch_counts_new(ctx, &counts);
 *     ct_watch_counts_add(counts, "main");
 *     ct_session_add(session, ct_counts_analysis(counts)); */
#ifndef CORETAP_COUNTS_H
#define CORETAP_COUNTS_H

#include "coretap/analysis.h"
#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One name and its count, which stops at 2^64 - 1. */
struct ct_count {
    const char *name;
    uint64_t count;
};

/* Names of a sum at most, and bytes of one. */
#define CT_COUNTS_MOST 1000000
#define CT_COUNTS_NAME 4096

struct ct_counts;

/* Makes counts of what comes by watchpoints, by place and kind ("main entry"). CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_watch_counts_new(struct ct_ctx *ctx, struct ct_counts **out);

/* Adds a place to be watched, as ct_watches_add takes it, in all streams that begin from then on. Its errors
 * come with their first batch; here CT_ERR_ARG (also for counts of another kind), CT_ERR_NOMEM. */
CT_API int ct_watch_counts_add(struct ct_counts *counts, const char *place);

/* Makes counts of events by type (Table I of paper 1), and of what software wrote by port. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_event_counts_new(struct ct_ctx *ctx, struct ct_counts **out);

/* Makes counts of how much trace there was: bytes, packets, elements, … CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_total_counts_new(struct ct_ctx *ctx, struct ct_counts **out);

/* Frees counts of any kind. */
CT_API void ct_counts_free(struct ct_counts *counts);

/* Returns what the contract of analyses needs: the kinds, and the analysis that counts are, which they own.
 */
CT_API const struct ct_analysis_kind *ct_watch_counts_kind(void);
CT_API const struct ct_analysis_kind *ct_event_counts_kind(void);
CT_API const struct ct_analysis_kind *ct_total_counts_kind(void);
CT_API struct ct_analysis *ct_counts_analysis(struct ct_counts *counts);

/* Adds to the count of a name, which is copied. CT_ERR_ARG also for an empty name and one of more than
 * CT_COUNTS_NAME bytes, CT_ERR_LIMIT for more than CT_COUNTS_MOST names, CT_ERR_NOMEM. */
CT_API int ct_counts_add(struct ct_counts *counts, const char *name, uint64_t count);

/* Returns all counts of streams that are over, by the bytes of their names. They are there until something is
 * added. */
CT_API const struct ct_count *ct_counts_all(const struct ct_counts *counts, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
