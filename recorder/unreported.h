/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of A64 whose memory accesses QEMU's plugin interface does not report. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum unreported {
    UNREPORTED_NONE, /* all its accesses are reported */
    UNREPORTED_ZERO, /* DC ZVA, DC GZVA: zeroes a block */
    UNREPORTED_SVE,  /* a load or store of SVE, except of a whole register */
};

/* Returns how the accesses of an instruction are reported. */
enum unreported unreported_by(uint32_t instruction);

/* Finds the block that DC ZVA with address register `number` zeroed: its first address, and log2 of its size.
 * Call it after the instruction, which stores the registers of the processor where they can be read. Returns
 * false when the register cannot be read. */
bool unreported_block(unsigned cpu, unsigned number, uint64_t *va, unsigned *shift);
