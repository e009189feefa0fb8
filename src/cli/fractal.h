/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands of coretap fractal share. */
#pragma once

#include "cli/cli.h"
#include "cli/output.h"
#include "coretap/fractal.h"
#include "coretap/fractal_names.h"
#include "coretap/fractal_report.h"
#include "coretap/fractal_run.h"
#include "coretap/soc.h"

extern const struct cli_command cli_fractal_run;
extern const struct cli_command cli_fractal_replay;
extern const struct cli_command cli_fractal_report;
extern const struct cli_command cli_fractal_overhead;

/* ---- options (fractal_options.c) ---- */

/* Returns the options for the names of a program (NULL: none), loaded at `bias` (NULL: as the log says). */
struct ct_fractal_names_options cli_fractal_names_options(const struct cli_args *args, const char *program,
                                                          const uint64_t *bias);

/* Words for the modes of the tracer. The first is the default. */
extern const char *const cli_fractal_mode_words[];

/* Returns the chosen enum ct_fractal_mode. */
uint8_t cli_fractal_mode(const struct cli_value *value);

/* Words for the protocols of a port. */
extern const char *const cli_fractal_protocol_words[];

/* Returns the chosen enum ct_fractal_protocol, the neutral form by default. */
uint32_t cli_fractal_protocol(const struct cli_value *value);

/* Writes the texts of an option that can be given several times to `texts`, which has room for CLI_LIST_MAX.
 * Returns their number. */
size_t cli_fractal_list(const struct cli_args *args, size_t option, const char **texts);

/* Reads the settings of the cluster from the file of an option, if given. Returns CLI_CLEAN or CLI_FAILED. */
int cli_fractal_cluster(const struct cli_args *args, const struct cli_value *value,
                        struct ct_soc_config *config);

/* ---- results (fractal_options.c) ---- */

/* Reports the error `rc` of writing a result, if any. A write error of standard output is reported at the end
 * of the command. Returns CLI_CLEAN or CLI_FAILED. */
int cli_fractal_written(const struct cli_args *args, int rc);

/* Reports the error `rc` of a run or, without one, how its program ended; the program's exit code only if
 * `asked`. Returns CLI_CLEAN or CLI_FAILED. */
int cli_fractal_ended(const struct cli_args *args, const struct ct_fractal_ended *ended, int rc, bool asked);

/* Returns the exit code of a command that runs a program: that of the program, or 128 plus the signal that
 * ended it. Returns `code` when that is 0 or when the command failed. */
int cli_fractal_exit(const struct ct_fractal_ended *ended, int code);

/* ---- files (fractal_output.c) ---- */

/* A file that is opened at the first write, so that an earlier failure does not change it. */
struct cli_fractal_output {
    const char *path; /* NULL: no output */
    bool alone;       /* "-" is a file of that name rather than standard output */
    bool refused;     /* it could not be opened, which was reported */
    FILE *file;       /* NULL: not opened yet */
    struct cli_output output;
};

/* Returns the function that writes to an output, which is its user; NULL without one. With `strict` a write
 * error is returned at once, otherwise reported when the output is closed. */
ct_write_fn *cli_fractal_output_fn(const struct cli_fractal_output *output, bool strict);

/* Closes outputs as cli_output_close_all does. Keeps them unless `code` is CLI_FAILED or memory was missing.
 * Returns `code`, or CLI_FAILED. */
int cli_fractal_output_close(const struct cli_args *args, struct cli_fractal_output *outputs, size_t count,
                             int code);
