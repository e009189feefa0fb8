/* SPDX-License-Identifier: Apache-2.0 */
/* The longest time of a function, from a capture: what 'wcet' and 'report' share. */
#ifndef CT_CLI_WCET_RUN_H
#define CT_CLI_WCET_RUN_H

#include "cli/passes.h"
#include "cli/programs.h"
#include "format/wcet_print.h"

/* What is asked for. */
struct cli_wcet_wish {
    const char *entry;
    const char *bounds; /* file, or NULL */
    const char *lp;     /* file, or NULL */
    double quantile;    /* as in struct ct_wcet_options */
    bool exclude, product;
    bool untold; /* what the trace lost was told already */
};

struct cli_wcet {
    struct cli_passes passes;
    struct cli_wcet_wish wish;
    struct ct_programs *programs;
    struct ct_cfg *cfg; /* of the program that has the entry: */
    const struct ct_lines *lines;
    struct ct_program_place place; /* … what times are measured of */
    struct ct_wcet_options options;
    struct ct_wcet *wcet;
    struct ct_timing *timing;
    const struct ct_graph *graph;
    uint64_t cycles; /* measured, in all streams */
    enum {
        CLI_WCET_LEARN,
        CLI_WCET_MEASURE,
    } pass;
    int rc;
    struct ct_wcet_result result;
    struct ct_wcet_view view;
};

/* Finds the entry among the programs, whose addresses include load biases, and which have to stay. Start with
 * all zero. False: said why. */
bool cli_wcet_open(struct cli_wcet *wcet, const struct cli_args *args, struct ct_programs *programs,
                   const struct cli_wcet_wish *wish);

/* Reads the capture twice and solves the model; without a solution view.wcet
 * stays NULL. Result: enum cli_exit. */
int cli_wcet_run(struct cli_wcet *wcet, const struct cli_args *args);
void cli_wcet_close(struct cli_wcet *wcet);

/* A quantile as text, 0 without one. False: said why. */
bool cli_wcet_parse_quantile(const struct cli_args *args, size_t option, double *out);

#endif
