/* SPDX-License-Identifier: Apache-2.0 */
/* coretap monitor: checks specifications against a trace. */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/fractal_source.h"
#include "cli/live_run.h"
#include "cli/monitor_run.h"
#include "cli/monitor_sums.h"
#include "coretap/verdict.h"

enum {
    ELF = CLI_MONITOR_OPTIONS,
    FORMAT,
    LIVE,
    PER_CORE,
    CAPTURES,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS - 1,
};

static const char *const formats[] = {"text", "jsonl", "sums", "data", NULL};

enum {
    SUMS = 2, /* index in `formats` */
    DATA,
};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    CLI_MONITOR_TABLE,
    [ELF] = CLI_ELF_FILES,
    [FORMAT] =
        CLI_CHOICE_OPTION("format", 'f', formats,
                          "text, or jsonl with one JSON object per line. sums: the results added up over all "
                          "captures; data: the same, as input for 'coretap merge' and 'coretap monitor'."),
    [LIVE] = CLI_TEXT_OPTION("live", 0, "[ADDRESS:]PORT",
                             "CAPTURE is a live input, as INPUT of 'coretap live', described by --config. "
                             "ADDRESS:PORT serves the page of 'coretap live --http', on which specifications "
                             "can be changed ('coretap ctl'). CORETAP_TOKEN is its token."),
    [PER_CORE] =
        CLI_FLAG_OPTION("per-core", 0,
                        "Check each trace ID on its own, on the clock of its own cycles unless --clock says "
                        "otherwise. By default all sources with trace form one run, ordered by timestamps."),
    [CAPTURES] = CLI_CHOICE_OPTION(
        "captures", 0, cli_relations,
        "together: several captures come from one system, such as two ETBs, and form one run on the axis of "
        "its timestamps. apart: each is a run of its own. Default: together if results are printed; apart if "
        "they are added up (--format sums, data) and with --per-core."),
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_WINDOW,
    CLI_FILTER_WHO,
    CLI_FILTER_CODE,
};

static int run_live(const struct cli_args *args)
{
    const struct cli_live_wishes wishes = {.http = args->values[LIVE].text,
                                           .token = getenv("CORETAP_TOKEN"),
                                           .elf_option = ELF,
                                           .pair_option = SIZE_MAX,
                                           .at_option = SIZE_MAX,
                                           .per_core = args->values[PER_CORE].given,
                                           .threads = (uint16_t)args->values[THREADS].number,
                                           .format = (enum ct_verdict_format)args->values[FORMAT].number};
    return cli_live_run(args, &wishes);
}

/* ---- results in order ---- */

struct watched {
    struct cli_monitor_run run;
    struct ct_verdict_writer *writer;
    bool all;
};

static int on_result(void *user, const struct ct_verify_result *result)
{
    const struct watched *w = user;
    return result->violation || w->all ? ct_verdict_writer_result(w->writer, &w->run.origin, result) : CT_OK;
}

static int on_stopped(void *user, uint32_t spec, const char *why)
{
    const struct watched *w = user;
    return ct_verdict_writer_stopped(w->writer, &w->run.origin, spec, why);
}

static int on_heading(void *user, const char *buffer, int id)
{
    const struct watched *w = user;
    return ct_verdict_writer_heading(w->writer, buffer, id);
}

static int on_flush(void *user)
{
    const struct watched *w = user;
    return ct_verdict_writer_flush(w->writer);
}

/* Prints the capture that the next results are about. Returns false after a message. */
static bool on_capture(void *user)
{
    const struct watched *w = user;
    const struct cli_args *args = w->run.streams.read.args;
    if (args->values[FORMAT].number != CT_VERDICT_FORMAT_TEXT)
        return true;
    if (ct_verdict_writer_flush(w->writer) != CT_OK)
        return cli_library_error(args->ctx) == CLI_CLEAN;
    fputs("# capture ", stdout);
    cli_put_printable(stdout, w->run.origin.capture);
    putchar('\n');
    return true;
}

/* Returns whether each capture is a separate run. */
static bool is_apart(const struct cli_args *args)
{
    const struct cli_value *wish = &args->values[CAPTURES];
    return wish->given ? wish->number == CLI_APART
                       : args->values[PER_CORE].given || args->values[FORMAT].number >= SUMS;
}

static int watch(const struct cli_args *args)
{
    const struct ct_verdict_write_options how = {.size = sizeof how,
                                                 .format = (uint8_t)args->values[FORMAT].number};
    struct watched w = {
        .all = args->values[CLI_MONITOR_ALL].given,
        .run = {.streams = {.read = {.args = args, .elf = ELF, .threads = cli_threads(args)},
                            .headings = args->values[FORMAT].number == CT_VERDICT_FORMAT_TEXT},
                .monitors = {.all = args->values[CLI_MONITOR_ALL].given,
                             .history = (uint32_t)args->values[CLI_MONITOR_HISTORY].number},
                .per_core = args->values[PER_CORE].given,
                .apart = is_apart(args),
                .user = &w,
                .result = on_result,
                .stopped = on_stopped,
                .heading = on_heading,
                .flush = on_flush,
                .capture = on_capture},
    };
    if (ct_verdict_writer_new(args->ctx, &how, cli_output_write, stdout, &w.writer) != CT_OK)
        return cli_library_error(args->ctx);
    int code = cli_monitor_run(&w.run);
    if (code != CLI_FAILED)
        code = cli_monitor_run_tell(&w.run, code);
    const bool failed = w.run.failed;
    const bool violated = w.run.violations > 0;
    ct_verdict_writer_free(w.writer);
    cli_monitor_run_close(&w.run);
    return failed ? CLI_FAILED : code == CLI_CLEAN && violated ? CLI_DAMAGED : code;
}

/* ---- options ---- */

/* Checks that the format fits the operands: results in order need a single capture, and sums need captures
 * that end. Returns false after a message. */
static bool check(const struct cli_args *args)
{
    const bool sums = args->values[FORMAT].number >= SUMS;
    const bool live = args->values[LIVE].given;
    const bool is_together = args->values[CAPTURES].given && !args->values[CAPTURES].number;
    bool log = false, saved = false;
    for (int i = 0; i < args->rest_count; i++) {
        log |= cli_fractal_source_is_log(args->rest[i]);
        saved |= cli_results_is_file(ct_verify_sums_kind(), args->rest[i]);
    }
    if (sums && live)
        cli_usage_error(args->command, "--live cannot be used with --format sums and data, which need "
                                       "captures that end; choose another format");
    else if (log && args->values[CLI_MONITOR_CLOCK].number == CT_VERIFY_TIMESTAMPS)
        cli_usage_error(args->command, "--clock timestamps cannot be used with an event log, which has only "
                                       "cycles of its interconnect; leave --clock out");
    else if (log && (!cli_without_threads(args, "an event log is read") ||
                     !cli_filter_none(args, "an event log is read")))
        return false;
    else if (!sums && !live && args->rest_count > 1 && log)
        cli_usage_error(args->command, "--format text and jsonl print the results of only one event log; "
                                       "name one log, or choose --format sums or data");
    else if (is_together && (args->values[PER_CORE].given || live || log || saved))
        cli_usage_error(args->command, "--captures together: %s",
                        live  ? "the input of --live is a single capture; leave --captures out"
                        : log ? "each event log is a run of its own; leave --captures out"
                        : saved
                            ? "a saved file contains runs that have ended; leave --captures out"
                            : "--per-core makes each source a run of its own; leave one of the options out");
    else if (!sums && !live && saved)
        cli_usage_error(args->command, "--format text and jsonl print the results of captures, but a file "
                                       "contains only sums; choose --format sums or data");
    else if (live && args->rest_count > 1)
        cli_usage_error(args->command, "--live accepts only one input; name one, or leave --live out");
    else
        return true;
    return false;
}

static int run_sums(const struct cli_args *args)
{
    const struct cli_monitor_sums_wishes wishes = {.elf = ELF,
                                                   .threads = cli_threads(args),
                                                   .data = args->values[FORMAT].number == DATA,
                                                   .per_core = args->values[PER_CORE].given,
                                                   .together = !is_apart(args)};
    return cli_monitor_sums_run(args, &wishes);
}

static int run(const struct cli_args *args)
{
    if (!check(args))
        return CLI_FAILED;
    if (args->values[FORMAT].number >= SUMS)
        return run_sums(args);
    if (args->values[LIVE].given)
        return cli_filter_none(args, "a live run decodes") ? run_live(args) : CLI_FAILED;
    if (!cli_monitors_named(args, CLI_MONITOR_SPEC))
        return cli_usage_error(args->command, "--spec FILE is missing; it names the specification to check");
    return watch(args);
}

const struct cli_command cli_command_monitor = {
    .name = "monitor",
    .summary = "check specifications along a trace",
    .operand = "CAPTURE...",
    .many = true,
    .synopsis = "--spec FILE",
    .exit_text =
        "0: no violation, and nothing was lost. 1: there was a violation, or the trace is damaged, or no "
        "output can be a violation and --all was not given; with --format sums and data also when a "
        "specification failed in a stream, which the result records. 2: wrong usage, a specification that "
        "does not compile or failed, or something could not be opened, read or written.",
    .about =
        "Follows the trace along the program, feeds TeSSLa specifications with the places that execution "
        "reaches, and prints each violation with its time, function and source line.\nCAPTURE can be an "
        "event log of 'coretap fractal' (docs/fractal.md). Its places are access:NAME, context, addresses "
        "and entry:FUNCTION; each counts at every logged access to its cache line of 64 bytes. Its cycles "
        "are those of the interconnect. After dropped events results are uncertain.\nInputs are fed by their "
        "sources (codeLine, function_call, function_return, onExecuting, itm_trace), by --bind, or by their "
        "names if these are exception, exception_return, gap, overflow, no_access or context. Each place "
        "that execution reaches is an instant of its own: if the clock does not separate it from the one "
        "before, it is one tick later.\nWhere trace is missing, the specifications do not see what ran. "
        "Later results that the missing part could have changed are marked uncertain.\nSoftware trace feeds "
        "inputs with values: itm:3 is what is written to a stimulus port, stm:7 or stm:0x10:7 to a channel, "
        "dwt:0 the data trace of a comparator (dwt:0.read, dwt:0.write, dwt:0.address, dwt:0.pc), event:0 an "
        "event of the trace unit, context:0x12 one context ID, context:NAME a thread or process. An Int is "
        "the number written, or with .signed the signed number; a Float is the value of its 32 or 64 bits; a "
        "Bool says whether the number is not 0; a Unit says that something was written; a String is the line "
        "that was written, or the name of a context.\nAll cores with trace, of all captures given, form one "
        "run in the order of their timestamps, which must come from one clock; sources of software trace "
        "belong to it if they feed an input. With --captures apart each capture is a run. If a result "
        "depends on the order of two events that timestamps and cycles do not determine, it is uncertain, "
        "and both events are named. With --per-core each trace ID is a run of its own; the same holds if "
        "only one source has trace. PLACE@CORE is a place reached by one core, with the name of the core in "
        "'coretap info'; with PLACE@each the specification runs once for each core and names the core in "
        "each result.\nWith --format sums the results of all captures are added up. Each capture is one run, "
        "unless --captures together says that they come from one system. Instead of a capture, coretap then "
        "also accepts a file written by --format data or 'coretap merge'.",
    .examples = "coretap spec --timing --function work -o times.tessla capture\n"
                "coretap monitor --spec times.tessla capture\n"
                "coretap monitor --spec count.tessla --bind call=entry:work --all capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL | CLI_USES_SYMBOL_MAPS,
    .run = run,
};
