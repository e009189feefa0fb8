/* SPDX-License-Identifier: Apache-2.0 */
/* Output files. Each is complete or absent: it is written as a temporary file in the folder of its target and
 * moved there at the end, so that after an error, a full disk, a signal or an empty result the old file
 * remains. With exit code 1 an empty file counts as an empty result, too.
 *
 *     struct cli_output output;
 *     FILE *file = cli_output_open(&output, path);
 *     if (!file)
 *         return CLI_FAILED;
 *     const bool fine = print(file);
 *     return cli_output_close(&output, fine) ? CLI_CLEAN : CLI_FAILED; */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "coretap/json.h"

struct cli_output {
    const char *path; /* as the user gave it; not owned */
    char *target;     /* `path` with links resolved; NULL for a pipe or device, which is written directly */
    char *temporary;  /* the temporary file; NULL while it has no name */
    bool grows;       /* the temporary file is for readers, too, and stays if it is not moved */
    FILE *file;
};

/* Opens `path`, which must live until the output is closed. Returns NULL after a message. Writes a pipe or
 * device directly. */
FILE *cli_output_open(struct cli_output *output, const char *path);

/* Makes a folder for output files, unless it exists. Returns false after a message. */
bool cli_output_folder(const char *path);

/* Opens `path` for a file that is read while it grows. Until it is closed its name is `path` with ".part"
 * behind it, and it stays under that name however this process ends. */
FILE *cli_output_grow(struct cli_output *output, const char *path);

/* Closes the file. Moves it to its target with `keep` if it was written completely, otherwise drops it.
 * Returns false after a message when it could not be written, and, without a message, without `keep`. */
bool cli_output_close(struct cli_output *output, bool keep);

/* Closes several files, except those without a `file`. Moves them to their targets together, once all are
 * written; otherwise leaves every target as it was. Returns false after a message when one could not be
 * written. */
bool cli_output_close_all(struct cli_output *const *outputs, size_t count, bool keep);

/* Writes a piece to the FILE `file`, as a ct_write_fn for the library. CT_ERR_IO. */
int cli_output_write(void *file, const void *data, size_t size);

/* Writes a text from outside, such as a name in a file, with control characters escaped. */
void cli_put_printable(FILE *file, const char *text);

/* Makes a writer of JSON to `file`; `script` as in struct ct_json_options. Returns NULL after a message: then
 * calls with it write nothing. */
struct ct_json *cli_json_open(struct ct_ctx *ctx, FILE *file, bool script);

/* Sends standard output to `path` until cli_output_finish. "-" changes nothing. Returns false after a
 * message. */
bool cli_output_redirect(const char *path);

/* Prepares standard output for large pieces, before anything is printed: they are written at once without a
 * copy, and a pipe gets more room, so that its two ends wait for each other less often. */
void cli_output_widen(void);

/* Keeps what a library prints by itself out of standard output, until cli_output_unmute, which takes the
 * returned value. */
int cli_output_mute(void);
void cli_output_unmute(int kept);

/* Notes that the result is empty although instructions ran. Files closed from then on are not moved to their
 * targets, which a message reports. The exit code stays. */
void cli_output_set_empty(void);

/* Notes whether the printed output is complete. If so, the file is kept even when the exit code is
 * CLI_FAILED. */
void cli_output_keep(bool whole);

/* Removes the named temporary files before the process ends at once. Safe in a signal handler. */
void cli_output_remove(void);
