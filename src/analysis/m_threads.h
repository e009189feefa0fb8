/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a stream of the M profile. Handlers switch them and no context ID tells which one goes on,
 * so that each is known by the address at which it was interrupted. Several that wait at one address, as in a
 * function that yields, are told apart by where they return to: steps are held back until one of them is
 * left.
 *
 * What is found stands in the marks of returns from exceptions (CT_MARK_ELEM, see steps.h). */
#ifndef CT_ANALYSIS_M_THREADS_H
#define CT_ANALYSIS_M_THREADS_H

#include "coretap/steps.h"

struct ct_m_threads;

/* CT_ERR_NOMEM. */
int ct_m_threads_new(struct ct_ctx *ctx, struct ct_m_threads **out);
void ct_m_threads_free(struct ct_m_threads *threads);

/* Takes the next steps of the stream and gives those that are decided, borrowed until the next call: all of
 * them behind an END element, and else all but CT_STEP_WAIT at most. No result depends on how the steps are
 * cut. CT_ERR_NOMEM. */
int ct_m_threads_run(struct ct_m_threads *threads, const struct ct_step_batch *in, struct ct_step_batch *out);

#endif
