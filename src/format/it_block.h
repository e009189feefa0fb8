/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions that instructions of T32 have from an IT instruction in front of them. */
#ifndef CT_FORMAT_IT_BLOCK_H
#define CT_FORMAT_IT_BLOCK_H

#include <stdint.h>

#include "coretap/program.h"

/* the most bytes that are looked at: those of a block, and as many again to find where instructions begin */
#define CT_IT_BLOCK_WINDOW 28u

/* Returns the ITSTATE (Arm ARM, E1.2.3) of the T32 instruction at `addr`, by the code from `from` on, or a
 * part of it that is long enough; 0: the instruction is in no block of an IT. */
uint8_t ct_it_block_at(const struct ct_memory *memory, uint32_t space, uint64_t from, uint64_t addr);

#endif
