/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as machine code, made with libgccjit, which is looked for when the first specification wants it.
 * Machine code does what is usual; where a value is not (an error, an overflow, a call) the bytecode takes
 * the instant over at that very instruction. Both keep all state in the same cells. */
#ifndef CT_MONITOR_NATIVE_H
#define CT_MONITOR_NATIVE_H

#include "monitor/program.h"

struct ct_monitor;

/* What ct_mon_vm_run does from a program's first instruction on. */
typedef bool native_fn(struct ct_monitor *m, struct ct_mon_cell *cells, uint32_t stamp);

/* Takes events in their instants, as long as each comes alone and later than the one before: all inputs of a
 * specification in one function. Results must have room for all outputs at each event. The instant of the
 * last one stays open. *taken is how many events it took. Result: NO_CODE, or the instruction of the open
 * instant from which on the bytecode has to go on. All cells must hold values of their kinds (native_kinds.h)
 * or nothing. */
struct ct_monitor_event;
typedef uint32_t native_batch_fn(struct ct_monitor *m, struct ct_mon_cell *cells,
                                 const struct ct_monitor_event *events, uint64_t limit, uint64_t *taken);

struct ct_mon_native_code {
    native_fn **table;      /* by the number of a program's first instruction; NULL where there is none */
    native_batch_fn *batch; /* NULL: there is none */
    const uint8_t *kinds;   /* enum ct_mon_kind of each cell, when there is one */
    uint64_t batch_cost;    /* the work of the longest instant in it */
};

struct ct_mon_native;

/* Compiles the programs of `p`, which must stay, in a process of its own (native_child.h). NULL: libgccjit or
 * the assembler is missing or has no memory, a program is too large to be worth it, or `stop`, which may be
 * NULL, was set. Without memory of its own it leaves `arena` (ct_mon_arena_leave), in which it keeps nothing.
 * May be called in any thread. */
struct ct_mon_native *ct_mon_native_new(const struct ct_mon_program *p, struct ct_mon_arena *arena,
                                        const bool *stop);
void ct_mon_native_free(struct ct_mon_native *native);

/* Gives what was compiled. NULL for NULL. */
const struct ct_mon_native_code *ct_mon_native_code(const struct ct_mon_native *native);

/* Machine code of a program, which must stay, that a thread makes from the first start on. NULL: no memory.
 */
struct ct_mon_beside;
struct ct_mon_beside *ct_mon_beside_new(const struct ct_mon_program *p);
void ct_mon_beside_start(struct ct_mon_beside *beside);

/* Gives the code as of ct_mon_native_code. NULL: it is not made yet, or never. Any thread may ask. */
const struct ct_mon_native_code *ct_mon_beside_code(const struct ct_mon_beside *beside);

/* Frees the machine code; what is not made yet is given up. */
void ct_mon_beside_free(struct ct_mon_beside *beside);

#endif
