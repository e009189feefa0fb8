/* coretap cover: which code ran. */
#include "cli/commands.h"
#include "cli/cover.h"
#include "cli/programs.h"
#include "report/cover.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum option {
    ELF = CLI_CAPTURE_OPTIONS,
    FORMAT,
    CONTEXT,
    FUNCTIONS,
    ALL,
};

enum format {
    TEXT,
    LCOV,
    COBERTURA,
    JSON,
    HTML,
    DATA,
};

static const char *const formats[] = {"text", "lcov", "cobertura", "json", "html", "data", NULL};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [ELF] = CLI_ELF_OPTION,
    [FORMAT] =
        {.name = "format",
         .letter = 'f',
         .kind = CLI_CHOICE,
         .choices = formats,
         .help = "text: a summary. lcov: a tracefile for genhtml. cobertura: XML. json: everything but "
                 "instructions. html: one page with source and instructions. data: the counts, for 'coretap "
                 "merge' and 'coretap cover'."},
    [CONTEXT] =
        {.name = "context",
         .kind = CLI_HEX,
         .arg = "HEX",
         .max = UINT32_MAX,
         .help = "Only what ran with this context ID. 'coretap cover --format data' shows those there are."},
    [FUNCTIONS] = {.name = "functions", .kind = CLI_FLAG, .help = "With text: a line for each function."},
    [ALL] = {.name = "all-functions",
             .kind = CLI_FLAG,
             .help =
                 "Functions without source lines count too. Without it they do when no function has any."},
};

struct coverage {
    const struct cli_args *args;
    struct cli_capture capture;
    bool has_capture;
    struct cli_programs programs;
    struct ct_cover *cover;
    uint64_t bytes;
};

/* ---- counts ---- */

static int on_bytes(void *user, uint64_t bytes)
{
    struct coverage *c = user;
    cli_progress_update(&c->capture.progress, c->bytes + bytes);
    return 0;
}

static int enter_programs(struct coverage *c)
{
    for (size_t i = 0; i < c->programs.count; i++) {
        const struct cli_program *p = &c->programs.programs[i];
        struct ct_cover_program program = {.name = p->path, .low = p->low, .high = p->high};
        program.build_id = ct_symbols_build_id(p->symbols, &program.build_id_size);
        uint32_t number;
        if (ct_cover_program(c->cover, &program, &number) != CT_OK)
            return cli_library_error(c->args->ctx);
    }
    return CLI_CLEAN;
}

/* The number of a program in the counts, which know it by its build id. */
static uint32_t number_of(struct coverage *c, const struct cli_program *p)
{
    struct ct_cover_program program = {.name = p->path, .low = p->low, .high = p->high};
    program.build_id = ct_symbols_build_id(p->symbols, &program.build_id_size);
    uint32_t number = 0;
    (void)ct_cover_program(c->cover, &program, &number); /* it is there */
    return number;
}

static int add_streams(struct coverage *c, const struct ct_chain *chain)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    for (size_t i = 0; i < count; i++) {
        if (!streams[i].edges)
            continue;
        for (size_t k = 0; k < c->programs.count; k++) {
            const struct cli_program *p = &c->programs.programs[k];
            if (ct_cover_add(c->cover, number_of(c, p), p->bias, streams[i].graph, streams[i].edges) != CT_OK)
                return cli_library_error(c->args->ctx);
        }
    }
    return CLI_CLEAN;
}

static int decode_buffer(struct coverage *c, const struct ct_buffer *buffer)
{
    struct ct_chain_options chain_options = cli_capture_chain_options(&c->capture, CT_LEVEL_STEPS);
    chain_options.edges = 1;
    const struct ct_chain_sink sink = {.user = c, .bytes = on_bytes};
    struct ct_chain *chain = NULL;
    int code = CLI_CLEAN;
    if (ct_chain_new(c->args->ctx, buffer, &chain_options, &sink, &chain) != CT_OK ||
        ct_chain_run(chain) != CT_OK)
        code = cli_library_error(c->args->ctx);
    if (code == CLI_CLEAN)
        code = add_streams(c, chain);
    if (code == CLI_CLEAN && cli_report_damage(chain, buffer))
        code = CLI_DAMAGED;
    const struct ct_frame_stats *frames = chain ? ct_chain_frame_stats(chain) : NULL;
    c->bytes += frames ? frames->input_bytes : 0;
    ct_chain_free(chain);
    return code;
}

static int read_capture(struct coverage *c)
{
    if (!cli_capture_open(&c->capture, c->args))
        return CLI_FAILED;
    c->has_capture = true;
    if (!cli_programs_open(&c->programs, c->args, ELF, &c->capture))
        return CLI_FAILED;
    int worst = enter_programs(c);
    for (size_t i = 0; i < c->capture.count && worst != CLI_FAILED; i++) {
        int code = decode_buffer(c, &c->capture.buffers[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

/* A coverage file: its programs are read from where it names them, unless --elf says otherwise. */
static int read_counts(struct coverage *c, const char *path)
{
    if (!cli_cover_read(c->args->ctx, c->cover, path) || !cli_programs_open(&c->programs, c->args, ELF, NULL))
        return CLI_FAILED;
    for (size_t i = 0; c->programs.count == 0 && i < ct_cover_programs(c->cover); i++) {
        struct ct_cover_program program = ct_cover_program_at(c->cover, (uint32_t)i);
        if (!cli_programs_add(&c->programs, program.name))
            return CLI_FAILED;
    }
    size_t known = ct_cover_programs(c->cover);
    int code = enter_programs(c);
    if (code == CLI_CLEAN && ct_cover_programs(c->cover) != known)
        cli_say("%s: has no counts of one of the programs, or counts of another build of it; they stay zero",
                path);
    return code;
}

/* ---- reports ---- */

static bool in_context(const struct coverage *c, const struct ct_edge_context *context)
{
    const struct cli_value *wanted = &c->args->values[CONTEXT];
    return !wanted->given ||
           (context->known & CT_CONTEXT_CTXT && context->ctxt == wanted->number && !context->others);
}

/* The items of a program in the contexts that are wanted. */
static int get_items(struct coverage *c, uint32_t program, struct ct_cover_item **items, size_t *count)
{
    if (!c->args->values[CONTEXT].given)
        return ct_cover_items(c->cover, program, CT_EDGES_ALL, items, count);
    struct ct_cover *chosen;
    size_t contexts;
    const struct ct_edge_context *all = ct_cover_contexts(c->cover, &contexts);
    int result = ct_cover_new(c->args->ctx, &chosen);
    if (result != CT_OK)
        return result;
    struct ct_cover_program id = ct_cover_program_at(c->cover, program);
    uint32_t number = 0;
    result = ct_cover_program(chosen, &id, &number);
    for (size_t i = 0; i < contexts && result == CT_OK; i++) {
        struct ct_cover_item *some;
        size_t n;
        if (!in_context(c, &all[i]))
            continue;
        result = ct_cover_items(c->cover, program, i, &some, &n);
        for (size_t k = 0; result == CT_OK && k < n; k++)
            result = ct_cover_add_item(chosen, number, &all[i], &some[k]);
        if (n)
            free(some);
    }
    if (result == CT_OK)
        result = ct_cover_items(chosen, number, CT_EDGES_ALL, items, count);
    ct_cover_free(chosen);
    return result;
}

static bool make_report(struct coverage *c, const struct cli_program *p, struct ct_cover_source *source,
                        struct ct_cover_report **report)
{
    struct ct_cover_item *items;
    size_t count;
    *source = (struct ct_cover_source){.size = sizeof *source,
                                       .memory = p->memory,
                                       .symbols = p->symbols,
                                       .lines = p->lines,
                                       .arch = cli_programs_arch(c->has_capture ? &c->capture : NULL),
                                       .all_functions = c->args->values[ALL].given};
    if (get_items(c, number_of(c, p), &items, &count) != CT_OK) {
        cli_library_error(c->args->ctx);
        return false;
    }
    int result = ct_cover_report_new(c->args->ctx, source, items, count, report);
    free(items);
    if (result != CT_OK)
        cli_library_error(c->args->ctx);
    return result == CT_OK;
}

static void print(const struct coverage *c, const struct ct_cover_views *views)
{
    switch ((enum format)c->args->values[FORMAT].number) {
    case TEXT:
        ct_cover_text(stdout, views, c->args->values[FUNCTIONS].given);
        break;
    case LCOV:
        ct_cover_lcov(stdout, views);
        break;
    case COBERTURA:
        ct_cover_cobertura(stdout, views, (uint64_t)time(NULL));
        break;
    case JSON:
        ct_cover_json(stdout, views);
        break;
    case HTML:
        ct_cover_html(stdout, views);
        break;
    case DATA:
        break;
    }
}

static int report(struct coverage *c)
{
    if (c->args->values[FORMAT].number == DATA)
        return ct_cover_write(stdout, c->cover) == CT_OK ? CLI_CLEAN : cli_library_error(c->args->ctx);
    size_t count = c->programs.count;
    struct ct_cover_view *views = calloc(count + 1, sizeof *views);
    struct ct_cover_source *sources = calloc(count + 1, sizeof *sources);
    struct ct_cover_report **reports = calloc(count + 1, sizeof(struct ct_cover_report *));
    int code = views && sources && reports ? CLI_CLEAN : CLI_FAILED;
    if (code == CLI_FAILED)
        cli_say("out of memory");
    for (size_t i = 0; i < count && code == CLI_CLEAN; i++) {
        const struct cli_program *p = &c->programs.programs[i];
        if (!make_report(c, p, &sources[i], &reports[i]))
            code = CLI_FAILED;
        views[i] = (struct ct_cover_view){
            .program = p->path, .report = reports[i], .lines = p->lines, .memory = p->memory};
    }
    if (code == CLI_CLEAN)
        print(c, &(struct ct_cover_views){.views = views, .count = count, .title = c->args->operand});
    for (size_t i = 0; reports && i < count; i++)
        ct_cover_report_free(reports[i]);
    free(reports);
    free(sources);
    free(views);
    return code;
}

static int run(const struct cli_args *args)
{
    static struct coverage c;
    c.args = args;
    if (ct_cover_new(args->ctx, &c.cover) != CT_OK)
        return cli_library_error(args->ctx);
    int code = cli_cover_is_file(args->operand) ? read_counts(&c, args->operand) : read_capture(&c);
    if (code != CLI_FAILED) {
        int reported = report(&c);
        code = reported > code ? reported : code;
    }
    if (c.has_capture)
        cli_capture_close(&c.capture);
    cli_programs_close(&c.programs);
    ct_cover_free(c.cover);
    return code;
}

const struct cli_command cli_command_cover = {
    .name = "cover",
    .summary = "which functions, lines, instructions and branches ran",
    .operand = "CAPTURE",
    .about =
        "Decodes the capture along its programs and reports which of their code was executed, and how often: "
        "functions, source lines (by the programs' debug information), instructions, both directions of each "
        "conditional branch, and calls. docs/analysis.md says how each number comes about.\n"
        "Instead of a capture it also takes a coverage file, which 'coretap cover --format data' or 'coretap "
        "merge' "
        "wrote.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
