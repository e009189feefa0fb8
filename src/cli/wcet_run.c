/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/wcet_run.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the first run: learns the targets of computed branches, to complete the control flow ---- */

static int learn_chain(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    const struct cli_wcet *w = user;
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    int rc = CT_OK;
    (void)buffer;
    for (size_t i = 0; i < count && !rc; i++)
        rc = streams[i].graph ? ct_wcet_learn(w->wcet, streams[i].graph) : CT_OK;
    return rc;
}

static int learn(struct cli_wcet *w)
{
    w->read.analysis = ct_timing_sums_analysis(w->files);
    w->read.files_alone = true;
    w->read.edges = CT_EDGES_COUNTS;
    w->read.decoded = learn_chain;
    w->read.untold = true;
    const int code = cli_results_read(&w->read);
    if (code == CLI_FAILED || w->read.kept_nothing)
        return code;
    return ct_wcet_learn_times(w->wcet, w->files) ? cli_library_error(w->read.args->ctx) : code;
}

/* ---- the second run: times, and rounds of loops ---- */

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    const struct cli_wcet *w = user;
    return ct_wcet_count_loops(w->wcet, ct_session_lane(w->read.session, stream->id), batch);
}

static int end_streams(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    const struct cli_wcet *w = user;
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    int rc = CT_OK;
    (void)buffer;
    for (size_t i = 0; i < count && !rc; i++)
        rc = ct_wcet_count_loops(w->wcet, ct_session_lane(w->read.session, streams[i].id), NULL);
    return rc;
}

/* Says how often it was a guess which thread went on, whose loops were then counted. */
static void tell_guesses(const struct cli_wcet *w)
{
    struct ct_timing_found found;
    if (!w->wish.untold && ct_timing_sums_find(w->sums, &found) == CT_OK)
        cli_results_note_new_stacks(&w->read, found.totals.renewed);
}

static int measure(struct cli_wcet *w)
{
    const struct ct_ran ran = w->read.ran;
    w->read.analysis = ct_timing_sums_analysis(w->sums);
    w->read.files_alone = false;
    w->read.captures_alone = true;
    w->read.edges = CT_EDGES_NONE;
    w->read.decoded = end_streams;
    w->read.steps = on_steps;
    w->read.untold = w->wish.untold;
    const int code = cli_results_read(&w->read);
    w->read.ran = ran; /* the second run would count it again */
    if (code == CLI_FAILED)
        return code;
    tell_guesses(w);
    const bool fine =
        ct_wcet_observe(w->wcet, w->files, 0) == CT_OK && ct_wcet_observe(w->wcet, w->sums, 1) == CT_OK;
    return fine ? code : cli_library_error(w->read.args->ctx);
}

/* ---- before and after ---- */

/* Finds the program with the entry, and makes it the one to analyse. Returns false after a message. */
static bool find_entry(struct cli_wcet *w, const struct cli_args *args)
{
    struct cli_wait wait;
    cli_wait_begin(&wait, "reading the control flow of the program", 0, args->quiet);
    int rc = ct_programs_function(w->read.programs, w->wish.entry, &w->program, &w->options.entry);
    if (!rc)
        rc = ct_program_cfg(w->program, &w->cfg) ?: ct_program_lines(w->program, &w->lines);
    cli_wait_end(&wait);
    if (rc)
        cli_library_error(args->ctx);
    return rc == CT_OK;
}

bool cli_wcet_parse_quantile(const struct cli_args *args, size_t option, double *out)
{
    const struct cli_value *value = &args->values[option];
    char *end_of_number = NULL;
    errno = 0;
    *out = value->given ? strtod(value->text, &end_of_number) : 0;
    if (!value->given || (!errno && end_of_number != value->text && !*end_of_number && *out > 0 && *out <= 1))
        return true;
    cli_usage_error(args->command, "--quantile: '%s' is not a number above 0 and up to 1", value->text);
    return false;
}

static bool read_bounds(struct cli_wcet *w, const struct cli_args *args)
{
    const char *path = w->wish.bounds;
    char *text = path ? cli_read_text(path) : NULL;
    if (path && !text)
        return false;
    if (text && cli_text_is_blank(text))
        cli_say("%s: the file has no statements, so no bounds were read; write lines like \"loop PLACE N\" "
                "(docs/analysis.md), or leave --bounds out",
                path);
    int rc = text ? ct_wcet_bounds(w->wcet, path, text) : CT_OK;
    free(text);
    if (!rc)
        rc = ct_wcet_comments(w->wcet);
    if (rc)
        cli_library_error(args->ctx);
    return rc == CT_OK;
}

/* Reports a trace without cycle counts. Returns CLI_CLEAN when that is not why there is no result. */
static int tell_no_cycles(const struct cli_wcet *w)
{
    struct ct_timing_found captures = {0}, files = {0};
    if (ct_timing_sums_find(w->sums, &captures) == CT_OK && ct_timing_sums_find(w->files, &files) == CT_OK)
        captures.totals.cycles += files.totals.cycles;
    const struct ct_empty_options asked = {
        .result = "the model of the longest time is", .ran = &w->read.ran, .times = &captures};
    return w->read.ran.instructions ? cli_empty(w->read.args, &asked) : CLI_CLEAN;
}

static struct ct_losses losses_of(const struct cli_wcet *w)
{
    struct ct_losses sum = ct_timing_sums_analysis(w->sums)->captures.losses;
    ct_losses_add(&sum, &ct_timing_sums_analysis(w->files)->captures.losses);
    return sum;
}

static int solve(struct cli_wcet *w, const struct cli_args *args)
{
    const char *path = w->wish.lp;
    struct cli_output output;
    FILE *lp = path ? cli_output_open(&output, path) : NULL;
    if (path && !lp)
        return CLI_FAILED;
    struct cli_wait wait;
    cli_wait_begin(&wait, "looking for the longest path",
                   w->options.seconds ? (unsigned)w->options.seconds : CT_WCET_SECONDS, args->quiet);
    const int kept = cli_output_mute(); /* the solver prints "Primal infeasible" whatever its settings */
    const int rc = ct_wcet_solve(w->wcet, &w->options, lp ? cli_output_write : NULL, lp, &w->result);
    cli_output_unmute(kept);
    cli_wait_end(&wait);
    /* a problem without a solution is written, too */
    const bool written = !lp || cli_output_close(&output, !rc || ftell(lp) > 0);
    if (rc)
        return tell_no_cycles(w) ? CLI_DAMAGED : cli_library_error(args->ctx);
    w->view = (struct ct_wcet_view){w->wish.entry, w->wcet, w->cfg, w->lines, &w->result, losses_of(w)};
    return written ? CLI_CLEAN : CLI_FAILED;
}

bool cli_wcet_open(struct cli_wcet *w, const struct cli_args *args, size_t elf, const char *targets,
                   const struct cli_wcet_wish *wish)
{
    const struct ct_timing_sums_options wishes = {.size = sizeof wishes,
                                                  .no_histograms = wish->quantile <= 0};
    w->wish = *wish;
    w->options = (struct ct_wcet_options){.size = sizeof w->options,
                                          .quantile = wish->quantile,
                                          .exclude = wish->exclude,
                                          .product = wish->product,
                                          .seconds = wish->seconds};
    w->read.args = args;
    w->read.elf = elf;
    w->read.threads = cli_threads(args);
    w->read.user = w;
    w->read.file_why = "a file of times has only the sums of whole captures";
    if (!cli_programs_describe_unmoved(&w->read.programs, args, elf, targets) || !find_entry(w, args))
        return false;
    if (ct_timing_sums_new(args->ctx, &wishes, &w->sums) != CT_OK ||
        ct_timing_sums_new(args->ctx, &wishes, &w->files) != CT_OK ||
        ct_wcet_new(args->ctx, w->cfg, w->lines, &w->wcet) != CT_OK ||
        ct_wcet_set_programs(w->wcet, w->program, w->read.programs) != CT_OK) {
        cli_library_error(args->ctx);
        return false;
    }
    ct_wcet_tell_runs_of(w->wcet, w->options.entry);
    return true;
}

int cli_wcet_run(struct cli_wcet *w)
{
    int code = learn(w);
    if (code != CLI_FAILED && !w->read.kept_nothing)
        code = measure(w);
    if (code == CLI_FAILED || w->read.kept_nothing || !read_bounds(w, w->read.args))
        return code == CLI_CLEAN ? CLI_FAILED : code;
    const int solved = solve(w, w->read.args);
    return solved ? solved : code;
}

void cli_wcet_close(struct cli_wcet *w)
{
    ct_wcet_free(w->wcet);
    ct_timing_sums_free(w->sums);
    ct_timing_sums_free(w->files);
    cli_results_close(&w->read);
}
