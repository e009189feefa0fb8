/* SPDX-License-Identifier: Apache-2.0 */
/* What the plugin interface does not tell of the program: registers. Debian's QEMU exports the
 * functions that its debugger stub uses; where they are not there the answers are "unknown",
 * and the recording has less in it. */
#ifndef RECORDER_GUEST_H
#define RECORDER_GUEST_H

#include <stddef.h>
#include <stdint.h>

#include "qemu_plugin_api.h"

/* Finds the functions. */
void guest_init(void);

/* 1 when the block that is being translated is T32, 0 when it is A32, -1 when nobody knows. */
int guest_is_t32(const struct qemu_plugin_tb *tb);

/* Exception level of the block that is being translated; 0 where nobody knows. */
unsigned guest_level(void);

/* X register `number` of an A64 processor; false when it cannot be read. */
bool guest_register(unsigned cpu, int number, uint64_t *value);

/* Where the exception that was last taken to exception level `level` (1 to 3) returns to:
 * ELR_ELx. False when it cannot be read. */
bool guest_return_address(unsigned cpu, unsigned level, uint64_t *value);

/* Reads memory of the program, whose address 0 is elsewhere in this process. False when it is not there, or
 * nobody knows where. */
bool guest_memory(uint64_t addr, void *out, size_t size);

enum guest_signal {
    GUEST_NO_SIGNAL, /* the handler was called as a function */
    GUEST_SIGNAL,
    GUEST_UNKNOWN,
};

/* At the first instruction of a signal handler: where the program was interrupted. */
enum guest_signal guest_signal_frame(unsigned cpu, int arm32, uint64_t *pc, int *t32);

/* True when this system call sets a signal handler, to *handler (bit 0 clear). */
bool guest_sets_handler(int64_t number, int arm32, uint64_t action, uint64_t *handler);

#endif
