/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of several event logs and of saved sums: 'coretap fractal report' with several operands. */
#pragma once

#include "cli/cli.h"

/* How to read the logs, and what to print. */
struct cli_fractal_sums_wishes {
    const char *elf;      /* the program; NULL: that of each log */
    const uint64_t *bias; /* its load address, which overrides the logs; or NULL */
    uint64_t most;        /* lines of a table; 0: the default */
    bool data;            /* print a file that can be loaded, instead of tables */
    bool one_process;     /* count only events of `process` */
    uint8_t process;
};

/* Returns whether the operand is a file of saved sums. */
bool cli_fractal_sums_is_file(const char *path);

/* Adds up all operands, logs and saved sums, and prints the sum. Returns an enum cli_exit. */
int cli_fractal_sums_run(const struct cli_args *args, const struct cli_fractal_sums_wishes *wishes);
