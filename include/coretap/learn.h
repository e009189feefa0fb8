/* SPDX-License-Identifier: Apache-2.0 */
/* coretap learn: adds to a program's control flow graph what a trace of the program shows. */
#ifndef CORETAP_LEARN_H
#define CORETAP_LEARN_H

#include "coretap/base.h"
#include "coretap/cfg.h"
#include "coretap/graph.h"
#include "coretap/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the targets of computed branches and calls in a trace to a control flow graph. They become edges,
 * marked CT_CFG_LEARNT, together with the code that they make reachable. What the program shows by itself
 * (jump tables) does not change. `shift` is added to each address of the trace to get one of the control flow
 * graph (modulo 2^64): the difference of their load addresses. Code of other programs is ignored.
 * CT_ERR_LIMIT, CT_ERR_NOMEM. */
CT_API int ct_cfg_learn(struct ct_ctx *ctx, struct ct_cfg *cfg, const struct ct_graph *graph, uint64_t shift);

/* Adds targets from the sums over many runs: from the edges of `found`, without load bias, in its program
 * number `program`. The same errors. */
CT_API int ct_cfg_learn_times(struct ct_ctx *ctx, struct ct_cfg *cfg, const struct ct_timing_found *found,
                              uint32_t program);

#ifdef __cplusplus
}
#endif
#endif
