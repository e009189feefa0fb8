/* SPDX-License-Identifier: Apache-2.0 */
/* coretap stats: how much trace there is and how fast it was decoded, as key=value or JSON. */
#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/results.h"
#include "coretap/counts.h"
#include "coretap/format.h"
#include "coretap/info.h"

enum {
    OPT_FORMAT = CLI_CAPTURE_OPTIONS,
    OPT_LEVEL,
    OPT_ENGINE,
    OPT_THREADS,
    OPT_FILTER,
    OPT_OPTIONS = OPT_FILTER + CLI_FILTER_ROWS,
};

static const char *const format_words[] = {"text", "json", NULL};
static const char *const level_words[] = {"flow", "frame", "packet", "element", "coverage", "timing", NULL};
static const struct {
    enum ct_level level;
    enum ct_edges_level edges;
} levels[] = {
    {CT_LEVEL_FLOW, CT_EDGES_NONE},    {CT_LEVEL_FRAME, CT_EDGES_NONE},   {CT_LEVEL_PACKET, CT_EDGES_NONE},
    {CT_LEVEL_ELEMENT, CT_EDGES_NONE}, {CT_LEVEL_STEPS, CT_EDGES_COUNTS}, {CT_LEVEL_STEPS, CT_EDGES_CYCLES},
};
static const char *const engine_words[] = {"auto", "plain", "fast", NULL};
static const enum ct_engine engines[] = {CT_ENGINE_AUTO, CT_ENGINE_PLAIN, CT_ENGINE_FAST};

static const struct cli_option options[OPT_OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [OPT_FORMAT] = CLI_CHOICE_OPTION("format", 'f', format_words, "Output format."),
    [OPT_LEVEL] = CLI_CHOICE_OPTION(
        "level", 'l', level_words,
        "How far to decode: bytes per trace ID, packets, elements, or (flow) instructions along the program. "
        "coverage also counts how often each edge of the program was taken, timing also its cycles."),
    [OPT_ENGINE] =
        CLI_CHOICE_OPTION("engine", 0, engine_words,
                          "How the program is followed: instruction by instruction (plain) or with "
                          "remembered results (fast). Both give the same result; auto is fast."),
    [OPT_THREADS] = CLI_THREADS_OPTION,
    [OPT_FILTER] = CLI_FILTER_TABLE,
};

struct counting {
    struct cli_results read;
    struct ct_amounts_options how;
    struct ct_amounts amounts;
    struct ct_edges *kept[128]; /* by trace ID of the current buffer: steps that the filter keeps */
};

static void add_totals(struct ct_amounts *amounts, const struct ct_edges *edges)
{
    const struct ct_edge_totals totals = ct_edges_totals(edges);
    amounts->steps += totals.steps;
    amounts->cycles += totals.cycles;
    amounts->unplaced_cycles += totals.unplaced;
}

/* ---- filtered steps ---- */

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct counting *c = user;
    struct ct_step_batch kept = *batch;
    uint32_t count;
    const struct ct_edge *edges = ct_graph_edges(batch->graph, &count);
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &count);
    int rc = c->kept[stream->id] ? CT_OK : ct_edges_new(c->read.args->ctx, NULL, &c->kept[stream->id]);
    for (size_t i = 0; i < batch->count && !rc; i++)
        c->amounts.instructions += nodes[edges[batch->edge[i]].from].n;
    if (c->how.edges != CT_EDGES_CYCLES)
        kept.cycles = NULL;
    return rc ? rc : ct_edges_add(c->kept[stream->id], &kept);
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    struct counting *c = user;
    size_t streams;
    uint32_t edges = 0;
    const struct ct_stream *all = ct_chain_streams(chain, &streams);
    (void)buffer;
    for (size_t i = 0; i < streams; i++) {
        struct ct_edges *kept = c->kept[all[i].id];
        if (kept)
            ct_graph_edges(all[i].graph, &edges);
        for (uint32_t e = 0; kept && e < edges; e++)
            c->amounts.edges += ct_edges_get(kept, CT_EDGES_ALL, e).count > 0;
        if (kept)
            add_totals(&c->amounts, kept);
        ct_edges_free(kept);
        c->kept[all[i].id] = NULL;
    }
    return CT_OK;
}

static int read_part(struct counting *c)
{
    const struct cli_args *args = c->read.args;
    if (!c->how.edges)
        return cli_usage_error(args->command, "only --level coverage and timing can count a part of a "
                                              "capture; give one of them, or select only by --core and --id");
    if (args->values[OPT_ENGINE].given)
        return cli_usage_error(args->command, "--engine cannot be used for a part of a capture, which only "
                                              "the fast engine can follow; leave --engine out");
    c->read.user = c;
    c->read.steps = on_steps;
    c->read.decoded = on_decoded;
    return cli_programs_new(&c->read.programs, args, NULL) ? cli_results_read(&c->read) : CLI_FAILED;
}

/* Prints the amounts. A write error is reported at the end of the command. Returns an enum cli_exit. */
static int print(struct counting *c, double seconds)
{
    const struct ct_amounts_write_options how = {.size = sizeof how,
                                                 .format = (uint8_t)c->read.args->values[OPT_FORMAT].number,
                                                 .level = (uint8_t)c->how.level,
                                                 .edges = c->how.edges,
                                                 .part = ct_filter_steps(&c->read.filter.filter) != 0,
                                                 .seconds = seconds};
    c->amounts.bytes = c->read.capture.seen.bytes;
    c->amounts.losses = c->read.capture.seen.losses;
    const int rc = ct_amounts_write(c->read.args->ctx, &c->amounts, &how, cli_output_write, stdout);
    return rc && rc != CT_ERR_IO ? cli_library_error(c->read.args->ctx) : CLI_CLEAN;
}

static int on_bytes(void *user, uint64_t bytes)
{
    struct counting *c = user;
    cli_progress_update(&c->read.capture.progress, bytes);
    return CT_OK;
}

static int on_chain(void *user, const struct ct_chain *chain, int frames)
{
    struct counting *c = user;
    cli_capture_count(&c->read.capture, chain, (enum ct_level)c->how.level, frames != 0);
    return CT_OK;
}

static int read_all(struct counting *c)
{
    struct cli_capture *capture = &c->read.capture;
    struct ct_ctx *ctx = c->read.args->ctx;
    struct ct_filter settled;
    if (!cli_results_open(&c->read, c->read.args->operand) ||
        (cli_threads(c->read.args) > 1 && !cli_capture_spool(capture)))
        return CLI_FAILED;
    memcpy(c->how.ids, cli_capture_chain_options(capture, CT_LEVEL_FRAME).ids, sizeof c->how.ids);
    c->how.filter = &settled;
    const int rc = ct_filter_settle(ctx, &c->read.filter.filter, capture->capture, capture->buffers,
                                    capture->count, &settled)
                       ?: ct_amounts_run(ctx, capture->buffers, capture->count, &c->how, &c->amounts);
    c->how.filter = NULL;
    return rc ? cli_library_error(ctx) : cli_capture_code(capture, CLI_CLEAN);
}

static int measure(struct counting *c)
{
    const struct cli_args *args = c->read.args;
    const double begin = cli_seconds();
    int code = CLI_FAILED;
    if (cli_filter_read(&c->read.filter, args, false))
        code = ct_filter_steps(&c->read.filter.filter) ? read_part(c) : read_all(c);
    const double seconds = cli_seconds() - begin;
    cli_progress_clear();
    return code != CLI_FAILED && !c->read.kept_nothing ? cli_worse(code, print(c, seconds)) : code;
}

/* ---- several captures, and saved files ---- */

static void print_text(const struct ct_count *all, size_t count, const struct ct_losses *losses)
{
    for (size_t i = 0; i < count; i++)
        printf("%s=%" PRIu64 "\n", all[i].name, all[i].count);
    if (ct_losses_keys(losses, CT_LOSSES_PROGRAM, '\n', cli_output_write, stdout) == CT_OK)
        putchar('\n');
}

static void print_json(struct ct_json *json, const struct ct_count *all, size_t count,
                       const struct ct_losses *losses)
{
    ct_json_object(json, NULL);
    for (size_t i = 0; i < count; i++)
        ct_json_number(json, all[i].name, all[i].count);
    ct_losses_json(json, losses, CT_LOSSES_PROGRAM);
    ct_json_object_end(json);
    ct_json_free(json);
}

/* Returns an enum cli_exit. */
static int print_sums(const struct cli_args *args, struct ct_counts *counts)
{
    const struct ct_losses *losses = &ct_counts_analysis(counts)->captures.losses;
    struct ct_json *json = NULL;
    size_t count;
    const struct ct_count *all = ct_counts_all(counts, &count);
    if (args->values[OPT_FORMAT].number && !(json = cli_json_open(args->ctx, stdout, false)))
        return CLI_FAILED;
    if (json)
        print_json(json, all, count, losses);
    else
        print_text(all, count, losses);
    return CLI_CLEAN;
}

/* Adds up all operands and prints the sums. Returns an enum cli_exit. */
static int add_up(const struct cli_args *args)
{
    struct ct_counts *counts = NULL;
    bool events = false;
    for (int i = 0; i < args->rest_count; i++)
        events |= cli_results_is_file(ct_event_counts_kind(), args->rest[i]);
    if ((events ? ct_event_counts_new : ct_total_counts_new)(args->ctx, &counts) != CT_OK)
        return cli_library_error(args->ctx);
    struct cli_results read = {.args = args,
                               .elf = SIZE_MAX,
                               .threads = cli_threads(args),
                               .analysis = ct_counts_analysis(counts),
                               .file_why = "several captures and saved files are counted as a whole"};
    int code = CLI_FAILED;
    if (cli_filter_read(&read.filter, args, false) &&
        (!ct_filter_steps(&read.filter.filter) || cli_filter_refuse(&read.filter, args, NULL, read.file_why)))
        code = cli_results_read(&read);
    if (code != CLI_FAILED)
        code = cli_worse(code, print_sums(args, counts));
    cli_results_close(&read);
    ct_counts_free(counts);
    return code;
}

/* Reads one capture and prints its numbers. Returns an enum cli_exit. */
static int count_one(const struct cli_args *args)
{
    struct counting c = {.read = {.args = args, .elf = SIZE_MAX, .threads = cli_threads(args)},
                         .how = {.size = sizeof c.how,
                                 .level = (uint8_t)levels[args->values[OPT_LEVEL].number].level,
                                 .edges = (uint8_t)levels[args->values[OPT_LEVEL].number].edges,
                                 .engine = (uint8_t)engines[args->values[OPT_ENGINE].number],
                                 .threads = cli_threads(args),
                                 .user = &c,
                                 .progress = on_bytes,
                                 .decoded = on_chain}};
    const int code = measure(&c);
    for (size_t i = 0; i < sizeof c.kept / sizeof *c.kept; i++)
        ct_edges_free(c.kept[i]);
    cli_results_close(&c.read);
    return code;
}

static int run(const struct cli_args *args)
{
    const bool sums = args->rest_count > 1 || cli_results_is_file(NULL, args->operand);
    if (sums && (args->values[OPT_LEVEL].given || args->values[OPT_ENGINE].given))
        return cli_usage_error(args->command,
                               "--%s works only with one capture, because only sums are printed for several "
                               "and for saved files; leave it out, or name one capture",
                               args->values[OPT_LEVEL].given ? "level" : "engine");
    return sums ? add_up(args) : count_one(args);
}

const struct cli_command cli_command_stats = {
    .name = "stats",
    .summary = "count bytes, packets, instructions and losses, and measure decoding speed",
    .operand = "CAPTURE...",
    .many = true,
    .about =
        "Decodes a capture and prints totals over all its trace IDs, one key=value a line, or with --format "
        "json the members of an object: bytes (of the buffers), packets, elements, atoms, branches (taken), "
        "instructions, edges (of the program graph that were taken), steps (how often edges were taken), "
        "cycles (of steps), unplaced_cycles (of no step), gaps (places where trace is missing), overflows "
        "(gaps caused by the trace unit), contradictions (gaps caused by a contradiction to the program), "
        "bad_packets (invalid or cut packets), lost_bytes (bytes that could not be used), no_access (how "
        "often code ran whose memory is missing), seconds and mb_per_s (10^6 bytes of the buffers per "
        "second). Keys beyond the level are left out.\nFor several captures the sums are printed. Instead of "
        "a capture, coretap also accepts a file that 'coretap merge' wrote with --kind statistics or events.",
    .examples = "coretap stats capture\n"
                "coretap stats --level packet --threads 4 capture | grep ^mb_per_s=\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_PROGRAMS,
    .run = run,
};
