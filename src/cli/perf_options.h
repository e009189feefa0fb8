/* SPDX-License-Identifier: Apache-2.0 */
/* The options that are for perf.data only: --symfs, --vmlinux, --kcore and --buildid-dir. */
#pragma once

#include "cli/cli.h"

/* Refuses such an option when the capture at `path` cannot use it and no other operand can, and a file or
 * folder that cannot be read. Several operands may be of different kinds. Returns false after a message. */
bool cli_perf_options_check(const struct cli_args *args, const char *path);

/* Accepts these options for all captures from now on. Called in a process that decodes one of the captures of
 * a job, which may be of different kinds. */
void cli_perf_options_accept(void);
