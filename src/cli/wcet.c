/* SPDX-License-Identifier: Apache-2.0 */
/* coretap wcet: the longest time that a function can take. */
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/wcet_run.h"

enum {
    ENTRY = CLI_CAPTURE_OPTIONS,
    ELF,
    BOUNDS,
    QUANTILE,
    UNOBSERVED,
    NESTED,
    LP,
    SECONDS,
    FORMAT,
    TARGETS,
    SOURCE,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS - 1,
};

static const char *const formats[] = {"text", "json",   "dot",
                                      "html", "bounds", NULL}; /* enum ct_wcet_format */
static const char *const unobserved[] = {"assume", "exclude", NULL};
static const char *const nested[] = {"observed", "product", NULL};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [ENTRY] = CLI_TEXT_OPTION("entry", 'e', "FUNCTION", "Function to bound."),
    [ELF] = CLI_ELF_FILES,
    [BOUNDS] = CLI_TEXT_OPTION("bounds", 0, "FILE",
                               "File with loop bounds, recursion depths, calls that are measured as a whole, "
                               "and infeasible paths (docs/analysis.md)."),
    [QUANTILE] = CLI_TEXT_OPTION("quantile", 0, "Q",
                                 "Use for each piece not its largest time, but the Q-quantile (as 0.99) of "
                                 "its times, and at least the mean."),
    [UNOBSERVED] = CLI_CHOICE_OPTION("unobserved", 0, unobserved,
                                     "Paths that were never observed: assume the slowest observed rate for "
                                     "their instructions, or exclude them."),
    [NESTED] = CLI_CHOICE_OPTION("nested", 0, nested,
                                 "Inner loops whose bounds were only observed: allow as many iterations in "
                                 "total as were observed, or the product of the bounds."),
    [LP] = CLI_TEXT_OPTION("lp", 0, "FILE", "Write the model to this file, in CPLEX LP format."),
    [SECONDS] = CLI_NUMBER_OPTION("seconds", 0, "N", 1, UINT32_MAX,
                                  "Processor time for the search for the longest path. Default: 30."),
    [FORMAT] = CLI_CHOICE_OPTION("format", 'f', formats,
                                 "text; json; dot: the longest path for graphviz; html: a page with the "
                                 "path, its source and the assumptions; bounds: a file for --bounds, with "
                                 "all loops and recursions and the numbers that were used."),
    [TARGETS] =
        CLI_TEXT_OPTION("targets", 0, "FILE", "Targets of computed branches, as for 'coretap graph'."),
    [SOURCE] = CLI_FLAG_OPTION(
        "source", 0,
        "With text: also print the source of the longest path, with executions and cycles of each line."),
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_WINDOW,
    CLI_FILTER_FREQUENCY,
    CLI_FILTER_WHO,
    CLI_FILTER_MODULE,
};

static int print(const struct cli_args *args, const struct ct_wcet_view *view)
{
    const struct ct_wcet_write_options how = {.size = sizeof how,
                                              .format = (uint8_t)args->values[FORMAT].number,
                                              .source = args->values[SOURCE].given};
    const int rc = ct_wcet_write(args->ctx, view, &how, cli_output_write, stdout);
    /* A write error is reported at the end of the command. */
    return !rc || (rc == CT_ERR_IO && ferror(stdout)) ? CLI_CLEAN : cli_library_error(args->ctx);
}

static int analyse(struct cli_wcet *w, const struct cli_args *args)
{
    struct cli_wcet_wish wish = {.entry = args->values[ENTRY].text,
                                 .bounds = args->values[BOUNDS].text,
                                 .lp = args->values[LP].text,
                                 .seconds = args->values[SECONDS].number,
                                 .exclude = args->values[UNOBSERVED].number == 1,
                                 .product = args->values[NESTED].number == 1};
    if (!cli_wcet_parse_quantile(args, QUANTILE, &wish.quantile) ||
        !cli_filter_read(&w->read.filter, args, false) ||
        !cli_wcet_open(w, args, ELF, args->values[TARGETS].text, &wish))
        return CLI_FAILED;
    const int code = cli_wcet_run(w);
    return w->view.wcet && print(args, &w->view) != CLI_CLEAN ? CLI_FAILED : code;
}

static int run(const struct cli_args *args)
{
    struct cli_wcet w = {0};
    if (!args->values[ENTRY].given)
        return cli_usage_error(args->command, "--entry FUNCTION is missing; it names the function to bound");
    for (int i = 0; i < args->rest_count; i++)
        if (strcmp(args->rest[i], "-") == 0)
            return cli_usage_error(args->command,
                                   "the trace is read twice, so it cannot come from standard input; save it "
                                   "to a file");
    if (args->values[SOURCE].given && args->values[FORMAT].number != CT_WCET_FORMAT_TEXT)
        return cli_usage_error(
            args->command,
            "--source works only with --format text; choose that, or html, which always shows the source");
    const int code = analyse(&w, args);
    cli_wcet_close(&w);
    return code;
}

const struct cli_command cli_command_wcet = {
    .name = "wcet",
    .summary = "bound the execution time of a function",
    .operand = "CAPTURE...",
    .many = true,
    .synopsis = "--entry FUNCTION",
    .about = "Finds the longest path through a function and everything that it calls. The inputs are the "
             "control flow of the program, the largest measured time of each piece, and loop bounds. Loop "
             "bounds come from a file, from comments in the source (loop bound: N), or from the code itself; "
             "otherwise the observed number of iterations is used, which is not a safe bound and is marked. "
             "The problem is solved as an integer linear program.\nPrints the bound, the largest observed "
             "time of a whole run, the blocks of the longest path with their share, the loops, and the "
             "assumptions made for everything that was never observed.",
    .whole = "the longest path needs the times of all functions that --entry reaches; use --module to select "
             "a program",
    .examples = "coretap wcet --entry work --elf program capture\n"
                "coretap wcet --entry work --bounds bounds.txt --lp work.lp capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .run = run,
};
