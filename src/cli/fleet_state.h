/* SPDX-License-Identifier: Apache-2.0 */
/* The folder in which a job keeps its pieces. */
#pragma once

#include "cli/fleet.h"

/* Returns the file of --output; NULL: standard output. */
const char *cli_fleet_output(const struct cli_fleet *fleet);

/* Sets the path of the folder. Returns false after a message. */
bool cli_fleet_state_find(struct cli_fleet *fleet);

/* Makes the folder, or checks that it belongs to this job. Locks it if it has the name of the output. Returns
 * false after a message. */
bool cli_fleet_state_open(struct cli_fleet *fleet);

/* Frees the path. If this job has locked the folder, unlocks it, and removes it if it is empty. */
void cli_fleet_state_close(struct cli_fleet *fleet);
