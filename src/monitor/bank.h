/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that step together as one: the states that all of them are in are one joint state, and where it
 * leads is remembered. So a step of hundreds of formulas is one look-up, once their states came before. */
#ifndef CT_MONITOR_BANK_H
#define CT_MONITOR_BANK_H

#include "monitor/program.h"

struct ct_monitor;

/* What a run remembers of a bank. A row is the number of a joint state times the columns of the bank; row 0
 * knows nothing. Machine code reads `row` and `next` (native_words.h). */
struct ct_mon_bank {
    uint32_t row;     /* of the joint state; 0: the states are in ct_monitor.states */
    uint32_t count;   /* numbers given so far, 0 included */
    uint32_t *next;   /* by row and column: the row behind the step, BANK_CHANGES where a verdict changes; 0:
                         not known yet */
    uint8_t *vectors; /* by number: the states of the machines */
    uint32_t *slots;  /* a hash table of numbers; 0: free */
    uint32_t room;    /* numbers that there is room for, a power of two */
    uint32_t rest;    /* steps that are taken without the table from here on, since it was not worth it */
    uint32_t since;   /* the stamp of the run when the table was empty */
};

enum {
    BANK_CHANGES = INT32_MIN,
};

/* Groups the machines of a program into banks, and the I_STEPS of its programs into uses of them. */
void ct_mon_bank_plan(struct ct_mon_arena *arena, struct ct_mon_program *p);

/* Makes the banks of a run. False: no memory. */
bool ct_mon_banks_init(struct ct_monitor *m);
void ct_mon_banks_free(struct ct_monitor *m);

/* Executes an I_STEPS. */
void ct_mon_bank_steps(struct ct_monitor *m, struct ct_mon_cell *cells, const struct ct_mon_insn *i);

/* Gives the state of a machine. */
uint16_t ct_mon_bank_state(const struct ct_monitor *m, uint32_t machine);

/* Moves the states of all banks to ct_monitor.states, where they may be changed until the next step. */
void ct_mon_banks_leave(struct ct_monitor *m);

/* The same with the bank of one machine. */
void ct_mon_bank_leave(struct ct_monitor *m, uint32_t machine);

#endif
