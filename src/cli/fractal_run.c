/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal run: a program under QEMU on the simulated cluster. */
#include "cli/fractal.h"

enum {
    OPT_CONFIG,
    OPT_RANGE,
    OPT_SECTION,
    OPT_SYMBOL,
    OPT_POINT,
    OPT_POINTS_ONLY,
    OPT_MODE,
    OPT_RING,
    OPT_SETS,
    OPT_WAYS,
    OPT_WITH,
    OPT_TRUTH,
    OPT_MESSAGES,
    OPT_OUTPUT,
    OPTS
};

enum {
    LOG,
    TRUTH,
    MESSAGES,
    OUTPUTS
};

/* Says what happened. */
static void print_summary(const struct cli_args *args, const struct ct_fractal_simulate_result *r)
{
    if (!args->quiet)
        fprintf(stderr,
                "%llu accesses, %llu last-level misses, %llu of them the target's in the range; %llu events "
                "logged, %llu dropped; %llu commands; %.3f ms of the model's time\n",
                (unsigned long long)r->accesses, (unsigned long long)r->misses,
                (unsigned long long)r->targets, (unsigned long long)r->events, (unsigned long long)r->dropped,
                (unsigned long long)r->commands, (double)r->cycles * 1e3 / (double)CT_SOC_CLOCK_HZ);
    if (r->lost)
        cli_say("a point or a page table had no place in the tracer: events are missing");
}

/* Tells whether the error of a run is that of its range, which is read when the program is there. */
static bool is_bad_range(const struct cli_args *args, int rc)
{
    const struct cli_value *v = args->values;
    uint64_t lo, hi;
    return rc == CT_ERR_FORMAT && v[OPT_RANGE].given && !v[OPT_SECTION].given && !v[OPT_SYMBOL].given &&
           ct_fractal_range_parse(args->ctx, v[OPT_RANGE].text, &lo, &hi) != CT_OK;
}

/* Runs the program, and says how that ended. Returns CLI_CLEAN or CLI_FAILED. */
static int simulate(const struct cli_args *args, const struct ct_fractal_simulate_options *how,
                    const struct cli_fractal_output *outputs)
{
    struct ct_fractal_simulate_result result;
    int rc = ct_fractal_simulate(args->ctx, how, &result);
    bool told = false;
    for (unsigned i = 0; i < OUTPUTS; i++)
        told |= outputs[i].refused;
    if (is_bad_range(args, rc)) {
        cli_usage_error(args->command, "--range: %s", ct_ctx_error(args->ctx));
        told = true;
    }
    cli_fractal_ended(args, &result.ended, told ? CT_OK : rc, !args->quiet);
    if (rc == CT_OK)
        print_summary(args, &result);
    return rc == CT_OK ? CLI_CLEAN : CLI_FAILED;
}

/* Reads the options and opens no file: what is written to one opens it. Returns enum cli_exit. */
static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    struct cli_fractal_output outputs[OUTPUTS] = {[LOG] = {.path = v[OPT_OUTPUT].text},
                                                  [TRUTH] = {.path = v[OPT_TRUTH].text, .alone = true},
                                                  [MESSAGES] = {.path = v[OPT_MESSAGES].text, .alone = true}};
    const char *points[CLI_LIST_MAX], *beside[CLI_LIST_MAX];
    struct ct_soc_config cluster;
    if (!args->rest_count)
        return cli_usage_error(args->command, "PROGRAM is missing");
    if (!v[OPT_OUTPUT].given)
        return cli_usage_error(args->command, "-o LOG is missing");
    if (cli_fractal_cluster(args, &v[OPT_CONFIG], &cluster))
        return CLI_FAILED;
    const struct ct_fractal_options tracer = {.size = sizeof tracer,
                                              .rtlb_sets = (uint32_t)v[OPT_SETS].number,
                                              .rtlb_ways = (uint32_t)v[OPT_WAYS].number};
    const struct ct_fractal_names_options names = cli_fractal_names_options(args, NULL, NULL);
    const struct ct_fractal_simulate_options how = {
        .size = sizeof how,
        .argv = args->rest,
        .cluster = &cluster,
        .tracer = &tracer,
        .names = &names,
        .range = v[OPT_RANGE].text,
        .section = v[OPT_SECTION].text,
        .symbol = v[OPT_SYMBOL].text,
        .points = points,
        .point_count = cli_fractal_list(args, OPT_POINT, points),
        .beside = beside,
        .beside_count = cli_fractal_list(args, OPT_WITH, beside),
        .log_name = v[OPT_OUTPUT].text,
        .log = cli_fractal_output_fn(&outputs[LOG], true),
        .log_user = &outputs[LOG],
        .truth = cli_fractal_output_fn(&outputs[TRUTH], false),
        .truth_user = &outputs[TRUTH],
        .messages = cli_fractal_output_fn(&outputs[MESSAGES], false),
        .messages_user = &outputs[MESSAGES],
        .mode = cli_fractal_mode(&v[OPT_MODE]),
        .points_only = v[OPT_POINTS_ONLY].given,
        .ring = v[OPT_RING].given,
    };
    return cli_fractal_output_close(args, outputs, OUTPUTS, simulate(args, &how, outputs));
}

static const struct cli_option options[OPTS] = {
    [OPT_CONFIG] = {.name = "config",
                    .kind = CLI_TEXT,
                    .arg = "FILE",
                    .help = "Settings of the cluster, \"key = value\" a line. Without: a Kria KV260."},
    [OPT_RANGE] = {.name = "range",
                   .kind = CLI_TEXT,
                   .arg = "LO..HI",
                   .help =
                       "Virtual addresses to trace, hexadecimal; HI is the first that is not. Without any of "
                       "the three: all."},
    [OPT_SECTION] = {.name = "section", .kind = CLI_TEXT, .arg = "NAME", .help = "A section of the program."},
    [OPT_SYMBOL] = {.name = "symbol", .kind = CLI_TEXT, .arg = "NAME", .help = "A function or object of it."},
    [OPT_POINT] = {.name = "point",
                   .kind = CLI_LIST,
                   .arg = "VA|SYMBOL",
                   .help = "An observation point in the range: every access to its line is logged. May be "
                           "given more than once. Not in passive mode."},
    [OPT_POINTS_ONLY] = {.name = "points-only",
                         .help = "Log the accesses to observation points and nothing else."},
    [OPT_MODE] = {.name = "mode",
                  .kind = CLI_CHOICE,
                  .choices = cli_fractal_mode_words,
                  .help =
                      "How much the tracer may do to the cluster: nothing (passive), what observation points "
                      "need (points), or what it takes to see every miss (active)."},
    [OPT_RING] =
        {.name = "ring",
         .help = "Log into the ring of 256 KiB only: what comes when it is full is dropped and counted."},
    [OPT_SETS] = {.name = "sets",
                  .kind = CLI_NUMBER,
                  .arg = "N",
                  .min = 1,
                  .max = 65536,
                  .help = "Sets of the reverse TLB, a power of two. Without: 512."},
    [OPT_WAYS] = {.name = "ways",
                  .kind = CLI_NUMBER,
                  .arg = "N",
                  .min = 1,
                  .max = 16,
                  .help = "Its ways. Without: 4."},
    [OPT_WITH] = {.name = "with",
                  .kind = CLI_LIST,
                  .arg = "PROGRAM",
                  .help = "A program that runs on another core meanwhile. May be given more than once."},
    [OPT_TRUTH] = {.name = "truth",
                   .kind = CLI_TEXT,
                   .arg = "CSV",
                   .help =
                       "Write every last-level miss of the program in the range, as the cluster knows it."},
    [OPT_MESSAGES] = {.name = "messages",
                      .kind = CLI_TEXT,
                      .arg = "FILE",
                      .help = "Write the messages of the port, for 'coretap fractal replay'."},
    [OPT_OUTPUT] =
        {.name = "output", .letter = 'o', .kind = CLI_TEXT, .arg = "LOG", .help = "The event log."},
};

const struct cli_command cli_fractal_run = {
    .name = "fractal run",
    .summary = "trace an Arm program on the simulated cluster",
    .rest = "-- PROGRAM [ARG]...",
    .synopsis = "-o LOG",
    .about =
        "Runs an Arm Linux program under QEMU user emulation; a plugin tells its instruction fetches, loads "
        "and "
        "stores. They go through a simulated cluster (by default that of a Kria KV260: four Cortex-A53, 1 "
        "MiB "
        "of L2) that has FRACTAL on its coherent port. The log holds each last-level miss in the range with "
        "virtual and physical address.",
    .options = options,
    .option_count = OPTS,
    .own_output = true,
    .uses = CLI_USES_PROGRAMS | CLI_USES_NAMES,
    .run = run,
};
