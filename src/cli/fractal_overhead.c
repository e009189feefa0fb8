/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal overhead: what tracing costs, as the model of the cluster predicts it. */
#include "cli/fractal_run.h"

enum {
    OVERHEAD_CONFIG,
    OVERHEAD_CSV,
    OVERHEAD_OPTS
};

static const struct cli_option overhead_options[OVERHEAD_OPTS] = {
    [OVERHEAD_CONFIG] = {.name = "config",
                         .kind = CLI_TEXT,
                         .arg = "FILE",
                         .help = "Settings of the cluster."},
    [OVERHEAD_CSV] = {.name = "csv",
                      .help = "One line of comma-separated values and no heading, for tables."},
};

static void print_overhead(const struct cli_fractal_run *run)
{
    static const char *const name[] = {"coherent port, tracing .text", "no fabric", "coherent port"};
    static const unsigned order[] = {1, 2, 0};
    const uint64_t base = ct_soc_cycles(run->bench[1].soc, 0);
    if (run->args->values[OVERHEAD_CSV].given) {
        printf("%llu,%llu,%llu\n", (unsigned long long)base,
               (unsigned long long)ct_soc_cycles(run->bench[2].soc, 0),
               (unsigned long long)ct_soc_cycles(run->bench[0].soc, 0));
        return;
    }
    printf("Predicted by the model of the cluster; see docs/fractal.md for what that can say.\n\n"
           "%-30s %16s %12s %10s\n",
           "configuration", "cycles", "ms", "overhead");
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t cycles = ct_soc_cycles(run->bench[order[i]].soc, 0);
        printf("%-30s %16llu %12.3f %9.3f%%\n", name[order[i]], (unsigned long long)cycles,
               (double)cycles * 1e3 / (double)CLOCK_HZ,
               100.0 * ((double)cycles / (double)(base ? base : 1) - 1.0));
    }
}

static int do_overhead(const struct cli_args *args)
{
    if (!args->rest_count)
        return cli_usage_error(args->command, "PROGRAM is missing");
    struct cli_fractal_run *run = cli_run_new(args);
    if (!run)
        return CLI_FAILED;
    const struct cli_value *config = &args->values[OVERHEAD_CONFIG];
    int code = cli_fractal_read_config(config->given ? config->text : NULL, &run->config);
    if (!code)
        code = cli_run_add_traced(run, 0, 0);
    if (!code)
        code = cli_run_add_cluster(run, CT_SOC_FABRIC_NONE);
    if (!code)
        code = cli_run_add_cluster(run, CT_SOC_FABRIC_COHERENT);
    if (!code)
        code = cli_feed_start(args->ctx, &run->feed[0], args->rest);
    if (!code) {
        code = cli_run_stream(run, false);
        cli_feed_finish(&run->feed[0]);
        if (!code && !ct_soc_counts(run->bench[0].soc)->accesses) {
            cli_say("%s ran no instruction: there is nothing to predict", args->rest[0]);
            code = CLI_FAILED;
        }
        if (!code)
            print_overhead(run);
    }
    cli_run_free(run);
    return code;
}

const struct cli_command cli_fractal_overhead = {
    .name = "fractal overhead",
    .summary = "predict what tracing costs a program",
    .rest = "-- PROGRAM [ARG]...",
    .about =
        "Runs an Arm Linux program once, and its accesses through three simulated clusters: without fabric, "
        "with "
        "a coherent port that listens and does nothing, and with FRACTAL tracing the text section in points "
        "mode. Prints the run time that the model predicts for each.",
    .options = overhead_options,
    .option_count = OVERHEAD_OPTS,
    .run = do_overhead,
};
