/* SPDX-License-Identifier: Apache-2.0 */
/* coretap timing: how long edges, blocks, functions and intervals between watchpoints take. */
#include <string.h>

#include "cli/commands.h"
#include "cli/fractal_source.h"
#include "cli/output.h"
#include "cli/results.h"
#include "cli/timing_view.h"
#include "coretap/format.h"
#include "coretap/fractal_watch.h"

enum {
    ELF = CLI_CAPTURE_OPTIONS,
    PAIR,
    EDGES,
    BLOCKS,
    LONGEST,
    TOP,
    FORMAT,
    FUNCTION,
    TARGETS,
    TOGETHER,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS - 1,
};

enum {
    TEXT,
    JSON,
    SVG,
    DATA,
};

static const char *const formats[] = {"text", "json", "svg", "data", NULL};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [ELF] = CLI_ELF_FILES,
    [PAIR] = CLI_PAIR_OPTION,
    [EDGES] = CLI_FLAG_OPTION("edges", 0, "Also print a table of edges."),
    [BLOCKS] = CLI_FLAG_OPTION("blocks", 0, "Also print a table of basic blocks."),
    [LONGEST] =
        CLI_FLAG_OPTION("longest", 0,
                        "Also print a table of the longest runs of functions: their cycles, and where they "
                        "are: capture, buffer, trace ID, and window (--from, --to) of the stream."),
    [TOP] = CLI_NUMBER_OPTION("top", 'n', "N", 1, 1000000000,
                              "Number of lines of each table, those with most cycles first. Default: 20."),
    [FORMAT] =
        CLI_CHOICE_OPTION("format", 'f', formats,
                          "text; json, which has everything, with histograms; svg, a plot (see --function); "
                          "data, the sums, as input for 'coretap merge' and 'coretap timing'."),
    [FUNCTION] = CLI_TEXT_OPTION(
        "function", 0, "NAME",
        "With --format svg: plot the inclusive times of this function. Default: the first pair."),
    [TARGETS] =
        CLI_TEXT_OPTION("targets", 0, "FILE", "Targets of computed branches, as for 'coretap graph'."),
    [TOGETHER] = CLI_FLAG_OPTION("together", 0,
                                 "Add up the streams of one capture, as those of several captures are."),
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_WINDOW,
    CLI_FILTER_FREQUENCY,
    CLI_FILTER_WHO,
    CLI_FILTER_MODULE,
};

struct measuring {
    struct cli_results read;
    struct ct_timing_sums *sums;
    struct ct_timing_writer *writer;
    bool together; /* sums are printed instead of each stream */
};

/* ---- printing ---- */

/* Opens the writer of the output, with the programs that ran, or NULL. Returns false after a message. */
static bool open_writer(struct measuring *m, struct ct_programs *programs)
{
    static const uint8_t written[] = {
        [TEXT] = CT_TIMING_FORMAT_TEXT, [JSON] = CT_TIMING_FORMAT_JSON, [SVG] = CT_TIMING_FORMAT_SVG};
    const struct cli_args *args = m->read.args;
    if (args->values[FORMAT].number == DATA)
        return true;
    const struct ct_timing_write_options how = {.size = sizeof how,
                                                .programs = programs,
                                                .function = args->values[FUNCTION].text,
                                                .top = (uint64_t)args->values[TOP].number,
                                                .format = written[args->values[FORMAT].number],
                                                .edges = args->values[EDGES].given,
                                                .blocks = args->values[BLOCKS].given,
                                                .longest = args->values[LONGEST].given};
    if (ct_timing_writer_new(args->ctx, &how, cli_output_write, stdout, &m->writer) == CT_OK)
        return true;
    cli_library_error(args->ctx);
    return false;
}

/* Returns an error, except a write error, which is reported at the end of the command. */
static int unless_told(int result)
{
    return result == CT_ERR_IO ? CT_OK : result;
}

/* Reads the named targets even when no control flow is printed, so that a wrong file is reported. */
static int check_targets(const struct measuring *m)
{
    struct ct_program *first = ct_programs_at(m->read.programs, 0);
    struct ct_cfg *cfg;
    return m->read.args->values[TARGETS].given && first ? ct_program_cfg(first, &cfg) : CT_OK;
}

/* ---- stream by stream ---- */

static int show_stream(struct measuring *m, const struct ct_buffer *buffer, const struct ct_stream *stream)
{
    const struct ct_timing *timing =
        ct_timing_sums_stream(m->sums, ct_session_lane(m->read.session, stream->id));
    const struct ct_timing_origin origin = {.buffer = buffer->name,
                                            .core = ct_source_core(stream->source),
                                            .losses = stream->stats.losses,
                                            .id = stream->id};
    return timing ? unless_told(ct_timing_writer_stream(m->writer, timing, &origin)) : CT_OK;
}

/* Shows the streams of a buffer in the order of their IDs. */
static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    struct measuring *m = user;
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    int rc = check_targets(m);
    for (unsigned id = 0; id < 128; id++)
        for (size_t i = 0; i < count && !rc; i++)
            if (streams[i].id == id)
                rc = show_stream(m, buffer, &streams[i]);
    return rc;
}

/* ---- an event log in place of a capture ---- */

#define MARKS 5 /* number of watchpoints that the first pair adds in front of all others */

static int on_log(void *user, const struct ct_watch_event *events, size_t count)
{
    return ct_timing_feed(user, events, count);
}

/* Reads the names of the log's processes if a pair has one. Returns false after a message. */
static bool find_contexts(struct measuring *m)
{
    const struct cli_args *args = m->read.args;
    bool named = false;
    for (size_t i = 0; i < args->list_count; i++)
        named |= args->list[i].option == PAIR && strstr(args->list[i].text, "context:");
    return !named || ct_fractal_watch_names(args->ctx, args->operand, m->read.programs) == CT_OK ||
           cli_library_error(args->ctx) == CLI_CLEAN;
}

static int measure_log(struct measuring *m, struct ct_timing *timing, struct ct_watches *watches)
{
    const struct cli_args *args = m->read.args;
    if (!cli_timing_add_pairs(timing, watches, args, PAIR))
        return CLI_FAILED;
    const int code = cli_fractal_source_run(args, args->operand, watches, MARKS, on_log, timing, NULL);
    const struct ct_timing_origin origin = {
        .buffer = args->operand, .core = "fractal", .losses.gaps = ct_timing_totals_of(timing).gaps};
    if (code != CLI_FAILED && unless_told(ct_timing_writer_stream(m->writer, timing, &origin)))
        return cli_library_error(args->ctx);
    return code;
}

static int run_log(struct measuring *m)
{
    const struct cli_args *args = m->read.args;
    const struct ct_timing_options wishes = {.size = sizeof wishes};
    struct ct_watches *watches = NULL;
    struct ct_timing *timing = NULL;
    bool has_pair = false;
    if (!cli_without_threads(args, "an event log is read") || !cli_filter_none(args, "an event log is read"))
        return CLI_FAILED;
    for (size_t i = 0; i < args->list_count; i++)
        has_pair |= args->list[i].option == PAIR;
    if (!has_pair || args->values[EDGES].given || args->values[BLOCKS].given || args->values[FUNCTION].given)
        return cli_usage_error(args->command, "an event log has only memory accesses, without functions, "
                                              "edges or blocks; measure pairs of places with --pair");
    if (args->rest_count > 1 || args->values[TOGETHER].given || args->values[FORMAT].number == DATA)
        return cli_usage_error(args->command, "the times of an event log cannot be added up; name only this "
                                              "log, without --together and --format data");
    const bool fine = open_writer(m, NULL) &&
                      cli_fractal_source_programs(&m->read.programs, args, ELF, args->operand) &&
                      find_contexts(m);
    int code = fine ? CLI_CLEAN : CLI_FAILED;
    if (fine && (ct_timing_new(args->ctx, &wishes, &timing) != CT_OK ||
                 ct_watches_new(args->ctx, m->read.programs, &watches) != CT_OK))
        code = cli_library_error(args->ctx);
    if (code == CLI_CLEAN)
        code = measure_log(m, timing, watches);
    ct_timing_free(timing);
    ct_watches_free(watches);
    return code;
}

/* ---- the whole command ---- */

static bool open_sums(struct measuring *m)
{
    const struct cli_args *args = m->read.args;
    const struct ct_timing_sums_options wishes = {.size = sizeof wishes, .raw_names = args->raw_names};
    if (ct_timing_sums_new(args->ctx, &wishes, &m->sums) != CT_OK) {
        cli_library_error(args->ctx);
        return false;
    }
    m->read.analysis = ct_timing_sums_analysis(m->sums);
    return cli_timing_sum_pairs(m->sums, args, PAIR) &&
           cli_programs_new(&m->read.programs, args, args->values[TARGETS].text) &&
           open_writer(m, m->read.programs);
}

/* Returns whether streams are printed one by one: those of a single capture, unless sums are wanted. */
static bool wants_streams(const struct cli_args *args)
{
    return args->rest_count == 1 && !args->values[TOGETHER].given && args->values[FORMAT].number != DATA &&
           !cli_results_is_file(ct_timing_sums_kind(), args->operand);
}

static int measure(struct measuring *m)
{
    const struct cli_args *args = m->read.args;
    m->read.file_why = "a file of times has only the sums of whole captures";
    if (!cli_filter_read(&m->read.filter, args, false) || !open_sums(m))
        return CLI_FAILED;
    if (!m->together) {
        m->read.decoded = on_decoded;
        m->read.user = m;
    }
    int code = cli_results_read(&m->read);
    if (code == CLI_FAILED || m->read.kept_nothing)
        return code;
    if (m->read.has_file && !m->read.has_capture && !cli_programs_of(m->read.programs, args, ELF, NULL))
        return CLI_FAILED;
    struct ct_timing_found found;
    if (ct_timing_sums_find(m->sums, &found) != CT_OK)
        return cli_library_error(args->ctx);
    const bool data = args->values[FORMAT].number == DATA;
    if (data) {
        const int written = cli_results_save(args->ctx, m->read.analysis, stdout);
        code = cli_worse(code, written);
    } else if (m->together && (check_targets(m) || unless_told(ct_timing_writer_sums(m->writer, m->sums))))
        return cli_library_error(args->ctx);
    cli_results_note_new_stacks(&m->read, found.totals.renewed);
    const struct ct_empty_options asked = {
        .result = "the table of times is", .ran = &m->read.ran, .times = &found};
    if (m->read.ran.instructions && code != CLI_FAILED)
        code = cli_worse(code, cli_empty(args, &asked));
    return cli_worse(code, cli_results_nothing_ran(&m->read, code, "the table of times is", data));
}

/* Returns whether any operand is an event log. */
static bool has_log(const struct cli_args *args)
{
    bool found = false;
    for (int i = 0; i < args->rest_count && !found; i++)
        found = cli_fractal_source_is_log(args->rest[i]);
    return found;
}

/* Says why a plot has no times. */
static int tell_nothing_to_plot(const struct cli_args *args)
{
    const char *function = args->values[FUNCTION].text;
    if (function)
        cli_say(
            "--function %s: no run of this function was measured from call to return; nothing is plotted; "
            "name a function whose inclusive count is not 0 in 'coretap timing'",
            function);
    else
        cli_say("--format svg: no time between two places was measured; nothing is plotted; give --pair with "
                "places that execution reaches, or --function");
    return CLI_DAMAGED;
}

static int run(const struct cli_args *args)
{
    if (args->values[FUNCTION].given && args->values[FORMAT].number != SVG && !has_log(args))
        return cli_usage_error(args->command, "--function works only with --format svg; leave it out, "
                                              "because tables have all functions (--top limits how many)");
    struct measuring m = {.read = {.args = args, .elf = ELF, .threads = cli_threads(args)},
                          .together = !wants_streams(args)};
    int code = has_log(args) ? run_log(&m) : measure(&m);
    if (m.writer && code != CLI_FAILED)
        (void)ct_timing_writer_end(m.writer);
    if (args->values[FORMAT].number == SVG && !ct_timing_writer_count(m.writer) && code != CLI_FAILED)
        code = tell_nothing_to_plot(args);
    ct_timing_writer_free(m.writer);
    cli_results_close(&m.read);
    ct_timing_sums_free(m.sums);
    return code;
}

const struct cli_command cli_command_timing = {
    .name = "timing",
    .summary = "measure how long edges, functions and paths between watchpoints take",
    .operand = "CAPTURE...",
    .many = true,
    .about = "Adds up the cycles of each edge of the program, each basic block, each function (exclusive and "
             "inclusive), and between watchpoints: count, minimum, mean, maximum, standard deviation and a "
             "histogram.\nFor several captures, and with --together, the times of all streams are added up; "
             "addresses are then those in the program files. Instead of a capture, coretap also accepts a "
             "file written by 'coretap timing --format data' or 'coretap merge'.\nFor an event log of "
             "'coretap fractal' (docs/fractal.md) only pairs are measured, between addresses and "
             "entry:FUNCTION, in cycles of its interconnect.\nRuns of functions follow calls and returns. "
             "The time of exceptions and of other threads in between is counted separately; of a recursion "
             "the outermost run counts. The cycles of all edges, and the cycles that belong to no "
             "instruction (unplaced), add up to all cycles of the trace.",
    .examples = "coretap timing capture\n"
                "coretap timing --pair 'entry:work return:work' capture\n"
                "coretap timing --format svg --function work -o work.svg capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL | CLI_USES_SYMBOL_MAPS,
    .run = run,
};
