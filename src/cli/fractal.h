/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of coretap fractal share. */
#ifndef CT_CLI_FRACTAL_H
#define CT_CLI_FRACTAL_H

#include "cli/cli.h"
#include "cli/output.h"
#include "coretap/fractal.h"
#include "coretap/fractal_names.h"
#include "coretap/fractal_report.h"
#include "coretap/soc.h"

extern const struct cli_command cli_fractal_run;
extern const struct cli_command cli_fractal_replay;
extern const struct cli_command cli_fractal_report;
extern const struct cli_command cli_fractal_overhead;
extern const struct cli_command cli_fractal_regs;

/* Makes the options for reading names of a program (NULL: none). It was loaded at `bias` or, with NULL, where
 * the log says. */
struct ct_fractal_names_options cli_fractal_names_options(const struct cli_args *args, const char *program,
                                                          const uint64_t *bias);

/* Parses "400000..402000", both hexadecimal, with or without 0x; also "all". False: it is neither. */
bool cli_fractal_parse_range(const char *text, uint64_t *lo, uint64_t *hi);

/* Opens a file as cli_output_open does; "-" is standard output. To be closed with cli_output_close_all. */
FILE *cli_fractal_output_open(struct cli_output *output, const char *path);

/* ---- a program under QEMU as a stream of accesses (fractal_feed.c) ---- */

struct cli_feed {
    int fd;
    int child;
    size_t at, count;
    uint64_t words[8192];
};

/* Starts `argv` under the QEMU of its architecture with the access plugin. CLI_CLEAN or CLI_FAILED. */
int cli_feed_start(struct ct_ctx *ctx, struct cli_feed *feed, char *const *argv);
/* Reads the next word. False: the program has ended. */
bool cli_feed_next(struct cli_feed *feed, uint64_t *word);
/* Waits for the program. Result: its exit code, or -1 after a message when it was killed or could not be
 * run. */
int cli_feed_finish(struct cli_feed *feed);
/* Waits, without a message, for a program that was told to stop. */
void cli_feed_quiet(struct cli_feed *feed);

/* Reads the configuration of the cluster from a file of "key = value", or takes the defaults (NULL). Result:
 * CLI_CLEAN or CLI_FAILED. */
int cli_fractal_read_config(const char *path, struct ct_soc_config *config);

#endif
