/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what the report needs of a capture, during decoding. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/path.h"
#include "base/require.h"
#include "base/room.h"
#include "format/report_own.h"

/* ---- places ---- */

int ct_report_find_place(struct ct_report *r, uint64_t addr, struct ct_report_place *place)
{
    struct ct_program_where where;
    *place = (struct ct_report_place){.function = CT_SYMBOL_UNKNOWN, .addr = addr};
    const int rc = ct_programs_where(r->programs, addr, &where);
    if (!rc && where.function) {
        place->function = where.function;
        place->offset = where.offset;
        place->file = where.file ? ct_base_name(where.file) : NULL;
        place->line = where.line;
    }
    return rc;
}

/* ---- during decoding ---- */

int ct_report_make_stacks(struct ct_report *r)
{
    struct ct_stack_options options = {.size = sizeof options, .slices = 1, .owners = 1};
    const int rc = ct_programs_places(r->programs, &options.programs, &options.program_count);
    r->now.places = options.programs;
    return rc ? rc : ct_stacks_new(r->ctx, &options, &r->now.stacks);
}

int ct_report_take_slices(struct ct_report *r)
{
    size_t count;
    int rc = CT_OK;
    const struct ct_stack_slice *all = ct_stacks_slices(r->now.stacks, &count);
    for (size_t i = 0; i < count && !rc; i++) {
        const struct ct_slice slice = {.lane = all[i].lane,
                                       .ctxt = all[i].ctxt,
                                       .function = all[i].function,
                                       .depth = all[i].depth,
                                       .from = r->now.cycles ? all[i].cycles_from : all[i].insns_from,
                                       .to = r->now.cycles ? all[i].cycles_to : all[i].insns_to};
        rc = ct_slices_add(&r->now.slices, &slice);
    }
    return rc;
}

static int open_stream(struct ct_report *r, uint8_t id)
{
    struct ct_report_open *open = &r->now.open[id];
    struct ct_timing_options options = {.size = sizeof options};
    if (!CT_PUSH_ROOM(r->now.stream_of, r->now.lanes))
        return CT_ERR_NOMEM;
    r->now.stream_of[r->now.lanes] = 0;
    open->lane = r->now.lanes++;
    const int rc = ct_programs_places(r->programs, &options.programs, &options.program_count);
    return rc ? rc : ct_timing_new(r->ctx, &options, &open->timing);
}

static int take_steps(struct ct_report *r, uint8_t id, const struct ct_step_batch *batch)
{
    struct ct_report_open *open = &r->now.open[id];
    int rc = CT_OK;
    if (!r->now.stacks) {
        r->now.cycles = batch->cycles != NULL;
        rc = ct_report_make_stacks(r);
    }
    if (!rc && !open->timing)
        rc = open_stream(r, id);
    if (!rc && (!r->several || r->together))
        rc = ct_report_clock_take(&open->clock, batch, r->now.cycles);
    if (!rc)
        rc = ct_timing_add(open->timing, batch);
    if (!rc)
        rc = ct_stacks_add(r->now.stacks, open->lane, batch);
    return rc ? rc : ct_report_take_slices(r);
}

int ct_report_steps(struct ct_report *r, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    CT_REQUIRE_OF(r, stream, batch);
    r->has_now = true;
    if (r->over || stream->id >= sizeof r->now.open / sizeof *r->now.open)
        return ct_fail(r->ctx, CT_ERR_ARG, "%s: %s", __func__,
                       r->over ? CT_REPORT_WRITTEN : "there is no such trace ID");
    return ct_tell_nomem(r->ctx, "report", take_steps(r, stream->id, batch));
}

/* ---- after a buffer ---- */

static int add_edge(struct ct_report *r, const struct ct_timing_edge *times)
{
    if (!CT_PUSH_ROOM(r->edges, r->edge_count))
        return CT_ERR_NOMEM;
    struct ct_report_edge *into = &r->edges[r->edge_count++];
    *into = (struct ct_report_edge){.stream = r->stream_count,
                                    .way = ct_report_way(times),
                                    .count = times->count,
                                    .cycles = times->cycles};
    into->cycles.buckets = 0;
    into->cycles.histogram = NULL; /* stays with the timing */
    const int rc = ct_report_find_place(r, times->start, &into->from);
    return rc ? rc : ct_report_find_place(r, times->next, &into->to);
}

static int add_edges(struct ct_report *r, const struct ct_timing *timing)
{
    size_t count, used;
    const struct ct_timing_edge *all = ct_timing_edges(timing, &count);
    size_t *order = ct_report_choose_edges(all, count, r->now.cycles, &used, &r->edges_left_out);
    int rc = order ? CT_OK : CT_ERR_NOMEM;
    for (size_t i = 0; i < used && !rc; i++)
        rc = add_edge(r, &all[order[i]]);
    free(order);
    return rc;
}

static int add_runs(struct ct_report *r, const struct ct_timing *timing)
{
    size_t count;
    const struct ct_timing_function *all = ct_timing_functions(timing, &count);
    int rc = all ? CT_OK : CT_ERR_NOMEM;
    for (size_t i = 0; i < count && !rc; i++) {
        if (!all[i].inclusive.count)
            continue;
        if (!CT_MAKE_ROOM(r->now.runs, r->now.run_room, r->now.run_count + 1))
            return CT_ERR_NOMEM;
        struct ct_report_runs *into = &r->now.runs[r->now.run_count++];
        *into = (struct ct_report_runs){.addr = all[i].addr};
        rc = ct_dist_merge(&into->inclusive, &all[i].inclusive);
        if (!rc)
            rc = ct_dist_merge(&into->self, &all[i].self);
    }
    return rc;
}

/* Returns the description of a buffer that outlives the capture, with sources and names of contexts, or
 * NULL. */
static const struct ct_buffer *source_of(const struct ct_report *r, const char *buffer)
{
    size_t count;
    const struct ct_buffer *sources = ct_programs_sources(r->programs, &count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(sources[i].name, buffer))
            return &sources[i];
    return NULL;
}

static int add_stream(struct ct_report *r, const struct ct_buffer *buffer, const struct ct_stream *s)
{
    struct ct_report_open *lane = &r->now.open[s->id];
    if (!CT_PUSH_ROOM(r->streams, r->stream_count))
        return CT_ERR_NOMEM;
    struct ct_report_stream *into = &r->streams[r->stream_count];
    *into = (struct ct_report_stream){.capture = r->capture_count,
                                      .buffer = ct_arena_strdup(&r->arena, buffer->name),
                                      .name = ct_arena_strdup(&r->arena, s->source->name),
                                      .core = s->source->core ? ct_arena_strdup(&r->arena, s->source->core)
                                                              : NULL,
                                      .protocol = ct_protocol_name((enum ct_protocol)s->source->protocol),
                                      .id = s->id,
                                      .source = source_of(r, buffer->name),
                                      .bytes = s->stats.bytes,
                                      .instructions = s->stats.instructions,
                                      .losses = s->stats.losses};
    int rc = into->buffer && into->name ? CT_OK : CT_ERR_NOMEM;
    if (!rc && lane->timing) {
        into->times = ct_timing_totals_of(lane->timing);
        into->clock = lane->clock;
        lane->clock = (struct ct_report_clock){0};
        r->now.stream_of[lane->lane] = (uint32_t)r->stream_count;
        rc = r->several ? ct_timing_sums_add(r->times, lane->timing, s->graph, r->programs)
                        : add_edges(r, lane->timing);
        if (!rc && !r->several)
            rc = add_runs(r, lane->timing);
    }
    r->stream_count++;
    return rc;
}

void ct_report_close_streams(struct ct_report *r)
{
    for (size_t i = 0; i < sizeof r->now.open / sizeof *r->now.open; i++) {
        ct_timing_free(r->now.open[i].timing);
        ct_report_clock_free(&r->now.open[i].clock);
    }
    memset(r->now.open, 0, sizeof r->now.open);
}

/* Returns whether the stream has steps. When its window ended early, none of its bytes are counted. */
static bool has_steps(const struct ct_report *r, const struct ct_stream *s)
{
    return s->id < sizeof r->now.open / sizeof *r->now.open && r->now.open[s->id].timing;
}

int ct_report_decoded(struct ct_report *r, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    size_t count;
    int rc = CT_OK;
    CT_REQUIRE_OF(r, buffer, chain);
    if (r->over)
        return ct_fail(r->ctx, CT_ERR_ARG, "%s: %s", __func__, CT_REPORT_WRITTEN);
    r->has_now = true;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    for (size_t i = 0; i < count && !rc; i++)
        if (streams[i].stats.bytes || has_steps(r, &streams[i]))
            rc = add_stream(r, buffer, &streams[i]);
    ct_report_close_streams(r);
    return ct_tell_nomem(r->ctx, "report", rc);
}
