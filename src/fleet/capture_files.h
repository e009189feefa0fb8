/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a capture is made of, without the programs that it names. */
#ifndef CT_FLEET_CAPTURE_FILES_H
#define CT_FLEET_CAPTURE_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

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

/* A folder that is looked into, and the one that it was found in. */
struct ct_folder {
    const struct ct_folder *outer; /* NULL: the first one */
    dev_t device;
    ino_t number;
};

/* Fills in a folder. Returns false when it is one of those that it was found in, which a link leads back to:
 * whoever follows such links comes by the same files again, in more ways than can be counted. */
bool ct_folder_enter(struct ct_folder *folder, const struct ct_folder *outer, const struct stat *st);

/* Finds the files of what lies at `path`: all in a folder (a snapshot) but links to nothing, the description
 * and the trace of a raw trace, else the file itself. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_capture_files_find(struct ct_ctx *ctx, const char *path, struct ct_capture_files *out);

/* Writes a note of what the files are like, with size and time of the last change of each, to `out`, and
 * gives the bytes of all of them together. Reads none of them. CT_ERR_IO. */
int ct_capture_files_note(struct ct_ctx *ctx, const struct ct_capture_files *files, int out, uint64_t *size);

/* Returns how many bytes the note at `text` has when its files are as they were then, else 0. There may be
 * anything behind the note. */
size_t ct_capture_note_holds(const char *text, size_t size);

void ct_capture_files_free(struct ct_capture_files *files);

#endif
