/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal overhead: the cost of tracing, as predicted by the model of the cluster. */
#include "cli/fractal.h"
#include "cli/record_run.h"

enum {
    OVERHEAD_CONFIG,
    OVERHEAD_CSV,
    OVERHEAD_OPTS
};

static const struct cli_option overhead_options[OVERHEAD_OPTS] = {
    [OVERHEAD_CONFIG] = CLI_TEXT_OPTION("config", 0, "FILE", "Settings of the cluster."),
    [OVERHEAD_CSV] =
        CLI_FLAG_OPTION("csv", 0, "Print one line of comma-separated values without a heading, for tables."),
};

/* Prints the prediction. Returns the program's exit code, or CLI_FAILED. */
static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    struct ct_soc_config cluster;
    struct ct_fractal_overhead_result result;
    if (!args->rest_count)
        return cli_usage_error(args->command, "PROGRAM is missing; name it behind --");
    if (cli_fractal_cluster(args, &v[OVERHEAD_CONFIG], &cluster))
        return CLI_FAILED;
    const struct ct_fractal_overhead_options options = {.size = sizeof options,
                                                        .argv = args->rest,
                                                        .cluster = &cluster,
                                                        .signal = cli_record_catch_signals()};
    const int rc = ct_fractal_overhead(args->ctx, &options, &result);
    if (cli_fractal_ended(args, &result.ended, rc, !args->quiet))
        return CLI_FAILED;
    const enum ct_fractal_overhead_form form =
        v[OVERHEAD_CSV].given ? CT_FRACTAL_OVERHEAD_CSV : CT_FRACTAL_OVERHEAD_TEXT;
    const int written = ct_fractal_overhead_write(args->ctx, &result, form, cli_output_write, stdout);
    return cli_fractal_exit(&result.ended, cli_fractal_written(args, written));
}

const struct cli_command cli_fractal_overhead = {
    .name = "fractal overhead",
    .summary = "predict what tracing costs a program",
    .rest = "-- PROGRAM [ARG]...",
    .about = "Runs an Arm Linux program once and feeds its accesses to four simulated clusters: without FPGA "
             "fabric; with a coherent port that listens and does nothing; with FRACTAL tracing the text "
             "section in points mode; and with FRACTAL's log in the memory from which misses are served. "
             "Prints the run time that the model predicts for each.",
    .examples = "coretap fractal overhead -- ./program 500\n",
    .exit_text = "Exit status of the program, or 128 plus the number of the signal that ended it. 2 with a "
                 "message when nothing could be predicted or written.",
    .options = overhead_options,
    .option_count = OVERHEAD_OPTS,
    .run = run,
};
