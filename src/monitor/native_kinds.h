/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of values that cells can hold while the inputs' programs run. */
#pragma once

#include "monitor/program.h"

/* The kind of value that a cell holds whenever it holds one that is no error. */
enum ct_mon_kind {
    KIND_UNUSED,
    KIND_INT,   /* meta 0 */
    KIND_FLOAT, /* META_FLOAT */
    KIND_MIXED, /* any meta; a Float only inside an option */
};

/* Finds the kinds of all p->ncells cells, and which cells are written. Returns false when the inputs'
 * programs cannot be one function with cells as variables: there are timers, an input is a text, or an
 * instruction needs the bytecode. */
bool ct_mon_native_kinds(const struct ct_mon_program *p, uint8_t *kinds, bool *written);
