/* SPDX-License-Identifier: Apache-2.0 */
/* coretap merge: adds up results of any kind. */
#include "cli/branch_lists.h"
#include "cli/commands.h"
#include "cli/counts.h"
#include "cli/kinds.h"
#include "cli/results.h"
#include "coretap/format.h"

#include <inttypes.h>

enum {
    ELF = CLI_CAPTURE_OPTIONS,
    KIND,
    WEIGHT,
    SHARD,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS,
};

/* In the order of cli_result_kinds. */
static const char *const names[] = {"coverage", "timing",   "stacks",  "statistics", "events",
                                    "watch",    "monitors", "fractal", NULL};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [ELF] = CLI_ELF_OPTION,
    [KIND] = CLI_CHOICE_OPTION(
        "kind", 'k', names,
        "What to add up when captures are given. Default: coverage, if no files are given."),
    [WEIGHT] =
        CLI_NUMBER_OPTION("weight", 0, "N", 1, UINT64_MAX,
                          "Multiply all counts by N, for a result that stands for many machines. Counts stop "
                          "at 2^64 - 1. The number of captures and their losses stay as they are."),
    [SHARD] = CLI_SHARD_OPTION,
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_TABLE,
};

/* Returns the index of the kind of result: that of the first saved file or, without one, that of --kind. */
static size_t find_kind(const struct cli_args *args)
{
    for (int i = 0; i < args->rest_count; i++)
        for (size_t k = 0; cli_result_kinds[k].name; k++)
            if (cli_results_is_file(cli_result_kinds[k].kind(), args->rest[i]))
                return k;
    return (size_t)args->values[KIND].number;
}

/* ---- adding up ---- */

/* most captures named in messages */
#define TOLD 20

/* Reports which captures the result is about. */
static void tell(const struct cli_args *args, const struct ct_analysis *sum)
{
    const struct ct_analysis_captures *c = &sum->captures;
    char words[CT_LOSSES_WORDS];
    char old[80] = "";
    if (args->quiet)
        return;
    if (c->unknown)
        snprintf(old, sizeof old, ", and of %" PRIu64 " files that do not record their captures", c->unknown);
    cli_say("%s of %" PRIu64 " capture%s%s, %" PRIu64 " of them damaged; losses: %s", sum->kind->name,
            c->known, c->known == 1 ? "" : "s", old, c->damaged, ct_losses_words(words, &c->losses));
    cli_outside_tell_sum("merge", sum);
    const char *name;
    for (size_t i = 0; (name = ct_analysis_run(sum, i)); i++) {
        if (i == TOLD && ct_analysis_run(sum, i + 1)) {
            cli_say("  and others, which are named in the result");
            break;
        }
        cli_say("  %s", name);
    }
}

/* Reads all operands and writes their sum. `of_code`: the sum is of instructions that ran. */
static int add_up(struct cli_results *r, bool of_code)
{
    int code = cli_programs_new(&r->programs, r->args, NULL) ? cli_results_read(r) : CLI_FAILED;
    if (code == CLI_FAILED || r->kept_nothing)
        return code;
    const struct cli_value *weight = &r->args->values[WEIGHT];
    if (weight->given && ct_analysis_scale(r->analysis, weight->number))
        return cli_library_error(r->args->ctx);
    if (!r->shard) /* the captures of a part are reported when the parts are joined */
        tell(r->args, r->analysis);
    if (of_code)
        code = cli_worse(code, cli_results_nothing_ran(r, code, "the sum is", true));
    cli_results_tell_failures("merge", r->analysis);
    const int written = cli_results_save_read(r, stdout);
    return cli_worse(code, written);
}

/* Checks that the operands are of one kind, for which captures can be read. Returns false after a message. */
static bool check(const struct cli_args *args, size_t kind)
{
    if (args->values[KIND].given && kind != args->values[KIND].number) {
        cli_usage_error(args->command,
                        "--kind %s: one of the files contains %s; results of different kinds cannot be added "
                        "up; leave --kind or that file out",
                        names[args->values[KIND].number], names[kind]);
        return false;
    }
    if (args->values[WEIGHT].given && args->values[SHARD].given) {
        cli_usage_error(args->command,
                        "--weight cannot be used with --shard, because parts must be joined first; join the "
                        "parts, then give --weight when merging the joined result");
        return false;
    }
    for (int i = 0; i < args->rest_count && cli_result_kinds[kind].unsaid; i++) {
        if (cli_results_is_file(NULL, args->rest[i]))
            continue;
        cli_usage_error(args->command,
                        "%s: 'merge' has no option that says %s a capture; make a file from the capture with "
                        "'coretap %s', and merge that file",
                        args->rest[i], cli_result_kinds[kind].unsaid, cli_result_kinds[kind].writer);
        return false;
    }
    return true;
}

static bool read_filter(struct cli_results *r, size_t kind)
{
    return cli_filter_read(&r->filter, r->args, false) &&
           (!cli_result_kinds[kind].whole || !ct_filter_steps(&r->filter.filter) ||
            cli_filter_refuse(&r->filter, r->args, "core",
                              "events and totals are counted for whole streams; leave the option out"));
}

/* Returns whether an operand is a branch list. Branch lists add up only with branch lists. */
static bool has_branch_list(const struct cli_args *args)
{
    for (int i = 0; i < args->rest_count; i++)
        if (cli_branch_lists_is_file(args->rest[i]))
            return true;
    return false;
}

static int run_branch_lists(const struct cli_args *args)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (args->values[i].given && i != WEIGHT)
            return cli_usage_error(
                args->command,
                "--%s cannot be applied to branch lists, which are added up as a whole; leave the option out",
                options[i].name);
    return cli_branch_lists_merge(args, args->values[WEIGHT].given ? args->values[WEIGHT].number : 1);
}

static int run(const struct cli_args *args)
{
    if (has_branch_list(args))
        return run_branch_lists(args);
    const size_t kind = find_kind(args);
    struct cli_results r = {.args = args,
                            .elf = ELF,
                            .threads = cli_threads(args),
                            .part = &args->values[SHARD],
                            .needs_program = cli_result_kinds[kind].needs_program,
                            .file_why = "a saved file has only sums, of which no part can be selected",
                            .sums_alone = true};
    int code = CLI_FAILED;
    if (check(args, kind) && read_filter(&r, kind))
        code = cli_result_kinds[kind].make(args->ctx, &r.analysis)
                   ? cli_library_error(args->ctx)
                   : add_up(&r, !cli_result_kinds[kind].whole);
    cli_results_close(&r);
    ct_analysis_free(r.analysis);
    return code;
}

const struct cli_command cli_command_merge = {
    .name = "merge",
    .summary = "add up results: saved files and captures",
    .operand = "FILE...",
    .many = true,
    .about = "Adds up files that 'coretap cover', 'coretap timing', 'coretap profile', 'coretap watch' and "
             "'coretap monitor' write with --format data, and prints one file of the same kind, by program; "
             "programs are identified by build id. A capture given instead of a file is decoded. The losses "
             "of the captures are added up, too, and standard error names the number of captures. "
             "docs/formats.md describes the formats. The commands that wrote the files make reports from the "
             "sum.\nFor captures there are two more kinds: --kind statistics (how much trace there was) and "
             "--kind events (how often each type of event came, and which ports software wrote to); 'coretap "
             "stats' prints both.\nBranch lists of simpleperf are added up to a branch list.",
    .examples = "coretap cover --format data -o first.cov capture\n"
                "coretap merge -o all.cov first.cov first.cov\n"
                "coretap cover all.cov\n",
    .options = options,
    .option_count = OPTIONS,
    .uses = CLI_USES_ALL | CLI_USES_SYMBOL_MAPS,
    .run = run,
};
