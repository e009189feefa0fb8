/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of watchpoints on the command line. */
#pragma once

#include "cli/cli.h"
#include "coretap/live.h"
#include "coretap/timing.h"

#define CLI_PAIR_OPTION                                                                                      \
    CLI_LIST_OPTION(                                                                                         \
        "pair", 'p', "\"FROM TO\"",                                                                          \
        "Measure from one watchpoint to another, places as for 'coretap watch', with a space between.")

/* Adds the pairs of list option number `option` to a timing. Returns false after a message. */
bool cli_timing_add_pairs(struct ct_timing *timing, struct ct_watches *watches, const struct cli_args *args,
                          size_t option);

/* Adds the pairs to a live run. Returns false after a message. */
bool cli_timing_live_pairs(struct ct_live *live, const struct cli_args *args, size_t option);

/* Adds the pairs to sums, which look up the places of each stream. Returns false after a message. */
bool cli_timing_sum_pairs(struct ct_timing_sums *sums, const struct cli_args *args, size_t option);
