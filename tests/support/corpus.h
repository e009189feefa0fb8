/* SPDX-License-Identifier: Apache-2.0 */
/* Checks all captures of a folder. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "coretap/input.h"

/* Calls `check` for each capture below `shared`, a folder that has corpus/snapshots; CT_SHARED replaces it.
 * Stops at the first one that fails, which it names. Sets *count to the number of folders. Returns whether
 * all hold; -1, after a line of TAP that says so, when there is no such folder. */
static inline int corpus_hold(const char *shared, int (*check)(const struct ct_capture *capture),
                              unsigned *count)
{
    const char *other = getenv("CT_SHARED");
    char path[4096], name[8192];
    int ok = 1;
    *count = 0;
    snprintf(path, sizeof path, "%s/corpus/snapshots", other ? other : shared);
    DIR *folder = opendir(path);
    if (!folder) {
        printf("1..1\nok 1 # SKIP no corpus in %s\n", path);
        return -1;
    }
    for (const struct dirent *entry; ok && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        struct ct_ctx *ctx = ct_ctx_new();
        struct ct_capture *capture = NULL;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (!ct_capture_open(ctx, name, &capture))
            ok = check(capture);
        if (!ok)
            printf("# %s\n", entry->d_name);
        *count += 1;
        ct_capture_free(capture);
        ct_ctx_free(ctx);
    }
    closedir(folder);
    return ok;
}
