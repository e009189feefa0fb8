/* SPDX-License-Identifier: Apache-2.0 */
/* A live run from its first byte to its last. */
#ifndef CT_CLI_LIVE_LOOP_H
#define CT_CLI_LIVE_LOOP_H

#include "cli/live.h"

/* Reads args->operand, whose rows begin with CLI_CAPTURE_TABLE and
 * CLI_MONITOR_TABLE. Result: enum cli_exit. */
int cli_live_run(const struct cli_args *args, const struct cli_live_wishes *wishes);

#endif
