/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of files for one input, in $TMPDIR, for code that looks for files next to others. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"

struct folder {
    char path[240];
    char *files[2];
    size_t count;
};

static inline void folder_begin(struct folder *f)
{
    const char *parent = getenv("TMPDIR");
    f->count = 0;
    snprintf(f->path, sizeof f->path, "%.200s/coretap-fuzz-XXXXXX", parent ? parent : "/tmp");
    require(mkdtemp(f->path) != NULL);
}

/* Writes a file. Returns its path, which is valid until the folder ends. */
static inline const char *folder_add(struct folder *f, const char *name, const void *bytes, size_t size)
{
    const size_t room = sizeof f->path + 32;
    char *path = malloc(room);
    require(path != NULL);
    snprintf(path, room, "%s/%.30s", f->path, name);
    f->files[f->count++] = path;
    FILE *file = fopen(path, "w");
    require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    return path;
}

static inline void folder_end(struct folder *f)
{
    while (f->count) {
        require(unlink(f->files[--f->count]) == 0);
        free(f->files[f->count]);
    }
    require(rmdir(f->path) == 0);
}
