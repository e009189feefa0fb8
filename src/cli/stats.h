/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the trace of a capture, and what was decoded from it. */
#pragma once

#include "cli/capture.h"
#include "coretap/info.h"

/* How far to decode, and which parts. */
struct cli_stats_how {
    enum ct_level level;
    uint8_t edges, engine;          /* as in struct ct_chain_options */
    const struct ct_filter *filter; /* its cores are settled */
};

/* Adds the amounts of a capture, decoded with as many threads as --threads says; its bytes and losses are in
 * capture->seen. Returns an enum cli_exit. */
int cli_stats_run(struct cli_capture *capture, const struct cli_stats_how *how, struct ct_amounts *amounts);
