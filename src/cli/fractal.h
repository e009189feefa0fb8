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

/* How names of a program (NULL: none) are read, that was loaded at `bias`, unless the log says where (NULL).
 */
struct ct_fractal_names_options cli_fractal_names_options(const struct cli_args *args, const char *program,
                                                          const uint64_t *bias);

/* "400000..402000", both hexadecimal, with or without 0x; also "all". False when it is neither. */
bool cli_fractal_parse_range(const char *text, uint64_t *lo, uint64_t *hi);

/* As cli_output_open; "-" is standard output. To be closed with cli_output_close_all. */
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
/* The next word; false at the end of the program. */
bool cli_feed_next(struct cli_feed *feed, uint64_t *word);
/* Waits for the program. Its exit code, or -1 with a message when it was killed or could not be run. */
int cli_feed_finish(struct cli_feed *feed);
/* The same for a program that was told to stop. */
void cli_feed_quiet(struct cli_feed *feed);

/* Cluster configuration: file of "key = value", NULL for none. CLI_CLEAN or CLI_FAILED. */
int cli_fractal_read_config(const char *path, struct ct_soc_config *config);

#endif
