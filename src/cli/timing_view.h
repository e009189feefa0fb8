/* SPDX-License-Identifier: Apache-2.0 */
/* What the measured times of a stream are printed from, and pairs of watchpoints of the command line. */
#ifndef CT_CLI_TIMING_VIEW_H
#define CT_CLI_TIMING_VIEW_H

#include "cli/cli.h"
#include "report/timing_print.h"

/* Lines of each table without --top. */
#define CLI_TIMING_TOP 20

#define CLI_PAIR_OPTION                                                                                      \
    {                                                                                                        \
        .name = "pair", .letter = 'p', .kind = CLI_LIST, .arg = "\"FROM TO\"",                               \
        .help =                                                                                              \
            "Measure from one watchpoint to another, places as for 'coretap watch', with a space between."   \
    }

/* Adds the pairs of list option number `option`. False: said why. */
bool cli_timing_add_pairs(struct ct_timing *timing, struct ct_watches *watches, const struct cli_args *args,
                          size_t option);

/* The times of one stream, with those of the blocks of `cfg`, which may be NULL. *blocks is to be
 * freed when the view was printed. */
struct ct_timing_view cli_timing_view(const struct ct_timing *timing, const struct ct_graph *graph,
                                      const struct ct_cfg *cfg, const struct ct_buffer *buffer,
                                      const struct ct_source *source, uint8_t id,
                                      const struct ct_losses *losses, struct ct_timing_block **blocks);

#endif
