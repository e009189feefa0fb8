/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the compiler in a separate process, so that its allocations, failures and temporary files do not
 * affect the process that wants its code. */
#pragma once

#include <stdbool.h>

/* Writes the shared object `path`. Called in the other process, which has a copy of all memory. */
typedef bool ct_mon_child_fn(void *user, const char *path);

/* Makes a shared object and loads it. The other process removes all temporary files, however this one ends;
 * if it crashes, this one removes them. `stop`: NULL, or a flag that another thread sets (atomically) to
 * cancel within some milliseconds. Returns the handle of dlopen; NULL: nothing was made. */
void *ct_mon_child_load(ct_mon_child_fn *make, void *user, const bool *stop);
