/* SPDX-License-Identifier: Apache-2.0 */
/* The files that belong to a capture, without the programs that it names. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "coretap/base.h"

struct ct_capture_file {
    const char *name; /* within the capture, the same in any folder; "": a copy may have any name */
    const char *path;
};

struct ct_capture_files {
    struct ct_capture_file *list; /* sorted by name */
    size_t count;
    struct ct_arena arena;
};

/* A folder that is searched, and the folder that contains it. */
struct ct_folder {
    const struct ct_folder *outer; /* NULL: the first folder */
    dev_t device;
    ino_t number;
};

/* Fills in a folder. Returns false when it is one of its own outer folders, which a link leads back to:
 * following such links would find the same files again and again. */
bool ct_folder_enter(struct ct_folder *folder, const struct ct_folder *outer, const struct stat *st);

/* Finds the files of the capture at `path`: all files in a folder (a snapshot), without dangling links; the
 * description and the trace files of a raw trace; otherwise the file itself. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_capture_files_find(struct ct_ctx *ctx, const char *path, struct ct_capture_files *out);

/* Writes a note with size and modification time of each file to `out`. *size becomes the total size of the
 * files. Their contents are not read. CT_ERR_IO. */
int ct_capture_files_note(struct ct_ctx *ctx, const struct ct_capture_files *files, FILE *out,
                          uint64_t *size);

/* Returns the size of the note at `text` when its files have not changed since, otherwise 0. Other bytes may
 * follow the note. */
size_t ct_capture_note_holds(const char *text, size_t size);

void ct_capture_files_free(struct ct_capture_files *files);
