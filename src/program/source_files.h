/* SPDX-License-Identifier: Apache-2.0 */
/* Reads source files named by debug information. It may name any file of the machine, so only those below a
 * few folders are read. */
#pragma once

#include "base/arena.h"
#include "coretap/program.h"

#include <stdbool.h>

#define CT_SOURCE_MOST (64u << 20) /* size limit of a source file, in bytes */

struct ct_source_roots {
    struct ct_ctx *ctx;
    struct ct_arena arena;
    const char *program; /* path of the ELF file, for messages */
    const char **roots;  /* resolved paths without a slash at the end; "" stands for all files */
    size_t count;
    bool told; /* atomic: a message about a file outside was given */
};

/* Collects the folders from which files may be read: that of the program at `path`, and those of `files` or,
 * if it has none, the current one. With `path` NULL the program is from memory, and no source is read.
 * CT_ERR_NOMEM. */
int ct_source_roots_make(struct ct_source_roots *roots, struct ct_ctx *ctx, const char *path,
                         const struct ct_debug_files *files);
void ct_source_roots_free(struct ct_source_roots *roots);

/* Reads a file below one of the folders, after resolving symbolic links. The caller frees *text.
 * CT_ERR_NOT_FOUND: it is missing, no regular file, too long, or outside, which is logged once.
 * CT_ERR_NOMEM. */
int ct_source_read(struct ct_source_roots *roots, const char *path, char **text, size_t *size);
