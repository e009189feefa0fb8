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
    [TARGETS] = {.name = "targets",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "Targets of computed branches, as for 'coretap graph'."},
    [COVER] = {.name = "cover", .help = "Measure coverage, as 'coretap cover' reports it."},
    [TIMING] = {.name = "timing", .help = "Measure times, as 'coretap timing' reports them."},
    [PAIR] = CLI_PAIR_OPTION,
    [AT] = {.name = "at",
            .kind = CLI_LIST,
            .arg = "PLACE",
            .help = "A watchpoint; places as for 'coretap watch'. Can be changed while the trace comes in."},
    [HTTP] = {.name = "http",
              .kind = CLI_TEXT,
              .arg = "[ADDRESS:]PORT",
              .help = "Serve a page with the current results, and an API to change watchpoints, "
                      "specifications and filters ('coretap ctl'). Without ADDRESS only this machine can "
                      "reach it. Port 0 means any free port; a message names it."},
    [TOKEN] = {.name = "token",
               .kind = CLI_TEXT,
               .arg = "TEXT",
               .help =
                   "Token that every request must carry. Default: the environment variable CORETAP_TOKEN, "
                   "which other users cannot see. An ADDRESS that other machines can reach needs a token."},
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = CLI_TEXT,
                .arg = "DIR",
                .help = "Write the reports to files in this folder, in all formats, and violations as they "
                        "come. Without this option they are printed as text."},
    [RING] = {.name = "ring",
              .kind = CLI_NUMBER,
              .arg = "MIB",
              .min = 1,
              .max = 65536,
              .help = "Size of the queue of input in front of the analyses. Default: 16 MiB."},
    [DROP] = {.name = "drop",
              .help = "When the queue is full, drop input and report how much. Without this option the "
                      "writer has to wait, unless INPUT is a device, which cannot wait."},
    [RECONNECT] =
        {.name = "reconnect",
         .help =
             "With tcp: and listen: if there is no connection yet, or it ends or breaks, wait for the next "
             "one, until a signal or 'coretap ctl stop'. Trace is missing in between: each break is a gap."},
    [TEE] = {.name = "tee",
             .kind = CLI_TEXT,
             .arg = "FILE",
             .help = "Also save the whole input to FILE, including what --drop leaves out, and describe it "
                     "in FILE.ini. Every command accepts FILE.ini as a capture, even while this run "
                     "continues or after it was killed. FILE must be new or empty."},
    [VIOLATIONS] = {.name = "violations",
                    .kind = CLI_TEXT,
                    .arg = "FILE",
                    .help = "Write each violation to FILE as it comes, as a line of JSON. With -, that is "
                            "standard output, violations are not printed as text."},
    [OUTPUTS] = {.name = "outputs",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "Write all results of the specifications to FILE as they come, in the format of "
                         "--format. With -, that is standard output, violations are not printed as text."},
    [FORMAT] = {.name = "format",
                .letter = 'f',
                .kind = CLI_CHOICE,
                .choices = formats,
                .help = "Format of --outputs: csv, or jsonl with one JSON object per line."},
    [ON_VIOLATION] = {.name = "on-violation",
                      .kind = CLI_TEXT,
                      .arg = "COMMAND",
                      .help =
                          "Run this command for each violation. It receives the violation as a line of JSON "
                          "on standard input, and in CORETAP_SPEC, CORETAP_OUTPUT, CORETAP_VALUE, "
                          "CORETAP_TIME and other variables (docs/live.md). The command is a program with "
                          "arguments, separated by blanks; quotes keep blanks together, and no shell is "
                          "involved. At most 256 violations wait for it; more are dropped and counted."},
    [HOOK_JOBS] = {.name = "hook-jobs",
                   .kind = CLI_NUMBER,
                   .arg = "N",
                   .min = 1,
                   .max = 64,
                   .help = "How many commands of --on-violation run at the same time. Default: 4."},
    [POST] = {.name = "post-violations",
              .kind = CLI_TEXT,
              .arg = "URL",
              .help = "Send each violation as JSON to http://HOST[:PORT][/PATH], or https, by POST. Queue "
                      "and limits are those of --on-violation."},
    [POST_CA] = {.name = "post-ca",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "Certificates (PEM) to trust for an https: URL of --post-violations. Default: those "
                         "of the system."},
    [PER_CORE] = {.name = "per-core",
                  .help = "Check the specifications for each trace ID on its own, on the clock of its own "
                          "cycles unless --clock says otherwise. By default all sources that --config "
                          "describes form one run, ordered by timestamps."},
    [IDLE] = {.name = "assume-idle",
              .help = "With several cores in one run: assume that a core sleeps if it sends nothing while "
                      "others continue. The results of the others are then certain without it."},
    [FRACTAL] = {.name = "fractal",
                 .help = "INPUT is an event log of 'coretap fractal' that is still being written, read "
                         "through a FIFO (docs/fractal.md). Not with --config, --cover and --timing. --elf "
                         "names each program that its processes run; the log has the load addresses."},
    [MILESTONE] = {.name = "milestone",
                   .kind = CLI_LIST,
                   .arg = "PLACE[=TIME]",
                   .help = "With --fractal: a place that the program has to reach at most TIME (such as "
                           "20ms) after its start. The page and the report show which places were reached, "
                           "and when. The exit code is 1 if one was reached too late."},
    [THREADS] =
        {.name = "threads",
         .letter = 't',
         .kind = CLI_NUMBER,
         .arg = "N",
         .min = 1,
         .max = CLI_THREADS_MAX,
         .help = "Number of decoding threads. Default: the number of processors. The result is the same."},
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
