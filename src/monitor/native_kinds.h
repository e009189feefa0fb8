/* SPDX-License-Identifier: Apache-2.0 */
/* What kinds of values the cells hold while the programs of inputs run one after the other. */
#ifndef CT_MONITOR_NATIVE_KINDS_H
#define CT_MONITOR_NATIVE_KINDS_H

#include "monitor/program.h"

/* What a cell holds whenever it holds something, and no error. */
enum ct_mon_kind {
    KIND_UNUSED,
    KIND_INT,   /* meta 0 */
    KIND_FLOAT, /* META_FLOAT */
    KIND_MIXED, /* any meta; a float inside of an option only */
};

/* Finds the kinds of all cells, p->ncells of them, and which are written. False: the programs of inputs
 * cannot run as one function with cells as variables: there are timers, texts come in, or an instruction
 * needs the bytecode. */
bool ct_mon_native_kinds(const struct ct_mon_program *p, uint8_t *kinds, bool *written);

#endif
