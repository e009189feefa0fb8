/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the exceptions of processors in A32 and T32 of the A profile (DDI 0406C B1.8). QEMU does not report
 * them, but at the entries of a vector table the mode tells whether an exception led there, and the link
 * register of that mode where it interrupted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "qemu_plugin_api.h"

#define EXCEPTIONS_ARM_ENTRIES 8u /* of four bytes each, in a vector table */

/* An exception that was taken. */
struct exception_arm {
    uint32_t entry; /* in the vector table */
    uint32_t interrupted;
    uint32_t t32; /* 1: in T32 */
};

/* Returns t + 1 when the instruction is MCR with a register that tells where the vector table is, and Rt is
 * its source; else 0. */
uint32_t exceptions_arm_sets_table(uint32_t op);

/* Returns t + 1 for MCR with CONTEXTIDR, and 0 for other instructions. */
uint32_t exceptions_arm_sets_context(uint32_t op);

/* Returns the address of the table after MCR `op` with this value. */
uint32_t exceptions_arm_table(uint32_t op, uint32_t value);

/* Finds the exception that led a processor to `addr`, an entry of a vector table. Returns false when there
 * was none. */
bool exceptions_arm_find(void *cpu, uint32_t addr, struct exception_arm *out);
