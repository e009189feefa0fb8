/* SPDX-License-Identifier: Apache-2.0 */
/* A very small A64 machine that assembles the firmware of the example and executes it, one instruction per
 * call. */
#ifndef QUICKSTART_MACHINE_H
#define QUICKSTART_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIRMWARE_BASE  UINT64_C(0x80000)
#define FIRMWARE_BYTES 0x600u
#define VECTOR_SYNC    (FIRMWARE_BASE + 0x400) /* synchronous exception from a lower level, AArch64 */
#define VECTOR_IRQ     (FIRMWARE_BASE + 0x480)

/* Kind of an instruction for a trace unit. */
enum step_kind {
    STEP_PLAIN,
    STEP_DIRECT,   /* direct branch, perhaps not taken */
    STEP_INDIRECT, /* BLR, RET */
    STEP_CALL,     /* SVC: a synchronous exception is taken after it */
    STEP_ERET,
    STEP_STOP, /* the end of the program: nothing was executed */
};

struct step {
    enum step_kind kind;
    bool taken;
    bool link; /* BL, BLR */
    uint64_t pc;
    uint64_t next;
};

struct machine {
    uint64_t x[31];
    uint64_t pc;
    uint64_t elr;
    bool zero, carry;
    uint8_t el;
};

/* Writes the program as it is in memory. */
void firmware_assemble(uint8_t bytes[FIRMWARE_BYTES]);

/* Sets the machine to the first instruction, at EL0, with `rounds` of the main loop to run. */
void machine_init(struct machine *machine, uint64_t rounds);

struct step machine_step(struct machine *machine);

/* Takes an interrupt before the next instruction. */
void machine_interrupt(struct machine *machine);

#endif
