/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the instructions that can end a block early: those that access memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_isa {
    FAULT_A64,
    FAULT_A32,
    FAULT_T32
};

/* Returns the memory accesses that must finish before the instruction does: 0 without any, otherwise at least
 * 1. An instruction that loads the PC and other registers has the exact number; for others 1 is enough. */
unsigned fault_accesses(enum fault_isa isa, const uint8_t *bytes, size_t size);

/* Returns whether the instruction may write to memory. */
bool fault_stores(enum fault_isa isa, const uint8_t *bytes, size_t size);

/* Returns whether a T32 instruction divides, which raises an exception in the M profile if the processor is
 * set so. */
bool fault_divides(const uint8_t *bytes, size_t size);
