/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the stacks of streams, and adds them to the sums when their stream ends. */
#include <stdlib.h>

#include "analysis/stack_sums.h"
#include "analysis/stacks.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"
#include "base/saturate.h"

/* stands for code in no function; no address is that large */
#define NOWHERE UINT64_MAX

static void free_stream(struct ct_stack_stream *stream)
{
    ct_stacks_free(stream->stacks);
    free(stream->counts);
}

void ct_stack_streams_free(struct ct_stack_sums *s)
{
    for (size_t i = 0; i < s->stream_count; i++)
        free_stream(&s->streams[i]);
    free(s->streams);
}

static struct ct_stack_stream *find(const struct ct_stack_sums *s, uint32_t lane)
{
    for (size_t i = s->stream_count; i-- > 0;)
        if (s->streams[i].lane == lane)
            return &s->streams[i];
    return NULL;
}

static int make_stream(struct ct_stack_sums *s, uint32_t lane)
{
    struct ct_stack_options options = {.size = sizeof options};
    if (!CT_PUSH_ROOM(s->streams, s->stream_count))
        return ct_fail_nomem(s->analysis.ctx, "stacks");
    s->streams[s->stream_count] = (struct ct_stack_stream){.lane = lane};
    int rc = s->programs ? ct_programs_places(s->programs, &options.programs, &options.program_count) : CT_OK;
    if (!rc)
        rc = ct_stacks_new(s->analysis.ctx, &options, &s->streams[s->stream_count].stacks);
    s->stream_count += !rc;
    return rc;
}

static int count_edges(const struct ct_stack_sums *s, struct ct_stack_stream *stream,
                       const struct ct_step_batch *batch)
{
    uint32_t edges;
    (void)ct_graph_edges(batch->graph, &edges);
    if (!CT_MAKE_ZEROED_ROOM(stream->counts, stream->edge_room, edges))
        return ct_fail_nomem(s->analysis.ctx, "stacks");
    uint64_t *counts = stream->counts;
    const uint32_t *edge = batch->edge;
    const size_t count = batch->count;
    stream->graph = batch->graph;
    for (size_t i = 0; i < count; i++)
        counts[edge[i]]++;
    return CT_OK;
}

int ct_stack_streams_take(struct ct_stack_sums *s, const struct ct_analysis_batch *batch)
{
    int rc = find(s, batch->lane) ? CT_OK : make_stream(s, batch->lane);
    struct ct_stack_stream *stream = rc ? NULL : find(s, batch->lane);
    if (!rc && !s->options.uncounted)
        rc = count_edges(s, stream, batch->steps);
    return rc ? rc : ct_stacks_add(stream->stacks, 0, batch->steps);
}

/* Finds the identity of a function of a stream, with its program as a number of the sums. */
static int identify(struct ct_stack_sums *s, const struct ct_stacks *stacks, uint32_t number,
                    struct ct_stack_function *out)
{
    size_t at;
    const struct ct_symbol *symbol = ct_stacks_symbol(stacks, number, &at);
    *out = (struct ct_stack_function){.name = CT_SYMBOL_UNKNOWN, .addr = NOWHERE, .program = CT_STACK_NONE};
    if (!symbol)
        return CT_OK;
    const struct ct_program_place *place = &stacks->programs[at];
    out->addr = symbol->addr + place->shift;
    out->name = *symbol->name ? symbol->name : ct_symbols_label(place->symbols, symbol);
    if (!place->program)
        return CT_OK;
    struct ct_program_identity identity;
    out->addr -= place->program->bias;
    const int rc = ct_program_identify(place->program, &identity);
    return rc ? rc : ct_program_table_add(s->table, &s->analysis, &identity, &out->program);
}

/* Finds the number in the sums of a function of a stream. Looks it up once and keeps it in `numbers`. */
static int number_of(struct ct_stack_sums *s, const struct ct_stacks *stacks, uint32_t *numbers,
                     uint32_t function, uint32_t *number)
{
    struct ct_stack_function named;
    *number = numbers[function];
    if (*number != CT_STACK_NONE)
        return CT_OK;
    int rc = identify(s, stacks, function, &named);
    if (!rc)
        rc = ct_stack_sums_add_function(s, &named, number);
    numbers[function] = *number;
    return rc;
}

/* Adds the places of a stream. `numbers` and `places` have room for one number of each function and place of
 * the stream: they receive the numbers in the sums. */
static int add_places(struct ct_stack_sums *s, const struct ct_stacks *stacks, uint32_t *numbers,
                      uint32_t *places)
{
    size_t count;
    const struct ct_stack_place *all = ct_stacks_places(stacks, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        struct ct_stack_place place = all[i];
        rc = number_of(s, stacks, numbers, all[i].function, &place.function);
        if (place.parent != CT_STACK_NONE)
            place.parent = places[place.parent];
        if (!rc)
            rc = ct_stack_sums_add_place(s, &place, &places[i]);
    }
    return rc;
}

/* Translates a call of a stream to addresses of its program's file, and finds the function with the call
 * site. The stack may name another function, that in which the last step began. */
static int locate(struct ct_stack_sums *s, const struct ct_stacks *stacks, uint32_t *numbers,
                  struct ct_stack_call *call)
{
    size_t at;
    uint32_t caller = call->caller;
    if (ct_stacks_symbol(stacks, caller, &at)) {
        size_t count;
        const struct ct_program_place *place = &stacks->programs[at];
        const struct ct_symbol *symbol = ct_symbols_code_at(place->symbols, call->site - place->shift, NULL);
        if (symbol)
            caller = stacks->first[at] + (uint32_t)(symbol - ct_symbols_all_code(place->symbols, &count));
        call->site -= place->program ? place->program->bias : 0;
    }
    return number_of(s, stacks, numbers, caller, &call->caller);
}

static int add_calls(struct ct_stack_sums *s, const struct ct_stacks *stacks, uint32_t *numbers)
{
    size_t count;
    const struct ct_stack_call *all = ct_stacks_calls(stacks, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        struct ct_stack_call call = all[i];
        rc = locate(s, stacks, numbers, &call);
        if (!rc)
            rc = number_of(s, stacks, numbers, all[i].callee, &call.callee);
        if (!rc)
            rc = ct_stack_sums_add_call(s, &call);
    }
    return rc;
}

/* Adds how often a node of a stream ran, if it belongs to a program. */
static int add_node(struct ct_stack_sums *s, const struct ct_stacks *stacks, uint32_t *numbers,
                    const struct ct_node *node, uint64_t count)
{
    static const struct ct_edge_context any;
    const uint32_t function = ct_stack_function_at(stacks, node->start, node->memory);
    size_t at;
    uint32_t number;
    if (node->flags & CT_NODE_NOPATH || node->end <= node->start ||
        !ct_stacks_symbol(stacks, function, &at) || !stacks->programs[at].program)
        return CT_OK;
    const uint64_t bias = stacks->programs[at].program->bias;
    const struct ct_cover_item item = {
        .from = node->start - bias, .to = node->end - bias, .count = count, .isa = node->isa};
    const int rc = number_of(s, stacks, numbers, function, &number);
    return rc ? rc : ct_cover_add_item(s->cover, s->functions[number].program, &any, &item);
}

static int add_counts(struct ct_stack_sums *s, const struct ct_stack_stream *stream, uint32_t *numbers)
{
    uint32_t count;
    const struct ct_edge *edges = ct_graph_edges(stream->graph, &count);
    const struct ct_node *nodes = ct_graph_nodes(stream->graph, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < stream->edge_room && !rc; i++) /* an edge with a count is in the graph */
        if (stream->counts[i])
            rc = add_node(s, stream->stacks, numbers, &nodes[edges[i].from], stream->counts[i]);
    return rc;
}

/* Adds everything that the stacks have. `numbers` (all CT_STACK_NONE) and `places` have room for one number
 * of each function and place of the stacks. */
static int add_all(struct ct_stack_sums *s, const struct ct_stacks *stacks,
                   const struct ct_stack_stream *stream, uint32_t *numbers, uint32_t *places)
{
    int rc = add_places(s, stacks, numbers, places);
    if (!rc)
        rc = add_calls(s, stacks, numbers);
    if (!rc && stream)
        rc = add_counts(s, stream, numbers);
    if (!rc)
        ct_add_up(&s->renewed, ct_stacks_renewed(stacks));
    s->lacks_calls |= !stream;
    return rc;
}

/* Adds stacks that have ended and, unless `stream` is NULL, how often code ran. */
static int add(struct ct_stack_sums *s, const struct ct_stacks *stacks, const struct ct_stack_stream *stream)
{
    const size_t functions = stacks->first[stacks->program_count] + (size_t)1;
    uint32_t *numbers = malloc(functions * sizeof *numbers);
    uint32_t *places = malloc((stacks->place_count + 1) * sizeof *places);
    for (size_t i = 0; numbers && i < functions; i++)
        numbers[i] = CT_STACK_NONE;
    const int rc = numbers && places ? add_all(s, stacks, stream, numbers, places)
                                     : ct_fail_nomem(s->analysis.ctx, "stacks");
    free(numbers);
    free(places);
    return rc;
}

int ct_stack_sums_add(struct ct_stack_sums *s, const struct ct_stacks *stacks)
{
    CT_REQUIRE(s ? s->analysis.ctx : NULL, s, stacks);
    return add(s, stacks, NULL);
}

int ct_stack_streams_end(struct ct_stack_sums *s, uint32_t lane)
{
    struct ct_stack_stream *stream = find(s, lane);
    if (!stream)
        return CT_OK;
    int rc = ct_stacks_finish(stream->stacks);
    if (!rc)
        rc = add(s, stream->stacks, s->options.uncounted ? NULL : stream);
    free_stream(stream);
    *stream = s->streams[--s->stream_count];
    return rc;
}
