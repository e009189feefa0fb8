/* SPDX-License-Identifier: Apache-2.0 */
/* Volume of what a capture says was executed. */
#ifndef CT_CLI_VOLUME_H
#define CT_CLI_VOLUME_H

#include "cli/cli.h"
#include "coretap/record.h"

/* Decodes the capture at `path` and measures how much trace it would be. `args` has the options of captures.
 * Result: enum cli_exit. */
int cli_volume_capture(const struct cli_args *args, const char *path, const struct ct_volume_options *options,
                       struct ct_volume *volume);

#endif
