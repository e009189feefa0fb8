/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of an ETMv4 or ETE straight to edge counts: where hops know the state of decoder and engine, chunks
 * of trace are cut into hops. Everything rare is left to the elements. */
#ifndef CT_ETM4_HOPS_H
#define CT_ETM4_HOPS_H

#include "etm4/fast.h"
#include "flow/fast.h"

struct ct_etm4_hops;

/* Makes the object for an engine that gives counts. *out is NULL where hops are of no use. CT_ERR_NOMEM. */
int ct_etm4_hops_new(struct ct_ctx *ctx, struct ct_etm4_fast *bytes, struct ct_fast *fast,
                     struct ct_etm4_hops **out);
void ct_etm4_hops_free(struct ct_etm4_hops *hops);

/* What ct_etm4_hops_tune takes to let hops always rest, so that without cycles strips take their place. */
#define CT_HOPS_REST UINT64_MAX

/* Lets hops begin with the first byte: for tests, whose traces are short. Unless it is 0, `judged` is after
 * how many bytes hops are judged to be worth while or not, also the first time; or CT_HOPS_REST. Call it
 * before the first byte. */
void ct_etm4_hops_tune(struct ct_etm4_hops *hops, uint64_t judged);

/* Decodes from work->at on, as far as hops go. Returns an error, or CT_OK. */
int ct_etm4_hops_run(struct ct_etm4_hops *hops, struct ct_work *work);

/* Adds what was counted to the edges. */
int ct_etm4_hops_sync(struct ct_etm4_hops *hops, struct ct_stream_stats *stats);

#endif
