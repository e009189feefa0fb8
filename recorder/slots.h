/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each running thread a slot: its index among the threads of the shared memory. QEMU's own index is no
 * such number, because it grows with each thread that begins before the last one has ended. */
#pragma once

#include <stdint.h>

#include "trace_recording.h"

#define SLOTS_INDEXES (1u << 20) /* indexes of QEMU that can have a slot */

extern uint16_t slots_table[SLOTS_INDEXES]; /* by QEMU's index: the slot + 1; 0: none */

/* Returns the slot of the thread with an index of QEMU, or a number above all slots when it has none. */
static inline unsigned slots_of(unsigned index)
{
    return index < SLOTS_INDEXES ? slots_table[index] - 1u : UINT32_MAX;
}

/* Gives a new thread the lowest free slot, and returns it; a number above all slots when none is free. */
unsigned slots_take(unsigned index);

/* Frees the slot of a thread that ends. */
void slots_give_back(unsigned index);
