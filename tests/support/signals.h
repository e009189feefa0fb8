/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads of this process take signals, by their files in /proc. */
#pragma once

#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* Returns whether the thread with this status file takes SIGINT. */
static inline bool signals_taken(const char *path)
{
    char line[128];
    uint64_t blocked = 0;
    FILE *file = fopen(path, "r");
    if (!file) /* the thread has ended */
        return false;
    while (fgets(line, sizeof line, file))
        (void)sscanf(line, "SigBlk: %" SCNx64, &blocked);
    fclose(file);
    return !(blocked >> (SIGINT - 1) & 1);
}

/* Returns the number of threads that take SIGINT, and the number of all in *threads. */
static inline size_t signals_count(size_t *threads)
{
    glob_t all;
    size_t count = 0;
    *threads = 0;
    if (glob("/proc/self/task/*/status", 0, NULL, &all))
        return 0;
    for (size_t i = 0; i < all.gl_pathc; i++)
        count += signals_taken(all.gl_pathv[i]);
    *threads = all.gl_pathc;
    globfree(&all);
    return count;
}
