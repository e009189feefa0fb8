/* SPDX-License-Identifier: Apache-2.0 */
/* The list of captures that rank 0 sends to all: of each the digest, the size in decimal digits, a space, and
 * the path with its 0. A manifest in JSON would leave out paths that are no UTF-8. Nothing in here asks MPI.
 */
#pragma once

#include <stdbool.h>

#include "coretap/fleet.h"

/* Reads the capture at *at, whose path is borrowed from the list, and moves behind it. Returns false where
 * the list, which ends at `end`, has no capture: another version of coretap may have sent it. */
bool ct_capture_list_next(const char **at, const char *end, struct ct_fleet_capture *out);
