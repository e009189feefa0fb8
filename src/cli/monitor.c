/* SPDX-License-Identifier: Apache-2.0 */
/* coretap monitor: specifications on what a trace says. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/fractal_source.h"
#include "cli/live_run.h"
#include "cli/monitor_axis.h"
#include "cli/monitor_sums.h"
#include "cli/monitors.h"
#include "cli/streams.h"
#include "coretap/fractal_watch.h"
#include "coretap/verdict.h"
#include "coretap/verify.h"

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
    SUMS = 2, /* of the formats */
    DATA,
};

/* How several captures are to each other. */
static const char *const relations[] = {"together", "apart", NULL};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    CLI_MONITOR_TABLE,
    [ELF] = CLI_ELF_FILES,
    [FORMAT] = {.name = "format",
                .letter = 'f',
                .kind = CLI_CHOICE,
                .choices = formats,
                .help = "text, or jsonl: one JSON object a line. sums: what the specifications said of all "
                        "captures; data: the same for 'coretap merge' and 'coretap monitor'."},
    [LIVE] =
        {.name = "live",
         .kind = CLI_TEXT,
         .arg = "[ADDRESS:]PORT",
         .help = "CAPTURE is trace that comes: what INPUT of 'coretap live' can be, described by --config. A "
                 "page is "
                 "served there, over which specifications are exchanged ('coretap ctl'); as of 'coretap live "
                 "--http', and CORETAP_TOKEN is its token."},
    [PER_CORE] = {.name = "per-core",
                  .kind = CLI_FLAG,
                  .help =
                      "Each trace ID is a run of its own, on the clock of its own cycles unless --clock says "
                      "otherwise. Without it all that have trace are one run, in the order of timestamps."},
    [CAPTURES] =
        {.name = "captures",
         .kind = CLI_CHOICE,
         .choices = relations,
         .help =
             "together: several captures are of one system, such as two ETBs, and one run on the axis of "
             "its timestamps. apart: each is a run of its own. Without it they are together where results "
             "are printed, and apart where they are added up (--format sums, data) and with --per-core."},
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_WINDOW,
    CLI_FILTER_WHO,
    CLI_FILTER_CODE,
};

#define BATCH 1024

struct watched {
    struct cli_streams streams;
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_verifier *verifier;
    struct cli_monitors monitors;
    struct ct_verdict_writer *writer;
    struct ct_verdict_origin origin; /* of the stream that is read */
    struct cli_axis axis;
    bool several; /* sources are one run, on an axis */
    bool apart;   /* each capture is a run of its own */
    int opened;   /* captures so far */
    int printed;  /* enum ct_error: what came of printing results, which the verifier does not ask for */
    bool all;
    bool failed; /* a specification failed */
    uint64_t results, violations, uncertain;
    struct ct_watch_event batch[BATCH];
};

static void note(struct watched *w, int rc)
{
    w->printed = w->printed ? w->printed : rc;
}

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct watched *w = user;
    w->results++;
    w->violations += result->violation;
    w->uncertain += result->violation && result->uncertain;
    if (!result->violation && !w->all)
        return;
    note(w, ct_verdict_writer_result(w->writer, &w->origin, result));
}

/* Says which specifications failed; the others go on. */
static void tell_failures(struct watched *w)
{
    uint32_t spec;
    for (const char *why; (why = ct_verifier_next_failure(w->verifier, &spec));) {
        w->failed = true;
        cli_say("%s; it takes no more events", why);
        note(w, ct_verdict_writer_stopped(w->writer, &w->origin, spec, why));
    }
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct watched *w = user;
    size_t count;
    int rc, more;
    (void)stream;
    do {
        rc = ct_watcher_run(w->watcher, batch, w->batch, BATCH, &count, &more);
        if (ct_verifier_feed(w->verifier, w->batch, count) != CT_OK)
            tell_failures(w);
    } while (!rc && more);
    return rc ? rc : w->printed;
}

static int begin(void *user, struct ct_session_turn *turn)
{
    struct watched *w = user;
    turn->level = CT_LEVEL_STEPS;
    turn->sink.steps = on_steps;
    w->origin.buffer = turn->buffer->name;
    w->origin.source = turn->source;
    w->origin.id = turn->id;
    ct_watcher_free(w->watcher);
    w->watcher = NULL;
    const int rc = ct_watcher_new(w->streams.read.args->ctx, w->watches, &w->watcher);
    return rc ? rc : ct_verifier_begin(w->verifier, on_result, w);
}

static int end(void *user)
{
    struct watched *w = user;
    if (ct_verifier_finish(w->verifier) != CT_OK)
        tell_failures(w);
    return CT_OK;
}

/* ---- preparations ---- */

static int on_failed(void *user)
{
    struct watched *w = user;
    tell_failures(w);
    return w->printed;
}

/* Looks whether the sources of a capture are one run. False after a message. */
static bool find_sources(struct watched *w)
{
    struct cli_results *read = &w->streams.read;
    const struct cli_args *args = read->args;
    const struct cli_value *clock = &args->values[CLI_MONITOR_CLOCK];
    w->axis = (struct cli_axis){.args = args,
                                .read = read,
                                .alone = w->apart,
                                .cycles = clock->given && clock->number == CT_VERIFY_CYCLES,
                                .software = cli_monitors_need_software(&w->monitors),
                                .failed = on_failed,
                                .user = w};
    if (!args->values[PER_CORE].given && !cli_axis_open(&w->axis, &w->several))
        return false;
    w->origin.several = w->several;
    w->origin.sources = w->axis.sources;
    w->origin.source_count = w->axis.count;
    if (w->several) {
        for (size_t i = 0; w->apart && i < w->axis.count; i++)
            w->axis.sources[i].capture = w->origin.capture;
    } else if (clock->number != CT_VERIFY_TIMESTAMPS) {
        read->filter.filter.frequency = 0; /* --frequency is that of the cycles */
    }
    return true;
}

/* Tells the verifier of what kind the sources are. False after a message. */
static bool tell_protocols(struct watched *w)
{
    const struct cli_capture *capture = &w->streams.read.capture;
    uint8_t all[256] = {0};
    size_t count = 0;
    for (size_t i = 0; i < capture->count; i++)
        for (size_t k = 0; k < capture->buffers[i].source_count && count < sizeof all; k++)
            all[count++] = cli_monitors_protocol(&capture->buffers[i].sources[k]);
    const bool looked = w->several || (w->axis.software && w->axis.count); /* which have trace */
    const int rc = looked ? ct_verifier_protocols(w->verifier, w->axis.protocols, w->axis.count)
                          : ct_verifier_protocols(w->verifier, all, count);
    return rc == CT_OK || cli_library_error(w->streams.read.args->ctx) == CLI_CLEAN;
}

/* Tells the verifier of which cores the sources are. False after a message. */
static bool tell_cores(struct watched *w)
{
    const char *core = w->several ? NULL : cli_axis_only_core(&w->axis);
    const int rc = w->several ? ct_verifier_sources(w->verifier, w->axis.cores, w->axis.count)
                   : core     ? ct_verifier_core(w->verifier, core)
                              : CT_OK;
    return rc == CT_OK || cli_library_error(w->streams.read.args->ctx) == CLI_CLEAN;
}

/* Frees what is of one run, and begins with the next capture, whose results are told apart from those of the
 * others. False after a message. */
static bool begin_capture(struct watched *w)
{
    const struct cli_args *args = w->streams.read.args;
    ct_watcher_free(w->watcher);
    ct_verifier_free(w->verifier);
    ct_watches_free(w->watches);
    w->watcher = NULL;
    w->verifier = NULL;
    w->watches = NULL;
    cli_axis_close(&w->axis);
    if (!w->apart || args->rest_count < 2)
        return true;
    w->origin.capture = w->streams.read.capture.path;
    w->streams.buffer = NULL;
    if (args->values[FORMAT].number != CT_VERDICT_FORMAT_TEXT)
        return true;
    if (ct_verdict_writer_flush(w->writer) != CT_OK)
        return cli_library_error(args->ctx) == CLI_CLEAN;
    fputs("# capture ", stdout);
    cli_put_printable(stdout, w->origin.capture);
    putchar('\n');
    return true;
}

/* Makes the verifier, once the programs are known in which specifications have places. */
static bool prepare(void *user)
{
    struct watched *w = user;
    struct ct_ctx *ctx = w->streams.read.args->ctx;
    if (!begin_capture(w))
        return false;
    if (w->streams.read.has_capture && !find_sources(w))
        return false;
    if (ct_watches_new(ctx, w->streams.read.programs, &w->watches) != CT_OK ||
        ct_verifier_new(ctx, &w->monitors.verify, w->watches, &w->verifier) != CT_OK) {
        cli_library_error(ctx);
        return false;
    }
    if (w->streams.read.has_capture && !tell_cores(w))
        return false;
    if (w->streams.read.has_capture && !tell_protocols(w))
        return false;
    if (cli_monitors_need_software(&w->monitors) &&
        !cli_programs_name_events(w->streams.read.programs, w->streams.read.args, w->watches))
        return false;
    w->origin.watches = w->watches;
    w->origin.programs = w->streams.read.programs;
    return cli_monitors_add(&w->monitors, w->verifier);
}

/* ---- all sources in one run ---- */

static int decode_axis(void *user)
{
    struct watched *w = user;
    const struct cli_args *args = w->streams.read.args;
    if (!w->several)
        return -1;
    if (ct_verifier_begin(w->verifier, on_result, w) != CT_OK)
        return cli_library_error(args->ctx);
    const int code = cli_axis_run(&w->axis, w->verifier, w->watches);
    if (code != CLI_FAILED && ct_verifier_finish(w->verifier) != CT_OK)
        tell_failures(w);
    return code == CLI_FAILED || ct_verdict_writer_flush(w->writer) != CT_OK ? CLI_FAILED : code;
}

/* Passes over captures behind the first one if they are of its run. */
static int pass_over(void *user, const char *path)
{
    struct watched *w = user;
    (void)path;
    return w->opened++ && !w->apart ? w->axis.code : -1;
}

/* ---- an event log in the place of a capture ---- */

static int on_log(void *user, const struct ct_watch_event *events, size_t count)
{
    struct watched *w = user;
    if (ct_verifier_feed(w->verifier, events, count) != CT_OK)
        tell_failures(w);
    return w->printed;
}

static int run_log(struct watched *w, const struct cli_args *args)
{
    static const struct ct_source source = {.name = "fractal"};
    struct ct_programs **programs = &w->streams.read.programs;
    if (!cli_fractal_source_programs(programs, args, ELF, args->operand))
        return CLI_FAILED;
    if (cli_monitors_need_contexts(&w->monitors) &&
        ct_fractal_watch_names(args->ctx, args->operand, *programs) != CT_OK)
        return cli_library_error(args->ctx);
    if (!prepare(w))
        return CLI_FAILED;
    w->origin.buffer = args->operand;
    w->origin.source = &source;
    if (ct_verifier_begin(w->verifier, on_result, w) != CT_OK)
        return cli_library_error(args->ctx);
    int code =
        cli_fractal_source_run(args, args->operand, w->watches, FRACTAL_SOURCE_LOSSES, on_log, w, NULL);
    if (code != CLI_FAILED && ct_verifier_finish(w->verifier) != CT_OK)
        tell_failures(w);
    return ct_verdict_writer_flush(w->writer) == CT_OK ? code : CLI_FAILED;
}

static void tell_sum(const struct watched *w, const struct cli_args *args)
{
    if (args->quiet)
        return;
    const char *more = args->rest_count > 1 ? " and others" : "";
    if (!w->violations)
        cli_say("%s%s: no violation in %llu results", args->operand, more, (unsigned long long)w->results);
    else
        cli_say("%s%s: %llu violations, %llu of them uncertain, in %llu results", args->operand, more,
                (unsigned long long)w->violations, (unsigned long long)w->uncertain,
                (unsigned long long)w->results);
}

static void release(struct watched *w)
{
    ct_verdict_writer_free(w->writer);
    cli_axis_close(&w->axis);
    ct_watcher_free(w->watcher);
    ct_verifier_free(w->verifier);
    cli_monitors_free(&w->monitors);
    ct_watches_free(w->watches);
    cli_results_close(&w->streams.read);
}

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

static int run_capture(struct watched *w, const struct cli_args *args)
{
    struct cli_results *read = &w->streams.read;
    if (!cli_filter_read(&read->filter, args, false) || !cli_programs_new_moved(&read->programs, args, NULL))
        return CLI_FAILED;
    read->other = pass_over;
    return cli_streams_run(&w->streams);
}

static int heading(void *user, const char *buffer, int id)
{
    const struct watched *w = user;
    return ct_verdict_writer_heading(w->writer, buffer, id);
}

static int flush(void *user)
{
    const struct watched *w = user;
    return ct_verdict_writer_flush(w->writer);
}

static int watch(struct watched *w, const struct cli_args *args)
{
    const struct ct_verdict_write_options how = {.size = sizeof how,
                                                 .format = (uint8_t)args->values[FORMAT].number};
    if (!cli_monitors_load(&w->monitors, args))
        return CLI_FAILED;
    if (ct_verdict_writer_new(args->ctx, &how, cli_output_write, stdout, &w->writer) != CT_OK)
        return cli_library_error(args->ctx);
    w->origin.specs = w->monitors.names;
    w->origin.named = w->monitors.count > 1;
    const int code = cli_fractal_source_is_log(args->operand) ? run_log(w, args) : run_capture(w, args);
    if (code != CLI_FAILED)
        tell_sum(w, args);
    return w->failed ? CLI_FAILED : code == CLI_CLEAN && w->violations ? CLI_DAMAGED : code;
}

/* Checks which formats go with which operands: results in order are of one capture, and sums need captures
 * that end. False after a message. */
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
        cli_usage_error(args->command, "--live: --format sums and data are of captures, which end");
    else if (log && args->values[CLI_MONITOR_CLOCK].number == CT_VERIFY_TIMESTAMPS)
        cli_usage_error(args->command,
                        "--clock timestamps: an event log has cycles of its interconnect alone");
    else if (log && (!cli_without_threads(args, "an event log is read") ||
                     !cli_filter_none(args, "an event log is read")))
        return false;
    else if (!sums && !live && args->rest_count > 1 && log)
        cli_usage_error(args->command,
                        "results are those of one event log; of several there are --format sums and data");
    else if (is_together && (args->values[PER_CORE].given || live || log || saved))
        cli_usage_error(args->command, "--captures together: %s",
                        live    ? "trace that comes with --live is one capture"
                        : log   ? "an event log is a run of its own"
                        : saved ? "saved files are of runs that are over; leave it out"
                                : "with --per-core each source is a run of its own; leave one of them out");
    else if (!sums && !live && saved)
        cli_usage_error(args->command,
                        "results are those of captures; of saved files there are --format sums "
                        "and data");
    else if (live && args->rest_count > 1)
        cli_usage_error(args->command, "--live: trace that comes is one capture");
    else
        return true;
    return false;
}

/* Tells whether each capture is a run of its own. */
static bool is_apart(const struct cli_args *args)
{
    const struct cli_value *wish = &args->values[CAPTURES];
    return wish->given ? wish->number != 0
                       : args->values[PER_CORE].given || args->values[FORMAT].number >= SUMS;
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
    if (!cli_monitors_named(args))
        return cli_usage_error(args->command, "monitor what? give --spec FILE");
    struct watched w = {
        .all = args->values[CLI_MONITOR_ALL].given,
        .apart = is_apart(args),
        .streams = {.read = {.args = args, .elf = ELF, .threads = cli_threads(args)},
                    .headings = args->values[FORMAT].number == CT_VERDICT_FORMAT_TEXT,
                    .user = &w,
                    .opened = prepare,
                    .begin = begin,
                    .end = end,
                    .decode = decode_axis,
                    .heading = heading,
                    .flush = flush},
    };
    const int code = watch(&w, args);
    release(&w);
    return code;
}

const struct cli_command cli_command_monitor = {
    .name = "monitor",
    .summary = "check specifications along a trace",
    .operand = "CAPTURE...",
    .many = true,
    .synopsis = "--spec FILE",
    .exit_text =
        "0: no violation, and the trace is clean. 1: there was a violation, or the trace is damaged; with "
        "--format sums and data also when a specification failed in a stream, which is a part of the result. "
        "2: "
        "wrong usage, a specification that does not compile or failed, or something could not be opened, "
        "read or "
        "written.",
    .about =
        "Follows the trace along the program, feeds TeSSLa specifications with the places that "
        "execution comes by, "
        "and prints each violation with its time, function and source line.\n"
        "CAPTURE may be an event log of 'coretap fractal' (docs/fractal.md): its places are access:NAME, "
        "context, addresses and "
        "entry:FUNCTION, at each access to their line of 64 bytes that the log has, its cycles those of the "
        "interconnect, and behind dropped events results are uncertain.\n"
        "Inputs are fed by their sources (codeLine, function_call, function_return, onExecuting, itm_trace), "
        "by "
        "--bind, or by "
        "their names when these are exception, exception_return, gap, overflow, no_access or context. "
        "Each place that "
        "execution comes by is an instant of its own: one that the clock does not tell from the one "
        "before is one "
        "later.\n"
        "Where trace is missing the specifications do not see what ran: results behind it that this could "
        "have changed are marked uncertain.\n"
        "Inputs are also fed by software trace, with its values: itm:3 is what is written to a stimulus "
        "port, "
        "stm:7 or stm:0x10:7 to a channel, dwt:0 what a comparator's data trace tells (dwt:0.read, "
        "dwt:0.write, "
        "dwt:0.address, dwt:0.pc), event:0 an event of the trace unit, context:0x12 one context ID, "
        "context:NAME a "
        "thread or process. An Int "
        "is "
        "the number written, with .signed one with a sign; a Float what its 32 or 64 bits are; a Bool "
        "whether "
        "it is not 0; a Unit that something was written; a String the line that was written, or the name of "
        "a context.\n"
        "All sources that have trace of a core, of all captures that are named, and those of software trace "
        "when an input is fed by it, are one run in the order of "
        "their timestamps, which have to be of one clock; with --captures apart each capture is a run. "
        "Results that hang on the order of two events, "
        "which "
        "timestamps and cycles do not tell, are uncertain, and both events are named. With --per-core each "
        "trace ID is a run of its own; so it is where one source alone has trace. "
        "PLACE@CORE "
        "is a place where one core comes by, as CORE in 'coretap info' is called; with PLACE@each the "
        "specification runs once for each core, and says of which one each result is.\n"
        "With --format sums it adds up what the specifications said of all captures, each of which is one "
        "run unless --captures together says that they are of one system; "
        "in the place of each capture it then takes a file that --format data or 'coretap merge' wrote.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .run = run,
};
