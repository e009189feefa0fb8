/* SPDX-License-Identifier: Apache-2.0 */
/* coretap counts: numbers of occurrences by name, over any number of captures. The kind decides what is
 * counted: hits of watchpoints, events of the trace and of software, or amounts of trace. All kinds are
 * analyses (analysis.h), so they can be merged, saved and loaded.
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

/* Maximal number of names, and of bytes in a name. */
#define CT_COUNTS_MOST 1000000
#define CT_COUNTS_NAME 4096

struct ct_counts;

/* Makes counts of watchpoint hits, by place and kind ("main entry"). CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_watch_counts_new(struct ct_ctx *ctx, struct ct_counts **out);

/* Adds a place to watch, written as for ct_watches_add. It applies to all streams that begin afterwards. A
 * place that cannot be resolved is an error of the first batch; here CT_ERR_ARG (also for counts of another
 * kind), CT_ERR_NOMEM. */
CT_API int ct_watch_counts_add(struct ct_counts *counts, const char *place);

/* Makes counts of events by type (Table I of paper 1), and of writes of software by port. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_event_counts_new(struct ct_ctx *ctx, struct ct_counts **out);

/* Makes counts of amounts of trace: bytes, packets, elements, … CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_total_counts_new(struct ct_ctx *ctx, struct ct_counts **out);

/* Frees counts of any kind. */
CT_API void ct_counts_free(struct ct_counts *counts);

/* Returns the kinds of counts, and the analysis of one object, which it owns. */
CT_API const struct ct_analysis_kind *ct_watch_counts_kind(void);
CT_API const struct ct_analysis_kind *ct_event_counts_kind(void);
CT_API const struct ct_analysis_kind *ct_total_counts_kind(void);
CT_API struct ct_analysis *ct_counts_analysis(struct ct_counts *counts);

/* Adds to the count of a name, which is copied. CT_ERR_ARG also for an empty name and for one longer than
 * CT_COUNTS_NAME bytes, CT_ERR_LIMIT for more than CT_COUNTS_MOST names, CT_ERR_NOMEM. */
CT_API int ct_counts_add(struct ct_counts *counts, const char *name, uint64_t count);

/* Returns all counts of streams that have ended, sorted by the bytes of their names. They stay valid until
 * something is added. */
CT_API const struct ct_count *ct_counts_all(const struct ct_counts *counts, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
