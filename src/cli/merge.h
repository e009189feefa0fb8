/* SPDX-License-Identifier: Apache-2.0 */
/* The events of all sources of a capture in one order. */
#ifndef CT_CLI_MERGE_H
#define CT_CLI_MERGE_H

#include "cli/capture.h"
#include "coretap/timeline.h"
#include "format/event_text.h"

struct cli_merge_how {
    enum ct_event_format format;
    bool text_ports; /* writes to stimulus ports are text */
    bool no_names;   /* of addresses */
    size_t elf;      /* the option that names programs */
    /* Whether the events of this source come from the flow along its binary. */
    bool (*along_binary)(const struct cli_args *args, const struct ct_buffer *buffer,
                         const struct ct_source *source);
};

/* Prints the events of the capture of `args` by their time, those of sources without timestamps behind them.
 * Result: enum cli_exit. */
int cli_merge_run(const struct cli_args *args, const struct cli_merge_how *how);

#endif
