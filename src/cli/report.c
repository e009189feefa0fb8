/* SPDX-License-Identifier: Apache-2.0 */
/* coretap report: all that is known of a capture, as one page. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/cover_print.h"
#include "cli/output.h"
#include "cli/wcet_run.h"
#include "coretap/report.h"

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
    struct cli_counts counts;
    struct ct_report *collected;
    struct ct_losses losses; /* of all captures */
    struct cli_wcet wcet;
};

/* ---- while the capture is decoded ---- */

static bool on_opened(void *user)
{
    struct report *r = user;
    const uint64_t *window = r->counts.read.filter.slices;
    const struct ct_report_options timeline = {.size = sizeof timeline, .from = window[0], .to = window[1]};
    if (r->collected ||
        ct_report_new(r->args->ctx, r->counts.read.programs, &timeline, &r->collected) == CT_OK)
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

static bool on_closing(void *user)
{
    struct report *r = user;
    const struct cli_capture *capture = &r->counts.read.capture;
    ct_losses_add(&r->losses, &capture->seen.losses);
    if (ct_report_end(r->collected, capture->path, capture->capture->kind) == CT_OK)
        return true;
    cli_library_error(r->args->ctx);
    return false;
}

static int collect(struct report *r)
{
    struct cli_results *read = &r->counts.read;
    read->threads = cli_threads(r->args);
    read->opened = on_opened;
    read->steps = on_steps;
    read->decoded = on_decoded;
    read->closing = on_closing;
    read->user = r;
    const int code = cli_counts_read(&r->counts, r->args, ELF);
    if (code != CLI_FAILED)
        cli_note_new_stacks(r->args, ct_report_renewed(r->collected));
    return code;
}

/* ---- all of it ---- */

static int write_page(struct report *r, const struct ct_cover_views *views, const char *no_wcet)
{
    const struct ct_report_write_options page = {.size = sizeof page,
                                                 .losses = r->losses,
                                                 .cover = views,
                                                 .wcet = r->wcet.view.wcet ? &r->wcet.view : NULL,
                                                 .no_wcet = no_wcet};
    const int rc = ct_report_write(r->collected, &page, cli_output_write, stdout);
    /* A file that cannot be written is told of at the end of the command. */
    if (rc && rc != CT_ERR_IO)
        return cli_library_error(r->args->ctx);
    cli_output_keep(true); /* also when the exit code says that the longest path is missing */
    return CLI_CLEAN;
}

/* A longest path that cannot be found leaves its section with the reason. */
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

static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int analyse(struct report *r)
{
    char *why;
    int code = collect(r);
    if (code == CLI_FAILED || r->counts.read.kept_nothing)
        return code;
    struct ct_cover_views *views = cli_counts_views(&r->counts);
    if (!views)
        return CLI_FAILED;
    code = worse(code, cli_cover_check(&r->counts, views));
    code = worse(code, find_path(r, &why));
    code = worse(code, write_page(r, views, why));
    free(why);
    ct_cover_views_free(views);
    return code;
}

static bool check(const struct cli_args *args)
{
    static const unsigned of_entry[] = {BOUNDS, QUANTILE, TARGETS};
    for (size_t i = 0; i < sizeof of_entry / sizeof *of_entry; i++)
        if (args->values[of_entry[i]].given && !args->values[ENTRY].given) {
            cli_usage_error(args->command, "--%s goes with --entry", options[of_entry[i]].name);
            return false;
        }
    bool captures = false;
    for (int i = 0; i < args->rest_count; i++) {
        captures = captures || !cli_results_is_file(NULL, args->rest[i]);
        if (strcmp(args->rest[i], "-") == 0) {
            cli_usage_error(args->command,
                            "the capture is opened more than once, so it cannot come from standard input; "
                            "save it to a file");
            return false;
        }
    }
    if (!captures) {
        cli_usage_error(args->command, "a saved file has counts alone; the report needs a capture, to whose "
                                       "coverage it adds those of coverage files");
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

/* The longest path is searched in a run of its own, which is of all of the trace. */
static bool read_filter(struct report *r)
{
    struct cli_filter *filter = &r->counts.read.filter;
    return cli_filter_read(filter, r->args, true) &&
           (!r->args->values[ENTRY].given ||
            cli_filter_refuse(filter, r->args, NULL, "with --entry, whose path is of the whole trace"));
}

static int run(const struct cli_args *args)
{
    struct report r = {.args = args};
    if (!check(args))
        return CLI_FAILED;
    const int code = read_filter(&r) && open_path(&r) ? analyse(&r) : CLI_FAILED;
    ct_report_free(r.collected);
    cli_counts_close(&r.counts);
    cli_wcet_close(&r.wcet);
    return code;
}

const struct cli_command cli_command_report = {
    .name = "report",
    .summary = "all that is known of a capture, as one page",
    .operand = "CAPTURE...",
    .many = true,
    .about =
        "Decodes the capture along its programs and writes a page of HTML: what there is in the "
        "capture, where the time "
        "went (stacks, functions, edges), how long functions take, their calls over time, coverage with "
        "annotated "
        "source and instructions, and with --entry the longest path of a function.\n"
        "The page is one file that loads nothing; it follows the reader's choice of light or dark. Its "
        "size is bounded: "
        "what was left out is said in its place, with the command that shows it.\n"
        "Of several captures counts, times of functions, stacks and coverage add up, and each core of each "
        "capture has lanes of its own in the timeline. Beside captures it takes coverage files, which "
        "'coretap "
        "cover --format data' or 'coretap merge' wrote: their counts are in the coverage alone.\n"
        "Of the longest path that could not be found the page has the reason, and the exit code is 2.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .run = run,
};
