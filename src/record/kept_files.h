/* SPDX-License-Identifier: Apache-2.0 */
/* Executed files that a recording keeps open, so that their contents can be read when they are deleted while
 * the program runs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coretap/base.h"

struct ct_kept_file {
    struct ct_kept_file *next;
    int fd;
    uint64_t inode;
    char *path; /* as Linux names the file when it is opened: absolute, without symbolic links. With
                   " (deleted)" behind the name of a file that is in no directory any more */
};

struct ct_kept_files {
    struct ct_kept_file *first; /* newest first */
    size_t count;
    bool has_inbox;
    int inbox; /* socket to which the program sends files that it maps as executable */
};

/* Opens the inbox and writes its name, an abstract one of 5 letters; "" when there can be none. */
void ct_kept_inbox(struct ct_kept_files *files, char name[16]);

/* Keeps the files that the process `child` sent to the inbox. CT_ERR_NOMEM. */
int ct_kept_receive(struct ct_ctx *ctx, struct ct_kept_files *files, int child);

/* Text of a path that stands for an open file, in any process that may read the files of this one. */
#define CT_KEPT_PATH 40

/* Opens a file. *out is NULL when that fails, or too many files are open already. CT_ERR_NOMEM. */
int ct_kept_open(struct ct_ctx *ctx, struct ct_kept_files *files, const char *path,
                 const struct ct_kept_file **out);

/* Finds the file that Linux names `path` in the memory of the process `child`: the one that is open under
 * that name, also if it was deleted since, otherwise one that can still be opened. Of several that had the
 * name one after the other, it is the one with this inode. *out is NULL when there is none. CT_ERR_NOMEM. */
int ct_kept_mapped(struct ct_ctx *ctx, struct ct_kept_files *files, const char *path, uint64_t inode,
                   int child, const struct ct_kept_file **out);

/* Writes the path by which this process reads the file. */
void ct_kept_path(const struct ct_kept_file *file, char path[CT_KEPT_PATH]);

/* Returns whether a file is no longer where it was opened. */
bool ct_kept_is_gone(const struct ct_kept_file *file);

/* Copies a file that is gone into the directory. `name`, of 300 bytes, becomes the name of the copy: that of
 * the file with " (deleted)" behind it. CT_ERR_IO. */
int ct_kept_copy(struct ct_ctx *ctx, const struct ct_kept_file *file, const char *directory, char name[300]);

void ct_kept_free(struct ct_kept_files *files);
