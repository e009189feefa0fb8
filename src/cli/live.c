/* SPDX-License-Identifier: Apache-2.0 */
/* coretap live: analyses trace while it comes. */
#include "cli/commands.h"
#include "cli/live_run.h"
#include "cli/timing_view.h"

#include <stdlib.h>

enum {
    ELF = CLI_MONITOR_OPTIONS,
    TARGETS,
    COVER,
    TIMING,
    PAIR,
    AT,
    HTTP,
    TOKEN,
    OUTPUT,
    RING,
    DROP,
    RECONNECT,
    TEE,
    VIOLATIONS,
    OUTPUTS,
    FORMAT,
    ON_VIOLATION,
    HOOK_JOBS,
    POST,
    POST_CA,
    PER_CORE,
    IDLE,
    FRACTAL,
    MILESTONE,
    THREADS,
};

static const char *const formats[] = {"csv", "jsonl", NULL};

#define MIB ((size_t)1 << 20)

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    CLI_MONITOR_TABLE,
    [ELF] = CLI_ELF_OPTION,
    [TARGETS] =
        CLI_TEXT_OPTION("targets", 0, "FILE", "Targets of computed branches, as for 'coretap graph'."),
    [COVER] = CLI_FLAG_OPTION("cover", 0, "Measure coverage, as 'coretap cover' reports it."),
    [TIMING] = CLI_FLAG_OPTION("timing", 0, "Measure times, as 'coretap timing' reports them."),
    [PAIR] = CLI_PAIR_OPTION,
    [AT] = CLI_LIST_OPTION(
        "at", 0, "PLACE",
        "A watchpoint; places as for 'coretap watch'. Can be changed while the trace comes in."),
    [HTTP] = CLI_TEXT_OPTION("http", 0, "[ADDRESS:]PORT",
                             "Serve a page with the current results, and an API to change watchpoints, "
                             "specifications and filters ('coretap ctl'). Without ADDRESS only this machine "
                             "can reach it. Port 0 means any free port; a message names it."),
    [TOKEN] = CLI_TEXT_OPTION(
        "token", 0, "TEXT",
        "Token that every request must carry. Default: the environment variable CORETAP_TOKEN, which other "
        "users cannot see. An ADDRESS that other machines can reach needs a token."),
    [OUTPUT] = CLI_TEXT_OPTION("output", 'o', "DIR",
                               "Write the reports to files in this folder, in all formats, and violations as "
                               "they come. Without this option they are printed as text."),
    [RING] = CLI_NUMBER_OPTION("ring", 0, "MIB", 1, 65536,
                               "Size of the queue of input in front of the analyses. Default: 16 MiB."),
    [DROP] = CLI_FLAG_OPTION("drop", 0,
                             "When the queue is full, drop input and report how much. Without this option "
                             "the writer has to wait, unless INPUT is a device, which cannot wait."),
    [RECONNECT] = CLI_FLAG_OPTION(
        "reconnect", 0,
        "With tcp: and listen: if there is no connection yet, or it ends or breaks, wait for the next one, "
        "until a signal or 'coretap ctl stop'. Trace is missing in between: each break is a gap."),
    [TEE] = CLI_TEXT_OPTION("tee", 0, "FILE",
                            "Also save the whole input to FILE, including what --drop leaves out, and "
                            "describe it in FILE.ini. Every command accepts FILE.ini as a capture, even "
                            "while this run continues or after it was killed. FILE must be new or empty."),
    [VIOLATIONS] = CLI_TEXT_OPTION("violations", 0, "FILE",
                                   "Write each violation to FILE as it comes, as a line of JSON. With -, "
                                   "that is standard output, violations are not printed as text."),
    [OUTPUTS] =
        CLI_TEXT_OPTION("outputs", 0, "FILE",
                        "Write all results of the specifications to FILE as they come, in the format of "
                        "--format. With -, that is standard output, violations are not printed as text."),
    [FORMAT] = CLI_CHOICE_OPTION("format", 'f', formats,
                                 "Format of --outputs: csv, or jsonl with one JSON object per line."),
    [ON_VIOLATION] =
        CLI_TEXT_OPTION("on-violation", 0, "COMMAND",
                        "Run this command for each violation. It receives the violation as a line of JSON on "
                        "standard input, and in CORETAP_SPEC, CORETAP_OUTPUT, CORETAP_VALUE, CORETAP_TIME "
                        "and other variables (docs/live.md). The command is a program with arguments, "
                        "separated by blanks; quotes keep blanks together, and no shell is involved. At most "
                        "256 violations wait for it; more are dropped and counted."),
    [HOOK_JOBS] = CLI_NUMBER_OPTION("hook-jobs", 0, "N", 1, 64,
                                    "How many commands of --on-violation run at the same time. Default: 4."),
    [POST] = CLI_TEXT_OPTION("post-violations", 0, "URL",
                             "Send each violation as JSON to http://HOST[:PORT][/PATH], or https, by POST. "
                             "Queue and limits are those of --on-violation."),
    [POST_CA] = CLI_TEXT_OPTION(
        "post-ca", 0, "FILE",
        "Certificates (PEM) to trust for an https: URL of --post-violations. Default: those of the system."),
    [PER_CORE] = CLI_FLAG_OPTION("per-core", 0,
                                 "Check the specifications for each trace ID on its own, on the clock of its "
                                 "own cycles unless --clock says otherwise. By default all sources that "
                                 "--config describes form one run, ordered by timestamps."),
    [IDLE] = CLI_FLAG_OPTION("assume-idle", 0,
                             "With several cores in one run: assume that a core sleeps if it sends nothing "
                             "while others continue. The results of the others are then certain without it."),
    [FRACTAL] =
        CLI_FLAG_OPTION("fractal", 0,
                        "INPUT is an event log of 'coretap fractal' that is still being written, read "
                        "through a FIFO (docs/fractal.md). Not with --config, --cover and --timing. --elf "
                        "names each program that its processes run; the log has the load addresses."),
    [MILESTONE] = CLI_LIST_OPTION("milestone", 0, "PLACE[=TIME]",
                                  "With --fractal: a place that the program has to reach at most TIME (such "
                                  "as 20ms) after its start. The page and the report show which places were "
                                  "reached, and when. The exit code is 1 if one was reached too late."),
    [THREADS] = CLI_NUMBER_OPTION(
        "threads", 't', "N", 1, CLI_THREADS_MAX,
        "Number of decoding threads. Default: the number of processors. The result is the same."),
};

_Static_assert(sizeof options / sizeof *options <= CLI_OPTION_MAX, "each option has room for its value");

static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    struct cli_live_wishes wishes = {.http = v[HTTP].text,
                                     .token = v[TOKEN].given ? v[TOKEN].text : getenv("CORETAP_TOKEN"),
                                     .output = v[OUTPUT].text,
                                     .targets = v[TARGETS].text,
                                     .elf_option = ELF,
                                     .pair_option = PAIR,
                                     .at_option = AT,
                                     .ring = v[RING].given ? (size_t)v[RING].number * MIB : 0,
                                     .drop = v[DROP].given,
                                     .again = v[RECONNECT].given,
                                     .tee = v[TEE].text,
                                     .violations = v[VIOLATIONS].text,
                                     .outputs = v[OUTPUTS].text,
                                     .outputs_csv = v[FORMAT].number == 0,
                                     .on_violation = v[ON_VIOLATION].text,
                                     .hook_jobs = (uint32_t)v[HOOK_JOBS].number,
                                     .post = v[POST].text,
                                     .post_ca = v[POST_CA].text,
                                     .per_core = v[PER_CORE].given,
                                     .idle = v[IDLE].given,
                                     .fractal = v[FRACTAL].given,
                                     .milestone_option = MILESTONE,
                                     .cover = v[COVER].given,
                                     .timing = v[TIMING].given,
                                     .watch = v[HTTP].given,
                                     .threads = (uint16_t)v[THREADS].number};
    bool any = wishes.cover || wishes.timing || cli_monitors_named(args, CLI_MONITOR_SPEC);
    for (size_t i = 0; i < args->list_count; i++) {
        wishes.timing |= args->list[i].option == PAIR;
        wishes.watch |= args->list[i].option == AT;
        any |= args->list[i].option == PAIR || args->list[i].option == AT;
    }
    if (!any && !wishes.fractal)
        wishes.cover = wishes.timing = true;
    return cli_live_run(args, &wishes);
}

const struct cli_command cli_command_live = {
    .name = "live",
    .summary = "analyse trace as it comes in, and show the results on a page",
    .operand = "INPUT",
    .synopsis = "--config FILE|--fractal",
    .exit_text =
        "0: nothing was lost and nothing was violated. 1: the trace is damaged, none came, some "
        "of it was dropped, or a specification was violated. 2: wrong usage, a specification that failed, or "
        "something could not be opened, read or written.",
    .about = "Reads trace as it comes in and analyses it at once: coverage and times (both if nothing else "
             "is asked for), watchpoints, specifications. At the end of the input, or on Ctrl-C, it writes "
             "the reports of 'coretap cover', 'coretap timing', 'coretap watch --format sums' and 'coretap "
             "monitor' for the whole "
             "input.\nINPUT is - (standard input), a FIFO, a trace-sink device or a file. tcp:HOST:PORT "
             "connects and reads from there; listen:[ADDRESS:]PORT waits for one connection. --config "
             "describes the stream.\nMemory use depends on the program, not on the length of the trace.",
    .whole = "a live run analyses all of its trace; use 'coretap ctl filter' to choose which events count",
    .examples = "coretap live --config capture --cover --timing - < capture/trace_0.bin\n"
                "mkfifo pipe && coretap record -o stream --stream pipe -- ./program 500 &\n"
                "coretap live --config stream/live.ini --http 8080 - < pipe\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL | CLI_USES_SYMBOL_MAPS,
    .own_output = true,
    .run = run,
};
