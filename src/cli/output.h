/* SPDX-License-Identifier: Apache-2.0 */
/* Files that results are written to. One is whole or not there: it is written beside its place and moved
 * there at the end, so that an error, a full disk, a signal or an empty result of a run leaves what was there
 * before. With exit code 1 a file without a byte is such a result, too.
 *
 *     struct cli_output output;
 *     FILE *file = cli_output_open(&output, path);
 *     if (!file)
 *         return CLI_FAILED;
 *     const bool fine = print(file);
 *     return cli_output_close(&output, fine) ? CLI_CLEAN : CLI_FAILED;
 */
#ifndef CT_CLI_OUTPUT_H
#define CT_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "coretap/json.h"

struct cli_output {
    const char *path; /* as the user named it; not owned */
    char *target; /* the same with links followed; NULL when it is written in its place: a pipe, a device */
    char *temporary; /* the file beside it; NULL while that has no name */
    bool grows;      /* the file beside it is for readers too, and stays when it does not get to its place */
    FILE *file;
};

/* Opens `path`, which lives until the output is closed. NULL after a message. A pipe
 * or device is written directly. */
FILE *cli_output_open(struct cli_output *output, const char *path);

/* Makes a folder that files go into, unless it is there. False after a message. */
bool cli_output_folder(const char *path);

/* Opens `path` for what is read while it grows: until it is closed it is called `path` with ".part" behind
 * it, and stays there however this process ends. */
FILE *cli_output_grow(struct cli_output *output, const char *path);

/* Closes the file, and puts it in its place when `keep` and all of it got there; else drops it. False after a
 * message when it could not be written, and, without one, when not `keep`. */
bool cli_output_close(struct cli_output *output, bool keep);

/* Closes several files, of which those without a `file` are passed over. They get to their places
 * together, once all of them are written; else each place is left as it was. False after a message
 * when one could not be written. */
bool cli_output_close_all(struct cli_output *const *outputs, size_t count, bool keep);

/* Writes a piece to the FILE `file`, for functions of the library that take a ct_write_fn. CT_ERR_IO. */
int cli_output_write(void *file, const void *data, size_t size);

/* Writes a text of others, such as a name in a file, as it can be printed. */
void cli_put_printable(FILE *file, const char *text);

/* Makes JSON that goes to `file`; `script` as in struct ct_json_options. NULL after a message: then what is
 * written to it is dropped. */
struct ct_json *cli_json_open(struct ct_ctx *ctx, FILE *file, bool script);

/* Sends standard output to `path`, up to cli_output_finish; "-" leaves it as it is. False after a message. */
bool cli_output_redirect(const char *path);

/* Prepares standard output for large pieces, before anything is printed: they are written as they come,
 * without a copy, and a pipe gets room for some of them, so that its two ends wait for each other less often.
 */
void cli_output_widen(void);

/* Keeps what a library prints by itself out of standard output, up to
 * cli_output_unmute, which takes the result. */
int cli_output_mute(void);
void cli_output_unmute(int kept);

/* Notes that the result is empty although instructions ran. Files that are closed from then on are not put in
 * their places, and a message says that; the exit code stays. */
void cli_output_set_empty(void);

/* Tells whether what was printed is whole. If so the file is kept even when the exit code is CLI_FAILED. */
void cli_output_keep(bool whole);

/* Removes the temporary files that have a name, for an immediate end. Safe in a handler of signals. */
void cli_output_remove(void);

#endif
