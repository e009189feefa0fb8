/* SPDX-License-Identifier: Apache-2.0 */
/* Finds whether several captures are of one system, for commands that show them along time. */
#pragma once

#include "cli/monitor_run.h"

#include <stdbool.h>

/* most captures that are examined without --captures */
#define CLI_TOGETHER_MOST 8

#define CLI_TOGETHER_OPTION                                                                                  \
    CLI_CHOICE_OPTION(                                                                                       \
        "captures", 0, cli_relations,                                                                        \
        "together: several captures are of one system, such as two ETBs, and are on one axis of time, that " \
        "of their timestamps; with chrome also the cores of one capture. apart: each has its own. Without "  \
        "it they are together if each has trace of other cores and their timestamps overlap.")

/* Finds whether the operands are together. `wish` is the option, `elf` the number of the option for programs.
 * Reports why they are not, unless they are runs of the same cores. Returns false after a message. */
bool cli_find_together(const struct cli_args *args, size_t elf, const struct cli_value *wish, bool *together);
