#include "cli/counts.h"

#include "cli/missing.h"

#include "report/losses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int on_bytes(void *user, uint64_t bytes)
{
    struct cli_counts *c = user;
    cli_progress_update(&c->capture.progress, c->bytes + bytes);
    return 0;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct cli_counts *c = user;
    return c->steps(c->user, stream, batch);
}

/* The number in the counts of a program, which is added to them. */
static int number_of(struct cli_counts *c, struct ct_program *p, uint32_t *number)
{
    struct ct_cover_program program = {.name = p->path};
    const struct ct_symbols *symbols;
    size_t count;
    const int rc = ct_program_symbols(p, &symbols);
    if (rc)
        return rc;
    const struct ct_code_range *code = ct_symbols_code(symbols, &count);
    program.low = count ? code[0].low : 0;
    for (size_t i = 0; i < count; i++)
        program.high = code[i].high > program.high ? code[i].high : program.high;
    program.build_id = ct_symbols_build_id(symbols, &program.build_id_size);
    return ct_cover_program(c->cover, &program, number);
}

static int enter_programs(struct cli_counts *c)
{
    struct ct_program *program;
    uint32_t number;
    for (size_t i = 0; (program = ct_programs_at(c->programs, i)); i++)
        if (number_of(c, program, &number) != CT_OK)
            return cli_library_error(c->args->ctx);
    return CLI_CLEAN;
}

static bool find_programs_of(struct cli_counts *c, const struct ct_stream *stream)
{
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(stream->graph, &count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t memory = nodes[i].memory;
        if (memory < c->memory_count && c->memories[memory])
            continue;
        if (memory >= c->memory_count) {
            uint8_t *memories = realloc(c->memories, (size_t)memory + 1);
            if (!memories) {
                cli_no_memory();
                return false;
            }
            memset(memories + c->memory_count, 0, memory + 1 - c->memory_count);
            c->memories = memories;
            c->memory_count = (size_t)memory + 1;
        }
        c->memories[memory] = 1;
        if (!cli_programs_in(c->programs, c->args, c->capture.capture->maps, memory))
            return false;
    }
    return true;
}

/* Where memory changes, what lay in the memories that the trace was in ran. */
static bool find_programs(struct cli_counts *c, const struct ct_chain *chain)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    for (size_t i = 0; i < count; i++)
        if (streams[i].graph && !find_programs_of(c, &streams[i]))
            return false;
    return true;
}

/* Where a program lay, as far as that is known now. */
static int place_program(struct cli_counts *c, struct ct_program *p)
{
    struct ct_cover_place place = {.bias = p->bias, .memories = p->memories};
    const struct ct_symbols *symbols;
    uint32_t number;
    int rc = ct_program_symbols(p, &symbols);
    if (!rc)
        rc = number_of(c, p, &number);
    if (rc)
        return rc;
    place.code = ct_symbols_code(symbols, &place.code_count);
    return ct_cover_add_place(c->cover, number, &place);
}

static int place_programs(struct cli_counts *c)
{
    struct ct_program *program;
    ct_cover_clear_places(c->cover);
    for (size_t i = 0; (program = ct_programs_at(c->programs, i)); i++)
        if (place_program(c, program) != CT_OK)
            return cli_library_error(c->args->ctx);
    return CLI_CLEAN;
}

static int add_streams(struct cli_counts *c, const struct ct_chain *chain)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    if (place_programs(c) != CLI_CLEAN)
        return CLI_FAILED;
    for (size_t i = 0; i < count; i++) {
        const struct ct_analysis_batch batch = {
            .input = CT_INPUT_COUNTS, .graph = streams[i].graph, .edges = streams[i].edges};
        if (batch.edges && ct_analysis_take(ct_cover_analysis(c->cover), &batch) != CT_OK)
            return cli_library_error(c->args->ctx);
    }
    return CLI_CLEAN;
}

uint32_t cli_counts_lane(struct cli_counts *c, uint8_t id)
{
    if (!c->lanes[id])
        c->lanes[id] = ++c->lane_count;
    return c->lanes[id] - 1;
}

static int run_chain(struct cli_counts *c, const struct ct_buffer *buffer, bool counts, bool steps,
                     struct ct_chain **chain)
{
    struct ct_chain_options chain_options = cli_capture_chain_options(&c->capture, CT_LEVEL_STEPS);
    chain_options.edges = counts ? CT_EDGES_COUNTS : CT_EDGES_NONE;
    chain_options.threads = c->threads;
    memset(c->lanes, 0, sizeof c->lanes);
    c->sink = (struct ct_chain_sink){.user = c, .bytes = on_bytes, .steps = steps ? on_steps : NULL};
    if (ct_chain_new(c->args->ctx, buffer, &chain_options, &c->sink, chain) != CT_OK ||
        ct_chain_run(*chain) != CT_OK)
        return cli_library_error(c->args->ctx);
    return CLI_CLEAN;
}

static int decode_buffer(struct cli_counts *c, const struct ct_buffer *buffer)
{
    const bool by_memory = ct_programs_by_memory(c->capture.capture);
    struct ct_chain *chain = NULL;
    int code = run_chain(c, buffer, true, c->steps && !by_memory, &chain);
    if (code == CLI_CLEAN && by_memory && (!find_programs(c, chain) || enter_programs(c) != CLI_CLEAN))
        code = CLI_FAILED;
    if (code == CLI_CLEAN)
        code = add_streams(c, chain);
    if (code == CLI_CLEAN && !cli_ran_add(&c->ran, c->capture.capture, buffer, chain, c->programs))
        cli_no_memory();
    if (code == CLI_CLEAN && c->decoded && !by_memory)
        code = c->decoded(c->user, buffer, chain);
    if (code == CLI_CLEAN)
        cli_capture_count(&c->capture, chain, CT_LEVEL_STEPS, true);
    const struct ct_frame_stats *frames = chain ? ct_chain_frame_stats(chain) : NULL;
    c->bytes += frames ? frames->input_bytes : 0;
    ct_chain_free(chain);
    return code;
}

static int decode_buffers(struct cli_counts *c)
{
    int worst = CLI_CLEAN;
    for (size_t i = 0; i < c->capture.count && worst != CLI_FAILED; i++) {
        int code = decode_buffer(c, &c->capture.buffers[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

/* Steps once more, to who wants them: now it is known which programs they are of. */
static int give_steps(struct cli_counts *c)
{
    int code = CLI_CLEAN;
    for (size_t i = 0; i < c->capture.count && code == CLI_CLEAN; i++) {
        struct ct_chain *chain = NULL;
        code = run_chain(c, &c->capture.buffers[i], false, true, &chain);
        if (code == CLI_CLEAN && c->decoded)
            code = c->decoded(c->user, &c->capture.buffers[i], chain);
        ct_chain_free(chain);
    }
    return code;
}

/* The capture and the programs that are known before it is decoded. */
static bool open_capture(struct cli_counts *c)
{
    if (!cli_capture_open(&c->capture, c->args))
        return false;
    c->has_capture = true;
    return cli_programs_open(&c->programs, c->args, c->elf, &c->capture);
}

static int read_capture(struct cli_counts *c)
{
    if (!open_capture(c))
        return CLI_FAILED;
    const bool by_memory = ct_programs_by_memory(c->capture.capture);
    if (!by_memory && !cli_programs_any(c->programs, c->args)) {
        if (c->capture.capture->missing_count && decode_buffers(c) != CLI_FAILED)
            cli_missing_tell(&c->capture); /* in which of them the trace lies */
        return CLI_FAILED;
    }
    int worst = enter_programs(c);
    if (worst == CLI_CLEAN)
        worst = decode_buffers(c);
    if (worst != CLI_FAILED && by_memory && !cli_programs_any(c->programs, c->args))
        return CLI_FAILED;
    if (worst != CLI_FAILED && by_memory && c->steps && give_steps(c) != CLI_CLEAN)
        return CLI_FAILED;
    return cli_capture_code_or_empty(&c->capture, worst);
}

/* Says what was lost of the captures that a coverage file is of, and gives the exit code, as cli_capture_code does. */
static int tell_captures(const struct cli_counts *c, const char *path, int code)
{
    char words[CT_LOSSES_WORDS];
    const struct ct_analysis_captures all = ct_cover_analysis(c->cover)->captures;
    const bool partial = all.losses.overflows || all.losses.no_access || all.unknown;
    const bool damaged = all.damaged || (partial && c->args->values[CLI_CAPTURE_STRICT].given);
    const bool tells = damaged || !c->args->quiet;
    if (tells && ct_losses_any(&all.losses))
        cli_say("%s: losses: %s", path, ct_losses_words(words, &all.losses));
    if (tells && all.damaged && !ct_losses_damaged(&all.losses))
        cli_say("%s: %" PRIu64 " of the %" PRIu64 " captures that it is of were not whole", path, all.damaged,
                all.known);
    if (tells && all.unknown)
        cli_say("%s: what was lost is not known of %" PRIu64
                " coverage files of version 1 in it; write them anew from "
                "their captures with 'coretap cover --format data'",
                path, all.unknown);
    return code == CLI_CLEAN && damaged ? CLI_DAMAGED : code;
}

/* A coverage file: its first program is read from where it names it, unless --elf names others. */
static int read_counts(struct cli_counts *c, const char *path)
{
    if (!cli_cover_read(c->args->ctx, c->cover, path) ||
        !cli_programs_open(&c->programs, c->args, c->elf, NULL))
        return CLI_FAILED;
    if (!ct_programs_count(c->programs) && ct_cover_programs(c->cover) &&
        ct_programs_add(c->programs, ct_cover_program_at(c->cover, 0).name, NULL, NULL, NULL) != CT_OK)
        return cli_library_error(c->args->ctx);
    size_t known = ct_cover_programs(c->cover);
    int code = enter_programs(c);
    if (code == CLI_FAILED)
        return code;
    if (ct_cover_programs(c->cover) != known)
        cli_say("%s: has no counts of one of the programs, or counts of another build of it; they stay zero",
                path);
    return tell_captures(c, path, code);
}

struct ct_analysis_captures cli_counts_captures(const struct cli_counts *c)
{
    if (!c->has_capture)
        return ct_cover_analysis(c->cover)->captures;
    return (struct ct_analysis_captures){
        .known = 1, .damaged = cli_capture_is_damaged(&c->capture, false), .losses = c->capture.losses};
}

int cli_counts_open(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    c->args = args;
    c->elf = elf;
    if (ct_cover_new(args->ctx, &c->cover) != CT_OK)
        return cli_library_error(args->ctx);
    return open_capture(c) && cli_programs_any(c->programs, c->args) ? enter_programs(c) : CLI_FAILED;
}

int cli_counts_take(struct cli_counts *c, const struct ct_chain *chain)
{
    ct_cover_free(c->cover);
    c->cover = NULL;
    if (ct_cover_new(c->args->ctx, &c->cover) != CT_OK)
        return cli_library_error(c->args->ctx);
    int code = enter_programs(c);
    if (code == CLI_CLEAN)
        code = add_streams(c, chain);
    if (code == CLI_FAILED) { /* counts of a part of the trace are none */
        ct_cover_free(c->cover);
        c->cover = NULL;
    }
    return code;
}

int cli_counts_read(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    c->args = args;
    c->elf = elf;
    if (ct_cover_new(args->ctx, &c->cover) != CT_OK)
        return cli_library_error(args->ctx);
    return cli_cover_is_file(args->operand) ? read_counts(c, args->operand) : read_capture(c);
}

void cli_counts_close(struct cli_counts *c)
{
    if (c->has_capture)
        cli_capture_close(&c->capture);
    ct_programs_free(c->programs);
    ct_cover_free(c->cover);
    free(c->memories);
}

/* ---- reports ---- */

bool cli_counts_is_first(struct cli_counts *c, struct ct_program *p)
{
    uint32_t number = 0;
    uint32_t other = 0;
    (void)number_of(c, p, &number); /* all are in the counts */
    for (size_t i = 0; ct_programs_at(c->programs, i) != p; i++)
        if (number_of(c, ct_programs_at(c->programs, i), &other) == CT_OK && other == number)
            return false;
    return true;
}

static bool in_context(const struct cli_counts *c, const struct ct_edge_context *context)
{
    return !c->one_context ||
           (context->known & CT_CONTEXT_CTXT && context->ctxt == c->context && !context->others);
}

int cli_counts_items(struct cli_counts *c, struct ct_program *p, struct ct_cover_item **items, size_t *count)
{
    uint32_t program;
    int result = number_of(c, p, &program);
    if (result != CT_OK)
        return result;
    if (!c->one_context)
        return ct_cover_items(c->cover, program, CT_EDGES_ALL, items, count);
    struct ct_cover *chosen;
    size_t contexts;
    const struct ct_edge_context *all = ct_cover_contexts(c->cover, &contexts);
    result = ct_cover_new(c->args->ctx, &chosen);
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

/* The architecture of the first core of the capture; of a newest A profile without a capture. */
static struct ct_arch arch_of(const struct cli_counts *c)
{
    struct ct_arch arch = {0};
    for (size_t i = 0; c->has_capture && i < c->capture.count; i++)
        if (c->capture.buffers[i].source_count)
            return c->capture.buffers[i].sources[0].arch;
    (void)ct_arch_by_name("ARM-AA64", &arch);
    return arch;
}

static int source_of(const struct cli_counts *c, struct ct_program *p, struct ct_cover_source *source)
{
    *source = (struct ct_cover_source){
        .size = sizeof *source, .arch = arch_of(c), .all_functions = c->all_functions};
    int rc = ct_program_symbols(p, &source->symbols);
    if (!rc)
        rc = ct_program_lines(p, &source->lines);
    return rc ? rc : ct_program_memory(p, &source->memory);
}

bool cli_counts_report(struct cli_counts *c, struct ct_program *p, struct ct_cover_source *source,
                       struct ct_cover_report **report)
{
    struct ct_cover_item *items;
    size_t count;
    int result = source_of(c, p, source);
    if (result == CT_OK)
        result = cli_counts_items(c, p, &items, &count);
    if (result == CT_OK) {
        result = ct_cover_report_new(c->args->ctx, source, items, count, report);
        free(items);
    }
    if (result != CT_OK)
        cli_library_error(c->args->ctx);
    return result == CT_OK;
}

/* The sums of one context, unless nothing of the program ran in it. */
static int sum_context(struct cli_counts *c, struct ct_program *p, size_t context, struct ct_cover_sums *sums,
                       bool *ran)
{
    struct ct_cover_source source;
    struct ct_cover_report *report;
    struct ct_cover_item *items;
    uint32_t number;
    size_t count;
    *ran = false;
    int result = source_of(c, p, &source);
    if (result == CT_OK)
        result = number_of(c, p, &number);
    if (result == CT_OK)
        result = ct_cover_items(c->cover, number, context, &items, &count);
    if (result != CT_OK || count == 0)
        return result;
    result = ct_cover_report_new(c->args->ctx, &source, items, count, &report);
    free(items);
    if (result != CT_OK)
        return result;
    *sums = report->sums;
    *ran = true;
    ct_cover_report_free(report);
    return CT_OK;
}

bool cli_counts_contexts(struct cli_counts *c, struct ct_program *p, struct ct_cover_context **out,
                         size_t *count)
{
    size_t contexts;
    const struct ct_edge_context *all = ct_cover_contexts(c->cover, &contexts);
    struct ct_cover_context *rows = calloc(contexts + 1, sizeof *rows);
    int result = CT_OK;
    *out = rows;
    *count = 0;
    if (!rows) {
        cli_no_memory();
        return false;
    }
    for (size_t i = 0; i < contexts && result == CT_OK; i++) {
        bool ran = false;
        if (in_context(c, &all[i]))
            result = sum_context(c, p, i, &rows[*count].sums, &ran);
        if (ran)
            rows[(*count)++].context = all[i];
    }
    if (result != CT_OK)
        cli_library_error(c->args->ctx);
    return result == CT_OK;
}
