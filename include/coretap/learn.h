/* SPDX-License-Identifier: Apache-2.0 */
/* coretap learn: what the control flow of a program takes from a trace of it. */
#ifndef CORETAP_LEARN_H
#define CORETAP_LEARN_H

#include "coretap/base.h"
#include "coretap/cfg.h"
#include "coretap/graph.h"
#include "coretap/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the targets of computed branches and calls that were seen to a control flow graph. They become edges,
 * marked CT_CFG_LEARNT, with all code that they make known. What the program tells by itself (jump tables)
 * stays as it is. `shift` is added to each address of the trace to make it one of the control flow graph
 * (modulo 2^64): the difference of their load addresses. Code of other programs is passed over. CT_ERR_LIMIT,
 * CT_ERR_NOMEM. */
CT_API int ct_cfg_learn(struct ct_ctx *ctx, struct ct_cfg *cfg, const struct ct_graph *graph, uint64_t shift);

/* Adds them from what was summed up of many runs: from the edges of `found`, without load bias, that lie in
 * program number `program` of it. The same errors. */
CT_API int ct_cfg_learn_times(struct ct_ctx *ctx, struct ct_cfg *cfg, const struct ct_timing_found *found,
                              uint32_t program);

#ifdef __cplusplus
}
#endif
#endif
