/* SPDX-License-Identifier: Apache-2.0 */
/* A bank: machines that step together. The states of all its machines form one joint state, and the table
 * remembers where a step leads from it. So a step of hundreds of formulas is one look-up once their states
 * have occurred before. */
#pragma once

#include "monitor/program.h"

struct ct_monitor;

/* The table of a bank in one run. A row is the number of a joint state times the columns of the bank; row 0
 * means that no step is known. Machine code reads `row` and `next` (native_words.h). */
struct ct_mon_bank {
    uint32_t row;     /* row of the joint state; 0: the states are in ct_monitor.states */
    uint32_t count;   /* numbers given so far, including 0 */
    uint32_t *next;   /* by row and column: the row after the step, with BANK_CHANGES when a verdict changes;
                       * 0: not known yet */
    uint8_t *vectors; /* states of the machines, by joint state number */
    uint32_t *slots;  /* hash table of joint state numbers; 0: free */
    uint32_t room;    /* joint states that fit, a power of two */
    uint32_t rest;    /* steps still to be taken without the table, because it was not worth it */
    uint32_t since;   /* stamp of the run when the table was last emptied */
};

enum {
    BANK_CHANGES = INT32_MIN,
};

/* Groups the machines of a program into banks, and turns its I_STEPS into uses of banks. */
void ct_mon_bank_plan(struct ct_mon_arena *arena, struct ct_mon_program *p);

/* Allocates the banks of a run. Returns false when out of memory. */
bool ct_mon_banks_init(struct ct_monitor *m);
void ct_mon_banks_free(struct ct_monitor *m);

/* Executes an I_STEPS. */
void ct_mon_bank_steps(struct ct_monitor *m, struct ct_mon_cell *cells, const struct ct_mon_insn *i);

/* Returns the state of a machine. */
uint16_t ct_mon_bank_state(const struct ct_monitor *m, uint32_t machine);

/* Moves the states of all banks to ct_monitor.states, where the caller may change them until the next
 * step. */
void ct_mon_banks_leave(struct ct_monitor *m);

/* Does the same for the bank of one machine. */
void ct_mon_bank_leave(struct ct_monitor *m, uint32_t machine);
