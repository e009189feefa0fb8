/* SPDX-License-Identifier: Apache-2.0 */
/* Source files that debug information names. It may name any file of the machine, so only those below a few
 * folders are read. */
#ifndef CT_PROGRAM_SOURCE_FILES_H
#define CT_PROGRAM_SOURCE_FILES_H

#include "base/arena.h"
#include "coretap/program.h"

#include <stdbool.h>

#define CT_SOURCE_MOST (64u << 20) /* bytes of a source file; a longer one is not read */

struct ct_source_roots {
    struct ct_ctx *ctx;
    struct ct_arena arena;
    const char *program; /* path of the ELF file, in messages */
    const char **roots;  /* resolved, without a slash at the end; "" is all files */
    size_t count;
    bool told; /* atomic: that a file lies outside */
};

/* Collects the folder of the program at `path` and those of `files`; the current folder where `files` names
 * none. `path` NULL: a program from memory, of which no source is read. CT_ERR_NOMEM. */
int ct_source_roots_make(struct ct_source_roots *roots, struct ct_ctx *ctx, const char *path,
                         const struct ct_debug_files *files);
void ct_source_roots_free(struct ct_source_roots *roots);

/* Reads a file below one of the folders, symbolic links resolved: *text is to be freed.
 * CT_ERR_NOT_FOUND: it is not there, not a regular file, too long, or lies outside, which the
 * context is told once. CT_ERR_NOMEM. */
int ct_source_read(struct ct_source_roots *roots, const char *path, char **text, size_t *size);

#endif
