/* SPDX-License-Identifier: Apache-2.0 */
/* coretap live: analyses of trace while it comes. */
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
    [TARGETS] = {.name = "targets",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "Targets of computed branches, as for 'coretap graph'."},
    [COVER] = {.name = "cover", .kind = CLI_FLAG, .help = "Coverage, as 'coretap cover' reports it."},
    [TIMING] = {.name = "timing", .kind = CLI_FLAG, .help = "Times, as 'coretap timing' reports them."},
    [PAIR] = CLI_PAIR_OPTION,
    [AT] = {.name = "at",
            .kind = CLI_LIST,
            .arg = "PLACE",
            .help = "A watchpoint, places as for 'coretap watch'. Can be exchanged while trace comes."},
    [HTTP] = {.name = "http",
              .kind = CLI_TEXT,
              .arg = "[ADDRESS:]PORT",
              .help = "Serve a page that shows what is known by now, and an API that exchanges watchpoints, "
                      "specifications and filters ('coretap ctl'). Only this machine can reach it without "
                      "ADDRESS. Port 0: any that is free; a message names it."},
    [TOKEN] = {.name = "token",
               .kind = CLI_TEXT,
               .arg = "TEXT",
               .help =
                   "What every request has to know. Without it the environment variable CORETAP_TOKEN "
                   "counts, which other users do not see. An ADDRESS that other machines reach needs one."},
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = CLI_TEXT,
                .arg = "DIR",
                .help = "Write the reports to files in this folder, in all formats; violations as they come. "
                        "Without it they are printed as text."},
    [RING] = {.name = "ring",
              .kind = CLI_NUMBER,
              .arg = "MIB",
              .min = 1,
              .max = 65536,
              .help = "Input that may wait for the analyses; 16 MiB without this option."},
    [DROP] = {.name = "drop",
              .kind = CLI_FLAG,
              .help =
                  "When more input waits than that, drop some and say how much. Without it whoever writes "
                  "has to wait, unless INPUT is a device, which cannot."},
    [RECONNECT] = {.name = "reconnect",
                   .kind = CLI_FLAG,
                   .help =
                       "With tcp: and listen:, when the connection ends or breaks, or is not there yet, wait "
                       "for the next one, until a signal or 'coretap ctl stop'. In between trace is missing: "
                       "each break is a gap."},
    [TEE] =
        {.name = "tee",
         .kind = CLI_TEXT,
         .arg = "FILE",
         .help =
             "Keep all that came in FILE, also what --drop leaves out, and describe it in FILE.ini, which "
             "every command takes as its capture, also while this one runs or after it was killed. Not "
             "onto a file that holds something."},
    [VIOLATIONS] = {.name = "violations",
                    .kind = CLI_TEXT,
                    .arg = "FILE",
                    .help = "Write each violation to FILE as it comes, as a line of JSON; - is standard "
                            "output, which then gets none as text."},
    [OUTPUTS] = {.name = "outputs",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "Write all results of the specifications to FILE as they come, in the format of "
                         "--format; - is standard output, which then gets no violations as text."},
    [FORMAT] = {.name = "format",
                .letter = 'f',
                .kind = CLI_CHOICE,
                .choices = formats,
                .help = "Of --outputs: csv, or jsonl, one JSON object a line."},
    [ON_VIOLATION] =
        {.name = "on-violation",
         .kind = CLI_TEXT,
         .arg = "COMMAND",
         .help = "Run this for each violation, which it has as a line of JSON on standard input and in "
                 "CORETAP_SPEC, CORETAP_OUTPUT, CORETAP_VALUE, CORETAP_TIME and others (docs/live.md). It is "
                 "a program with arguments, parted by blanks; quotes keep blanks, and no shell reads it. At "
                 "most 256 violations wait for it, others are dropped and counted."},
    [HOOK_JOBS] = {.name = "hook-jobs",
                   .kind = CLI_NUMBER,
                   .arg = "N",
                   .min = 1,
                   .max = 64,
                   .help = "Commands of --on-violation that run at a time; 4 without this option."},
    [POST] = {.name = "post-violations",
              .kind = CLI_TEXT,
              .arg = "URL",
              .help = "Send each violation as JSON to http://HOST[:PORT][/PATH], or the same with https, by "
                      "POST; queue and limits as of --on-violation."},
    [POST_CA] = {.name = "post-ca",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "Certificates (PEM) that the server of an https: URL of --post-violations is "
                         "trusted by; those of the system without this option."},
    [PER_CORE] = {.name = "per-core",
                  .kind = CLI_FLAG,
                  .help =
                      "Each trace ID is a run of its own for the specifications, on the clock of its own "
                      "cycles unless --clock says otherwise. Without it all that --config describes are one "
                      "run, in the order of their timestamps."},
    [IDLE] = {.name = "assume-idle",
              .kind = CLI_FLAG,
              .help = "A core of which nothing comes while others go on is taken to sleep, so that their "
                      "results are certain without it. Of several cores in one run."},
    [FRACTAL] =
        {.name = "fractal",
         .kind = CLI_FLAG,
         .help = "INPUT is an event log of 'coretap fractal' while it is written, as it comes through "
                 "a FIFO (docs/fractal.md); without --config, --cover and --timing. --elf names each program "
                 "that its processes run; the log says where they lie."},
    [MILESTONE] = {.name = "milestone",
                   .kind = CLI_LIST,
                   .arg = "PLACE[=TIME]",
                   .help =
                       "With --fractal, a place that the program has to reach, TIME (such as 20ms) behind "
                       "its start at the latest. The page and the report say which were reached, and "
                       "when; one behind its time makes the exit code 1."},
    [THREADS] = {.name = "threads",
                 .letter = 't',
                 .kind = CLI_NUMBER,
                 .arg = "N",
                 .min = 1,
                 .max = CLI_THREADS_MAX,
                 .help = "Decode with so many threads; without this option with as many as there are "
                         "processors. The result is the same."},
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
                                     .threads = (uint16_t)v[THREADS].number};
    bool any = wishes.cover || wishes.timing || cli_monitors_named(args, CLI_MONITOR_SPEC);
    for (size_t i = 0; i < args->list_count; i++) {
        wishes.timing |= args->list[i].option == PAIR;
        any |= args->list[i].option == PAIR || args->list[i].option == AT;
    }
    if (!any && !wishes.fractal)
        wishes.cover = wishes.timing = true;
    return cli_live_run(args, &wishes);
}

const struct cli_command cli_command_live = {
    .name = "live",
    .summary = "analyse trace while it comes, and show it on a page",
    .operand = "INPUT",
    .synopsis = "--config FILE|--fractal",
    .exit_text =
        "0: the trace is clean. 1: it is damaged, some of it was dropped, or a specification was violated. "
        "2: wrong usage, a specification that failed, or something could not be opened, read or written.",
    .about = "Reads trace for as long as it comes and analyses it at once: coverage and times (both when "
             "nothing else "
             "is asked for), watchpoints, specifications. At the end of the input, or on Ctrl-C, it writes "
             "the reports "
             "of 'coretap cover', 'coretap timing' and 'coretap monitor' over all that came.\n"
             "INPUT is - (standard input), a FIFO, a trace-sink device or a file; tcp:HOST:PORT connects and "
             "reads "
             "from there, listen:[ADDRESS:]PORT waits for one connection. --config describes the stream.\n"
             "Memory does not grow with the trace: what is kept hangs on the program.",
    .whole = "of trace that comes all is analysed; 'coretap ctl filter' says which events count",
    .examples = "coretap live --config capture --cover --timing - < capture/trace_0.bin\n"
                "mkfifo pipe && coretap record -o stream --stream pipe -- ./program 500 &\n"
                "coretap live --config stream/live.ini --http 8080 - < pipe\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .own_output = true,
    .run = run,
};
