/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol map that a recorded program wrote: the names of the code that it generated. */
#pragma once

#include <stdbool.h>
#include <time.h>

struct ct_ctx;

#define CT_RECORD_SYMBOL_MAP "symbols.map" /* its name in the capture */

/* A running program. Under QEMU in user mode its process ID is that of QEMU. */
struct ct_record_process {
    int id;                /* 0: none */
    struct timespec began; /* by the clock of file times */
};

/* Notes that a program begins. */
void ct_record_process_begin(struct ct_record_process *process);

/* Copies /tmp/perf-PID.map into the directory when the program has written it; *taken becomes whether it has.
 * Warns of a file that other users could have put there, and leaves it. CT_ERR_IO. */
int ct_record_symbol_map(struct ct_ctx *ctx, const struct ct_record_process *process, const char *directory,
                         bool *taken);
