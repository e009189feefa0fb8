/* SPDX-License-Identifier: Apache-2.0 */
/* coretap record: runs an Arm program under QEMU, and writes the trace that a trace unit would have
 * written. */
#include <coretap/record.h>

#include <inttypes.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/record_run.h"

enum {
    OPT_OUTPUT,
    OPT_PROTOCOL,
    OPT_BROADCAST,
    OPT_CYCLES,
    OPT_TIMESTAMPS,
    OPT_CONTEXT,
    OPT_VMID,
    OPT_STACK,
    OPT_EVENTS,
    OPT_SYNC,
    OPT_RANGE,
    OPT_START,
    OPT_STOP,
    OPT_FRAMED,
    OPT_IDS,
    OPT_PADDING,
    OPT_STREAM,
    OPT_OVERFLOW,
    OPT_MOST,
    OPT_THREADS,
    OPT_SEED,
    OPT_EACH,
    OPT_SYSTEM,
    OPT_ITM,
    OPT_STM,
    OPT_WATCH_DATA,
    OPT_TRUTH,
    OPTS
};

/* The values of list options. */
struct lists {
    struct ct_record_range ranges[CT_RECORD_RANGES];
    uint8_t ids[CT_RECORD_CORES];
    const char *watched[CT_RECORD_COMPARATORS];
};

static const char *const protocol_words[] = {"etm4", "ete", "ptm", NULL};
static const char *const thread_words[] = {"cores", "contexts", NULL};

static int read_watched(const struct cli_args *args, const char **watched, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < args->list_count; i++) {
        if (args->list[i].option != OPT_WATCH_DATA)
            continue;
        if (*count == CT_RECORD_COMPARATORS)
            return cli_usage_error(args->command,
                                   "--watch-data: more than %d variables are given, but a DWT has no more "
                                   "comparators; give fewer",
                                   CT_RECORD_COMPARATORS);
        watched[(*count)++] = args->list[i].text;
    }
    return CLI_CLEAN;
}

/* Reads trace IDs: hexadecimal numbers with commas between them. Returns what is wrong, or NULL. */
static const char *read_ids(const char *text, uint8_t ids[CT_RECORD_CORES], size_t *count)
{
    bool taken[CT_RECORD_LAST_ID + 1] = {false};
    *count = 0;
    while (text && *text) {
        char *end;
        const unsigned long id = strtoul(text, &end, 16);
        if (end == text || (*end && *end != ','))
            return "this is not a list of hexadecimal numbers with commas between them";
        if (id < 1 || id > CT_RECORD_LAST_ID || taken[id])
            return "each trace ID must be from 1 to 6f, and may be given only once";
        if (*count == CT_RECORD_CORES)
            return "these are more IDs than there can be cores; give fewer";
        taken[id] = true;
        ids[(*count)++] = (uint8_t)id;
        text = end + (*end == ',');
    }
    return NULL;
}

static int read_options(const struct cli_args *args, struct ct_record_options *o, struct lists *lists)
{
    static const uint8_t protocols[] = {CT_PROTOCOL_ETM4, CT_PROTOCOL_ETE, CT_PROTOCOL_PTM};
    const struct cli_value *v = args->values;
    *o = (struct ct_record_options){
        .size = sizeof *o,
        .argv = args->rest,
        .directory = v[OPT_OUTPUT].text,
        .stream = v[OPT_STREAM].text,
        .protocol = protocols[v[OPT_PROTOCOL].number],
        .branch_broadcast = v[OPT_BROADCAST].given,
        .cycle_count = v[OPT_CYCLES].given,
        .timestamps = v[OPT_TIMESTAMPS].given,
        .context_id = v[OPT_CONTEXT].given,
        .vmid = v[OPT_VMID].given,
        .return_stack = v[OPT_STACK].given,
        .framed = v[OPT_FRAMED].given || v[OPT_IDS].given,
        .one_core = v[OPT_THREADS].number == 1,
        .system = v[OPT_SYSTEM].given,
        .each_instruction = v[OPT_EACH].given,
        .cycle_threshold = (uint32_t)v[OPT_CYCLES].number,
        .timestamp_period = (uint32_t)v[OPT_TIMESTAMPS].number,
        .sync_period = v[OPT_SYNC].given ? 1u << v[OPT_SYNC].number : 0,
        .event_rate = (uint32_t)v[OPT_EVENTS].number,
        .overflow_rate = (uint32_t)v[OPT_OVERFLOW].number,
        .padding = (uint32_t)v[OPT_PADDING].number,
        .seed = v[OPT_SEED].number,
        .max_instructions = v[OPT_MOST].number,
        .ids = lists->ids,
        .ranges = lists->ranges,
        .ports = v[OPT_ITM].text,
        .channels = v[OPT_STM].text,
        .watched = lists->watched,
        .start = v[OPT_START].text,
        .stop = v[OPT_STOP].text,
        .signal = cli_record_catch_signals(),
    };
    const char *wrong = read_ids(v[OPT_IDS].text, lists->ids, &o->id_count);
    if (wrong)
        return cli_usage_error(args->command, "--ids: '%s': %s", v[OPT_IDS].text, wrong);
    if (v[OPT_PADDING].given && !o->framed && !o->stream)
        return cli_usage_error(args->command,
                               "--padding works only with --framed; add that, or leave --padding out");
    if (o->system && (o->protocol == CT_PROTOCOL_PTM || o->one_core))
        return cli_usage_error(args->command, "--system cannot be used with --protocol ptm or --threads "
                                              "contexts; leave these out");
    const int bad = read_watched(args, lists->watched, &o->watched_count);
    return bad ? bad : cli_record_ranges(args, OPT_RANGE, lists->ranges, &o->range_count);
}

static void print_summary(const struct cli_args *args, const struct ct_record_options *o,
                          const struct ct_record_result *result)
{
    if (result->untraceable)
        cli_say("%s: %" PRIu64 " instructions ran from modified code; they are not in the trace, because %s",
                o->directory, result->untraceable,
                o->stream ? "the reader of a stream knows only the first version of the code"
                          : "the code changed more often than a capture can record, or while it ran");
    if (!result->instructions)
        cli_record_tell_nothing(o->directory, "the trace is empty", o->system);
    if (!args->quiet)
        cli_say("%s: %" PRIu64 " instructions in %" PRIu64 " bytes of trace", o->directory,
                result->instructions, result->bytes);
}

/* Records, and writes the truth file if wanted, completely or not at all. */
static int record(const struct cli_args *args, struct ct_record_options *o, struct ct_record_result *result)
{
    const char *path = args->values[OPT_TRUTH].text;
    struct cli_output truth = {0}, *all = &truth;
    if (path && !cli_output_open(&truth, path))
        return CLI_FAILED;
    if (path) {
        o->truth = cli_output_write;
        o->truth_user = truth.file;
    }
    const int code = ct_record(args->ctx, o, result) ? cli_library_error(args->ctx) : CLI_CLEAN;
    if (!code)
        print_summary(args, o, result);
    const bool kept = cli_output_close_all(&all, 1, !code && !cli_lacked_memory(args->ctx));
    return kept || code ? code : CLI_FAILED;
}

static int run(const struct cli_args *args)
{
    const struct ct_programs_options names = {
        .size = sizeof names, .files = args->debug_files, .raw_names = args->raw_names};
    struct lists lists;
    struct ct_record_options o;
    struct ct_record_result result;
    if (!args->rest_count)
        return cli_usage_error(args->command, "PROGRAM is missing; name it behind --");
    if (!args->values[OPT_OUTPUT].given)
        return cli_usage_error(args->command, "-o DIR is missing; it names the capture to write");
    int code = read_options(args, &o, &lists);
    if (code)
        return code;
    o.names = &names;
    return record(args, &o, &result) ?: result.exit_code;
}

static const struct cli_option options[OPTS] = {
    [OPT_OUTPUT] =
        CLI_TEXT_OPTION("output", 'o', "DIR",
                        "Snapshot directory to write. It is created; it must not contain a capture yet."),
    [OPT_PROTOCOL] =
        CLI_CHOICE_OPTION("protocol", 0, protocol_words, "Trace unit of each core. Default: etm4."),
    [OPT_BROADCAST] = CLI_FLAG_OPTION("branch-broadcast", 0, "Trace the target of every taken branch."),
    [OPT_CYCLES] = {.name = "cycle-count",
                    .kind = CLI_NUMBER,
                    .optional = true,
                    .arg = "THRESHOLD",
                    .min = 1,
                    .max = 4095,
                    .help = "Count cycles, and trace a count once it reaches THRESHOLD. Default: 16."},
    [OPT_TIMESTAMPS] = {.name = "timestamps",
                        .kind = CLI_NUMBER,
                        .optional = true,
                        .arg = "PERIOD",
                        .min = 1,
                        .max = UINT32_MAX,
                        .help = "Trace a timestamp every PERIOD cycles. Default: 10000."},
    [OPT_CONTEXT] =
        CLI_FLAG_OPTION("context-id", 0, "Trace the context ID, which is the number of the thread."),
    [OPT_VMID] = CLI_FLAG_OPTION("vmid", 0, "Trace the VMID, which is 1."),
    [OPT_STACK] =
        CLI_FLAG_OPTION("return-stack", 0,
                        "Use a return stack: leave out the addresses of returns that a decoder can derive."),
    [OPT_EVENTS] =
        CLI_NUMBER_OPTION("events", 0, "RATE", 1, 1u << 31,
                          "Trace an event of the trace unit once in RATE instructions, at random."),
    [OPT_SYNC] = CLI_NUMBER_OPTION("sync-period", 0, "N", 8, 20,
                                   "Synchronise every 2^N bytes of trace. Default: 12, for 4096 bytes."),
    [OPT_RANGE] =
        CLI_LIST_OPTION("range", 0, "LO..HI",
                        "Trace only runs of instructions with an address in this range (hexadecimal; HI is "
                        "the first address behind it). Can be given more than once."),
    [OPT_START] = CLI_TEXT_OPTION(
        "start", 0, "ADDR|SYMBOL",
        "Start tracing when execution reaches this hexadecimal address, or function of the program."),
    [OPT_STOP] =
        CLI_TEXT_OPTION("stop", 0, "ADDR|SYMBOL",
                        "Stop tracing when execution reaches this place, until it reaches --start again."),
    [OPT_FRAMED] =
        CLI_FLAG_OPTION("framed", 0,
                        "Put the trace of all cores into one buffer of CoreSight frames, with trace IDs from "
                        "0x10 on. Without this option each core has a buffer of its own."),
    [OPT_IDS] = CLI_TEXT_OPTION("ids", 0, "HEX,...", "Trace IDs of the first cores, in frames."),
    [OPT_PADDING] = CLI_NUMBER_OPTION("padding", 0, "N", 1, 1u << 30,
                                      "In frames: insert padding (trace ID 0) after every N bytes of trace."),
    [OPT_STREAM] = CLI_TEXT_OPTION("stream", 0, "FILE",
                                   "Write the trace, in frames, to this file or pipe while the program runs, "
                                   "instead of into DIR. DIR/live.ini describes it."),
    [OPT_OVERFLOW] = CLI_NUMBER_OPTION("overflow", 0, "RATE", 1, 1u << 31,
                                       "Lose trace in an overflow once in RATE instructions, at random."),
    [OPT_MOST] = CLI_NUMBER_OPTION("max-instructions", 0, "N", 1, UINT64_MAX,
                                   "Stop recording after N instructions; the program runs to its end."),
    [OPT_THREADS] =
        CLI_CHOICE_OPTION("threads", 0, thread_words,
                          "cores: each thread has a core and a trace unit of its own. contexts: all threads "
                          "run on one core and are told apart by context IDs. Default: cores."),
    [OPT_SEED] = CLI_NUMBER_OPTION("seed", 0, "N", 0, UINT64_MAX,
                                   "Seed for everything random: cycles, events, overflows. Default: 0."),
    [OPT_EACH] = CLI_FLAG_OPTION(
        "each", 0,
        "Observe each instruction by itself, as a check of the recorder: slower, with the same trace."),
    [OPT_SYSTEM] =
        CLI_FLAG_OPTION("system", 0,
                        "PROGRAM is qemu-system-aarch64 with its arguments: each processor of the machine "
                        "has a trace unit, and the trace has exception levels and vectors. Or "
                        "qemu-system-arm: a machine in A32 and T32, or the firmware of a Cortex-M."),
    [OPT_ITM] = CLI_TEXT_OPTION("itm", 0, "SYMBOL|ADDR",
                                "Treat stores to this variable of the program as writes to the stimulus "
                                "ports of an ITM, with four bytes for each port. With --system: e0000000 for "
                                "the ITM of a Cortex-M, or a variable of the firmware."),
    [OPT_STM] =
        CLI_TEXT_OPTION("stm", 0, "SYMBOL",
                        "Treat stores to this variable of the program as writes to the stimulus ports of an "
                        "STM, with 256 bytes for each channel; the master is the number of the core."),
    [OPT_WATCH_DATA] = CLI_LIST_OPTION(
        "watch-data", 0, "SYMBOL",
        "Trace loads and stores of this variable of the program, or of a part of one (motor.speed, "
        "table[3]), as data trace of the DWT behind the ITM: instruction address, data address, data. Can be "
        "given up to four times, with one comparator each."),
    [OPT_TRUTH] =
        CLI_TEXT_OPTION("truth", 0, "FILE", "Write the executed instructions as text, to check decoders."),
};

const struct cli_command cli_command_record = {
    .name = "record",
    .summary = "run an Arm program and write its trace",
    .rest = "-- PROGRAM [ARG]...",
    .synopsis = "-o DIR",
    .exit_text = "Exit status of the program, or 128 plus the number of the signal that ended it; 2 with a "
                 "message when nothing could be recorded.",
    .about =
        "Runs an Arm Linux program (A64, A32 or T32) under QEMU user emulation, or with --system a whole "
        "machine, and writes the capture that a trace unit at its core would have made: a snapshot directory "
        "with the trace, the "
        "configuration of the trace unit, and the executed memory. Every command of coretap reads it, "
        "and so does OpenCSD.\nStandard input and output are those of the program. docs/recording.md "
        "says how its execution becomes trace.",
    .whole =
        "'record' writes the whole capture; use --range, --start or --stop, or select a part when reading it",
    .examples = "coretap record -o capture --cycle-count --timestamps -- ./program 500\n"
                "coretap record -o small --return-stack --start work -- ./program 500\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .own_output = true,
    .uses = CLI_USES_PROGRAMS,
    .run = run,
};
