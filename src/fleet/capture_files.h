/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a capture is made of, without the programs that it names. */
#ifndef CT_FLEET_CAPTURE_FILES_H
#define CT_FLEET_CAPTURE_FILES_H

#include <stdint.h>

#include "base/arena.h"
#include "coretap/base.h"

struct ct_capture_file {
    const char *name; /* within the capture, which another folder does not change */
    const char *path;
};

struct ct_capture_files {
    struct ct_capture_file *list; /* by name */
    size_t count;
    struct ct_arena arena;
};

/* Finds the files of what lies at `path`: all in a folder (a snapshot), the description and the trace of a
 * raw trace, else the file itself. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_capture_files_find(struct ct_ctx *ctx, const char *path, struct ct_capture_files *out);

/* Gives the bytes of all these files together, without reading them. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_capture_files_size(struct ct_ctx *ctx, const char *path, uint64_t *size);
void ct_capture_files_free(struct ct_capture_files *files);

#endif
