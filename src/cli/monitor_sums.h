/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the results of specifications over several captures and saved results: 'coretap monitor' with
 * --format sums and data. */
#pragma once

#include "cli/monitors.h"

/* How to print results. */
struct cli_monitor_sums_wishes {
    size_t elf; /* index of the option that names programs */
    uint16_t threads;
    bool data;     /* as a file that can be loaded, instead of readable lines */
    bool per_core; /* each trace ID is a separate run */
    bool together; /* all captures are one run */
};

/* Adds up all operands, captures and saved files, and prints the sums. Returns an enum cli_exit. */
int cli_monitor_sums_run(const struct cli_args *args, const struct cli_monitor_sums_wishes *wishes);
