/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"
#include "cli/report_collect.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/dist.h"
#include "base/ctx.h"

/* Edges kept of each stream: those with most time. */
#define EDGES 64

/* ---- places ---- */

static struct ct_report_place place_of(const struct cli_report_collect *c, uint64_t addr)
{
    struct ct_report_place place = {.function = CT_SYMBOL_UNKNOWN, .addr = addr};
    struct ct_program_where where;
    if (ct_programs_where(c->programs, addr, &where) == CT_OK && where.function) {
        place.function = where.function;
        place.file = where.file ? ct_base_name(where.file) : NULL;
        place.line = where.line;
    }
    return place;
}

/* ---- while steps come ---- */

static int make_stacks(struct cli_report_collect *c)
{
    struct ct_stack_options options = {.size = sizeof options, .slices = 1};
    const int rc = ct_programs_places(c->counts.read.programs, &options.programs, &options.program_count);
    c->places = options.programs;
    return rc ? rc : ct_stacks_new(c->counts.read.args->ctx, &options, &c->stacks);
}

static int take_slices(struct cli_report_collect *c)
{
    size_t count;
    int rc = CT_OK;
    const struct ct_stack_slice *all = ct_stacks_slices(c->stacks, &count);
    for (size_t i = 0; i < count && !rc; i++) {
        const struct ct_slice slice = {.lane = all[i].lane,
                                       .ctxt = all[i].ctxt,
                                       .function = all[i].function,
                                       .depth = all[i].depth,
                                       .from = c->cycles ? all[i].cycles_from : all[i].insns_from,
                                       .to = c->cycles ? all[i].cycles_to : all[i].insns_to};
        rc = ct_slices_add(&c->slices, &slice);
    }
    return rc;
}

static int open_lane(struct cli_report_collect *c, uint8_t id)
{
    struct cli_report_lane *lane = &c->open[id];
    struct ct_timing_options options = {.size = sizeof options};
    const int rc = ct_programs_places(c->programs, &options.programs, &options.program_count);
    lane->lane = ct_session_lane(c->counts.read.session, id);
    return rc ? rc : ct_timing_new(c->counts.read.args->ctx, &options, &lane->timing);
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct cli_report_collect *c = user;
    struct cli_report_lane *lane = &c->open[stream->id];
    int rc = CT_OK;
    if (!c->stacks) {
        c->cycles = batch->cycles != NULL;
        rc = make_stacks(c);
    }
    if (!rc && !lane->timing)
        rc = open_lane(c, stream->id);
    if (!rc)
        rc = ct_timing_add(lane->timing, batch);
    if (!rc && lane->lane < CT_STACK_LANES)
        rc = ct_stacks_add(c->stacks, lane->lane, batch);
    return rc ? rc : take_slices(c);
}

/* ---- after a buffer ---- */

struct weighed {
    uint64_t weight;
    uint32_t edge;
};

static int by_weight(const void *a, const void *b)
{
    const struct weighed *x = a;
    const struct weighed *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static const char *way_out(const struct ct_node *node, const struct ct_edge *edge)
{
    if (edge->kind == CT_EDGE_INTERRUPTED)
        return "interrupted";
    if (edge->kind == CT_EDGE_OPEN)
        return "into a gap";
    if (!edge->exec)
        return "not taken";
    if (node->flags & CT_NODE_CUT || (node->type != CT_INSN_BR && node->type != CT_INSN_IBR))
        return "on";
    if (node->sub == CT_INSN_SUB_NONE)
        return node->cond ? "taken" : "jump";
    return node->sub == CT_INSN_SUB_LINK ? "call" : "return";
}

static int add_edge(struct cli_report_collect *c, const struct ct_graph *graph, uint32_t number,
                    const struct ct_timing_edge *times)
{
    struct ct_report_edge *edges = realloc(c->edges, (c->edge_count + 1) * sizeof *edges);
    if (!edges)
        return CT_ERR_NOMEM;
    c->edges = edges;
    uint32_t count;
    const struct ct_edge *edge = &ct_graph_edges(graph, &count)[number];
    const struct ct_node *node = &ct_graph_nodes(graph, &count)[edge->from];
    edges[c->edge_count] = (struct ct_report_edge){.stream = c->stream_count,
                                                   .from = place_of(c, node->start),
                                                   .to = place_of(c, edge->next),
                                                   .way = way_out(node, edge),
                                                   .count = times->count,
                                                   .cycles = times->cycles};
    edges[c->edge_count++].cycles.histogram = NULL; /* stays with the timing */
    return CT_OK;
}

static int add_edges(struct cli_report_collect *c, const struct ct_timing *timing,
                     const struct ct_graph *graph)
{
    size_t count;
    const struct ct_timing_edge *all = ct_timing_edges(timing, &count);
    struct weighed *order = calloc(count + 1, sizeof *order);
    size_t used = 0;
    int rc = order ? CT_OK : CT_ERR_NOMEM;
    for (size_t i = 0; order && i < count; i++)
        if (all[i].count)
            order[used++] = (struct weighed){c->cycles ? all[i].cycles.sum : all[i].count, (uint32_t)i};
    if (used)
        qsort(order, used, sizeof *order, by_weight);
    for (size_t i = 0; i < used && i < EDGES && !rc; i++)
        rc = add_edge(c, graph, order[i].edge, &all[order[i].edge]);
    c->edges_left_out += used > EDGES ? used - EDGES : 0;
    free(order);
    return rc;
}

static int add_runs(struct cli_report_collect *c, const struct ct_timing *timing)
{
    size_t count;
    const struct ct_timing_function *all = ct_timing_functions(timing, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        if (!all[i].inclusive.count)
            continue;
        if (c->run_count == c->run_room) {
            const size_t room = c->run_room ? c->run_room * 2 : 64;
            struct cli_report_runs *runs = realloc(c->runs, room * sizeof *runs);
            if (!runs)
                return CT_ERR_NOMEM;
            c->runs = runs;
            c->run_room = room;
        }
        struct cli_report_runs *into = &c->runs[c->run_count++];
        *into = (struct cli_report_runs){.addr = all[i].addr};
        rc = ct_dist_merge(&into->inclusive, &all[i].inclusive);
        if (!rc)
            rc = ct_dist_merge(&into->self, &all[i].self);
    }
    return rc;
}

static int add_stream(struct cli_report_collect *c, const struct ct_buffer *buffer, const struct ct_stream *s)
{
    struct cli_report_lane *lane = &c->open[s->id];
    struct ct_report_stream *streams = realloc(c->streams, (c->stream_count + 1) * sizeof *streams);
    if (!streams)
        return CT_ERR_NOMEM;
    c->streams = streams;
    struct ct_report_stream *into = &streams[c->stream_count];
    *into = (struct ct_report_stream){.buffer = buffer->name,
                                      .name = s->source->name,
                                      .core = s->source->core,
                                      .protocol = ct_protocol_name((enum ct_protocol)s->source->protocol),
                                      .id = s->id,
                                      .bytes = s->stats.bytes,
                                      .instructions = s->stats.instructions,
                                      .losses = s->stats.losses};
    int rc = CT_OK;
    if (lane->timing) {
        into->times = ct_timing_totals(lane->timing);
        if (lane->lane < CT_STACK_LANES)
            c->stream_of[lane->lane] = (uint32_t)c->stream_count;
        rc = add_edges(c, lane->timing, s->graph);
        if (!rc)
            rc = add_runs(c, lane->timing);
    }
    c->stream_count++;
    return rc;
}

static void close_lanes(struct cli_report_collect *c)
{
    for (size_t i = 0; i < sizeof c->open / sizeof *c->open; i++)
        ct_timing_free(c->open[i].timing);
    memset(c->open, 0, sizeof c->open);
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    struct cli_report_collect *c = user;
    size_t count;
    int rc = CT_OK;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    for (size_t i = 0; i < count && !rc; i++)
        if (streams[i].stats.bytes)
            rc = add_stream(c, buffer, &streams[i]);
    close_lanes(c);
    return ct_tell_nomem(c->counts.read.args->ctx, "report", rc);
}

/* ---- after all ---- */

/* Functions that are on a stack somewhere, by their number, with what was executed in them. */
static int add_functions(struct cli_report_collect *c, uint32_t **index_of)
{
    size_t count;
    const struct ct_stack_place *places = ct_stacks_places(c->stacks, &count);
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (places[i].function > most)
            most = places[i].function;
    *index_of = calloc((size_t)most + 1, sizeof **index_of);
    c->functions = calloc((size_t)most + 1, sizeof *c->functions);
    if (!*index_of || !c->functions)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        (*index_of)[places[i].function] = 1;
    for (uint32_t f = 0; f <= most; f++) {
        if (!(*index_of)[f])
            continue;
        size_t program;
        const struct ct_symbol *symbol = ct_stacks_symbol(c->stacks, f, &program);
        struct ct_report_function *into = &c->functions[c->function_count];
        into->number = f;
        if (symbol)
            into->place = place_of(c, symbol->addr + c->places[program].shift);
        into->place.function = ct_stacks_name(c->stacks, f);
        (*index_of)[f] = (uint32_t)c->function_count++;
    }
    return CT_OK;
}

static bool is_within_itself(const struct ct_stack_place *places, size_t place)
{
    for (uint32_t at = places[place].parent; at != CT_STACK_NONE; at = places[at].parent)
        if (places[at].function == places[place].function)
            return true;
    return false;
}

/* What all places took, alone and with what is below them; of a recursion the outermost place. */
static int add_up(struct cli_report_collect *c, const uint32_t *index_of)
{
    size_t count;
    const struct ct_stack_place *places = ct_stacks_places(c->stacks, &count);
    struct below {
        uint64_t insns, cycles;
    } *below = calloc(count + 1, sizeof *below);
    if (!below)
        return CT_ERR_NOMEM;
    for (size_t i = count; i-- > 0;) {
        struct ct_report_function *f = &c->functions[index_of[places[i].function]];
        f->insns += places[i].insns;
        f->cycles += places[i].cycles;
        f->calls += places[i].calls;
        below[i].insns += places[i].insns;
        below[i].cycles += places[i].cycles;
        if (!is_within_itself(places, i)) {
            f->all_insns += below[i].insns;
            f->all_cycles += below[i].cycles;
        }
        if (places[i].parent != CT_STACK_NONE) {
            below[places[i].parent].insns += below[i].insns;
            below[places[i].parent].cycles += below[i].cycles;
        }
    }
    free(below);
    return CT_OK;
}

static int by_addr(const void *a, const void *b)
{
    const struct ct_report_function *x = a;
    const struct ct_report_function *y = b;
    return x->place.addr < y->place.addr ? -1 : x->place.addr > y->place.addr;
}

static int give_runs(struct cli_report_collect *c)
{
    int rc = CT_OK;
    qsort(c->functions, c->function_count, sizeof *c->functions, by_addr);
    for (size_t i = 0; i < c->run_count && !rc; i++) {
        const struct ct_report_function wanted = {.place.addr = c->runs[i].addr};
        struct ct_report_function *f =
            bsearch(&wanted, c->functions, c->function_count, sizeof *c->functions, by_addr);
        if (!f)
            continue;
        rc = ct_dist_merge(&f->inclusive, &c->runs[i].inclusive);
        if (!rc)
            rc = ct_dist_merge(&f->self, &c->runs[i].self);
    }
    return rc;
}

static int by_cycles(const void *a, const void *b)
{
    const struct ct_report_function *x = a;
    const struct ct_report_function *y = b;
    if (x->cycles != y->cycles)
        return x->cycles > y->cycles ? -1 : 1;
    if (x->insns != y->insns)
        return x->insns > y->insns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_edge_time(const void *a, const void *b)
{
    const struct ct_report_edge *x = a;
    const struct ct_report_edge *y = b;
    if (x->cycles.sum != y->cycles.sum)
        return x->cycles.sum > y->cycles.sum ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->from.addr != y->from.addr)
        return x->from.addr < y->from.addr ? -1 : 1;
    if (x->to.addr != y->to.addr)
        return x->to.addr < y->to.addr ? -1 : 1;
    return x->stream < y->stream ? -1 : x->stream > y->stream;
}

static int finish(struct cli_report_collect *c)
{
    uint32_t *index_of = NULL;
    int rc = c->stacks ? CT_OK : make_stacks(c);
    if (!rc)
        rc = ct_stacks_end(c->stacks);
    if (!rc)
        cli_note_new_stacks(c->counts.read.args, ct_stacks_renewed(c->stacks));
    if (!rc)
        rc = take_slices(c);
    if (!rc)
        rc = add_functions(c, &index_of);
    if (!rc)
        rc = add_up(c, index_of);
    free(index_of);
    if (!rc)
        rc = give_runs(c);
    if (rc)
        return rc;
    for (size_t i = 0; i < c->slices.count; i++)
        c->slices.slices[i].lane = c->stream_of[c->slices.slices[i].lane];
    ct_slices_end(&c->slices);
    qsort(c->functions, c->function_count, sizeof *c->functions, by_cycles);
    if (c->edge_count)
        qsort(c->edges, c->edge_count, sizeof *c->edges, by_edge_time);
    return CT_OK;
}

int cli_report_collect(struct cli_report_collect *c, const struct cli_args *args, size_t elf)
{
    c->counts.read.threads = cli_threads(args);
    c->counts.read.steps = on_steps;
    c->counts.read.decoded = on_decoded;
    c->counts.read.user = c;
    const int code = cli_counts_read(&c->counts, args, elf);
    if (code != CLI_FAILED && finish(c) != CT_OK) {
        cli_no_memory();
        return CLI_FAILED;
    }
    return code;
}

void cli_report_collect_free(struct cli_report_collect *c)
{
    close_lanes(c);
    for (size_t i = 0; i < c->run_count; i++) {
        ct_dist_free(&c->runs[i].inclusive);
        ct_dist_free(&c->runs[i].self);
    }
    for (size_t i = 0; i < c->function_count; i++) {
        ct_dist_free(&c->functions[i].inclusive);
        ct_dist_free(&c->functions[i].self);
    }
    ct_slices_free(&c->slices);
    ct_stacks_free(c->stacks);
    free(c->streams);
    free(c->runs);
    free(c->functions);
    free(c->edges);
    cli_counts_close(&c->counts);
}
