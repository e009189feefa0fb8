/* SPDX-License-Identifier: Apache-2.0 */
/* Counts edges straight from the bytes of an ETMv4 or ETE. A hop (hop_table.h) is a short piece of trace that
 * always leads from one state to another; where the state of decoder and engine is known, chunks of trace are
 * cut into hops. Everything rare is left to the elements. */
#pragma once

#include "etm4/fast.h"
#include "flow/fast.h"

struct ct_etm4_hops;

/* Makes the object for an engine that counts edges. *out is NULL where hops are of no use. Returns
 * CT_ERR_NOMEM when memory runs out. */
int ct_etm4_hops_new(struct ct_ctx *ctx, struct ct_etm4_fast *bytes, struct ct_fast *fast,
                     struct ct_etm4_hops **out);
void ct_etm4_hops_free(struct ct_etm4_hops *hops);

/* Value of `judged` for ct_etm4_hops_tune: hops always rest, and without cycles strips count in their
 * place. */
#define CT_HOPS_REST UINT64_MAX

/* Makes hops begin with the first byte; for tests, whose traces are short. `judged` is the number of bytes
 * after which coretap decides, the first time and every time, whether hops are worth while; 0 keeps the
 * default, and CT_HOPS_REST never uses hops. Call it before the first byte. */
void ct_etm4_hops_tune(struct ct_etm4_hops *hops, uint64_t judged);

/* Decodes from work->at on, as far as hops go. Returns an error code or CT_OK. */
int ct_etm4_hops_run(struct ct_etm4_hops *hops, struct ct_work *work);

/* Adds the pending counts of all hops to the edges, and their packets and elements to `stats`. Returns an
 * error code or CT_OK. */
int ct_etm4_hops_sync(struct ct_etm4_hops *hops, struct ct_stream_stats *stats);
