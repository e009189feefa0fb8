/* SPDX-License-Identifier: Apache-2.0 */
/* coretap timing: how long edges, blocks, functions and ways between watchpoints take. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/fractal_source.h"
#include "cli/passes.h"
#include "cli/programs.h"
#include "cli/timing_view.h"
#include "report/svg_hist.h"

enum {
    ELF = CLI_CAPTURE_OPTIONS,
    PAIR,
    EDGES,
    BLOCKS,
    TOP,
    FORMAT,
    FUNCTION,
    TARGETS,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS - 1,
};

enum {
    TEXT,
    JSON,
    SVG,
};

static const char *const formats[] = {"text", "json", "svg", NULL};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [ELF] = CLI_ELF_FILES,
    [PAIR] = CLI_PAIR_OPTION,
    [EDGES] = {.name = "edges", .kind = CLI_FLAG, .help = "Also a table of edges."},
    [BLOCKS] = {.name = "blocks", .kind = CLI_FLAG, .help = "Also a table of basic blocks."},
    [TOP] = {.name = "top",
             .letter = 'n',
             .kind = CLI_NUMBER,
             .arg = "N",
             .min = 1,
             .max = 1000000000,
             .help = "Lines of each table, those with most cycles; 20 without this option."},
    [FORMAT] = {.name = "format",
                .letter = 'f',
                .kind = CLI_CHOICE,
                .choices = formats,
                .help = "text; json, which has everything, histograms too; svg, a plot (see --function)."},
    [FUNCTION] =
        {.name = "function",
         .kind = CLI_TEXT,
         .arg = "NAME",
         .help = "With --format svg: plot the inclusive times of this function. Without: the first pair."},
    [TARGETS] = {.name = "targets",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "Targets of computed branches, as for 'coretap graph'."},
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_WINDOW,
    CLI_FILTER_FREQUENCY,
    CLI_FILTER_WHO,
    CLI_FILTER_MODULE,
};

struct measuring {
    struct cli_passes passes;
    struct ct_programs *programs;
    struct ct_watches *watches;
    struct ct_timing *timing;
    struct ct_cfg *cfg; /* of the first program: others have numbers of their own; or NULL */
    const struct ct_graph *graph;
    uint64_t cycles; /* of all streams */
    struct ct_json json;
    bool is_open;     /* the array of JSON */
    uint64_t renewed; /* stacks, of all passes */
    bool is_plotted;  /* with SVG: something */
};

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct measuring *m = user;
    (void)stream;
    m->graph = batch->graph;
    return ct_timing_add(m->timing, batch);
}

/* ---- before a stream ---- */

static int begin(struct cli_passes *passes, struct ct_chain_options *chain, struct ct_chain_sink *sink)
{
    struct measuring *m = passes->user;
    const struct cli_args *args = passes->capture.args;
    struct ct_timing_options timing = {.size = sizeof timing};
    chain->level = CT_LEVEL_STEPS;
    sink->steps = on_steps;
    m->graph = NULL;
    if (ct_programs_places(m->programs, &timing.programs, &timing.program_count) != CT_OK ||
        ct_timing_new(args->ctx, &timing, &m->timing) != CT_OK ||
        ct_watches_new(args->ctx, m->programs, &m->watches) != CT_OK)
        return cli_library_error(args->ctx);
    return cli_timing_add_pairs(m->timing, m->watches, args, PAIR) ? CLI_CLEAN : CLI_FAILED;
}

/* ---- after it ---- */

static const struct ct_dist *plotted(const struct measuring *m, const struct cli_args *args,
                                     const char **title)
{
    size_t count;
    const struct ct_timing_pair *pairs = ct_timing_pairs(m->timing, &count);
    const struct cli_value *name = &args->values[FUNCTION];
    if (!name->given && count) {
        *title = pairs[0].name;
        return &pairs[0].direct;
    }
    const struct ct_timing_function *functions = ct_timing_functions(m->timing, &count);
    for (size_t i = 0; name->given && i < count; i++)
        if (functions[i].inclusive.count &&
            (strcmp(functions[i].name, name->text) == 0 || strcmp(functions[i].label, name->text) == 0)) {
            *title = functions[i].label;
            return &functions[i].inclusive;
        }
    return NULL;
}

static void print(struct measuring *m, const struct cli_args *args, const struct ct_timing_view *view)
{
    const struct ct_timing_wish wish = {.top = args->values[TOP].given ? (size_t)args->values[TOP].number
                                                                       : CLI_TIMING_TOP,
                                        .edges = args->values[EDGES].given,
                                        .blocks = args->values[BLOCKS].given};
    const char *title = NULL;
    const struct ct_dist *dist;
    switch (args->values[FORMAT].number) {
    case JSON:
        ct_timing_print_json(&m->json, view);
        break;
    case SVG:
        dist = plotted(m, args, &title);
        if (dist)
            ct_svg_histogram(stdout, title, dist);
        m->is_plotted |= dist != NULL;
        break;
    default:
        if (ct_timing_print_text(stdout, view, &wish) != CT_OK)
            cli_no_memory();
        break;
    }
}

static void show(struct measuring *m)
{
    struct ct_timing_block *blocks;
    const struct ct_timing_view view =
        cli_timing_view(m->timing, m->graph, m->cfg, m->passes.buffer, cli_passes_source(&m->passes),
                        m->passes.id, &m->passes.losses, &blocks);
    print(m, m->passes.capture.args, &view);
    free(blocks);
}

static void end(struct cli_passes *passes)
{
    struct measuring *m = passes->user;
    if (m->graph)
        show(m);
    m->cycles += ct_timing_totals(m->timing).cycles;
    m->renewed += ct_timing_totals(m->timing).renewed;
    ct_timing_free(m->timing);
    ct_watches_free(m->watches);
    m->timing = NULL;
    m->watches = NULL;
}

/* ---- an event log in the place of a capture ---- */

#define MARKS 5 /* watchpoints that the first pair adds of itself, the first ones */

static int on_log(void *user, const struct ct_watch_event *events, size_t count)
{
    struct measuring *m = user;
    return ct_timing_feed(m->timing, events, count);
}

static int measure_log(struct measuring *m, const struct cli_args *args)
{
    const struct ct_timing_options timing = {.size = sizeof timing};
    if (ct_timing_new(args->ctx, &timing, &m->timing) != CT_OK ||
        ct_watches_new(args->ctx, m->programs, &m->watches) != CT_OK)
        return cli_library_error(args->ctx);
    if (!cli_timing_add_pairs(m->timing, m->watches, args, PAIR) ||
        !cli_fractal_source_accepts(m->watches, MARKS))
        return CLI_FAILED;
    const int code = cli_fractal_source_run(args, m->watches, on_log, m);
    const struct ct_timing_view view = {.buffer = args->operand,
                                        .core = "fractal",
                                        .timing = m->timing,
                                        .losses.gaps = ct_timing_totals(m->timing).gaps};
    if (code != CLI_FAILED)
        print(m, args, &view);
    return code;
}

static int run_log(struct measuring *m, const struct cli_args *args)
{
    bool has_pair = false;
    if (!cli_without_threads(args, "an event log is read") || !cli_filter_none(args, "an event log is read"))
        return CLI_FAILED;
    for (size_t i = 0; i < args->list_count; i++)
        has_pair |= args->list[i].option == PAIR;
    if (!has_pair || args->values[EDGES].given || args->values[BLOCKS].given || args->values[FUNCTION].given)
        return cli_usage_error(args->command,
                               "an event log has accesses to memory and no functions, edges or blocks: only "
                               "--pair can be measured in it");
    return measure_log(m, args);
}

/* ---- all of it ---- */

static bool load(struct measuring *m, const struct cli_args *args)
{
    if (!cli_programs_describe(&m->programs, args, ELF, args->values[TARGETS].text))
        return false;
    struct ct_program *first = ct_programs_at(m->programs, 0);
    if (!first || ct_program_cfg(first, &m->cfg) == CT_OK)
        return true;
    cli_library_error(args->ctx);
    return false;
}

static int run(const struct cli_args *args)
{
    struct measuring m = {0};
    bool json = args->values[FORMAT].number == JSON;
    m.passes.user = &m;
    m.passes.begin = begin;
    m.passes.end = end;
    m.json.out = stdout;
    if (!load(&m, args)) {
        ct_programs_free(m.programs);
        return CLI_FAILED;
    }
    if (json)
        ct_json_array(&m.json, NULL);
    m.passes.programs = m.programs;
    int code = cli_fractal_source_is_log(args->operand) ? run_log(&m, args) : cli_passes_run(&m.passes, args);
    cli_note_new_stacks(args, m.renewed);
    if (!m.cycles && !m.passes.kept_nothing)
        code = cli_ran_but_empty(&m.passes.ran, args, code, "the table of times is",
                                 "the trace has no cycle counts", "record with cycle counts");
    if (json)
        ct_json_array_end(&m.json);
    if (args->values[FORMAT].number == SVG && !m.is_plotted && code != CLI_FAILED) {
        cli_say("nothing to plot: give --pair, or --function with a function of which whole runs were seen");
        code = CLI_DAMAGED;
    }
    ct_timing_free(m.timing);
    ct_watches_free(m.watches);
    ct_programs_free(m.programs);
    return code;
}

const struct cli_command cli_command_timing = {
    .name = "timing",
    .summary = "print how long edges, functions and ways between watchpoints take",
    .operand = "CAPTURE",
    .about =
        "Adds up the cycles of each edge of the program, of each basic block, of each function (alone, "
        "and with all that "
        "it calls), and from one watchpoint to another: how often, minimum, mean, maximum, standard "
        "deviation and a "
        "histogram.\n"
        "Of an event log of 'coretap fractal' (docs/fractal.md) as CAPTURE only pairs are measured, between "
        "addresses and entry:FUNCTION, in cycles of its interconnect.\n"
        "Runs of functions are told by calls and returns. What exceptions and other threads take in "
        "between is not in "
        "their times but counted apart; of a recursion the outermost run counts. The cycles of all "
        "edges and those that "
        "belong to no instruction (unplaced) are all cycles of the trace.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .run = run,
};
