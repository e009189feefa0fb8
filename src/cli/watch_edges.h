/* SPDX-License-Identifier: Apache-2.0 */
/* Events of all edges instead of watchpoints. */
#pragma once

#include "cli/cli.h"

struct cli_edge_options {
    size_t elf;          /* index of the option that names programs */
    bool binary;         /* write events in binary form instead of as lines */
    const char *numbers; /* file that explains the numbers of edges, or NULL */
};

/* Writes the events of the capture in `args` to standard output. Returns an enum cli_exit. */
int cli_watch_edges(const struct cli_args *args, const struct cli_edge_options *options);
