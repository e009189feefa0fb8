/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of coretap fractal share. */
#ifndef CT_CLI_FRACTAL_H
#define CT_CLI_FRACTAL_H

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

/* Returns how names of a program (NULL: none) are read, that was loaded at `bias`, unless the log says where
 * (NULL). */
struct ct_fractal_names_options cli_fractal_names_options(const struct cli_args *args, const char *program,
                                                          const uint64_t *bias);

/* Words for the tracer's modes; the first is the default. */
extern const char *const cli_fractal_mode_words[];

/* Returns the enum ct_fractal_mode that was chosen by these words. */
uint8_t cli_fractal_mode(const struct cli_value *value);

/* Words for the protocols that a port can speak. */
extern const char *const cli_fractal_protocol_words[];

/* Returns the enum ct_fractal_protocol that was chosen by these words; without one the neutral form. */
uint32_t cli_fractal_protocol(const struct cli_value *value);

/* Writes the texts of an option that can be given more than once to `texts`, which has CLI_LIST_MAX. Returns
 * how many there are. */
size_t cli_fractal_list(const struct cli_args *args, size_t option, const char **texts);

/* Reads the settings of the cluster from the file that an option names, if it is given. Returns
 * CLI_CLEAN or CLI_FAILED. */
int cli_fractal_cluster(const struct cli_args *args, const struct cli_value *value,
                        struct ct_soc_config *config);

/* ---- what came of it (fractal_options.c) ---- */

/* Says why a result was not written, if `rc` is an error. That standard output cannot be written is told of
 * at the end of the command. Returns CLI_CLEAN or CLI_FAILED. */
int cli_fractal_written(const struct cli_args *args, int rc);

/* Says why a run ended with `rc`, if not with CT_OK, else how its program ended; its exit code where `asked`.
 * Returns CLI_CLEAN or CLI_FAILED. */
int cli_fractal_ended(const struct cli_args *args, const struct ct_fractal_ended *ended, int rc, bool asked);

/* Returns the exit code of a command that runs a program: that of the program, or 128 and the signal that
 * ended it, unless it is 0 or the command failed; else `code`. */
int cli_fractal_exit(const struct ct_fractal_ended *ended, int code);

/* ---- files (fractal_output.c) ---- */

/* A file that is opened when something is written to it, so that what fails before leaves it alone. */
struct cli_fractal_output {
    const char *path; /* NULL: there is none */
    bool alone;       /* "-" is a file of that name, not standard output */
    bool refused;     /* it cannot be opened, which was said */
    FILE *file;       /* NULL: not opened yet */
    struct cli_output output;
};

/* Gives the function that writes to an output (struct cli_fractal_output, as its user); NULL when there is
 * none. With `strict` a write that fails is an error at once, else when the output is closed. */
ct_write_fn *cli_fractal_output_fn(const struct cli_fractal_output *output, bool strict);

/* Closes outputs as cli_output_close_all does, and keeps them unless `code` is CLI_FAILED or memory was
 * missing. Returns `code`, or CLI_FAILED. */
int cli_fractal_output_close(const struct cli_args *args, struct cli_fractal_output *outputs, size_t count,
                             int code);

#endif
