/* SPDX-License-Identifier: Apache-2.0 */
/* How readers access files. Tests and fuzzers replace it, to provide captures from memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ct_file_kind {
    CT_FILE_NONE, /* does not exist, or is not accessible: errno says why */
    CT_FILE_REGULAR,
    CT_FILE_DIR,
    CT_FILE_OTHER, /* a pipe or a device */
};

struct ct_files {
    void *user;
    /* Returns the kind of file at `path`; *size is set for a regular file. */
    enum ct_file_kind (*look)(void *user, const char *path, uint64_t *size);
    /* Reads the first `cap` bytes, or the whole file if it is shorter. Returns their number, or -1 with
     * errno. */
    ssize_t (*read)(void *user, const char *path, char *buf, size_t cap);
    /* Reads `cap` bytes from `offset` on. Only readers of large files call it; NULL where there are none. */
    ssize_t (*read_at)(void *user, const char *path, uint64_t offset, char *buf, size_t cap);
};

extern const struct ct_files ct_files_system;
