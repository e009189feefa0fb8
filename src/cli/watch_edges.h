/* SPDX-License-Identifier: Apache-2.0 */
/* Events of all edges, in the place of those of watchpoints. */
#ifndef CT_CLI_WATCH_EDGES_H
#define CT_CLI_WATCH_EDGES_H

#include "cli/cli.h"

struct cli_edge_options {
    size_t elf;          /* index of the option that names programs */
    bool binary;         /* events as they are, not as lines */
    const char *numbers; /* file for what the numbers of edges are, or NULL */
};

/* Writes the events of the capture that `args` names to standard output. Result: enum cli_exit. */
int cli_watch_edges(const struct cli_args *args, const struct cli_edge_options *options);

#endif
