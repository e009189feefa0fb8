/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a stream of the M profile. Handlers switch threads, and no context ID names the next one, so
 * each thread is identified by the address at which it was interrupted. When several wait at one address, as
 * in a function that yields, their return addresses tell them apart: steps are held back until a single
 * thread remains.
 *
 * The results stand in the marks of returns from exceptions (CT_MARK_ELEM, see steps.h). */
#pragma once

#include "coretap/steps.h"

struct ct_m_threads;

/* Makes the threads of a stream. CT_ERR_NOMEM. */
int ct_m_threads_new(struct ct_ctx *ctx, struct ct_m_threads **out);
void ct_m_threads_free(struct ct_m_threads *threads);

/* Takes the next steps of the stream and gives those that are decided, borrowed until the next call. Behind
 * an END element these are all steps; otherwise at most CT_STEP_WAIT are held back. The results do not depend
 * on how the steps are divided into batches. CT_ERR_NOMEM. */
int ct_m_threads_run(struct ct_m_threads *threads, const struct ct_step_batch *in, struct ct_step_batch *out);
