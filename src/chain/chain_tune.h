/* SPDX-License-Identifier: Apache-2.0 */
/* How a chain uses its threads, for tests: before the first byte. */
#ifndef CT_CHAIN_CHAIN_TUNE_H
#define CT_CHAIN_CHAIN_TUNE_H

#include "coretap/decode.h"

/* Tasks have so many bytes at least; 0: as it is best. */
void ct_chain_tune(struct ct_chain *chain, size_t segment);

/* How many tasks there were so far, and how many of them were decoded again. */
void ct_chain_tasks(const struct ct_chain *chain, uint64_t *tasks, uint64_t *again);

#endif
