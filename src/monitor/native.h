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

struct ct_mon_native;

/* Compiles the programs of `p`, which must stay, in a process of its own (native_child.h). NULL: libgccjit or
 * the assembler is missing or has no memory, a program is too large to be worth it, or `stop`, which may be
 * NULL, was set. Without memory of its own it leaves `arena` (ct_mon_arena_leave), in which it keeps nothing.
 * May be called in any thread. */
struct ct_mon_native *ct_mon_native_new(const struct ct_mon_program *p, struct ct_mon_arena *arena,
                                        const bool *stop);
void ct_mon_native_free(struct ct_mon_native *native);

/* Gives a table of p->ncode entries: the machine code by the number of a program's first instruction, NULL
 * where there is bytecode only. */
native_fn *const *ct_mon_native_table(const struct ct_mon_native *native);

/* Machine code of a program, which must stay, that a thread makes from the first start on. NULL: no memory.
 */
struct ct_mon_beside;
struct ct_mon_beside *ct_mon_beside_new(const struct ct_mon_program *p);
void ct_mon_beside_start(struct ct_mon_beside *beside);

/* Gives the table as of ct_mon_native_table. NULL: it is not made yet, or never. Any thread may ask. */
native_fn *const *ct_mon_beside_table(const struct ct_mon_beside *beside);

/* Frees the machine code; what is not made yet is given up. */
void ct_mon_beside_free(struct ct_mon_beside *beside);

#endif
