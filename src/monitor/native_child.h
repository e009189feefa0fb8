/* SPDX-License-Identifier: Apache-2.0 */
/* A compiler in a process of its own: what it allocates, how it fails and the files that it leaves while it
 * works are no matter of the process that wants its code. */
#ifndef CT_MONITOR_NATIVE_CHILD_H
#define CT_MONITOR_NATIVE_CHILD_H

#include <stdbool.h>

/* Writes the shared object `path`. Called in the other process, which has a copy of all memory. */
typedef bool ct_mon_child_fn(void *user, const char *path);

/* Makes a shared object and loads it. The other process removes all temporary files, however this one ends;
 * where it crashes itself, this one removes them. `stop`: NULL, or what another thread sets (atomically) so
 * that the work is given up within some milliseconds. Result: as of dlopen; NULL: nothing was made. */
void *ct_mon_child_load(ct_mon_child_fn *make, void *user, const bool *stop);

#endif
