/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/follow.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "flow/fast.h"
#include "flow/walk.h"
#include "flow/walk_seam.h"
#include "losses/losses.h"

static int init_plain(struct ct_follow *f, struct ct_ctx *ctx, const struct ct_source *source,
                      const struct ct_memory *memory, bool steps, bool split, bool quickly)
{
    struct ct_walk_options options = {.size = sizeof options, .split_source_ranges = split};
    int rc = ct_walk_new(ctx, source, memory, &options, &f->walk);
    if (!rc && quickly)
        rc = ct_walk_keep_ways(f->walk, ctx);
    return !rc && steps ? ct_steps_new(ctx, source, &f->steps) : rc;
}

int ct_follow_new(struct ct_ctx *ctx, const struct ct_source *source, const struct ct_chain_options *options,
                  bool wants_steps, const struct ct_memory *memory, struct ct_follow **out)
{
    bool steps = options->level >= CT_LEVEL_STEPS;
    bool split = steps || options->split_source_ranges;
    struct ct_follow *f = calloc(1, sizeof *f);
    if (!f)
        return ct_fail_nomem(ctx, source->name);
    f->ctx = f->map.ctx = ctx;
    f->place = (struct ct_place){.tid = CT_NO_THREAD, .time = CT_NO_TIME};
    f->edge_cycles = options->edges == CT_EDGES_CYCLES;
    f->gives_counts = !wants_steps;
    bool counts = options->engine == CT_ENGINE_FAST && f->gives_counts;
    int rc = counts || (steps && options->edges) ? ct_edges_new(ctx, NULL, &f->edges) : CT_OK;
    struct ct_fast_options fast = {.size = sizeof fast,
                                   .split_source_ranges = split,
                                   .cycles = steps && f->edge_cycles,
                                   .counts = counts ? f->edges : NULL};
    if (!rc && options->engine == CT_ENGINE_FAST)
        rc = ct_fast_new(ctx, source, memory, &fast, &f->fast);
    else if (!rc)
        rc = init_plain(f, ctx, source, memory, steps, split, options->engine == CT_ENGINE_AUTO);
    if (rc) {
        ct_follow_free(f);
        return rc;
    }
    *out = f;
    return CT_OK;
}

void ct_follow_free(struct ct_follow *f)
{
    if (!f)
        return;
    ct_walk_free(f->walk);
    ct_steps_free(f->steps);
    ct_fast_free(f->fast);
    ct_edges_free(f->edges);
    ct_graph_map_free(&f->map);
    free(f);
}

const struct ct_graph *ct_follow_graph(const struct ct_follow *f)
{
    return f->fast ? ct_fast_graph(f->fast) : f->steps ? ct_steps_graph(f->steps) : NULL;
}

int ct_follow_give_steps(struct ct_follow *f, const struct ct_stream *stream,
                         const struct ct_step_batch *batch, const struct ct_chain_sink *sink)
{
    if (!batch->count && !batch->mark_count)
        return 0;
    struct ct_step_batch counted = *batch;
    if (!f->edge_cycles)
        counted.cycles = NULL;
    int rc = f->edges ? ct_edges_add(f->edges, &counted) : 0;
    return !rc && sink->steps ? sink->steps(sink->user, stream, batch) : rc;
}

static int run_steps(struct ct_follow *f, const struct ct_stream *stream, size_t size,
                     const struct ct_chain_sink *sink)
{
    int rc = 0;
    for (size_t done = 0; !rc && done < size;) {
        struct ct_step_batch batch;
        size_t taken;
        rc = ct_steps_run(f->steps, f->records + done, size - done, &taken, &batch);
        done += taken;
        if (!rc)
            rc = ct_follow_give_steps(f, stream, &batch, sink);
    }
    return rc;
}

static int run_plain(struct ct_follow *f, const struct ct_stream *stream, const struct ct_elem *elems,
                     size_t size, uint64_t end, const struct ct_chain_sink *sink)
{
    int rc = 0;
    for (size_t done = 0; !rc && done < size;) {
        size_t count;
        done += ct_walk_run(f->walk, elems + done, size - done, end, f->records, CT_BATCH_FLOW, &count);
        ct_flow_add_up(&f->sums, f->records, count);
        struct ct_flow_batch batch = {.records = f->records, .count = count, .memory = f->memory};
        rc = sink->flow && count ? sink->flow(sink->user, stream, &batch) : 0;
        if (!rc && f->events)
            rc = ct_stream_events_follow(f->events, stream, &batch, sink);
        if (!rc && f->steps)
            rc = run_steps(f, stream, count, sink);
    }
    return rc;
}

static int run_fast(struct ct_follow *f, const struct ct_stream *stream, const struct ct_elem *elems,
                    size_t size, uint64_t end, const struct ct_chain_sink *sink)
{
    int rc = 0;
    for (size_t done = 0; !rc && done < size;) {
        struct ct_step_batch batch;
        size_t taken;
        rc = ct_fast_run(f->fast, elems + done, size - done, end, &taken, &batch);
        done += taken;
        if (!rc)
            rc = ct_follow_give_steps(f, stream, &batch, sink);
    }
    return rc;
}

/* Sets the engine's memory to that of the current place. */
static int set_memory(struct ct_follow *f)
{
    const struct ct_memory *memory;
    uint32_t number;
    int rc = ct_memories_at(f->memories, &f->place, &memory, &number);
    f->memory = rc ? f->memory : number;
    if (!rc && f->fast)
        return ct_fast_set_memory(f->fast, memory, number);
    if (!rc)
        ct_walk_set_memory(f->walk, memory);
    if (!rc && f->steps)
        ct_steps_set_memory(f->steps, number);
    return rc;
}

int ct_follow_piece(struct ct_follow *f, const struct ct_piece *piece)
{
    f->place.tid = piece->tid;
    if (!f->place.timed)
        f->place.time = piece->time;
    return f->memories ? set_memory(f) : CT_OK;
}

/* Returns the index of the first element after which execution continued in another memory, or `size`. */
static size_t next_change(struct ct_follow *f, const struct ct_source *source, const struct ct_elem *elems,
                          size_t size)
{
    size_t n = 0;
    while (n < size &&
           !(ct_memories_concern(&elems[n]) && ct_memories_follow(f->memories, source, &elems[n], &f->place)))
        n++;
    return n;
}

static int run_one_place(struct ct_follow *f, const struct ct_stream *stream, const struct ct_elem *elems,
                         size_t size, uint64_t end, const struct ct_chain_sink *sink)
{
    return f->fast ? run_fast(f, stream, elems, size, end, sink)
                   : run_plain(f, stream, elems, size, end, sink);
}

static int run_places(struct ct_follow *f, const struct ct_stream *stream, const struct ct_elem *elems,
                      size_t size, uint64_t end, const struct ct_chain_sink *sink)
{
    int rc = 0;
    for (size_t done = 0; !rc && done < size;) {
        size_t n = next_change(f, stream->source, elems + done, size - done);
        rc = run_one_place(f, stream, elems + done, n, end, sink);
        done += n;
        if (!rc && done < size) {
            rc = set_memory(f) ?: run_one_place(f, stream, elems + done++, 1, end, sink);
        }
    }
    return rc;
}

int ct_follow_run(struct ct_follow *f, const struct ct_stream *stream, const struct ct_elem *elems,
                  size_t size, uint64_t end, const struct ct_chain_sink *sink)
{
    if (f->memories)
        return run_places(f, stream, elems, size, end, sink);
    return run_one_place(f, stream, elems, size, end, sink);
}

int ct_follow_flush(struct ct_follow *f, const struct ct_stream *stream, const struct ct_chain_sink *sink)
{
    struct ct_step_batch batch = {0};
    int rc = 0;
    if (f->steps)
        ct_steps_flush(f->steps, &batch);
    else if (f->fast && !f->gives_counts)
        rc = ct_fast_flush(f->fast, &batch);
    return rc ? rc : ct_follow_give_steps(f, stream, &batch, sink);
}

int ct_follow_sync(struct ct_follow *f, struct ct_stream_stats *stats)
{
    struct ct_step_batch batch;
    int rc = f->fast && f->gives_counts ? ct_fast_flush(f->fast, &batch) : CT_OK;
    const struct ct_flow_sums *sums = f->fast ? ct_fast_sums(f->fast) : &f->sums;
    stats->ranges = sums->ranges;
    stats->instructions = sums->instructions;
    stats->branches = sums->branches;
    ct_losses_take_flow(stats, sums);
    return rc;
}

int ct_follow_rest(struct ct_follow *f, const struct ct_stream *stream, const struct ct_chain_sink *sink)
{
    struct ct_step_batch batch = {0};
    const int rc = f->fast ? ct_fast_rest(f->fast, &batch) : CT_OK;
    return rc ? rc : ct_follow_give_steps(f, stream, &batch, sink);
}

void ct_follow_seam(const struct ct_follow *f, struct ct_seam *seam)
{
    if (f->fast)
        ct_fast_seam(f->fast, seam);
    else
        ct_walk_seam(f->walk, seam);
    if (f->edges)
        ct_edges_seam(f->edges, seam);
}

void ct_follow_clear_sums(struct ct_follow *f)
{
    f->sums = (struct ct_flow_sums){0};
    if (f->fast)
        ct_fast_clear_sums(f->fast);
}

bool ct_follow_only_counts(const struct ct_follow *f)
{
    return f->fast && f->edges;
}

bool ct_follow_gives_steps(const struct ct_follow *f)
{
    return f->fast && !f->gives_counts;
}

void ct_follow_make_part(struct ct_follow *part, uint64_t *rest)
{
    if (part->edges)
        ct_edges_make_part(part->edges);
    ct_fast_share_rest(part->fast, rest);
}

int ct_follow_take_edges(struct ct_follow *whole, struct ct_follow *part, const uint32_t *edges, size_t count,
                         uint32_t *numbers)
{
    return ct_graph_map_edges(&part->map, ct_fast_own_graph(whole->fast), ct_fast_own_graph(part->fast),
                              edges, count, numbers);
}

bool ct_follow_part_is_full(const struct ct_follow *part)
{
    return part->edges && ct_edges_part_is_full(part->edges);
}

int ct_follow_take(struct ct_follow *whole, struct ct_follow *part)
{
    int rc = ct_edges_take(whole->edges, ct_fast_own_graph(whole->fast), part->edges,
                           ct_fast_own_graph(part->fast), &part->map);
    if (rc || !ct_edges_part_is_full(part->edges))
        return rc;
    rc = ct_fast_forget(part->fast);
    ct_edges_forget_contexts(part->edges);
    return rc;
}

void ct_follow_drop(struct ct_follow *part)
{
    if (part->edges)
        ct_edges_drop(part->edges);
}

void ct_follow_note(struct ct_follow *part)
{
    ct_graph_map_note(&part->map, ct_fast_graph(part->fast));
}

void ct_follow_jump(struct ct_follow *part)
{
    if (part->fast)
        ct_fast_jump(part->fast);
    else
        ct_walk_jump(part->walk);
}

bool ct_follow_knows(struct ct_follow *whole, struct ct_follow *part)
{
    return ct_graph_map_known(&part->map, ct_fast_own_graph(whole->fast), ct_fast_own_graph(part->fast));
}
