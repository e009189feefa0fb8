/* SPDX-License-Identifier: Apache-2.0 */
/* coretap spec: writes specifications from measured times (paper 2, continuous validation of timing). A
 * specification measures the times, too, so that measured and specified times mean the same. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/results.h"
#include "cli/spec_measure.h"
#include "coretap/timing.h"

enum {
    TIMING = CLI_CAPTURE_OPTIONS,
    ELF,
    FUNCTION,
    MATCH,
    MOST,
    PAIR,
    MARGIN,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS - 1,
};

enum {
    MOST_MARGIN = 1000, /* in percent */
    USUAL_MARGIN = 5,
    USUAL_MOST = 64
};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [TIMING] = CLI_FLAG_OPTION("timing", 0,
                               "What to specify: the shortest and longest times of functions and of pairs of "
                               "places. There are no other kinds."),
    [ELF] = CLI_ELF_FILES,
    [FUNCTION] =
        CLI_LIST_OPTION("function", 0, "NAME",
                        "Measure from the call of this function to its return. Can be given more than once. "
                        "Default, without --pair: all functions that ran from call to return."),
    [MATCH] =
        CLI_LIST_OPTION("match", 'm', "GLOB",
                        "Use only functions whose name matches, as 'parse_*'. Can be given more than once."),
    [MOST] = CLI_NUMBER_OPTION("most", 0, "N", 1, SPEC_WAYS,
                               "Use only the N functions that took the most cycles. Default: 64."),
    [PAIR] = CLI_LIST_OPTION("pair", 'p', "\"FROM TO\"",
                             "Measure from one place to another: FILE:LINE, 0xADDRESS, entry:NAME or "
                             "return:NAME, with a space between. Can be given more than once."),
    [MARGIN] = CLI_TEXT_OPTION(
        "margin", 0, "PERCENT",
        "Margin around the measured times that is still allowed, 0 to 1000 percent, as 5 or 5%. Default: 5."),
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_WINDOW,
    CLI_FILTER_FREQUENCY,
    CLI_FILTER_WHO,
    CLI_FILTER_MODULE,
};

/* ---- the places to measure ---- */

static bool has_option(const struct cli_args *args, size_t option)
{
    return args->values[option].given;
}

static bool add_named(struct cli_spec_ways *ways, const struct cli_args *args)
{
    bool fine = true;
    for (size_t i = 0; fine && i < args->list_count; i++) {
        if (args->list[i].option == FUNCTION)
            fine = cli_spec_add_function(ways, args->list[i].text);
        else if (args->list[i].option == PAIR)
            fine = cli_spec_add_pair(ways, args->list[i].text);
    }
    return fine;
}

static bool is_wanted(const struct cli_args *args, const char *name)
{
    bool wanted = !has_option(args, MATCH);
    for (size_t i = 0; !wanted && i < args->list_count; i++)
        wanted = args->list[i].option == MATCH && fnmatch(args->list[i].text, name, 0) == 0;
    return wanted;
}

/* Reports that there is no function to specify. Returns an enum cli_exit. */
static int none_found(const struct cli_spec_functions *functions, const struct cli_args *args)
{
    const bool match = has_option(args, MATCH);
    const struct ct_empty_options asked = {.result = "the specification is",
                                           .ran = &functions->ran,
                                           .items = match ? CT_EMPTY_SELECTED_RUNS : CT_EMPTY_FUNCTION_RUNS};
    if (functions->ran.instructions)
        return cli_empty(args, &asked);
    cli_say("no function%s ran from call to return with cycle counts, so there is nothing to specify; name "
            "the program with --elf, and record with cycle counts",
            match ? " that --match selects" : "");
    return CLI_FAILED;
}

/* Adds all functions that ran, the longest first. Returns an enum cli_exit. */
static int add_all(struct cli_spec_ways *ways, const struct cli_args *args)
{
    const size_t most = has_option(args, MOST) ? args->values[MOST].number : USUAL_MOST;
    struct cli_spec_functions functions = {0};
    size_t left = 0, too_long = 0;
    bool fine = cli_spec_functions_find(&functions, args, ELF) != CLI_FAILED;
    cli_spec_functions_sort(&functions);
    for (size_t i = 0; fine && i < functions.count; i++) {
        const bool wanted = is_wanted(args, functions.all[i].name);
        const bool fits = strlen(functions.all[i].name) <= SPEC_FUNCTION;
        too_long += wanted && !fits;
        if (wanted && fits && ways->count < most)
            fine = cli_spec_add_function(ways, functions.all[i].name);
        else
            left += wanted && fits;
    }
    const int code = !fine                    ? CLI_FAILED
                     : ways->count            ? CLI_CLEAN
                     : functions.kept_nothing ? CLI_DAMAGED
                                              : none_found(&functions, args);
    cli_spec_functions_free(&functions);
    if (code == CLI_CLEAN && left && !args->quiet)
        cli_say("%zu more functions took fewer cycles and are left out; select more with --most, or others "
                "with --match",
                left);
    if (code == CLI_CLEAN && too_long)
        cli_say(
            "%zu functions are left out, because their names are longer than %d bytes; use --pair for them",
            too_long, SPEC_FUNCTION);
    return code;
}

/* ---- the specification ---- */

/* Prints the bounds of an interval. The interval of inPast excludes its far end, so the bound is one tick
 * larger than measured. */
static void print_way(const struct cli_spec_way *w, uint64_t percent)
{
    const char *name = w->name;
    const unsigned __int128 less = (unsigned __int128)w->least * (percent < 100 ? 100 - percent : 0) / 100;
    const unsigned __int128 more = ((unsigned __int128)w->most * (100 + percent) + 99) / 100 + 1;
    const uint64_t low = (uint64_t)less;
    const uint64_t high = more > INT64_MAX ? (uint64_t)INT64_MAX : (uint64_t)more;
    if (!w->count) {
        printf("\n-- %s: never seen from start to end\n", name);
        return;
    }
    printf("\n-- %s: seen %" PRIu64 " time%s, %" PRIu64 " to %" PRIu64 " cycles\n", name, w->count,
           w->count == 1 ? "" : "s", w->least, w->most);
    if (low)
        printf("define %s_min_violation := on %s_end if inPast(%s_start, %" PRIu64
               ")\nout %s_min_violation\n",
               name, name, name, low, name);
    printf(
        "define %s_max_violation := on %s_end if eventCount(%s_start) > 0 and not inPast(%s_start, %" PRIu64
        ")\nout %s_max_violation\n",
        name, name, name, name, high, name);
}

static bool is_any_measured(const struct cli_spec_ways *ways)
{
    bool any = false;
    for (size_t i = 0; i < ways->count; i++)
        any |= ways->all[i].count > 0;
    return any && ways->timed;
}

static void print_spec(const struct cli_spec_ways *ways, const struct cli_args *args, uint64_t percent)
{
    printf("-- Times from one place to the next, as measured, and %" PRIu64 " %% beyond.\n"
           "-- Times are cycles: coretap monitor --spec THIS --elf PROGRAM CAPTURE\n%s",
           percent, ways->text);
    for (size_t i = 0; i < ways->count; i++) {
        print_way(&ways->all[i], percent);
        if (!ways->all[i].count && !args->quiet)
            cli_say("%s: it never ran from start to end in the trace; it is not in the specification",
                    ways->all[i].name);
    }
}

/* Reads a margin: digits, with or without a percent sign. Returns false for anything else. */
static bool read_margin(const char *text, uint64_t *percent)
{
    const size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 4 || (text[digits] && strcmp(text + digits, "%") != 0))
        return false;
    *percent = strtoull(text, NULL, 10);
    return *percent <= MOST_MARGIN;
}

/* Refuses a saved file, because its times mean something else. There, a run lasts from a call to its own
 * return, without exceptions and other threads, and only the outermost run of a recursion counts. A
 * specification sees starts and ends in their order, with everything in between. */
static int refuse_saved(const struct cli_args *args, const char *path)
{
    if (cli_results_is_file(ct_timing_sums_kind(), path))
        return cli_usage_error(
            args->command,
            "%s: a file of times excludes the time of exceptions and other threads, and does not record the "
            "order of starts and ends; a specification includes that time, so its own captures could violate "
            "bounds from the file; name the captures from which it was made",
            path);
    return cli_usage_error(args->command,
                           "%s: a saved file has only sums, but a specification needs the times between "
                           "starts and ends; name the captures from which it was made",
                           path);
}

/* Checks the options. Without named functions the operands are read twice, first to find functions, so none
 * may be standard input. */
static int check(const struct cli_args *args, bool named)
{
    if (!args->values[TIMING].given)
        return cli_usage_error(args->command, "--timing is missing; it selects what to specify");
    if (named && (has_option(args, MATCH) || has_option(args, MOST)))
        return cli_usage_error(args->command, "--match and --most select from all functions; leave them out, "
                                              "or leave out --function and --pair");
    for (int i = 0; i < args->rest_count; i++)
        if (cli_results_is_file(NULL, args->rest[i]))
            return refuse_saved(args, args->rest[i]);
    for (int i = 0; i < args->rest_count && !named; i++)
        if (strcmp(args->rest[i], "-") == 0)
            return cli_usage_error(
                args->command, "the trace is read twice to find its functions, so it cannot come from "
                               "standard input; save it to a file, or name the functions with --function");
    return CLI_CLEAN;
}

static int run(const struct cli_args *args)
{
    struct cli_spec_ways ways = {0};
    const struct cli_value *margin = &args->values[MARGIN];
    const bool named = has_option(args, FUNCTION) || has_option(args, PAIR);
    uint64_t percent = USUAL_MARGIN;
    if (margin->given && !read_margin(margin->text, &percent))
        return cli_usage_error(args->command,
                               "--margin %s: this is not a number from 0 to %d, with or without %%",
                               margin->text, MOST_MARGIN);
    if (check(args, named) != CLI_CLEAN || (named && !add_named(&ways, args)))
        return CLI_FAILED;
    int code = named ? CLI_CLEAN : add_all(&ways, args);
    if (code != CLI_CLEAN)
        return code;
    code = cli_spec_measure(&ways, args, ELF);
    if (code == CLI_FAILED || ways.kept_nothing)
        return code;
    if (!is_any_measured(&ways) && !ways.ran.instructions && code == CLI_CLEAN)
        cli_say("%s: the trace contains no executed instructions, so there is nothing to specify; 'coretap "
                "stats' shows what it contains",
                args->operand);
    if (!is_any_measured(&ways)) {
        const struct ct_empty_options asked = {
            .result = "the specification is", .ran = &ways.ran, .items = CT_EMPTY_INTERVALS};
        return ways.ran.instructions ? cli_empty(args, &asked) : CLI_DAMAGED;
    }
    print_spec(&ways, args, percent);
    return code;
}

const struct cli_command cli_command_spec = {
    .name = "spec",
    .summary = "write a specification from measured times",
    .operand = "CAPTURE...",
    .many = true,
    .synopsis = "--timing",
    .about = "Measures how many cycles execution takes from the call of a function to its return, or from "
             "one place to another, and prints a TeSSLa specification for 'coretap monitor'. An event of its "
             "output NAME_min_violation or NAME_max_violation is a time outside of everything measured in "
             "all captures, plus the margin. Without --function and --pair it covers the functions that ran "
             "from call to return. The end of a pair belongs to the last start before it. Times with lost "
             "trace in between do not count.",
    .examples = "coretap spec --timing --function work capture\n"
                "coretap spec --timing --margin 10 -o times.tessla capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
