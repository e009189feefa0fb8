/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol map and the jitdump that a recorded program wrote: the names of the code that it generated. */
#pragma once

#include <stdbool.h>
#include <time.h>

struct ct_ctx;

/* Names of the files in the capture. */
#define CT_RECORD_SYMBOL_MAP "symbols.map" /* text */
#define CT_RECORD_JITDUMP    "jit.dump"

/* Which files with names a capture has. */
struct ct_record_names {
    bool symbol_map, jitdump;
};

/* A running program. Under QEMU in user mode its process ID is that of QEMU. */
struct ct_record_process {
    int id;                /* 0: none */
    struct timespec began; /* by the clock of file times */
    const char *jitdump;   /* path of its jitdump file, as the program has told it; NULL or "": none */
};

/* Notes that a program begins. */
void ct_record_process_begin(struct ct_record_process *process);

/* Copies /tmp/perf-PID.map and the jitdump into the directory when the program has written them; *taken
 * becomes which these are. Warns of a file that other users could have put there, and leaves it. CT_ERR_IO.
 */
int ct_record_symbol_map(struct ct_ctx *ctx, const struct ct_record_process *process, const char *directory,
                         struct ct_record_names *taken);

/* Copies the rest of an open file to another one, which it closes. Returns 0 or an errno. */
int ct_record_copy(int from, int to);
