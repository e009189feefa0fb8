/* SPDX-License-Identifier: Apache-2.0 */
/* coretap merge: results of any kind, added up. */
#include "cli/commands.h"
#include "cli/results.h"
#include "coretap/counts.h"
#include "coretap/cover.h"
#include "coretap/fractal_sums.h"
#include "coretap/stacks.h"
#include "coretap/timing.h"
#include "coretap/verify_sums.h"
#include "coretap/format.h"

#include <inttypes.h>

enum {
    ELF = CLI_CAPTURE_OPTIONS,
    KIND,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS,
};

/* ---- kinds ---- */

static int make_cover(const struct cli_args *args, struct ct_analysis **out)
{
    struct ct_cover *cover;
    const int rc = ct_cover_new(args->ctx, &cover);
    *out = rc ? NULL : ct_cover_analysis(cover);
    return rc;
}

static int make_timing(const struct cli_args *args, struct ct_analysis **out)
{
    struct ct_timing_sums *sums;
    const int rc = ct_timing_sums_new(args->ctx, NULL, &sums);
    *out = rc ? NULL : ct_timing_sums_analysis(sums);
    return rc;
}

static int make_stacks(const struct cli_args *args, struct ct_analysis **out)
{
    struct ct_stack_sums *sums;
    const int rc = ct_stack_sums_new(args->ctx, NULL, &sums);
    *out = rc ? NULL : ct_stack_sums_analysis(sums);
    return rc;
}

static int make_counts(const struct cli_args *args, struct ct_analysis **out,
                       int (*make)(struct ct_ctx *ctx, struct ct_counts **counts))
{
    struct ct_counts *counts = NULL;
    const int rc = make(args->ctx, &counts);
    *out = ct_counts_analysis(counts);
    return rc;
}

static int make_statistics(const struct cli_args *args, struct ct_analysis **out)
{
    return make_counts(args, out, ct_total_counts_new);
}

static int make_events(const struct cli_args *args, struct ct_analysis **out)
{
    return make_counts(args, out, ct_event_counts_new);
}

static int make_watch(const struct cli_args *args, struct ct_analysis **out)
{
    return make_counts(args, out, ct_watch_counts_new);
}

static int make_monitors(const struct cli_args *args, struct ct_analysis **out)
{
    struct ct_verify_sums *sums = NULL;
    const int rc = ct_verify_sums_new(args->ctx, NULL, &sums);
    *out = ct_verify_sums_analysis(sums);
    return rc;
}

static int make_fractal(const struct cli_args *args, struct ct_analysis **out)
{
    struct ct_fractal_sums *sums = NULL;
    const int rc = ct_fractal_sums_new(args->ctx, &sums);
    *out = ct_fractal_sums_analysis(sums);
    return rc;
}

/* In the order of `names`. */
static const struct {
    const struct ct_analysis_kind *(*kind)(void);
    int (*make)(const struct cli_args *args, struct ct_analysis **out);
    bool needs_program;
    bool whole;         /* of all of a stream: it does not take steps */
    const char *unsaid; /* what a capture does not tell, as in the message; or NULL */
    const char *writer; /* … and the command that is told it */
} kinds[] = {
    {ct_cover_kind, make_cover, true, false, NULL, NULL},
    {ct_timing_sums_kind, make_timing, false, false, NULL, NULL},
    {ct_stack_sums_kind, make_stacks, true, false, NULL, NULL},
    {ct_total_counts_kind, make_statistics, false, true, NULL, NULL},
    {ct_event_counts_kind, make_events, false, true, NULL, NULL},
    {ct_watch_counts_kind, make_watch, false, false, "what is watched in", "watch --at PLACE --format data"},
    {ct_verify_sums_kind, make_monitors, false, false, "which specifications are for",
     "monitor --spec FILE --format data"},
    {ct_fractal_sums_kind, make_fractal, false, false, "which names are for the addresses of",
     "fractal report --data"},
};

#define KINDS (sizeof kinds / sizeof *kinds)

static const char *const names[] = {"coverage", "timing",   "stacks",  "statistics", "events",
                                    "watch",    "monitors", "fractal", NULL};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [ELF] = CLI_ELF_OPTION,
    [KIND] = {.name = "kind",
              .letter = 'k',
              .kind = CLI_CHOICE,
              .choices = names,
              .help = "What is added up of captures; coverage without this option and without files."},
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_TABLE,
};

/* Finds the kind of result: that of the first saved file or, without one, that of --kind. */
static size_t find_kind(const struct cli_args *args)
{
    for (int i = 0; i < args->rest_count; i++)
        for (size_t k = 0; k < KINDS; k++)
            if (cli_results_is_file(kinds[k].kind(), args->rest[i]))
                return k;
    return (size_t)args->values[KIND].number;
}

/* ---- adding up ---- */

/* Names of captures that are printed. */
#define TOLD 20

/* Says of which captures the result is. */
static void tell(const struct cli_args *args, const struct ct_analysis *sum)
{
    const struct ct_analysis_captures *c = &sum->captures;
    char words[CT_LOSSES_WORDS];
    char old[80] = "";
    if (args->quiet)
        return;
    if (c->unknown)
        snprintf(old, sizeof old, ", and of %" PRIu64 " files that do not tell their captures", c->unknown);
    cli_say("%s of %" PRIu64 " capture%s%s, %" PRIu64 " of them not whole; losses: %s", sum->kind->name,
            c->known, c->known == 1 ? "" : "s", old, c->damaged, ct_losses_words(words, &c->losses));
    const char *name;
    for (size_t i = 0; (name = ct_analysis_run(sum, i)); i++) {
        if (i == TOLD && ct_analysis_run(sum, i + 1)) {
            cli_say("  and others, which are named in the result");
            break;
        }
        cli_say("  %s", name);
    }
}

static int add_up(struct cli_results *r)
{
    int code = cli_programs_new(&r->programs, r->args, NULL) ? cli_results_read(r) : CLI_FAILED;
    if (code == CLI_FAILED || r->kept_nothing)
        return code;
    tell(r->args, r->analysis);
    const int written = cli_results_save(r->args->ctx, r->analysis, stdout);
    return written > code ? written : code;
}

/* Checks that the operands are of one kind, and that captures can be read for it. False after a message. */
static bool check(const struct cli_args *args, size_t kind)
{
    if (args->values[KIND].given && kind != args->values[KIND].number) {
        cli_usage_error(args->command,
                        "--kind %s: there is a file of %s; results add up that are of one kind",
                        names[args->values[KIND].number], names[kind]);
        return false;
    }
    for (int i = 0; i < args->rest_count && kinds[kind].unsaid; i++) {
        if (cli_results_is_file(NULL, args->rest[i]))
            continue;
        cli_usage_error(args->command, "%s: nobody says %s a capture; count it with 'coretap %s'",
                        args->rest[i], kinds[kind].unsaid, kinds[kind].writer);
        return false;
    }
    return true;
}

static bool read_filter(struct cli_results *r, size_t kind)
{
    return cli_filter_read(&r->filter, r->args, false) &&
           (!kinds[kind].whole || !ct_filter_steps(&r->filter.filter) ||
            cli_filter_refuse(&r->filter, r->args, "core", "events and totals are counted of whole streams"));
}

static int run(const struct cli_args *args)
{
    const size_t kind = find_kind(args);
    struct cli_results r = {.args = args,
                            .elf = ELF,
                            .threads = cli_threads(args),
                            .needs_program = kinds[kind].needs_program,
                            .file_why = "a saved file has sums, of which no part can be taken",
                            .sums_alone = true};
    int code = CLI_FAILED;
    if (check(args, kind) && read_filter(&r, kind))
        code = kinds[kind].make(args, &r.analysis) ? cli_library_error(args->ctx) : add_up(&r);
    cli_results_close(&r);
    ct_analysis_free(r.analysis);
    return code;
}

const struct cli_command cli_command_merge = {
    .name = "merge",
    .summary = "add up results: saved files, and captures",
    .operand = "FILE...",
    .many = true,
    .about =
        "Adds up what 'coretap cover', 'coretap timing', 'coretap profile', 'coretap watch' and 'coretap "
        "monitor' "
        "write with "
        "--format data, and prints one file of the same kind: by program, told apart by build id. A capture "
        "in "
        "the place of a file is decoded for it. What was lost in the captures adds up too, and of how many "
        "captures the result is goes to standard error. The formats are in docs/formats.md. 'coretap cover', "
        "'coretap profile', 'coretap timing', 'coretap watch' and 'coretap monitor' make reports of the "
        "results.\n"
        "Of captures there is more: --kind statistics (how much trace there was) and --kind events (how "
        "often "
        "each type of event came, and which ports software wrote to), which 'coretap stats' prints.",
    .options = options,
    .option_count = OPTIONS,
    .uses = CLI_USES_ALL,
    .run = run,
};
