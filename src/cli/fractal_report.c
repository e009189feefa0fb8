/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal report: a log as text, CSV, pictures, Perfetto JSON. */
#include "cli/fractal.h"
#include "cli/fractal_source.h"
#include "cli/fractal_sums.h"
#include "coretap/fractal_sums.h"

enum {
    OPT_ELF,
    OPT_BIAS,
    OPT_CSV,
    OPT_HTML,
    OPT_SVG,
    OPT_PERFETTO,
    OPT_DATA,
    OPT_PROCESS,
    OPT_TOP,
    OPTS
};

/* Returns the selected format, an enum ct_fractal_report_format. */
static unsigned format_of(const struct cli_value *v)
{
    static const uint8_t pictures[] = {CT_FRACTAL_REPORT_SVG_TIMELINE, CT_FRACTAL_REPORT_SVG_PAGES,
                                       CT_FRACTAL_REPORT_SVG_LINES, CT_FRACTAL_REPORT_SVG_SETS};
    if (v[OPT_SVG].given)
        return pictures[v[OPT_SVG].number];
    return v[OPT_CSV].given        ? CT_FRACTAL_REPORT_CSV
           : v[OPT_PERFETTO].given ? CT_FRACTAL_REPORT_PERFETTO
           : v[OPT_HTML].given     ? CT_FRACTAL_REPORT_HTML
                                   : CT_FRACTAL_REPORT_TEXT;
}

/* Reports what the log lacks. Returns CLI_CLEAN or CLI_DAMAGED. */
static int tell_missing(const struct cli_args *args, struct ct_fractal_log *log, uint64_t events,
                        unsigned format)
{
    uint64_t dropped, damaged;
    ct_fractal_reader_losses(ct_fractal_log_reader(log), &dropped, &damaged);
    if (dropped && format != CT_FRACTAL_REPORT_TEXT)
        cli_say("%s: the tracer dropped %llu events, which are missing", args->operand,
                (unsigned long long)dropped);
    if (damaged)
        cli_say("%s: %llu bytes of the log are damaged; only the intact part was used", args->operand,
                (unsigned long long)damaged);
    if (!events)
        cli_say("%s: the log has no events%s", args->operand,
                args->values[OPT_PROCESS].given ? " of this process" : "");
    return damaged || !events ? CLI_DAMAGED : CLI_CLEAN;
}

/* Prints the report of an open log. Returns an enum cli_exit. */
static int report_log(const struct cli_args *args, struct ct_fractal_log *log)
{
    const struct cli_value *v = args->values;
    char own[CLI_FRACTAL_PATH];
    const char *elf = v[OPT_ELF].given
                          ? v[OPT_ELF].text
                          : cli_fractal_source_elf(args, args->operand, (unsigned)v[OPT_PROCESS].number, own);
    struct ct_fractal_names_options named =
        cli_fractal_names_options(args, elf, v[OPT_BIAS].given ? &v[OPT_BIAS].number : NULL);
    named.one_process = v[OPT_PROCESS].given;
    named.process = (uint8_t)v[OPT_PROCESS].number;
    const struct ct_fractal_report_write_options how = {
        .size = sizeof how, .rows = v[OPT_TOP].number, .format = (uint8_t)format_of(v)};
    struct ct_fractal_report *report = NULL;
    const int rc = ct_fractal_report_new(args->ctx, log, &named, &report);
    const uint64_t events = rc == CT_OK ? ct_fractal_sums_totals(ct_fractal_report_sums(report))->events : 0;
    const int code =
        rc == CT_OK
            ? cli_fractal_written(args, ct_fractal_report_write(report, &how, cli_output_write, stdout))
            : cli_library_error(args->ctx);
    ct_fractal_report_free(report);
    return code == CLI_CLEAN ? tell_missing(args, log, events, how.format) : code;
}

/* Prints the sum of several logs or saved sums. Returns an enum cli_exit. */
static int run_sums(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    const struct cli_fractal_sums_wishes wishes = {.elf = v[OPT_ELF].text,
                                                   .bias = v[OPT_BIAS].given ? &v[OPT_BIAS].number : NULL,
                                                   .most = v[OPT_TOP].number,
                                                   .data = v[OPT_DATA].given,
                                                   .one_process = v[OPT_PROCESS].given,
                                                   .process = (uint8_t)v[OPT_PROCESS].number};
    for (int i = 0; i < args->rest_count && v[OPT_PROCESS].given; i++)
        if (cli_fractal_sums_is_file(args->rest[i]))
            return cli_usage_error(args->command,
                                   "%s: a file of saved sums does not separate processes, which --process "
                                   "needs; name the logs, or save the sums with --process",
                                   args->rest[i]);
    if (v[OPT_CSV].given + v[OPT_HTML].given + v[OPT_SVG].given + v[OPT_PERFETTO].given)
        return cli_usage_error(args->command,
                               "--csv, --html, --svg and --perfetto show the times of one log; saved sums "
                               "and several logs have no common time; name one log, or leave the option out");
    return cli_fractal_sums_run(args, &wishes);
}

/* Reports one log, or the sum of several. Returns an enum cli_exit. */
static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    if (v[OPT_CSV].given + v[OPT_HTML].given + v[OPT_SVG].given + v[OPT_PERFETTO].given + v[OPT_DATA].given >
        1)
        return cli_usage_error(
            args->command,
            "--csv, --html, --svg, --perfetto and --data exclude each other; give only one of them");
    if (v[OPT_DATA].given || args->rest_count > 1 || cli_fractal_sums_is_file(args->operand))
        return run_sums(args);
    struct ct_fractal_log *log;
    if (ct_fractal_log_open(args->ctx, args->operand, &log) != CT_OK)
        return cli_library_error(args->ctx);
    const int code = report_log(args, log);
    ct_fractal_log_free(log);
    return code;
}

static const char *const svg_words[] = {"timeline", "pages", "lines", "sets", NULL};

static const struct cli_option options[OPTS] = {
    [OPT_ELF] = CLI_TEXT_OPTION("elf", 0, "FILE",
                                "The program, for names of functions and objects. Default: the file that the "
                                "log names, if it exists."),
    [OPT_BIAS] = CLI_HEX_OPTION("bias", 0, "HEX", UINT64_C(0xffffffffffff),
                                "Load address of the program, if the log does not give it."),
    [OPT_CSV] = CLI_FLAG_OPTION(
        "csv", 0, "Print every event as comma-separated values: time,va,pa,op,initiator,kind,symbol."),
    [OPT_HTML] = CLI_FLAG_OPTION("html", 0, "One HTML page with the pictures and tables."),
    [OPT_SVG] = CLI_CHOICE_OPTION(
        "svg", 0, svg_words,
        "One picture: functions, pages, lines of the busiest page, or cache sets, over time."),
    [OPT_PERFETTO] = CLI_FLAG_OPTION("perfetto", 0, "JSON for ui.perfetto.dev and chrome://tracing."),
    [OPT_DATA] = CLI_FLAG_OPTION("data", 0,
                                 "Print the sums of the logs, by names and offsets, as input for 'coretap "
                                 "merge' and for this command."),
    [OPT_PROCESS] =
        CLI_NUMBER_OPTION("process", 0, "N", 0, 255,
                          "Report only the accesses of process N of the logs, with the names of its program. "
                          "0 is the program; 1 and up are forked children and those of --with."),
    [OPT_TOP] =
        CLI_NUMBER_OPTION("top", 0, "N", 1, 256, "Number of lines in each table of the text. Default: 15."),
};

const struct cli_command cli_fractal_report = {
    .name = "fractal report",
    .summary = "report on an event log: functions over time, heatmaps, milestones",
    .operand = "LOG...",
    .many = true,
    .about =
        "Prints the contents of a FRACTAL log: totals; the functions and objects with the most last-level "
        "misses; the runs that can be distinguished; for observation points, how often and how regularly "
        "they were reached. Or prints the events themselves, or pictures.\nOf several logs it adds up "
        "everything that does not depend on load addresses: functions, objects, sections and regions by "
        "program and name, pages by their offsets in the program's file or region, observation points with "
        "their times. Instead of a log, coretap also accepts a file written by --data or 'coretap merge'.",
    .examples = "coretap fractal report log\n"
                "coretap fractal report --html -o log.html log\n",
    .exit_text =
        "0: done. 1: done, but a log is damaged, and its undamaged part was used, or has no events. 2: "
        "wrong usage, or "
        "something could not be opened, read or written.",
    .options = options,
    .option_count = OPTS,
    .uses = CLI_USES_PROGRAMS | CLI_USES_NAMES,
    .run = run,
};
