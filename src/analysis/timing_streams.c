/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the times of streams, and adds them to the sums when their stream ends. */
#include "analysis/timing.h"
#include "analysis/timing_sums.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

#include <stdlib.h>

static void close_stream(struct ct_timing_stream *stream)
{
    ct_timing_free(stream->timing);
    ct_watches_free(stream->watches);
}

void ct_timing_streams_free(struct ct_timing_sums *s)
{
    for (size_t i = 0; i < s->stream_count; i++)
        close_stream(&s->streams[i]);
    free(s->streams);
}

static struct ct_timing_stream *find(const struct ct_timing_sums *s, uint32_t lane)
{
    for (size_t i = s->stream_count; i-- > 0;)
        if (s->streams[i].lane == lane)
            return &s->streams[i];
    return NULL;
}

const struct ct_timing *ct_timing_sums_stream(const struct ct_timing_sums *s, uint32_t lane)
{
    const struct ct_timing_stream *stream = s ? find(s, lane) : NULL;
    return stream ? stream->timing : NULL;
}

static int open_stream(struct ct_timing_sums *s, struct ct_timing_stream *stream,
                       const struct ct_stream_origin *origin)
{
    struct ct_ctx *ctx = s->analysis.ctx;
    struct ct_timing_options options = {
        .size = sizeof options, .no_histograms = s->options.no_histograms, .origin = origin};
    int rc = s->programs ? ct_programs_places(s->programs, &options.programs, &options.program_count) : CT_OK;
    if (!rc)
        rc = ct_timing_new(ctx, &options, &stream->timing);
    if (!rc)
        rc = ct_watches_new(ctx, s->programs, &stream->watches);
    for (size_t i = 0; i < s->wanted_count && !rc; i++)
        rc = ct_timing_add_pair(stream->timing, stream->watches, s->wanted[i].from, s->wanted[i].to);
    return rc;
}

static int make_stream(struct ct_timing_sums *s, uint32_t lane, const struct ct_stream_origin *origin)
{
    if (!CT_PUSH_ROOM(s->streams, s->stream_count))
        return ct_fail_nomem(s->analysis.ctx, "timing");
    struct ct_timing_stream *stream = &s->streams[s->stream_count];
    *stream = (struct ct_timing_stream){.lane = lane};
    const int rc = open_stream(s, stream, origin);
    if (rc)
        close_stream(stream);
    else
        s->stream_count++;
    return rc;
}

int ct_timing_streams_take(struct ct_timing_sums *s, const struct ct_analysis_batch *batch)
{
    const int rc = find(s, batch->lane) ? CT_OK : make_stream(s, batch->lane, batch->origin);
    struct ct_timing_stream *stream = rc ? NULL : find(s, batch->lane);
    if (!stream)
        return rc;
    stream->graph = batch->steps->graph;
    return ct_timing_add(stream->timing, batch->steps);
}

/* ---- origins of what was measured ---- */

/* The programs in which addresses are looked up, with the last results. */
struct origin {
    struct ct_timing_sums *sums;
    struct ct_programs *programs;
    struct ct_program *last;     /* program of the last address */
    struct ct_program *numbered; /* a program whose number is known */
    uint32_t number;             /* number of that program in the sums */
    struct ct_timing *over; /* the times of an ended stream, or NULL: freed piece by piece as they are added,
                               to keep them in memory only once */
};

static struct ct_program *owner(struct origin *o, uint64_t addr, uint32_t memory)
{
    struct ct_programs *programs = o->programs;
    const size_t count = ct_programs_count(programs);
    if (o->last && ct_program_has(o->last, addr, memory))
        return o->last;
    for (size_t i = 0; i < count; i++)
        if (ct_program_has(ct_programs_at(programs, i), addr, memory))
            return o->last = ct_programs_at(programs, i);
    return NULL;
}

/* Finds the number of a program in the sums. The errors of ct_program_symbols. */
static int number_of(struct origin *o, struct ct_program *program, uint32_t *number)
{
    struct ct_timing_sums *s = o->sums;
    struct ct_program_identity identity;
    int rc = CT_OK;
    if (program != o->numbered)
        rc = ct_program_identify(program, &identity);
    if (!rc && program != o->numbered)
        rc = ct_program_table_add(&s->table, &s->analysis, &identity, &o->number);
    o->numbered = rc ? NULL : program;
    *number = o->number;
    return rc;
}

/* Finds the program of an address, and subtracts its load bias from the address. */
static int place(struct origin *o, uint32_t memory, uint64_t *addr, uint32_t *number)
{
    struct ct_program *program = owner(o, *addr, memory);
    if (!program)
        return CT_OK;
    *addr -= program->bias;
    return number_of(o, program, number);
}

/* Frees what only measuring needs of edges. Their sums are settled. */
static void drop_measuring(struct ct_timing *timing)
{
    free(timing->tallies);
    free(timing->ways);
    free(timing->classes);
    timing->tallies = NULL;
    timing->ways = NULL;
    timing->classes = NULL;
}

static int add_edges(struct origin *o, const struct ct_timing *timing, const struct ct_graph *graph)
{
    size_t count;
    uint32_t n;
    const struct ct_timing_edge *all = ct_timing_edges(timing, &count);
    const struct ct_edge *edges = ct_graph_edges(graph, &n);
    const struct ct_node *nodes = ct_graph_nodes(graph, &n);
    int rc = CT_OK;
    if (o->over)
        drop_measuring(o->over);
    for (size_t i = 0; i < count && !rc; i++) {
        struct ct_timing_edge edge = all[i];
        const uint32_t memory = nodes[edges[i].from].memory;
        if (!edge.count)
            continue;
        rc = place(o, memory, &edge.start, &edge.program);
        edge.last -= all[i].start - edge.start;
        edge.end -= all[i].start - edge.start;
        if (!rc && edge.next)
            rc = place(o, memory, &edge.next, &edge.next_program);
        if (!rc)
            rc = ct_timing_sums_add_edge(o->sums, &edge);
        if (o->over)
            ct_dist_free(&o->over->edges[i].cycles);
    }
    return rc;
}

static int add_functions(struct origin *o, const struct ct_timing *timing)
{
    size_t count;
    const struct ct_timing_function *all = ct_timing_functions(timing, &count);
    int rc = all ? CT_OK : CT_ERR_NOMEM;
    for (size_t i = 0; i < count && !rc; i++) {
        struct ct_timing_function function = all[i];
        const bool known = function.program != CT_TIMING_NO_PROGRAM;
        struct ct_program *program = known ? timing->programs[function.program].program : NULL;
        if (!function.steps && !function.runs)
            continue;
        function.program = CT_TIMING_NO_PROGRAM;
        if (program) {
            function.addr -= program->bias;
            rc = number_of(o, program, &function.program);
        }
        if (!rc)
            rc = ct_timing_sums_add_function(o->sums, &function);
        if (o->over)
            ct_timing_drop_runs(o->over, i);
    }
    return rc;
}

static int add(struct ct_timing_sums *s, const struct ct_timing *timing, const struct ct_graph *graph,
               struct origin origin)
{
    size_t count;
    struct ct_timing_found settled;
    const struct ct_timing_totals totals = ct_timing_totals_of(timing);
    const struct ct_timing_pair *pairs = ct_timing_pairs(timing, &count);
    int rc = ct_timing_sums_find(s, &settled); /* sorted, so that most items are found by binary search */
    if (!rc)
        rc = add_functions(&origin, timing);
    if (!rc)
        rc = add_edges(&origin, timing, graph);
    for (size_t i = 0; i < count && !rc; i++)
        rc = ct_timing_sums_put_pair(s, &pairs[i]);
    if (!rc)
        ct_timing_sums_add_totals(s, &totals);
    return rc;
}

int ct_timing_sums_add(struct ct_timing_sums *s, const struct ct_timing *timing, const struct ct_graph *graph,
                       struct ct_programs *programs)
{
    CT_REQUIRE(s ? s->analysis.ctx : NULL, s, timing, graph);
    return add(s, timing, graph, (struct origin){.sums = s, .programs = programs});
}

int ct_timing_streams_end(struct ct_timing_sums *s, uint32_t lane)
{
    struct ct_timing_stream *stream = find(s, lane);
    if (!stream)
        return CT_OK;
    const struct origin origin = {.sums = s, .programs = s->programs, .over = stream->timing};
    const int rc = add(s, stream->timing, stream->graph, origin);
    close_stream(stream);
    *stream = s->streams[--s->stream_count];
    return rc;
}
