/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as machine code, made with libgccjit, which is loaded when the first specification needs it.
 * Machine code handles the common cases; for others (an error, an overflow, a call) the bytecode takes over
 * the instant at that instruction. Both keep all state in the same cells. */
#pragma once

#include "monitor/program.h"

struct ct_monitor;

/* Does what ct_mon_vm_run does, from a program's first instruction on. */
typedef bool native_fn(struct ct_monitor *m, struct ct_mon_cell *cells, uint32_t stamp);

/* Takes events in their instants, as long as each is alone in its instant and later than the one before. One
 * function for all inputs of a specification. Results must have room for all outputs at each event. The
 * instant of the last event stays open. Sets *taken to the number of events taken. Returns NO_CODE, or the
 * instruction of the open instant at which the bytecode has to continue. All cells must be empty or hold
 * values of their kinds (native_kinds.h). */
struct ct_monitor_event;
typedef uint32_t native_batch_fn(struct ct_monitor *m, struct ct_mon_cell *cells,
                                 const struct ct_monitor_event *events, uint64_t limit, uint64_t *taken);

struct ct_mon_native_code {
    native_fn **table;      /* by number of a program's first instruction; NULL: not compiled */
    native_batch_fn *batch; /* NULL: not compiled */
    const uint8_t *kinds;   /* enum ct_mon_kind by cell, if there is a `batch` */
    uint64_t batch_cost;    /* work of the longest instant in `batch` */
};

struct ct_mon_native;

/* Compiles the programs of `p`, which must outlive the result, in a separate process (native_child.h).
 * Returns NULL when libgccjit or the assembler is missing or out of memory, when a program is too large to be
 * worth it, or when `stop` was set; `stop` may be NULL. When out of memory itself, it jumps by
 * ct_mon_arena_leave from `arena`, in which it keeps nothing. May be called in any thread. */
struct ct_mon_native *ct_mon_native_new(const struct ct_mon_program *p, struct ct_mon_arena *arena,
                                        const bool *stop);
void ct_mon_native_free(struct ct_mon_native *native);

/* Returns the compiled code, or NULL for NULL. */
const struct ct_mon_native_code *ct_mon_native_code(const struct ct_mon_native *native);

/* Machine code made in a thread, from the first ct_mon_beside_start on. The program must outlive it.
 * ct_mon_beside_new returns NULL when out of memory. */
struct ct_mon_beside;
struct ct_mon_beside *ct_mon_beside_new(const struct ct_mon_program *p);
void ct_mon_beside_start(struct ct_mon_beside *beside);

/* Returns the code, as ct_mon_native_code does. NULL: it is not made yet, or never will be. May be called in
 * any thread. */
const struct ct_mon_native_code *ct_mon_beside_code(const struct ct_mon_beside *beside);

/* Frees the machine code. Cancels what is not made yet. */
void ct_mon_beside_free(struct ct_mon_beside *beside);
