/* SPDX-License-Identifier: Apache-2.0 */
/* coretap cover: which code ran. */
#include "cli/commands.h"
#include "cli/cover_print.h"

enum option {
    ELF = CLI_CAPTURE_OPTIONS,
    FORMAT,
    CONTEXTS,
    FUNCTIONS,
    ALL,
    SHARD,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS,
};

static const char *const formats[] = {"text", "lcov", "cobertura", "json", "html", "data", "sonarqube", NULL};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [ELF] = CLI_ELF_OPTION,
    [FORMAT] = CLI_CHOICE_OPTION(
        "format", 'f', formats,
        "text: a summary. lcov: a tracefile for genhtml. cobertura: XML. json: everything except "
        "instructions. html: one page with source and instructions. data: the counts, as input for 'coretap "
        "merge' and 'coretap cover'. sonarqube: SonarQube's XML of generic coverage."),
    [CONTEXTS] = CLI_FLAG_OPTION(
        "contexts", 0,
        "With text and json: also print the sums of each context (context ID, VMID, exception level)."),
    [FUNCTIONS] = CLI_FLAG_OPTION("functions", 0, "With text: print a line for each function."),
    [ALL] = CLI_FLAG_OPTION("all-functions", 0,
                            "Also count functions without source lines. By default they count only when no "
                            "function has source lines."),
    [SHARD] = CLI_SHARD_OPTION,
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_TABLE,
};

/* Refuses options that do not apply to the format. Returns false after a message. */
static bool check_options(const struct cli_args *args)
{
    const uint64_t format = args->values[FORMAT].number;
    if (args->values[SHARD].given && format != CLI_COVER_DATA)
        cli_usage_error(args->command,
                        "--shard works only with --format data; add that, or leave --shard out");
    else if (args->values[CONTEXTS].given && format != CLI_COVER_TEXT && format != CLI_COVER_JSON &&
             format != CLI_COVER_DATA)
        cli_usage_error(args->command,
                        "--contexts works only with --format text and json; format %s has only the sums of "
                        "all contexts; choose another format, or leave --contexts out",
                        formats[format]);
    else if (args->values[FUNCTIONS].given && format != CLI_COVER_TEXT)
        cli_usage_error(
            args->command,
            "--functions works only with --format text; choose that format, or leave --functions out");
    else
        return true;
    return false;
}

static int run(const struct cli_args *args)
{
    if (!check_options(args))
        return CLI_FAILED;
    struct cli_counts c = {0};
    c.contexts = args->values[CONTEXTS].given;
    c.all_functions = args->values[ALL].given;
    c.read.threads = cli_threads(args);
    c.read.part = &args->values[SHARD];
    int code = cli_filter_read(&c.read.filter, args, false) ? cli_counts_read(&c, args, ELF) : CLI_FAILED;
    if (code != CLI_FAILED && !c.read.kept_nothing) {
        const enum cli_cover_format format = (enum cli_cover_format)args->values[FORMAT].number;
        const bool written = format == CLI_COVER_DATA;
        const int nothing = cli_results_nothing_ran(&c.read, code, "the coverage is", written);
        int reported = nothing && !written
                           ? nothing
                           : cli_cover_print(stdout, &c, format, args->values[FUNCTIONS].given);
        if (reported == CLI_CLEAN && !nothing) {
            cli_counts_tell_outside(&c, "the coverage is");
            reported = cli_counts_tell_unrun(&c);
        }
        reported = cli_worse(nothing, reported);
        code = cli_worse(code, reported);
    }
    cli_counts_close(&c);
    return code;
}

const struct cli_command cli_command_cover = {
    .name = "cover",
    .summary = "report which functions, lines, instructions and branches ran",
    .operand = "CAPTURE...",
    .many = true,
    .about = "Decodes the capture along its programs and reports which code was executed, and how often: "
             "functions, source lines (from debug information), instructions, both directions of each "
             "conditional branch, and calls. docs/analysis.md defines each number.\nCounts of several "
             "captures are added up. Instead of a capture, coretap also accepts a coverage file written by "
             "'coretap cover --format data' or 'coretap merge'.",
    .examples = "coretap cover --elf program capture\n"
                "coretap cover --format html -o cover.html capture\n"
                "coretap cover --format data -o first.cov capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .run = run,
};
