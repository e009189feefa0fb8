/* SPDX-License-Identifier: Apache-2.0 */
/* Lets tests set how a chain cuts its streams into tasks for threads. */
#ifndef CT_CHAIN_CHAIN_TUNE_H
#define CT_CHAIN_CHAIN_TUNE_H

#include "coretap/decode.h"

/* Sets the least size of a task and the size of a slice, in bytes, and how many blocks of the program threads
 * share at most; 0 lets the chain choose. With a size all threads are started that were asked for, also more
 * than there are processors, and edges are counted in the quickest way from the first byte on. To be called
 * before the first byte. */
void ct_chain_tune(struct ct_chain *chain, size_t segment, uint32_t shared_blocks);

/* Tells how many tasks were handed on so far, and how many of them had to be decoded twice. */
void ct_chain_tasks(const struct ct_chain *chain, uint64_t *tasks, uint64_t *again);

#endif
