/* SPDX-License-Identifier: Apache-2.0 */
/* Files that exist only in memory, for readers under test. */
#pragma once

#include <errno.h>
#include <string.h>

#include "base/files.h"

struct memory_file {
    const char *path;
    const char *text; /* content; NULL: a directory */
    size_t size;
};

struct memory_files {
    const struct memory_file *files;
    size_t count;
};

static inline const struct memory_file *memory_find(const void *user, const char *path)
{
    const struct memory_files *files = (const struct memory_files *)user;
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->files[i].path, path) == 0)
            return &files->files[i];
    errno = ENOENT;
    return NULL;
}

static inline enum ct_file_kind memory_look(void *user, const char *path, uint64_t *size)
{
    const struct memory_file *file = memory_find(user, path);
    *size = file && file->text ? file->size : 0;
    return !file ? CT_FILE_NONE : file->text ? CT_FILE_REGULAR : CT_FILE_DIR;
}

static inline ssize_t memory_read_at(void *user, const char *path, uint64_t offset, char *buf, size_t cap)
{
    const struct memory_file *file = memory_find(user, path);
    if (!file || !file->text)
        return -1;
    size_t left = offset < file->size ? file->size - (size_t)offset : 0;
    size_t size = left < cap ? left : cap;
    if (size)
        memcpy(buf, file->text + offset, size);
    return (ssize_t)size;
}

static inline ssize_t memory_read(void *user, const char *path, char *buf, size_t cap)
{
    return memory_read_at(user, path, 0, buf, cap);
}
