/* SPDX-License-Identifier: Apache-2.0 */
/* What specifications said of several captures, and of saved results: 'coretap monitor' with --format sums
 * and data. */
#ifndef CT_CLI_MONITOR_SUMS_H
#define CT_CLI_MONITOR_SUMS_H

#include "cli/monitors.h"

/* How results are printed. */
struct cli_monitor_sums_wishes {
    size_t elf; /* index of the option that names programs */
    uint16_t threads;
    bool data;     /* as a file, else as lines to read */
    bool per_core; /* each trace ID is a run of its own */
    bool together; /* all captures are one run */
};

/* Adds up what all operands name, captures and saved files, and prints it. Result: enum cli_exit. */
int cli_monitor_sums_run(const struct cli_args *args, const struct cli_monitor_sums_wishes *wishes);

#endif
