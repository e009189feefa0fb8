/* SPDX-License-Identifier: Apache-2.0 */
/* An event log of coretap fractal as input in place of a capture: its records become events of
 * watchpoints. */
#pragma once

#include "cli/cli.h"
#include "coretap/losses.h"
#include "coretap/watch.h"

#define FRACTAL_SOURCE_LOSSES 3 /* number of watchpoints that a verifier adds itself, in front */

/* Returns whether a file begins like an event log. Returns false for pipes and folders: they are not read. */
bool cli_fractal_source_is_log(const char *path);

/* Makes the set of programs for a log: those of --elf (option number `elf`) or, without any, the recorded
 * program that the log names, if its file exists. Returns false after a message. */
bool cli_fractal_source_programs(struct ct_programs **programs, const struct cli_args *args, size_t elf,
                                 const char *path);

#define CLI_FRACTAL_PATH 4096 /* room for the path of a program */

/* Finds the file of the program, or of a further process, that the log names as recorded. Reports why names
 * will be missing or wrong. Returns `path`, or NULL when the file cannot be read. */
const char *cli_fractal_source_elf(const struct cli_args *args, const char *log, unsigned process,
                                   char path[CLI_FRACTAL_PATH]);

/* Takes events, in order. Returns 0, or an error that ends the run. */
typedef int fractal_source_fn(void *user, const struct ct_watch_event *events, size_t count);

/* Reads a log, and calls `feed` with the events of watchpoints as ct_fractal_watch_next gives them. Reports
 * the losses, and adds them to *losses (may be NULL). `marks`: as in ct_fractal_watch_open. Returns an enum
 * cli_exit, CLI_DAMAGED when the log is damaged. */
int cli_fractal_source_run(const struct cli_args *args, const char *path, const struct ct_watches *watches,
                           uint32_t marks, fractal_source_fn *feed, void *user, struct ct_losses *losses);
