/* SPDX-License-Identifier: Apache-2.0 */
/* What several event logs say, and saved sums of logs: 'coretap fractal report' of more than one log. */
#ifndef CT_CLI_FRACTAL_SUMS_H
#define CT_CLI_FRACTAL_SUMS_H

#include "cli/cli.h"

/* How logs are read, and what is printed. */
struct cli_fractal_sums_wishes {
    const char *elf;      /* the program; NULL: that of each log */
    const uint64_t *bias; /* where it was loaded, whatever the logs say; or NULL */
    uint64_t most;        /* lines of a table; 0: as by default */
    bool data;            /* as a file, else as tables */
    bool one_process;     /* of the logs only events of `process` count */
    uint8_t process;
};

/* Tells whether the operand is a file of saved sums. */
bool cli_fractal_sums_is_file(const char *path);

/* Adds up what all operands name, logs and saved sums, and prints it. Returns enum cli_exit. */
int cli_fractal_sums_run(const struct cli_args *args, const struct cli_fractal_sums_wishes *wishes);

#endif
