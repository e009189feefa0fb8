/* SPDX-License-Identifier: Apache-2.0 */
/* coretap volume: how much trace a program makes, with the settings of the trace unit. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/capture.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/record_run.h"
#include "cli/volume.h"

enum {
    CAPTURE = CLI_CAPTURE_OPTIONS,
    FORMAT,
    PROTOCOL,
    CLOCK,
    IPC,
    CYCLES,
    TIMESTAMPS,
    SYNC,
    RANGE,
    START,
    STOP,
    MOST,
    THREADS,
    SEED,
    SYSTEM,
    OPTIONS,
};

static const char *const formats[] = {"tsv", "json", "svg", NULL}; /* enum ct_volume_format */
static const char *const protocols[] = {"all", "etm4", "ete", "ptm", NULL};
static const char *const threads[] = {"cores", "contexts", NULL};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [CAPTURE] = CLI_TEXT_OPTION("capture", 0, "CAPTURE",
                                "Instead of running PROGRAM, measure the instructions that this trace shows. "
                                "The options above apply to it."),
    [FORMAT] = CLI_CHOICE_OPTION(
        "format", 'f', formats,
        "tsv: one line for each combination of settings. svg: a picture with a bar for each."),
    [PROTOCOL] =
        CLI_CHOICE_OPTION("protocol", 0, protocols,
                          "Trace unit of each core. all: each trace unit that can trace the program."),
    [CLOCK] = CLI_TEXT_OPTION(
        "clock", 0, "FREQUENCY",
        "Frequency of the cores, as 1.2GHz, 800MHz or in Hz: also print megabytes per second of one core."),
    [IPC] = CLI_TEXT_OPTION("ipc", 0, "N",
                            "Instructions per cycle. Default: the cycles of the recording "
                            "(docs/recording.md), about one for each instruction."),
    [CYCLES] =
        CLI_NUMBER_OPTION("cycle-count", 0, "THRESHOLD", 1, 4095,
                          "With cycle counts: the threshold after which a count is traced. Default: 16."),
    [TIMESTAMPS] = CLI_NUMBER_OPTION("timestamps", 0, "PERIOD", 1, UINT32_MAX,
                                     "With timestamps: trace one every PERIOD cycles. Default: 10000."),
    [SYNC] = CLI_NUMBER_OPTION("sync-period", 0, "N", 8, 20,
                               "Synchronise every 2^N bytes of trace. Default: 12, for 4096 bytes."),
    [RANGE] = CLI_LIST_OPTION("range", 0, "LO..HI",
                              "Trace only this range, as for 'coretap record'. Can be given more than once."),
    [START] = CLI_TEXT_OPTION("start", 0, "ADDR|SYMBOL",
                              "Start tracing when execution reaches this hexadecimal address or function."),
    [STOP] =
        CLI_TEXT_OPTION("stop", 0, "ADDR|SYMBOL",
                        "Stop tracing when execution reaches this place, until it reaches --start again."),
    [MOST] = CLI_NUMBER_OPTION("max-instructions", 0, "N", 1, UINT64_MAX,
                               "Stop measuring after N traced instructions; the program runs to its end."),
    [THREADS] = CLI_CHOICE_OPTION(
        "threads", 0, threads,
        "cores: each thread has a core and a trace unit of its own. contexts: all threads run on one core."),
    [SEED] = CLI_NUMBER_OPTION("seed", 0, "N", 0, UINT64_MAX, "Seed for random cycles. Default: 0."),
    [SYSTEM] = CLI_FLAG_OPTION("system", 0,
                               "PROGRAM is qemu-system-aarch64 or qemu-system-arm, and its arguments: its "
                               "processors are the cores."),
};

/* Reads a positive number, with an optional unit if `units`. Negative: the text is none. */
static double read_number(const char *text, bool units)
{
    static const struct {
        const char *name;
        double factor;
    } all[] = {{"", 1}, {"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
    char *end;
    const double number = strtod(text, &end);
    for (size_t i = 0; i < (units ? sizeof all / sizeof *all : 1); i++)
        if (end != text && strcasecmp(end, all[i].name) == 0 && isfinite(number) && number > 0)
            return number * all[i].factor;
    return -1;
}

/* Reads what converts bytes to megabytes a second. Returns false after a message. */
static bool read_clock(const struct cli_args *args, struct ct_volume_write_options *o)
{
    const char *clock = args->values[CLOCK].text;
    const char *ipc = args->values[IPC].text;
    const double hz = clock ? read_number(clock, true) : 0;
    o->ipc = ipc ? read_number(ipc, false) : 0;
    if (hz < 0 || hz > 1e12 || (clock && hz < 1))
        cli_usage_error(args->command,
                        "--clock: '%s' is not a frequency of a core; write it as 1.2GHz, 800MHz or in Hz",
                        clock);
    else if (o->ipc < 0)
        cli_usage_error(args->command, "--ipc: '%s' is not a number above 0", ipc);
    else if (ipc && !clock)
        cli_usage_error(args->command, "--ipc works only with --clock; add that, or leave --ipc out");
    else {
        o->clock = (uint64_t)llround(hz);
        return true;
    }
    return false;
}

/* Measures while the program's standard output goes to standard error, so that it does not mix with the
 * numbers. */
static int measure(const struct cli_args *args, const struct ct_record_options *o, struct ct_volume *volume)
{
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        cli_say("standard output cannot be redirected for the program: %s; nothing was measured",
                strerror(errno));
        if (kept >= 0)
            close(kept);
        return CLI_FAILED;
    }
    const int rc = ct_record_volume(args->ctx, o, volume);
    const bool back = dup2(kept, STDOUT_FILENO) >= 0;
    close(kept);
    if (!back)
        cli_say("standard output cannot be restored: %s; the result is not written", strerror(errno));
    return rc ? cli_library_error(args->ctx) : back ? CLI_CLEAN : CLI_FAILED;
}

/* Reports what the numbers of a run do not include. */
static void tell(const struct cli_args *args, const struct ct_volume *v)
{
    const char *program = args->rest[0];
    if (v->untraceable)
        cli_say("%s: %" PRIu64 " instructions ran from modified code, which a trace unit does not describe; "
                "they are not counted",
                program, v->untraceable);
    if (!v->instructions)
        cli_record_tell_nothing(program, "nothing was traced", args->values[SYSTEM].given);
}

static const uint8_t protocol_numbers[] = {0, CT_PROTOCOL_ETM4, CT_PROTOCOL_ETE, CT_PROTOCOL_PTM};

/* Measures a run of the program. Returns an enum cli_exit. */
static int run_program(const struct cli_args *args, const struct ct_record_range *ranges, size_t range_count,
                       struct ct_volume *volume)
{
    const struct cli_value *v = args->values;
    const struct ct_programs_options names = {
        .size = sizeof names, .files = args->debug_files, .raw_names = args->raw_names};
    const struct ct_record_options o = {.size = sizeof o,
                                        .argv = args->rest,
                                        .protocol = protocol_numbers[v[PROTOCOL].number],
                                        .one_core = v[THREADS].number == 1,
                                        .system = v[SYSTEM].given,
                                        .cycle_threshold = (uint32_t)v[CYCLES].number,
                                        .timestamp_period = (uint32_t)v[TIMESTAMPS].number,
                                        .sync_period = v[SYNC].given ? 1u << v[SYNC].number : 0,
                                        .seed = v[SEED].number,
                                        .max_instructions = v[MOST].number,
                                        .ranges = ranges,
                                        .range_count = range_count,
                                        .start = v[START].text,
                                        .stop = v[STOP].text,
                                        .names = &names,
                                        .signal = cli_record_catch_signals()};
    for (size_t i = 0; i < CLI_CAPTURE_OPTIONS; i++)
        if (v[i].given)
            return cli_usage_error(args->command, "--%s works only with --capture; add that, or leave it out",
                                   options[i].name);
    const int code = measure(args, &o, volume);
    if (!code)
        tell(args, volume);
    return code;
}

/* Measures the instructions that a capture says were executed. Returns an enum cli_exit. */
static int run_capture(const struct cli_args *args, const struct ct_record_range *ranges, size_t range_count,
                       struct ct_volume *volume)
{
    static const uint8_t of_runs[] = {START, STOP, THREADS, SEED, SYSTEM};
    const struct cli_value *v = args->values;
    const struct ct_volume_options o = {.size = sizeof o,
                                        .protocol = protocol_numbers[v[PROTOCOL].number],
                                        .cycle_threshold = (uint32_t)v[CYCLES].number,
                                        .timestamp_period = (uint32_t)v[TIMESTAMPS].number,
                                        .sync_period = v[SYNC].given ? 1u << v[SYNC].number : 0,
                                        .max_instructions = v[MOST].number,
                                        .ranges = ranges,
                                        .range_count = range_count};
    for (size_t i = 0; i < sizeof of_runs; i++)
        if (v[of_runs[i]].given)
            return cli_usage_error(args->command,
                                   "--%s applies to running a program, so it cannot be used with --capture; "
                                   "leave one of them out",
                                   options[of_runs[i]].name);
    return cli_volume_capture(args, v[CAPTURE].text, &o, volume);
}

static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    struct ct_record_range ranges[CT_RECORD_RANGES];
    struct ct_volume volume;
    struct ct_volume_write_options how = {.size = sizeof how, .format = (uint8_t)v[FORMAT].number};
    size_t range_count;
    if (v[CAPTURE].given && args->rest_count)
        return cli_usage_error(args->command,
                               "--capture and PROGRAM cannot be used together; give only one of them");
    if (!v[CAPTURE].given && !args->rest_count)
        return cli_usage_error(
            args->command,
            "PROGRAM and --capture are missing; name a program behind --, or a trace with --capture");
    if (!read_clock(args, &how) || cli_record_ranges(args, RANGE, ranges, &range_count))
        return CLI_FAILED;
    const int code = v[CAPTURE].given ? run_capture(args, ranges, range_count, &volume)
                                      : run_program(args, ranges, range_count, &volume);
    if (code == CLI_FAILED)
        return code;
    const int rc = ct_volume_write(args->ctx, &volume, &how, cli_output_write, stdout);
    if (rc && rc != CT_ERR_IO)
        return cli_library_error(args->ctx);
    return volume.instructions ? code : CLI_DAMAGED;
}

const struct cli_command cli_command_volume = {
    .name = "volume",
    .summary = "measure how much trace a program makes, for each setting of the trace unit",
    .rest = "--capture CAPTURE | -- PROGRAM [ARG]...",
    .about = "Runs an Arm program once under QEMU, as 'coretap record' does, and prints how many bytes a "
             "trace unit at each core writes: for each combination of branch broadcast, cycle counts, return "
             "stack, timestamps and context IDs, and for each protocol. The trace itself is not kept.\nWith "
             "--capture it measures the instructions that an existing trace shows: how much trace they would "
             "make with other settings. If that trace has no cycle counts, each instruction counts as one "
             "cycle, and each taken branch as one more.\nBytes are those of the trace units; frames with "
             "trace IDs add one part in thirteen. Standard input and standard error are those of the "
             "program; its standard output goes to standard error.",
    .whole = "'volume' measures everything that ran; use --range, --start or --stop, which configure the "
             "trace unit",
    .examples = "coretap volume -- ./program 500\n"
                "coretap volume --capture capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_PROGRAMS,
    .run = run,
};
