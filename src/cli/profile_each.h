/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of all programs that ran, one file each. */
#pragma once

#include "cli/counts.h"

/* Writes the profile of each program with counts to a file in `folder`, named after the program with a dot
 * and `suffix` behind. `how` selects what is written. Sets *count to the number of files. All files are
 * completed, or none. Returns an enum cli_exit. */
int cli_profile_each(const struct cli_counts *counts, const char *folder, const char *suffix,
                     const struct ct_profile_write_options *how, size_t *count);
