/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of an ETMv4 or ETE straight to edge counts: where the state of decoder and engine is one that hops
 * know, chunks of trace are cut into hops. All that is rare is left to the elements. */
#ifndef CT_ETM4_HOPS_H
#define CT_ETM4_HOPS_H

#include "etm4/fast.h"
#include "flow/fast.h"

struct ct_etm4_hops;

/* For an engine that gives counts. *out is NULL where hops are of no use. CT_ERR_NOMEM. */
int ct_etm4_hops_new(struct ct_ctx *ctx, struct ct_etm4_fast *bytes, struct ct_fast *fast,
                     struct ct_etm4_hops **out);
void ct_etm4_hops_free(struct ct_etm4_hops *hops);

/* Judges whether hops are worth while after so many bytes, from the first on: for tests, whose traces are
 * short. Before the first byte. */
void ct_etm4_hops_tune(struct ct_etm4_hops *hops, uint64_t judged);

/* From work->at on, as far as it goes. An error, or CT_OK. */
int ct_etm4_hops_run(struct ct_etm4_hops *hops, struct ct_work *work);

/* The edges get what was counted. */
int ct_etm4_hops_sync(struct ct_etm4_hops *hops, struct ct_stream_stats *stats);

#endif
