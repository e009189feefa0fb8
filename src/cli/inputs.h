/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the files that the command reads, so that no output replaces one of them. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "cli/cli.h"

struct ct_capture;

/* Begins a command. `args` must stay valid until cli_inputs_end. */
void cli_inputs_begin(const struct cli_args *args);
void cli_inputs_end(void);

/* Adds the files of an open capture: its trace, images and programs. Returns false after a message when an
 * output of this command would replace one of them. */
bool cli_inputs_add(const struct ct_capture *capture);

/* Notes that the command writes the file `path`, which does not exist when `about` is NULL. Returns false
 * after a message when it also reads that file, or another argument names it as an output. `path` must be the
 * argument itself, so that it is not taken for another one. */
bool cli_inputs_allow(const char *path, const struct stat *about);
