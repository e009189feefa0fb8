/* SPDX-License-Identifier: Apache-2.0 */
/* Reads data of the program that the plugin interface does not provide: registers and memory. Uses functions
 * of QEMU's debugger stub, which Debian's QEMU exports. Without them the answers are "unknown", and the
 * recording contains less. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "qemu_plugin_api.h"

/* Finds the functions of QEMU. Call it first. */
void guest_init(void);

/* Sets a pointer to a function or variable of QEMU to the one with this name, or to NULL. */
void guest_find(void *function, const char *name);

/* Returns the processor that translates, or NULL. Its state is the one that the block is for. */
void *guest_current(void);

/* Returns the processor with this index, or NULL. */
void *guest_cpu(unsigned index);

/* Reads a register of a processor by the number that debuggers use. Returns false when it cannot be read. */
bool guest_read_register(void *cpu, int arm32, int number, uint64_t *value);

/* Returns whether a processor can run A64; true when that is unknown. */
bool guest_has_a64(void *cpu);

/* Returns whether the block at `addr`, which is being translated, is A64; true when that is unknown. For a
 * machine whose processor can run A64. */
bool guest_is_a64(uint64_t addr);

/* Returns 1 when the block being translated is T32, 0 when it is A32, -1 when that is unknown. */
int guest_is_t32(const struct qemu_plugin_tb *tb);

#define GUEST_CPSR      25 /* its number for guest_read_register, also that of xPSR */
#define GUEST_CPSR_MODE 0x1fu
#define GUEST_CPSR_T    0x20u
#define GUEST_SPSR_A32  0x10u /* A32 or T32 */

/* Returns the exception level of a mode of A32 and T32. */
unsigned guest_level_arm(uint64_t cpsr);

/* Returns how many instructions of an IT block are left, by CPSR or xPSR. */
unsigned guest_it_left(uint64_t cpsr);

/* Returns the exception level of the block being translated in A64; 0 when it is unknown. */
unsigned guest_level(void);

/* Reads register `number` of a processor. Returns false when it cannot be read. */
bool guest_register(unsigned cpu, int arm32, int number, uint64_t *value);

/* Reads ELR_ELx and SPSR_ELx, the return address of the last exception that was taken to level `level` (1 to
 * 3), and the state before it. Returns false when they cannot be read. */
bool guest_return_address(unsigned cpu, unsigned level, uint64_t *value, uint64_t *spsr);

/* Reads memory of the program, whose addresses differ from those of this process. Returns false when it is
 * unmapped, or the offset between the addresses is unknown. */
bool guest_memory(uint64_t addr, void *out, size_t size);

/* Reads memory of a whole machine as one of its processors sees it. Returns false when it cannot. */
bool guest_machine_memory(void *cpu, uint64_t addr, void *out, size_t size);

/* How the first instruction of a signal handler was reached. */
enum guest_signal {
    GUEST_NO_SIGNAL, /* the handler was called as a function */
    GUEST_SIGNAL,
    GUEST_UNKNOWN,
};

/* Finds the address where the program was interrupted, at the first instruction of a signal handler. */
enum guest_signal guest_signal_frame(unsigned cpu, int arm32, uint64_t *pc, int *t32);

/* Returns whether this system call replaces the program by another one (execve, execveat). */
bool guest_replaces(int64_t number, int arm32);

/* Returns whether this system call sets a signal handler; *handler becomes its address (bit 0 clear). */
bool guest_sets_handler(int64_t number, int arm32, uint64_t action, uint64_t *handler);
