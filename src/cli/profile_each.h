/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of all programs that ran, a file each. */
#ifndef CT_CLI_PROFILE_EACH_H
#define CT_CLI_PROFILE_EACH_H

#include "cli/counts.h"

/* Writes the profile of each program that has counts into a file in `folder`, which is called after the
 * program and, with a dot in front, `suffix`. `how` says what is written. *count is how many files there are.
 * All files get to their places, or none. Result: enum cli_exit. */
int cli_profile_each(const struct cli_counts *counts, const char *folder, const char *suffix,
                     const struct ct_profile_write_options *how, size_t *count);

#endif
