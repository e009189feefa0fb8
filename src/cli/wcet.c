/* coretap wcet: the longest time that a function can take. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/elf_files.h"
#include "cli/passes.h"
#include "coretap/learn.h"
#include "report/wcet_print.h"

enum {
    ENTRY = CLI_CAPTURE_OPTIONS,
    ELF,
    BOUNDS,
    QUANTILE,
    UNOBSERVED,
    LP,
    FORMAT,
    TARGETS,
};

enum {
    TEXT,
    JSON,
    DOT,
};

static const char *const formats[] = {"text", "json", "dot", NULL};
static const char *const unobserved[] = {"assume", "exclude", NULL};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [ENTRY] = {.name = "entry",
               .letter = 'e',
               .kind = CLI_TEXT,
               .arg = "FUNCTION",
               .help = "The function whose longest time is looked for."},
    [ELF] = CLI_ELF_FILES,
    [BOUNDS] =
        {.name = "bounds",
         .kind = CLI_TEXT,
         .arg = "FILE",
         .help =
             "How often loops go round, how deep recursions go, which paths cannot be (docs/analysis.md)."},
    [QUANTILE] = {.name = "quantile",
                  .kind = CLI_TEXT,
                  .arg = "Q",
                  .help =
                      "Take for each piece not its largest time, but the one that a part Q (as 0.99) of all "
                      "stayed below, and at least its mean."},
    [UNOBSERVED] =
        {.name = "unobserved",
         .kind = CLI_CHOICE,
         .choices = unobserved,
         .help = "Ways that were never observed: assume the slowest rate seen for their instructions, or "
                 "leave them out."},
    [LP] = {.name = "lp",
            .kind = CLI_TEXT,
            .arg = "FILE",
            .help = "Write the model there, in CPLEX LP format."},
    [FORMAT] = {.name = "format",
                .letter = 'f',
                .kind = CLI_CHOICE,
                .choices = formats,
                .help = "text; json; dot, the longest path for graphviz."},
    [TARGETS] = {.name = "targets",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "Targets of computed branches, as for 'coretap graph'."},
};

struct work {
    struct cli_passes passes;
    struct cli_elfs programs;
    struct ct_wcet *wcet;
    struct ct_cfg *cfg;
    const struct ct_symbols *symbols;
    struct ct_timing *timing;
    const struct ct_graph *graph;
    enum {
        LEARN,
        MEASURE,
    } pass;
    int rc;
};

/* Two passes: the first finds where computed branches lead, which makes the graph whole; the second measures. */
static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct work *w = user;
    (void)stream;
    w->graph = batch->graph;
    if (w->pass == LEARN)
        return CT_OK;
    int rc = ct_timing_add(w->timing, batch);
    return rc ? rc : ct_wcet_count_loops(w->wcet, batch);
}

static int begin(struct cli_passes *passes, struct ct_chain_options *chain, struct ct_chain_sink *sink)
{
    struct work *w = passes->user;
    const struct ct_timing_options timing = {
        .size = sizeof timing, .symbols = &w->symbols, .symbol_count = 1};
    chain->level = CT_LEVEL_STEPS;
    sink->steps = on_steps;
    w->graph = NULL;
    if (w->pass == MEASURE && ct_timing_new(passes->capture.args->ctx, &timing, &w->timing) != CT_OK)
        return cli_library_error(passes->capture.args->ctx);
    return CLI_CLEAN;
}

static void end(struct cli_passes *passes)
{
    struct work *w = passes->user;
    if (w->graph && w->pass == LEARN)
        w->rc = ct_cfg_learn(passes->capture.args->ctx, w->cfg, w->graph, 0);
    else if (w->graph)
        w->rc = ct_wcet_observe(w->wcet, w->timing, w->graph);
    if (w->pass == MEASURE)
        ct_wcet_count_loops(w->wcet, NULL);
    ct_timing_free(w->timing);
    w->timing = NULL;
    if (w->rc)
        cli_library_error(passes->capture.args->ctx);
}

/* ---- before and after ---- */

/* The program that has the function, which becomes that of the whole analysis. */
static bool find_entry(struct work *w, const struct cli_args *args, struct cli_elf **program, uint32_t *entry)
{
    const char *name = args->values[ENTRY].text;
    for (size_t i = 0; i < w->programs.count; i++) {
        size_t count;
        const struct ct_cfg_function *all = ct_cfg_functions(w->programs.all[i].cfg, &count);
        for (uint32_t f = 0; f < count; f++)
            if (strcmp(all[f].name, name) == 0 && all[f].block != CT_CFG_NONE) {
                *program = &w->programs.all[i];
                *entry = f;
                return true;
            }
    }
    cli_say("%s: no program has code of a function of that name; name the program with --elf; 'coretap "
            "graph' lists its "
            "functions",
            name);
    return false;
}

static bool parse_quantile(const struct cli_args *args, double *out)
{
    const struct cli_value *value = &args->values[QUANTILE];
    char *end_of_number = NULL;
    errno = 0;
    *out = value->given ? strtod(value->text, &end_of_number) : 0;
    if (!value->given || (!errno && end_of_number != value->text && !*end_of_number && *out > 0 && *out <= 1))
        return true;
    cli_usage_error(args->command, "--quantile: '%s' is not a number above 0 and up to 1", value->text);
    return false;
}

static bool read_bounds(struct work *w, const struct cli_args *args)
{
    const char *path = args->values[BOUNDS].text;
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

static int solve(struct work *w, const struct cli_args *args, const struct ct_wcet_options *wish,
                 const struct ct_lines *lines)
{
    const char *path = args->values[LP].text;
    FILE *lp = path ? fopen(path, "w") : NULL;
    struct ct_wcet_result result;
    if (path && !lp) {
        cli_say("%s: cannot be written: %s", path, strerror(errno));
        return CLI_FAILED;
    }
    int rc = ct_wcet_solve(w->wcet, wish, lp, &result);
    bool written = !lp || !ferror(lp);
    if (lp && fclose(lp) != 0)
        written = false;
    if (!written)
        cli_say("%s: cannot be written: %s", path, strerror(errno));
    if (rc)
        return cli_library_error(args->ctx);
    const struct ct_wcet_view view = {args->values[ENTRY].text, w->wcet, w->cfg, lines, &result};
    if (args->values[FORMAT].number == JSON)
        ct_wcet_print_json(stdout, &view);
    else if (args->values[FORMAT].number == DOT)
        ct_wcet_print_dot(stdout, &view);
    else
        ct_wcet_print_text(stdout, &view);
    return written ? CLI_CLEAN : CLI_FAILED;
}

static int analyse(struct work *w, const struct cli_args *args)
{
    struct cli_elf *program;
    struct ct_wcet_options wish = {.size = sizeof wish, .exclude = args->values[UNOBSERVED].number == 1};
    if (!parse_quantile(args, &wish.quantile) || !find_entry(w, args, &program, &wish.entry))
        return CLI_FAILED;
    w->cfg = program->cfg;
    w->symbols = program->symbols;
    if (ct_wcet_new(args->ctx, w->cfg, program->lines, &w->wcet) != CT_OK)
        return cli_library_error(args->ctx);
    int code = cli_passes_run(&w->passes, args);
    w->pass = MEASURE;
    if (code != CLI_FAILED && !w->rc)
        code = cli_passes_run(&w->passes, args);
    if (code == CLI_FAILED || w->rc || !read_bounds(w, args))
        return CLI_FAILED;
    int solved = solve(w, args, &wish, program->lines);
    return solved ? solved : code;
}

static int run(const struct cli_args *args)
{
    static struct work w;
    if (!args->values[ENTRY].given)
        return cli_usage_error(args->command, "of which function? give --entry FUNCTION");
    if (strcmp(args->operand, "-") == 0)
        return cli_usage_error(args->command,
                               "the trace is read twice, so it cannot come from standard input; save it "
                               "to a file");
    w.passes.user = &w;
    w.passes.begin = begin;
    w.passes.end = end;
    w.programs.targets = args->values[TARGETS].text;
    if (!cli_elfs_load(&w.programs, args, ELF, CLI_ELF_SYMBOLS | CLI_ELF_LINES | CLI_ELF_CFG))
        return CLI_FAILED;
    int code = analyse(&w, args);
    ct_wcet_free(w.wcet);
    cli_elfs_free(&w.programs);
    return code;
}

const struct cli_command cli_command_wcet = {
    .name = "wcet",
    .summary = "bound the time that a function can take",
    .operand = "CAPTURE",
    .synopsis = "--entry FUNCTION",
    .about = "Finds the longest path through a function and all that it calls, from the control flow of the "
             "program, the "
             "largest time that was measured for each piece of it, and bounds of its loops: told in a file, "
             "in comments of the "
             "source (loop bound: N), counted by the code itself, or else observed, which is no bound and "
             "marked. Solved as an "
             "integer linear program.\n"
             "Prints the bound, the largest time that a whole run was observed to take, the blocks of the "
             "longest path with "
             "their part of it, the loops, and what was never observed and therefore assumed.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
