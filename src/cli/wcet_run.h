/* SPDX-License-Identifier: Apache-2.0 */
/* The longest time of a function, from captures: what 'wcet' and 'report' share. */
#pragma once

#include "cli/results.h"
#include "coretap/format.h"

/* The wishes of the caller. */
struct cli_wcet_wish {
    const char *entry;
    const char *bounds; /* file, or NULL */
    const char *lp;     /* file, or NULL */
    double quantile;    /* as in struct ct_wcet_options */
    bool exclude, product;
    uint64_t seconds; /* as in struct ct_wcet_options */
    bool untold;      /* the losses of the trace were reported already */
};

struct cli_wcet {
    struct cli_results read;
    struct cli_wcet_wish wish;
    struct ct_program *program; /* the program that has the entry */
    struct ct_cfg *cfg;         /* control flow of `program` */
    const struct ct_lines *lines;
    struct ct_wcet_options options;
    struct ct_wcet *wcet;
    struct ct_timing_sums *sums;  /* measured in captures */
    struct ct_timing_sums *files; /* measured in saved files */
    struct ct_wcet_result result;
    struct ct_wcet_view view;
};

/* Finds the entry in the programs that `args` and its list option number `elf` name. `targets` is a file for
 * the control flow, or NULL. Starts with all zeros. Returns false after a message. */
bool cli_wcet_open(struct cli_wcet *wcet, const struct cli_args *args, size_t elf, const char *targets,
                   const struct cli_wcet_wish *wish);

/* Reads the operands twice, and solves the model. Without a solution view.wcet stays NULL. Returns an enum
 * cli_exit. */
int cli_wcet_run(struct cli_wcet *wcet);
void cli_wcet_close(struct cli_wcet *wcet);

/* Reads a quantile. Sets *out to 0 without one. Returns false after a message. */
bool cli_wcet_parse_quantile(const struct cli_args *args, size_t option, double *out);
