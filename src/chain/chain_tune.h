/* SPDX-License-Identifier: Apache-2.0 */
/* Lets tests control how a chain cuts its streams into tasks for threads. */
#pragma once

#include "coretap/decode.h"

/* Sets the minimal size of a task and the size of a slice, in bytes; 0: the default. With a size, all
 * requested threads are started, even more than there are processors, and edges are counted by the fastest
 * path from the first byte on. To be called before the first byte. */
void ct_chain_tune(struct ct_chain *chain, size_t segment);

/* Returns how many tasks were delivered so far, and how many of them had to be decoded twice. */
void ct_chain_tasks(const struct ct_chain *chain, uint64_t *tasks, uint64_t *again);
