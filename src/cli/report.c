/* SPDX-License-Identifier: Apache-2.0 */
/* coretap report: everything known of a capture, as one page. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/branch_lists.h"
#include "cli/commands.h"
#include "cli/cover_print.h"
#include "cli/output.h"
#include "cli/report_named.h"
#include "cli/together.h"
#include "cli/wcet_run.h"
#include "coretap/report.h"

enum {
    ELF = CLI_CAPTURE_OPTIONS,
    ENTRY,
    BOUNDS,
    QUANTILE,
    TARGETS,
    CAPTURES,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS,
};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [ELF] = CLI_ELF_OPTION,
    [ENTRY] = CLI_TEXT_OPTION("entry", 'e', "FUNCTION",
                              "Also show the longest path of this function, as 'coretap wcet' finds it."),
    [BOUNDS] = CLI_TEXT_OPTION("bounds", 0, "FILE",
                               "With --entry: bounds of loops and recursions, as for 'coretap wcet'."),
    [QUANTILE] = CLI_TEXT_OPTION("quantile", 0, "Q", "With --entry: as for 'coretap wcet'."),
    [TARGETS] = CLI_TEXT_OPTION("targets", 0, "FILE",
                                "With --entry: targets of computed branches, as for 'coretap graph'."),
    [CAPTURES] = CLI_TOGETHER_OPTION,
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] =
        CLI_FILTER_TABLE_AND(" A number alone: the timeline from this time of the streams on, in cycles; "
                             "in instructions where the trace has no cycle counts.",
                             " A number alone: the timeline up to this time."),
};

struct report {
    const struct cli_args *args;
    struct cli_counts counts;
    struct ct_report *collected;
    struct cli_wcet wcet;
    bool together;                  /* captures are of one system */
    bool several;                   /* captures and saved results are added up */
    struct ct_report_input *inputs; /* what is added up, in order */
    size_t input_count;
};

/* ---- while the capture is decoded ---- */

/* Makes the report of a capture, unless it exists. Returns false after a message. */
static bool begin(struct report *r)
{
    const uint64_t *window = r->counts.read.filter.slices;
    const struct ct_report_options how = {.size = sizeof how,
                                          .from = window[0],
                                          .to = window[1],
                                          .several = r->several,
                                          .together = r->together,
                                          .raw_names = r->args->raw_names};
    if (r->collected || ct_report_new(r->args->ctx, r->counts.read.programs, &how, &r->collected) == CT_OK)
        return true;
    cli_library_error(r->args->ctx);
    return false;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    const struct report *r = user;
    return ct_report_steps(r->collected, stream, batch);
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    const struct report *r = user;
    return ct_report_decoded(r->collected, buffer, chain);
}

/* Ends one of several captures, and counts it among those of the sums. A saved result of the same capture
 * counts again. */
static bool on_closing(void *user)
{
    struct report *r = user;
    const struct cli_capture *capture = &r->counts.read.capture;
    const struct ct_analysis_captures one = {
        .known = 1, .damaged = cli_capture_is_damaged(capture, false), .losses = capture->seen.losses};
    int rc = ct_report_end(r->collected, capture->path, capture->capture->kind);
    for (size_t i = 0; i < 2 && !rc; i++) {
        rc = ct_analysis_add_captures(r->counts.read.also[i], &one);
        if (!rc)
            rc = ct_analysis_add_run(r->counts.read.also[i], capture->path);
    }
    if (rc)
        cli_library_error(r->args->ctx);
    return rc == CT_OK;
}

/* Returns the sections for which a saved file of a kind, or a capture (NULL), has data. */
static uint32_t tells(const struct ct_analysis_kind *kind)
{
    return !kind ? CT_REPORT_COVERAGE | CT_REPORT_TIMES | CT_REPORT_STACKS | CT_REPORT_STREAMS
           : kind == ct_timing_sums_kind() ? CT_REPORT_TIMES
           : kind == ct_stack_sums_kind()  ? CT_REPORT_STACKS
                                           : CT_REPORT_COVERAGE;
}

static const char *kind_name(const struct ct_analysis_kind *kind)
{
    return kind == ct_timing_sums_kind()  ? "times, saved by coretap timing"
           : kind == ct_stack_sums_kind() ? "stacks, saved by coretap profile"
                                          : "coverage, saved by coretap cover";
}

static bool on_took(void *user, const char *path, const struct ct_analysis_kind *kind,
                    const struct ct_losses *losses)
{
    struct report *r = user;
    /* the name of a capture's kind is a constant of the library */
    const char *what = kind ? kind_name(kind) : r->counts.read.capture.capture->kind;
    r->inputs[r->input_count++] =
        (struct ct_report_input){.name = path, .kind = what, .losses = *losses, .tells = tells(kind)};
    return true;
}

/* Adds a branch list, which only has data about coverage. */
static int on_other(void *user, const char *path)
{
    struct report *r = user;
    if (!cli_branch_lists_is_file(path))
        return -1;
    r->inputs[r->input_count++] = (struct ct_report_input){
        .name = path, .kind = "branch list of simpleperf: counts without times", .tells = CT_REPORT_COVERAGE};
    return cli_branch_lists_count(&r->counts, path);
}

/* Makes the sums of several captures. Returns false after a message. */
static bool begin_sums(struct report *r)
{
    struct cli_results *read = &r->counts.read;
    r->inputs = calloc((size_t)r->args->rest_count, sizeof *r->inputs);
    if (!r->inputs)
        cli_no_memory();
    if (!r->inputs || !begin(r))
        return false;
    read->also[0] = ct_stack_sums_analysis(ct_report_stacks(r->collected));
    read->also[1] = ct_timing_sums_analysis(ct_report_times(r->collected));
    read->takes =
        "a report has no section for results of this kind; name a capture, or a file that 'coretap cover', "
        "'coretap timing' or 'coretap profile' wrote with --format data, or 'coretap merge' made of these";
    read->file_why = "a saved result has only the sums of whole captures";
    read->took = on_took;
    read->closing = on_closing;
    read->other = on_other;
    return true;
}

/* Begins when the programs are known. The programs of saved results are found after all operands were
 * read. */
static bool on_begin(void *user)
{
    struct report *r = user;
    return r->several ? begin_sums(r) : begin(r);
}

static int collect(struct report *r)
{
    struct cli_results *read = &r->counts.read;
    read->threads = cli_threads(r->args);
    r->counts.begun = on_begin;
    read->steps = on_steps;
    read->decoded = on_decoded;
    read->user = r;
    const int code = cli_counts_read(&r->counts, r->args, ELF);
    if (code != CLI_FAILED)
        cli_results_note_new_stacks(read, ct_report_renewed(r->collected));
    if (code != CLI_FAILED && !r->several && !read->kept_nothing &&
        !cli_report_named(&read->capture, &read->filter, r->collected))
        return CLI_FAILED;
    return code;
}

/* ---- the whole command ---- */

/* Returns the losses of the kind of input with the most captures, because a file of times and one of coverage
 * may be of the same captures. */
static struct ct_losses losses_of(const struct report *r)
{
    const struct ct_analysis *most = r->counts.read.analysis;
    for (size_t i = 0; i < 2 && r->several; i++)
        if (r->counts.read.also[i]->captures.known > most->captures.known)
            most = r->counts.read.also[i];
    return most->captures.losses;
}

static int write_page(struct report *r, const struct ct_cover_views *views, const char *no_wcet)
{
    const struct cli_capture *capture = &r->counts.read.capture;
    const struct ct_report_write_options page = {.size = sizeof page,
                                                 .capture = r->args->operand,
                                                 .kind = r->several ? NULL : capture->capture->kind,
                                                 .losses = losses_of(r),
                                                 .inputs = r->inputs,
                                                 .input_count = r->input_count,
                                                 .cover = views,
                                                 .wcet = r->wcet.view.wcet ? &r->wcet.view : NULL,
                                                 .no_wcet = no_wcet};
    struct cli_wait wait;
    cli_wait_begin(&wait, "writing the page", 0, r->args->quiet || isatty(STDOUT_FILENO));
    const int rc = ct_report_write(r->collected, &page, cli_output_write, stdout);
    cli_wait_end(&wait);
    /* A write error is reported at the end of the command. */
    if (rc && rc != CT_ERR_IO)
        return cli_library_error(r->args->ctx);
    cli_output_keep(true); /* even when the exit code says that the longest path is missing */
    return CLI_CLEAN;
}

/* Finds the longest path. If that fails, *why is the reason, for the section. Returns an enum cli_exit. */
static int find_path(struct report *r, char **why)
{
    *why = NULL;
    if (!r->args->values[ENTRY].given)
        return CLI_CLEAN;
    const int code = cli_wcet_run(&r->wcet);
    if (!r->wcet.view.wcet && !(*why = strdup(ct_ctx_error(r->args->ctx))))
        cli_no_memory();
    return code;
}

/* Returns whether a capture or a saved file has data for sections of this kind. */
static bool tells_any(const struct report *r, uint32_t what)
{
    bool any = !r->several;
    for (size_t i = 0; i < r->input_count; i++)
        any |= (r->inputs[i].tells & what) != 0;
    return any;
}

static int analyse(struct report *r)
{
    char *why;
    int code = collect(r);
    if (code == CLI_FAILED || r->counts.read.kept_nothing)
        return code;
    if (!r->counts.read.args->quiet) /* the other parts tell what there is */
        (void)cli_results_nothing_ran(&r->counts.read, code, "the page's part about executed code is", true);
    const bool covers = tells_any(r, CT_REPORT_COVERAGE);
    struct ct_cover_views *views = covers ? cli_counts_views(&r->counts) : NULL;
    if (covers && !views)
        return CLI_FAILED;
    const int covered = views ? cli_cover_check(&r->counts, views) : CLI_CLEAN;
    if (views && covered == CLI_CLEAN) {
        cli_counts_tell_outside(&r->counts, "the coverage is");
        code = cli_worse(code, cli_counts_tell_unrun(&r->counts));
    }
    code = cli_worse(code, covered);
    code = cli_worse(code, find_path(r, &why));
    code = cli_worse(code, write_page(r, views, why));
    free(why);
    ct_cover_views_free(views);
    return code;
}

static bool check(const struct cli_args *args)
{
    static const unsigned of_entry[] = {BOUNDS, QUANTILE, TARGETS};
    for (size_t i = 0; i < sizeof of_entry / sizeof *of_entry; i++)
        if (args->values[of_entry[i]].given && !args->values[ENTRY].given) {
            cli_usage_error(args->command, "--%s works only with --entry; add that, or leave it out",
                            options[of_entry[i]].name);
            return false;
        }
    for (int i = 0; i < args->rest_count; i++)
        if (strcmp(args->rest[i], "-") == 0) {
            cli_usage_error(args->command, "the capture is read more than once, so it cannot come from "
                                           "standard input; save it to a file");
            return false;
        }
    return true;
}

static bool open_path(struct report *r)
{
    const struct cli_args *args = r->args;
    struct cli_wcet_wish wish = {
        .entry = args->values[ENTRY].text, .bounds = args->values[BOUNDS].text, .untold = true};
    return cli_wcet_parse_quantile(args, QUANTILE, &wish.quantile) &&
           (!wish.entry || cli_wcet_open(&r->wcet, args, ELF, args->values[TARGETS].text, &wish));
}

/* Reads the filter. Refuses it with --entry, because the longest path is searched in a separate run over the
 * whole trace. Returns false after a message. */
static bool read_filter(struct report *r)
{
    struct cli_filter *filter = &r->counts.read.filter;
    return cli_filter_read(filter, r->args, true) &&
           (!r->args->values[ENTRY].given ||
            cli_filter_refuse(
                filter, r->args, NULL,
                "--entry needs the whole trace for the longest path; leave one of the options out"));
}

static int run(const struct cli_args *args)
{
    const bool several = args->rest_count > 1 || cli_results_is_file(NULL, args->operand) ||
                         cli_branch_lists_is_file(args->operand);
    struct report r = {.args = args, .several = several};
    if (!check(args))
        return CLI_FAILED;
    const bool fine = cli_find_together(args, ELF, &args->values[CAPTURES], &r.together) && read_filter(&r) &&
                      open_path(&r);
    const int code = fine ? analyse(&r) : CLI_FAILED;
    ct_report_free(r.collected);
    free(r.inputs);
    cli_counts_close(&r.counts);
    cli_wcet_close(&r.wcet);
    return code;
}

const struct cli_command cli_command_report = {
    .name = "report",
    .summary = "write everything about a capture to one page",
    .operand = "CAPTURE...",
    .many = true,
    .about =
        "Decodes the capture along its programs and writes an HTML page: the contents of the capture, where "
        "the time went (stacks, functions, edges), how long functions take, their calls over time, coverage "
        "with annotated source and instructions, and with --entry the longest path of a function. For a "
        "single capture it also shows the text, values and spans that the program wrote to an ITM or STM "
        "with coretap/itm.h.\nThe page is one file that loads nothing else; it follows the reader's choice "
        "of light or dark. Its size is bounded: where something is left out, the page says so and names the "
        "command that shows it.\nFor several captures, counts, times of functions, stacks and coverage are "
        "added up, and each core of each capture has its own lanes in the timeline, on one axis if the "
        "captures come from one system. Instead of a capture, coretap also accepts a file that 'coretap "
        "cover', 'coretap timing' or 'coretap profile' wrote with --format data, or 'coretap merge', or a "
        "branch list of simpleperf, which has coverage; sections without data say so.\nIf the longest path "
        "could not be found, the page gives the reason, and the exit code is 2.",
    .examples = "coretap report -o report.html capture\n"
                "coretap report --entry work -o work.html capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL | CLI_USES_SYMBOL_MAPS,
    .run = run,
};
