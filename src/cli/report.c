/* SPDX-License-Identifier: Apache-2.0 */
/* coretap report: all that is known of a capture, as one page. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/cover_print.h"
#include "cli/output.h"
#include "cli/report_collect.h"
#include "cli/wcet_run.h"

enum {
    ELF = CLI_CAPTURE_OPTIONS,
    ENTRY,
    BOUNDS,
    QUANTILE,
    TARGETS,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS,
};

/* Executions of functions in the timeline, at most. */
#define SLICES 20000

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [ELF] = CLI_ELF_OPTION,
    [ENTRY] = {.name = "entry",
               .letter = 'e',
               .kind = CLI_TEXT,
               .arg = "FUNCTION",
               .help = "Also the longest path of this function, as 'coretap wcet' finds it."},
    [BOUNDS] = {.name = "bounds",
                .kind = CLI_TEXT,
                .arg = "FILE",
                .help = "With --entry: bounds of loops and recursions, as for 'coretap wcet'."},
    [QUANTILE] = {.name = "quantile",
                  .kind = CLI_TEXT,
                  .arg = "Q",
                  .help = "With --entry: as for 'coretap wcet'."},
    [TARGETS] = {.name = "targets",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "With --entry: targets of computed branches, as for 'coretap graph'."},
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] =
        CLI_FILTER_TABLE_AND(" A number alone: the timeline from this time of the streams on, in cycles; "
                             "in instructions where the trace has no cycle counts.",
                             " A number alone: the timeline up to this time."),
};

struct report {
    const struct cli_args *args;
    struct ct_programs *programs;
    struct cli_report_collect collect;
    struct cli_wcet wcet;
    struct ct_cover_views *cover;
};

/* ---- what the page stands on ---- */

/* The one that was named or started, when there is one. */
static const char *program_of(const struct ct_programs *programs)
{
    const char *path = NULL;
    const struct ct_program *program;
    size_t count = 0;
    for (size_t i = 0; (program = ct_programs_at(programs, i)); i++)
        if (ct_programs_count(programs) == 1 || program->named || program->started) {
            path = program->path;
            count++;
        }
    return count == 1 ? path : NULL;
}

static int write_page(const struct ct_report *page)
{
    if (ct_report_html(stdout, page)) {
        cli_say("out of memory: parts of the page are missing");
        return CLI_FAILED;
    }
    cli_output_keep(true); /* also when the exit code says that the longest path is missing */
    return CLI_CLEAN;
}

static int print(struct report *r, const char *no_wcet)
{
    const struct cli_report_collect *c = &r->collect;
    const struct ct_report page = {
        .capture = r->args->operand,
        .program = program_of(c->counts.read.programs),
        .kind = c->counts.read.capture.capture->kind,
        .cycles = c->cycles,
        .losses = c->counts.read.capture.seen.losses,
        .streams = c->streams,
        .stream_count = c->stream_count,
        .functions = c->functions,
        .function_count = c->function_count,
        .edges = c->edges,
        .edge_count = c->edge_count,
        .edges_left_out = c->edges_left_out,
        .stacks = c->stacks,
        .slices = &c->slices,
        .cover = r->cover,
        .wcet = r->wcet.view.wcet ? &r->wcet.view : NULL,
        .no_wcet = no_wcet,
    };
    return write_page(&page);
}

/* ---- all of it ---- */

/* A longest path that cannot be found leaves its section with the reason. */
static int analyse(struct report *r)
{
    const struct cli_args *args = r->args;
    const bool has_entry = args->values[ENTRY].given;
    char *why = NULL;
    int code = cli_report_collect(&r->collect, args, ELF);
    if (code == CLI_FAILED || r->collect.counts.read.kept_nothing)
        return code;
    r->cover = cli_counts_views(&r->collect.counts);
    if (!r->cover)
        return CLI_FAILED;
    const int covered = cli_cover_check(&r->collect.counts, r->cover);
    code = covered > code ? covered : code;
    if (has_entry) {
        const int found = cli_wcet_run(&r->wcet);
        code = found > code ? found : code;
        if (!r->wcet.view.wcet)
            why = strdup(ct_ctx_error(args->ctx));
        if (!r->wcet.view.wcet && !why)
            cli_no_memory();
    }
    const int printed = print(r, why);
    free(why);
    return printed > code ? printed : code;
}

static bool check(const struct cli_args *args)
{
    static const unsigned of_entry[] = {BOUNDS, QUANTILE, TARGETS};
    for (size_t i = 0; i < sizeof of_entry / sizeof *of_entry; i++)
        if (args->values[of_entry[i]].given && !args->values[ENTRY].given) {
            cli_usage_error(args->command, "--%s goes with --entry", options[of_entry[i]].name);
            return false;
        }
    if (strcmp(args->operand, "-") == 0) {
        cli_usage_error(args->command,
                        "the capture is opened more than once, so it cannot come from standard input; "
                        "save it to a file");
        return false;
    }
    if (cli_results_is_file(ct_cover_kind(), args->operand)) {
        cli_usage_error(args->command, "a coverage file has counts alone; the report needs a capture");
        return false;
    }
    return true;
}

static bool load(struct report *r)
{
    const struct cli_args *args = r->args;
    struct cli_wcet_wish wish = {
        .entry = args->values[ENTRY].text, .bounds = args->values[BOUNDS].text, .untold = true};
    if (!cli_wcet_parse_quantile(args, QUANTILE, &wish.quantile) ||
        !cli_programs_describe(&r->programs, args, ELF, args->values[TARGETS].text))
        return false;
    r->collect.programs = r->programs;
    return !wish.entry || cli_wcet_open(&r->wcet, args, ELF, args->values[TARGETS].text, &wish);
}

/* The longest path is searched in a run of its own, which is of all of the trace. */
static bool read_filter(struct report *r)
{
    struct cli_filter *filter = &r->collect.counts.read.filter;
    if (!cli_filter_read(filter, r->args, true))
        return false;
    r->collect.slices =
        (struct ct_slices){.most = SLICES, .begin = filter->slices[0], .end = filter->slices[1]};
    return !r->args->values[ENTRY].given ||
           cli_filter_refuse(filter, r->args, NULL, "with --entry, whose path is of the whole trace");
}

static void release(struct report *r)
{
    ct_cover_views_free(r->cover);
    cli_report_collect_free(&r->collect);
    cli_wcet_close(&r->wcet);
    ct_programs_free(r->programs);
}

static int run(const struct cli_args *args)
{
    struct report r = {0};
    if (!check(args))
        return CLI_FAILED;
    r.args = args;
    const int code = read_filter(&r) && load(&r) ? analyse(&r) : CLI_FAILED;
    release(&r);
    return code;
}

const struct cli_command cli_command_report = {
    .name = "report",
    .summary = "all that is known of a capture, as one page",
    .operand = "CAPTURE",
    .about = "Decodes the capture along its programs and writes a page of HTML: what there is in the "
             "capture, where the time "
             "went (stacks, functions, edges), how long functions take, their calls over time, coverage with "
             "annotated "
             "source and instructions, and with --entry the longest path of a function.\n"
             "The page is one file that loads nothing; it follows the reader's choice of light or dark. Its "
             "size is bounded: "
             "what was left out is said in its place, with the command that shows it.\n"
             "Of the longest path that could not be found the page has the reason, and the exit code is 2.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .run = run,
};
