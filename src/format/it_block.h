/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions that T32 instructions get from an IT instruction before them. */
#pragma once

#include <stdint.h>

#include "coretap/program.h"

/* most bytes that are examined: those of a block, and as many again to find where instructions begin */
#define CT_IT_BLOCK_WINDOW 28u

/* Returns the ITSTATE (Arm ARM, E1.2.3) of the T32 instruction at `addr`, from the code between `from` and
 * `addr`, of which the last CT_IT_BLOCK_WINDOW bytes suffice. 0: the instruction is in no IT block. */
uint8_t ct_it_block_at(const struct ct_memory *memory, uint32_t space, uint64_t from, uint64_t addr);
