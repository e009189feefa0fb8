/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of a capture, collected while it is decoded. */
#include "coretap/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/path.h"
#include "format/out.h"
#include "format/report_page.h"

/* Edges kept of each stream: those with most time. */
#define EDGES 64

/* Executions of functions in the timeline, at most: the longest ones. */
#define SLICES 20000

#define WRITTEN "the page was written"

/* What is collected of one stream while its buffer is decoded. */
struct open_stream {
    struct ct_timing *timing; /* NULL: no step came */
    uint32_t lane;            /* of the stacks */
};

/* Times of the runs of one function in one stream. */
struct function_runs {
    uint64_t addr;
    struct ct_dist inclusive, self;
};

struct ct_report {
    struct ct_ctx *ctx;
    struct ct_programs *programs;
    const struct ct_program_place *places; /* of the functions of the stacks */
    struct ct_stacks *stacks;
    struct ct_slices slices;
    bool cycles;                  /* the first stream counts cycles */
    bool over;                    /* nothing more is taken … */
    int result;                   /* … and this came of it */
    struct open_stream open[128]; /* by ID, of the buffer that is being decoded */
    uint32_t lanes;               /* streams with steps so far */
    uint32_t stream_of[CT_STACK_LANES];
    struct ct_report_stream *streams; /* of buffers that are over */
    size_t stream_count;
    struct function_runs *runs;
    size_t run_count, run_room;
    struct ct_report_function *functions;
    size_t function_count;
    struct ct_report_edge *edges;
    size_t edge_count;
    uint64_t edges_left_out;
};

/* ---- places ---- */

static int find_place(struct ct_report *r, uint64_t addr, struct ct_report_place *place)
{
    struct ct_program_where where;
    *place = (struct ct_report_place){.function = CT_SYMBOL_UNKNOWN, .addr = addr};
    const int rc = ct_programs_where(r->programs, addr, &where);
    if (!rc && where.function) {
        place->function = where.function;
        place->file = where.file ? ct_base_name(where.file) : NULL;
        place->line = where.line;
    }
    return rc;
}

/* ---- while steps come ---- */

static int make_stacks(struct ct_report *r)
{
    struct ct_stack_options options = {.size = sizeof options, .slices = 1};
    const int rc = ct_programs_places(r->programs, &options.programs, &options.program_count);
    r->places = options.programs;
    return rc ? rc : ct_stacks_new(r->ctx, &options, &r->stacks);
}

static int take_slices(struct ct_report *r)
{
    size_t count;
    int rc = CT_OK;
    const struct ct_stack_slice *all = ct_stacks_slices(r->stacks, &count);
    for (size_t i = 0; i < count && !rc; i++) {
        const struct ct_slice slice = {.lane = all[i].lane,
                                       .ctxt = all[i].ctxt,
                                       .function = all[i].function,
                                       .depth = all[i].depth,
                                       .from = r->cycles ? all[i].cycles_from : all[i].insns_from,
                                       .to = r->cycles ? all[i].cycles_to : all[i].insns_to};
        rc = ct_slices_add(&r->slices, &slice);
    }
    return rc;
}

static int open_stream(struct ct_report *r, uint8_t id)
{
    struct open_stream *open = &r->open[id];
    struct ct_timing_options options = {.size = sizeof options};
    const int rc = ct_programs_places(r->programs, &options.programs, &options.program_count);
    open->lane = r->lanes++;
    return rc ? rc : ct_timing_new(r->ctx, &options, &open->timing);
}

static int take_steps(struct ct_report *r, uint8_t id, const struct ct_step_batch *batch)
{
    struct open_stream *open = &r->open[id];
    int rc = CT_OK;
    if (!r->stacks) {
        r->cycles = batch->cycles != NULL;
        rc = make_stacks(r);
    }
    if (!rc && !open->timing)
        rc = open_stream(r, id);
    if (!rc)
        rc = ct_timing_add(open->timing, batch);
    if (!rc && open->lane < CT_STACK_LANES)
        rc = ct_stacks_add(r->stacks, open->lane, batch);
    return rc ? rc : take_slices(r);
}

int ct_report_steps(struct ct_report *r, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    if (!r || !stream || !batch)
        return ct_fail_null(r ? r->ctx : NULL, __func__);
    if (r->over || stream->id >= sizeof r->open / sizeof *r->open)
        return ct_fail(r->ctx, CT_ERR_ARG, "%s: %s", __func__,
                       r->over ? WRITTEN : "there is no such trace ID");
    return ct_tell_nomem(r->ctx, "report", take_steps(r, stream->id, batch));
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

static int add_edge(struct ct_report *r, const struct ct_graph *graph, uint32_t number,
                    const struct ct_timing_edge *times)
{
    struct ct_report_edge *edges = realloc(r->edges, (r->edge_count + 1) * sizeof *edges);
    if (!edges)
        return CT_ERR_NOMEM;
    r->edges = edges;
    uint32_t count;
    const struct ct_edge *edge = &ct_graph_edges(graph, &count)[number];
    const struct ct_node *node = &ct_graph_nodes(graph, &count)[edge->from];
    struct ct_report_edge *into = &edges[r->edge_count++];
    *into = (struct ct_report_edge){.stream = r->stream_count,
                                    .way = way_out(node, edge),
                                    .count = times->count,
                                    .cycles = times->cycles};
    into->cycles.histogram = NULL; /* stays with the timing */
    const int rc = find_place(r, node->start, &into->from);
    return rc ? rc : find_place(r, edge->next, &into->to);
}

static int add_edges(struct ct_report *r, const struct ct_timing *timing, const struct ct_graph *graph)
{
    size_t count;
    const struct ct_timing_edge *all = ct_timing_edges(timing, &count);
    struct weighed *order = calloc(count + 1, sizeof *order);
    size_t used = 0;
    int rc = order ? CT_OK : CT_ERR_NOMEM;
    for (size_t i = 0; order && i < count; i++)
        if (all[i].count)
            order[used++] = (struct weighed){r->cycles ? all[i].cycles.sum : all[i].count, (uint32_t)i};
    if (used)
        qsort(order, used, sizeof *order, by_weight);
    for (size_t i = 0; i < used && i < EDGES && !rc; i++)
        rc = add_edge(r, graph, order[i].edge, &all[order[i].edge]);
    r->edges_left_out += used > EDGES ? used - EDGES : 0;
    free(order);
    return rc;
}

static int add_runs(struct ct_report *r, const struct ct_timing *timing)
{
    size_t count;
    const struct ct_timing_function *all = ct_timing_functions(timing, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        if (!all[i].inclusive.count)
            continue;
        if (r->run_count == r->run_room) {
            const size_t room = r->run_room ? r->run_room * 2 : 64;
            struct function_runs *runs = realloc(r->runs, room * sizeof *runs);
            if (!runs)
                return CT_ERR_NOMEM;
            r->runs = runs;
            r->run_room = room;
        }
        struct function_runs *into = &r->runs[r->run_count++];
        *into = (struct function_runs){.addr = all[i].addr};
        rc = ct_dist_merge(&into->inclusive, &all[i].inclusive);
        if (!rc)
            rc = ct_dist_merge(&into->self, &all[i].self);
    }
    return rc;
}

static int add_stream(struct ct_report *r, const struct ct_buffer *buffer, const struct ct_stream *s)
{
    struct open_stream *lane = &r->open[s->id];
    struct ct_report_stream *streams = realloc(r->streams, (r->stream_count + 1) * sizeof *streams);
    if (!streams)
        return CT_ERR_NOMEM;
    r->streams = streams;
    struct ct_report_stream *into = &streams[r->stream_count];
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
            r->stream_of[lane->lane] = (uint32_t)r->stream_count;
        rc = add_edges(r, lane->timing, s->graph);
        if (!rc)
            rc = add_runs(r, lane->timing);
    }
    r->stream_count++;
    return rc;
}

static void close_streams(struct ct_report *r)
{
    for (size_t i = 0; i < sizeof r->open / sizeof *r->open; i++)
        ct_timing_free(r->open[i].timing);
    memset(r->open, 0, sizeof r->open);
}

int ct_report_decoded(struct ct_report *r, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    size_t count;
    int rc = CT_OK;
    if (!r || !buffer || !chain)
        return ct_fail_null(r ? r->ctx : NULL, __func__);
    if (r->over)
        return ct_fail(r->ctx, CT_ERR_ARG, "%s: %s", __func__, WRITTEN);
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    for (size_t i = 0; i < count && !rc; i++)
        if (streams[i].stats.bytes)
            rc = add_stream(r, buffer, &streams[i]);
    close_streams(r);
    return ct_tell_nomem(r->ctx, "report", rc);
}

/* ---- after all ---- */

/* Functions that are on a stack somewhere, by their number, with what was executed in them. */
static int add_functions(struct ct_report *r, uint32_t **index_of)
{
    size_t count;
    const struct ct_stack_place *places = ct_stacks_places(r->stacks, &count);
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (places[i].function > most)
            most = places[i].function;
    *index_of = calloc((size_t)most + 1, sizeof **index_of);
    r->functions = calloc((size_t)most + 1, sizeof *r->functions);
    if (!*index_of || !r->functions)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        (*index_of)[places[i].function] = 1;
    for (uint32_t f = 0; f <= most; f++) {
        if (!(*index_of)[f])
            continue;
        size_t program;
        const struct ct_symbol *symbol = ct_stacks_symbol(r->stacks, f, &program);
        struct ct_report_function *into = &r->functions[r->function_count];
        into->number = f;
        const int rc = symbol ? find_place(r, symbol->addr + r->places[program].shift, &into->place) : CT_OK;
        if (rc)
            return rc;
        into->place.function = ct_stacks_name(r->stacks, f);
        (*index_of)[f] = (uint32_t)r->function_count++;
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
static int add_up(struct ct_report *r, const uint32_t *index_of)
{
    size_t count;
    const struct ct_stack_place *places = ct_stacks_places(r->stacks, &count);
    struct below {
        uint64_t insns, cycles;
    } *below = calloc(count + 1, sizeof *below);
    if (!below)
        return CT_ERR_NOMEM;
    for (size_t i = count; i-- > 0;) {
        struct ct_report_function *f = &r->functions[index_of[places[i].function]];
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

static int give_runs(struct ct_report *r)
{
    int rc = CT_OK;
    qsort(r->functions, r->function_count, sizeof *r->functions, by_addr);
    for (size_t i = 0; i < r->run_count && !rc; i++) {
        const struct ct_report_function wanted = {.place.addr = r->runs[i].addr};
        struct ct_report_function *f =
            bsearch(&wanted, r->functions, r->function_count, sizeof *r->functions, by_addr);
        if (!f)
            continue;
        rc = ct_dist_merge(&f->inclusive, &r->runs[i].inclusive);
        if (!rc)
            rc = ct_dist_merge(&f->self, &r->runs[i].self);
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

static int finish(struct ct_report *r)
{
    uint32_t *index_of = NULL;
    int rc = r->stacks ? CT_OK : make_stacks(r);
    if (!rc)
        rc = ct_stacks_end(r->stacks);
    if (!rc)
        rc = take_slices(r);
    if (!rc)
        rc = add_functions(r, &index_of);
    if (!rc)
        rc = add_up(r, index_of);
    free(index_of);
    if (!rc)
        rc = give_runs(r);
    if (rc)
        return rc;
    for (size_t i = 0; i < r->slices.count; i++)
        r->slices.slices[i].lane = r->stream_of[r->slices.slices[i].lane];
    ct_slices_end(&r->slices);
    qsort(r->functions, r->function_count, sizeof *r->functions, by_cycles);
    if (r->edge_count)
        qsort(r->edges, r->edge_count, sizeof *r->edges, by_edge_time);
    return CT_OK;
}

/* ---- the object ---- */

int ct_report_new(struct ct_ctx *ctx, struct ct_programs *programs, const struct ct_report_options *options,
                  struct ct_report **out)
{
    struct ct_report_options o;
    if (!programs || !out)
        return ct_fail_null(ctx, __func__);
    const int rc = ct_options_read(ctx, __func__, options, &o, sizeof o);
    if (rc)
        return rc;
    struct ct_report *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "report");
    r->ctx = ctx;
    r->programs = programs;
    r->slices = (struct ct_slices){.most = SLICES, .begin = o.from, .end = o.to ? o.to : UINT64_MAX};
    *out = r;
    return CT_OK;
}

void ct_report_free(struct ct_report *r)
{
    if (!r)
        return;
    close_streams(r);
    for (size_t i = 0; i < r->run_count; i++) {
        ct_dist_free(&r->runs[i].inclusive);
        ct_dist_free(&r->runs[i].self);
    }
    for (size_t i = 0; i < r->function_count; i++) {
        ct_dist_free(&r->functions[i].inclusive);
        ct_dist_free(&r->functions[i].self);
    }
    ct_slices_free(&r->slices);
    ct_stacks_free(r->stacks);
    free(r->streams);
    free(r->runs);
    free(r->functions);
    free(r->edges);
    free(r);
}

uint64_t ct_report_renewed(const struct ct_report *r)
{
    return r && r->stacks ? ct_stacks_renewed(r->stacks) : 0;
}

/* The path of the only program, or of the only one that was named or started; NULL: there are several. */
static const char *program_of(const struct ct_programs *programs)
{
    const char *path = NULL;
    const struct ct_program *program;
    size_t count = 0;
    for (size_t i = 0; (program = ct_programs_at(programs, i)); i++)
        if (ct_programs_count(programs) == 1 || program->named || program->started) {
            path = program->path;
            count++;
        }
    return count == 1 ? path : NULL;
}

static int write_page(const struct ct_report *r, const struct ct_report_write_options *options, FILE *out)
{
    const struct ct_report_page page = {
        .capture = options->capture ? options->capture : "capture",
        .program = program_of(r->programs),
        .kind = options->kind ? options->kind : "trace",
        .cycles = r->cycles,
        .losses = options->losses,
        .streams = r->streams,
        .stream_count = r->stream_count,
        .functions = r->functions,
        .function_count = r->function_count,
        .edges = r->edges,
        .edge_count = r->edge_count,
        .edges_left_out = r->edges_left_out,
        .stacks = r->stacks,
        .slices = &r->slices,
        .cover = options->cover,
        .wcet = options->wcet,
        .no_wcet = options->no_wcet,
    };
    return ct_tell_nomem(r->ctx, "report", ct_report_html(out, &page));
}

int ct_report_write(struct ct_report *r, const struct ct_report_write_options *options, ct_write_fn *write,
                    void *user)
{
    struct ct_report_write_options o;
    struct ct_out out;
    if (!r || !write)
        return ct_fail_null(r ? r->ctx : NULL, __func__);
    int rc = ct_options_read(r->ctx, __func__, options, &o, sizeof o);
    if (!rc && !r->over) {
        r->over = true;
        r->result = ct_tell_nomem(r->ctx, "report", finish(r));
    }
    if (!rc)
        rc = r->result;
    if (!rc)
        rc = ct_out_open(&out, r->ctx, write, user);
    return rc ? rc : ct_out_close(&out, write_page(r, &o, out.file));
}
