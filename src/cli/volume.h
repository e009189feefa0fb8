/* SPDX-License-Identifier: Apache-2.0 */
/* The volume of trace for the instructions of a capture. */
#pragma once

#include "cli/cli.h"
#include "coretap/record.h"

/* Decodes the capture at `path` and measures how much trace its instructions would make. `args` has the
 * options of captures. Returns an enum cli_exit. */
int cli_volume_capture(const struct cli_args *args, const char *path, const struct ct_volume_options *options,
                       struct ct_volume *volume);
