/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of empty results. The library finds the reason (coretap/empty.h). */
#pragma once

#include "cli/cli.h"
#include "coretap/empty.h"

/* Reports why a result of the capture or file at `path` is empty. Returns whether there is a reason. */
bool cli_empty_tell(const struct cli_args *args, const char *path, const struct ct_empty_options *options);

/* Does the same for args->operand, and prevents the output file. Returns an enum cli_exit. */
int cli_empty(const struct cli_args *args, const struct ct_empty_options *options);
