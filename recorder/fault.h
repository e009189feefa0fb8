/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions can end a block before its last instruction: those that access memory. */
#ifndef RECORDER_FAULT_H
#define RECORDER_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_isa {
    FAULT_A64,
    FAULT_A32,
    FAULT_T32
};

/* Memory accesses that have to be done before the instruction is: 0 when it has none, and else at least 1.
 * One that loads the PC with others says how many they are; for the others 1 is enough. */
unsigned fault_accesses(enum fault_isa isa, const uint8_t *bytes, size_t size);

/* True when the instruction may write to memory. */
bool fault_stores(enum fault_isa isa, const uint8_t *bytes, size_t size);

#endif
