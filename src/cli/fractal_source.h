/* SPDX-License-Identifier: Apache-2.0 */
/* An event log of coretap fractal in the place of a capture: its records as events of watchpoints. */
#ifndef CT_CLI_FRACTAL_SOURCE_H
#define CT_CLI_FRACTAL_SOURCE_H

#include "cli/cli.h"
#include "coretap/losses.h"
#include "coretap/watch.h"

#define FRACTAL_SOURCE_LOSSES 3 /* watchpoints that a verifier adds of itself, the first ones */

/* Whether the file begins as an event log does. Pipes and folders never do. */
bool cli_fractal_source_is_log(const char *path);

/* Makes the set of programs for a log: those that --elf names (option number `elf`), else the one that the
 * log says was recorded, where its file is there. False after a message. */
bool cli_fractal_source_programs(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                                 const char *path);

#define CLI_FRACTAL_PATH 4096 /* room for the path of a program */

/* Finds the file of the program that a log says was recorded, or of a further process of it, and says why
 * names would be missing or wrong. Returns `path`; NULL when the file cannot be read. */
const char *cli_fractal_source_elf(const struct cli_args *args, const char *log, unsigned process,
                                   char path[CLI_FRACTAL_PATH]);

/* Takes events, in order. Result: 0, or an error, which ends the run. */
typedef int fractal_source_fn(void *user, const struct ct_watch_event *events, size_t count);

/* Reads a log and calls `feed` with what comes by the watchpoints, as ct_fractal_watch_next gives it, and
 * says what was lost, in *losses too (may be NULL). `marks`: as ct_fractal_watch_open takes it. Result: enum
 * cli_exit, CLI_DAMAGED when the log is. */
int cli_fractal_source_run(const struct cli_args *args, const char *path, const struct ct_watches *watches,
                           uint32_t marks, fractal_source_fn *feed, void *user, struct ct_losses *losses);

#endif
