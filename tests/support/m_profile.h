/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of the M profile as a chain delivers them, with marks that name the thread that runs next. */
#pragma once

#include "analysis/m_threads.h"

/* Replaces the steps in the batch by those with decided threads. Creates *threads when it is NULL. */
static inline int decide_threads(struct ct_m_threads **threads, struct ct_step_batch *batch)
{
    const int rc = *threads ? CT_OK : ct_m_threads_new(NULL, threads);
    return rc ? rc : ct_m_threads_run(*threads, batch, batch);
}
