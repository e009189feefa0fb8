/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/wcet_run.h"
#include "cli/output.h"
#include "cli/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/learn.h"

/* Two passes: the first finds where computed branches lead, which makes the
 * graph whole; the second measures. */
static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct cli_wcet *w = user;
    (void)stream;
    w->graph = batch->graph;
    if (w->pass == CLI_WCET_LEARN)
        return CT_OK;
    int rc = ct_timing_add(w->timing, batch);
    return rc ? rc : ct_wcet_count_loops(w->wcet, batch);
}

static int begin(struct cli_passes *passes, struct ct_chain_options *chain, struct ct_chain_sink *sink)
{
    struct cli_wcet *w = passes->user;
    const struct ct_timing_options timing = {
        .size = sizeof timing, .programs = &w->place, .program_count = 1};
    chain->level = CT_LEVEL_STEPS;
    sink->steps = on_steps;
    w->graph = NULL;
    if (w->pass == CLI_WCET_MEASURE && ct_timing_new(passes->capture.args->ctx, &timing, &w->timing) != CT_OK)
        return cli_library_error(passes->capture.args->ctx);
    return CLI_CLEAN;
}

static void end(struct cli_passes *passes)
{
    struct cli_wcet *w = passes->user;
    if (w->graph && w->pass == CLI_WCET_LEARN)
        w->rc = ct_cfg_learn(passes->capture.args->ctx, w->cfg, w->graph, 0);
    else if (w->graph)
        w->rc = ct_wcet_observe(w->wcet, w->timing, w->graph);
    if (w->pass == CLI_WCET_MEASURE)
        ct_wcet_count_loops(w->wcet, NULL);
    if (w->timing)
        w->cycles += ct_timing_totals(w->timing).cycles;
    ct_timing_free(w->timing);
    w->timing = NULL;
    if (w->rc)
        cli_library_error(passes->capture.args->ctx);
}

/* ---- before and after ---- */

/* The program that has the function, which becomes that of the whole analysis. */
static bool find_entry(struct cli_wcet *w, const struct cli_args *args)
{
    struct ct_program *program;
    for (size_t i = 0; (program = ct_programs_at(w->programs, i)); i++) {
        if (ct_program_cfg(program, &w->cfg) != CT_OK || ct_program_lines(program, &w->lines) != CT_OK ||
            ct_program_symbols(program, &w->place.symbols) != CT_OK) {
            cli_library_error(args->ctx);
            return false;
        }
        size_t count;
        const struct ct_cfg_function *all = ct_cfg_functions(w->cfg, &count);
        for (uint32_t f = 0; f < count; f++)
            if ((strcmp(all[f].name, w->wish.entry) == 0 || strcmp(all[f].label, w->wish.entry) == 0) &&
                all[f].block != CT_CFG_NONE) {
                w->options.entry = f;
                return true;
            }
    }
    cli_say("%s: no program has code of a function of that name; name the program with --elf; 'coretap "
            "graph' lists its "
            "functions",
            w->wish.entry);
    return false;
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
    int rc = text ? ct_wcet_bounds(w->wcet, path, text) : CT_OK;
    free(text);
    if (!rc)
        rc = ct_wcet_comments(w->wcet);
    if (rc)
        cli_library_error(args->ctx);
    return rc == CT_OK;
}

static int solve(struct cli_wcet *w, const struct cli_args *args)
{
    const char *path = w->wish.lp;
    struct cli_output output;
    FILE *lp = path ? cli_output_open(&output, path) : NULL;
    if (path && !lp)
        return CLI_FAILED;
    const int kept = cli_output_mute(); /* the solver says "Primal infeasible" there, whatever it is told */
    w->rc = ct_wcet_solve(w->wcet, &w->options, lp ? cli_output_write : NULL, lp, &w->result);
    cli_output_unmute(kept);
    /* Also a problem that has no solution is written. */
    const bool written = !lp || cli_output_close(&output, !w->rc || ftell(lp) > 0);
    if (w->rc && !w->cycles && w->passes.ran.instructions)
        return cli_ran_but_empty(&w->passes.ran, args, CLI_CLEAN, "the model of the longest time is",
                                 "the trace has no cycle counts", "record with cycle counts");
    if (w->rc)
        return cli_library_error(args->ctx);
    w->view = (struct ct_wcet_view){w->wish.entry, w->wcet,    w->cfg,
                                    w->lines,      &w->result, w->passes.capture.seen.losses};
    return written ? CLI_CLEAN : CLI_FAILED;
}

bool cli_wcet_open(struct cli_wcet *w, const struct cli_args *args, struct ct_programs *programs,
                   const struct cli_wcet_wish *wish)
{
    w->wish = *wish;
    w->programs = programs;
    w->options = (struct ct_wcet_options){.size = sizeof w->options,
                                          .quantile = wish->quantile,
                                          .exclude = wish->exclude,
                                          .product = wish->product};
    if (!find_entry(w, args))
        return false;
    if (ct_wcet_new(args->ctx, w->cfg, w->lines, &w->wcet) != CT_OK) {
        cli_library_error(args->ctx);
        return false;
    }
    ct_wcet_tell_runs_of(w->wcet, w->options.entry);
    return true;
}

int cli_wcet_run(struct cli_wcet *w, const struct cli_args *args)
{
    w->passes = (struct cli_passes){.user = w, .begin = begin, .end = end, .programs = w->programs};
    w->passes.untold = true;
    w->pass = CLI_WCET_LEARN;
    int code = cli_passes_run(&w->passes, args);
    w->passes = (struct cli_passes){.user = w, .begin = begin, .end = end, .programs = w->programs};
    w->passes.untold = w->wish.untold;
    w->pass = CLI_WCET_MEASURE;
    if (code != CLI_FAILED && !w->rc)
        code = cli_passes_run(&w->passes, args);
    if (code == CLI_FAILED || w->rc || !read_bounds(w, args))
        return CLI_FAILED;
    int solved = solve(w, args);
    return solved ? solved : code;
}

void cli_wcet_close(struct cli_wcet *w)
{
    ct_timing_free(w->timing);
    ct_wcet_free(w->wcet);
    w->timing = NULL;
    w->wcet = NULL;
}
