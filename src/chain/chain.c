/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/described.h"
#include "base/options.h"
#include "base/require.h"
#include "chain/chain.h"
#include "chain/chain_tune.h"
#include "chain/data_trace.h"
#include "chain/leave.h"
#include "chain/m_steps.h"
#include "chain/memories.h"
#include "chain/narrow.h"
#include "chain/points.h"
#include "chain/shard.h"
#include "chain/threads/parallel.h"
#include "chain/threads/side_by_side.h"
#include "coretap/program.h"
#include "frame/demux_skip.h"
#include "losses/losses.h"

bool ct_chain_wants(const struct ct_chain_options *options, uint8_t id)
{
    if (!options->ids[0] && !options->ids[1])
        return true;
    return options->ids[id / 64] >> (id % 64) & 1;
}

static int add_stream(struct ct_chain *c, const struct ct_source *source, uint8_t id)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->streams[i].stream.id == id)
            return CT_OK; /* two sources with one ID: the first counts */
    if (c->options.level >= CT_LEVEL_PACKET && !ct_protocol_ops((enum ct_protocol)source->protocol)) {
        ct_log(c->ctx, CT_LOG_WARNING,
               "source %s (ID %02x): this version cannot decode %s; the trace of this source is ignored",
               source->name, id, ct_protocol_name((enum ct_protocol)source->protocol));
        return CT_OK;
    }
    if (c->options.bytewise &&
        !ct_protocol_ops_bytewise((enum ct_protocol)source->protocol, c->options.bytewise))
        return ct_fail(
            c->ctx, CT_ERR_UNSUPPORTED,
            "source %s (ID %02x): %s cannot be decoded %u bytes at a time, which is possible only for ETMv4 "
            "and ETE with 1 to 8 bytes; nothing is decoded; choose trace IDs of these, or omit --bytewise",
            source->name, id, ct_protocol_name((enum ct_protocol)source->protocol), c->options.bytewise);
    struct ct_stream_chain *stream = &c->streams[c->count++];
    int rc = ct_stream_chain_init(stream, c->ctx, source, id, &c->options, c->sink->steps != NULL, c->memory);
    if (!rc && c->segment)
        ct_stream_chain_tune(stream);
    if (!rc && c->sink->events && c->options.level >= CT_LEVEL_ELEMENT)
        rc = ct_stream_chain_want_events(stream, c->ctx);
    if (!rc && stream->follow && ct_memories_change(c->memories))
        stream->follow->memories = c->memories;
    if (!rc && (stream->follow || stream->events) && ct_source_has_data_atoms(source)) {
        stream->left = stream->not_followed = true;
        ct_data_atoms_warn(c->ctx, source, id);
    }
    return rc;
}

static int by_id(const void *a, const void *b)
{
    const struct ct_stream_chain *x = a;
    const struct ct_stream_chain *y = b;
    return x->stream.id - y->stream.id;
}

/* Makes the streams of the wanted IDs. A buffer without frames has one source, listed with ID 0. */
static int make_streams(struct ct_chain *c, bool framed)
{
    const struct ct_buffer *b = c->buffer;
    size_t count = framed ? b->source_count : b->source_count > 0;
    c->streams = calloc(count + 1, sizeof *c->streams);
    c->views = calloc(count + 1, sizeof *c->views);
    if (!c->streams || !c->views)
        return ct_fail_nomem(c->ctx, b->name);
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < count; i++) {
        uint8_t id = framed ? b->sources[i].trace_id : 0;
        if (ct_chain_wants(&c->options, id))
            rc = add_stream(c, &b->sources[i], id);
    }
    qsort(c->streams, c->count, sizeof *c->streams, by_id);
    return rc;
}

int ct_chain_start(struct ct_chain *c, enum ct_framing framing)
{
    struct ct_demux_options options = {.size = sizeof options, .framing = (uint8_t)framing};
    c->options.framing = (uint8_t)framing;
    int rc = ct_demux_new(c->ctx, &options, &c->demux) ?: make_streams(c, framing != CT_FRAMING_NONE);
    for (unsigned id = 0; !rc && id < 128; id++)
        ct_demux_keep(c->demux, (uint8_t)id, 0);
    for (size_t i = 0; !rc && i < c->count; i++)
        ct_demux_keep(c->demux, c->streams[i].stream.id, 1);
    if (!rc)
        ct_narrow_streams(c->streams, c->count, &c->want);
    return rc;
}

/* Returns true when trace is decoded straight to events: one thread does that faster than several threads
 * that make elements first. */
static bool is_straight(const struct ct_chain *c)
{
    const struct ct_chain_sink *s = c->sink;
    return s->events && c->options.level == CT_LEVEL_ELEMENT && !s->packets && !s->elems;
}

/* Limits the threads to the processors of this process. Each further thread would have to explore the
 * program, and its tables would displace those of the others from the caches. */
static uint16_t useful_threads(const struct ct_chain *c, uint16_t wanted)
{
    cpu_set_t set;
    if (c->segment || sched_getaffinity(0, sizeof set, &set)) /* tests get all */
        return wanted;
    const int processors = CPU_COUNT(&set);
    return processors < wanted ? (uint16_t)processors : wanted;
}

/* Returns true when streams are decoded side by side: steps are the only records that the sink receives, and
 * all streams read one memory. */
static bool is_side_by_side(const struct ct_chain *c)
{
    const struct ct_chain_sink *s = c->sink;
    return c->options.stream_threads && c->count && c->options.level == CT_LEVEL_STEPS && s->steps &&
           !s->packets && !s->elems && !s->events && !s->flow && !c->points &&
           !ct_memories_change(c->memories);
}

/* Starts decoding streams side by side, with as many threads as are requested and useful. */
static int start_side_by_side(struct ct_chain *c)
{
    if (c->side || !is_side_by_side(c))
        return CT_OK;
    const size_t useful = useful_threads(c, c->options.stream_threads);
    const size_t most = useful < 2 * c->count ? useful : 2 * c->count;
    const struct ct_side_how how = {
        .ctx = c->ctx, .sink = c->sink, .streams = c->count, .helpers = most - 1, .slice = c->segment};
    return ct_side_by_side_new(&how, &c->side);
}

int ct_chain_start_threads(struct ct_chain *c)
{
    if (!c->parallel)
        c->options.threads = useful_threads(c, c->options.threads);
    if (c->parallel || c->options.threads < 2 || c->options.level < CT_LEVEL_PACKET || is_straight(c) ||
        (c->count == 1 && c->streams[0].left))
        return c->parallel ? CT_OK : start_side_by_side(c);
    const struct ct_parallel_how how = {.ctx = c->ctx,
                                        .options = &c->options,
                                        .sink = c->sink,
                                        .memory = c->memory,
                                        .memories_change = c->memory && ct_memories_change(c->memories),
                                        .streams = c->streams,
                                        .count = c->count,
                                        .segment = c->segment};
    return ct_parallel_new(&how, &c->parallel);
}

void ct_chain_tune(struct ct_chain *c, size_t segment)
{
    c->segment = segment;
}

void ct_chain_tasks(const struct ct_chain *c, uint64_t *tasks, uint64_t *again)
{
    *tasks = *again = 0;
    if (c->parallel)
        ct_parallel_tasks(c->parallel, tasks, again);
}

size_t ct_chain_count_decoded(const struct ct_chain *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += !c->streams[i].left;
    return count;
}

size_t ct_chain_leave(struct ct_chain *c, uint8_t id)
{
    for (size_t i = 0; i < c->count; i++)
        c->streams[i].left |= c->streams[i].stream.id == id;
    return ct_chain_count_decoded(c);
}

void ct_chain_tell_points(struct ct_chain *c, const struct ct_chain_points *points)
{
    c->points = points;
}

void ct_chain_begin_inside(struct ct_chain *c, uint64_t begin)
{
    c->begin = begin;
    ct_demux_begin_inside(c->demux);
    for (size_t i = 0; i < c->count; i++)
        c->streams[i].inside = c->streams[i].ops && c->streams[i].ops->find_sync;
}

uint64_t ct_chain_align(enum ct_framing framing, uint64_t offset, uint64_t align)
{
    const uint64_t place = ct_framing_file_offset(framing, offset);
    return ct_framing_block_offset(framing, place - place % align);
}

int ct_chain_new(struct ct_ctx *ctx, const struct ct_buffer *buffer, const struct ct_chain_options *options,
                 const struct ct_chain_sink *sink, struct ct_chain **out)
{
    static const struct ct_chain_sink nothing = {0};
    CT_REQUIRE_OUT(ctx, out, buffer);
    sink = sink ? sink : &nothing;
    struct ct_chain_options o;
    int rc =
        ct_options_read(ctx, __func__, options, &o, sizeof o) ?: ct_buffers_check(ctx, __func__, buffer, 1);
    if (rc)
        return rc;
    if (o.level > CT_LEVEL_STEPS || o.edges > CT_EDGES_COUNTS || o.engine > CT_ENGINE_FAST)
        return ct_fail(ctx, CT_ERR_ARG, "ct_chain_new: level %u, edges %u or engine %u is out of range",
                       o.level, o.edges, o.engine);
    if (o.engine == CT_ENGINE_FAST && sink->events && o.level >= CT_LEVEL_FLOW)
        return ct_fail(ctx, CT_ERR_ARG,
                       "ct_chain_new: CT_ENGINE_FAST makes no events along the program; "
                       "choose another engine");
    struct ct_chain *c = calloc(1, sizeof *c);
    if (!c)
        return ct_fail_nomem(ctx, buffer->name);
    *c = (struct ct_chain){.ctx = ctx, .buffer = buffer, .sink = sink, .options = o};
    if (c->options.framing == CT_FRAMING_AUTO)
        c->options.framing = buffer->framing;
    c->batches = malloc(sizeof *c->batches);
    rc = c->batches ? CT_OK : ct_fail_nomem(ctx, buffer->name);
    if (!rc && ct_m_steps_help(buffer, sink))
        rc = ct_m_steps_new(ctx, sink, &c->m_steps);
    if (c->m_steps)
        c->sink = ct_m_steps_sink(c->m_steps);
    if (!rc && o.level >= CT_LEVEL_FLOW)
        rc = ct_memories_new(ctx, buffer, &c->memories, &c->memory);
    if (c->options.engine == CT_ENGINE_AUTO && !sink->flow && !sink->events)
        c->options.engine = CT_ENGINE_FAST;
    if (!rc && c->options.framing != CT_FRAMING_AUTO)
        rc = ct_chain_start(c, (enum ct_framing)c->options.framing);
    if (rc) {
        ct_chain_free(c);
        return rc;
    }
    *out = c;
    return CT_OK;
}

void ct_chain_free(struct ct_chain *c)
{
    if (!c)
        return;
    ct_parallel_free(c->parallel);
    ct_side_by_side_free(c->side);
    ct_m_steps_free(c->m_steps);
    for (size_t i = 0; i < c->count; i++)
        ct_stream_chain_deinit(&c->streams[i]);
    free(c->streams);
    free(c->views);
    free(c->batches);
    ct_demux_free(c->demux);
    ct_memories_free(c->memories);
    free(c);
}

uint64_t ct_chain_data_trace_bytes(const struct ct_chain *c, size_t stream)
{
    const bool framed = c->demux && ct_chain_framing(c) != CT_FRAMING_NONE;
    if (c->options.level < CT_LEVEL_PACKET)
        return 0;
    return ct_data_trace_bytes(c->buffer, c->streams[stream].stream.source,
                               framed ? ct_demux_stats(c->demux) : NULL);
}

const struct ct_stream *ct_chain_streams(const struct ct_chain *c, size_t *count)
{
    if (ct_no_array(c, count))
        return NULL;
    *count = c->count;
    for (size_t i = 0; i < c->count; i++) {
        const bool in_use = c->parallel && ct_parallel_decodes_with(c->parallel, i);
        if (!in_use && ct_stream_chain_sync(&c->streams[i]) != CT_OK)
            ct_note_nomem(c->ctx);
        const bool not_followed = c->streams[i].not_followed;
        struct ct_stream *view = &c->views[i];
        *view = c->parallel ? ct_parallel_stream(c->parallel, i) : c->streams[i].stream;
        view->stats.losses = ct_losses_of(&view->stats, (enum ct_protocol)view->source->protocol);
        view->stats.losses.lost_bytes +=
            ct_chain_data_trace_bytes(c, i) + (not_followed ? view->stats.bytes : 0);
    }
    return c->views;
}

struct ct_losses ct_chain_losses(const struct ct_chain *c)
{
    if (!c)
        return (struct ct_losses){0};
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(c, &count);
    const struct ct_frame_stats *frames = ct_chain_frame_stats(c);
    struct ct_losses sum = {.lost_bytes = frames ? frames->lost_bytes : 0};
    /* the first bytes of a wrapped buffer lack an ID; a chain that begins later does not count them */
    if (frames && !c->begin && !(c->shard && c->shard->begin))
        sum.lost_bytes += frames->no_id_bytes;
    for (size_t i = 0; i < count; i++)
        ct_losses_add(&sum, &streams[i].stats.losses);
    return sum;
}

const struct ct_frame_stats *ct_chain_frame_stats(const struct ct_chain *c)
{
    if (!c)
        return NULL;
    return c->demux ? ct_demux_stats(c->demux) : NULL;
}

enum ct_framing ct_chain_framing(const struct ct_chain *c)
{
    if (!c)
        return CT_FRAMING_AUTO;
    return (enum ct_framing)c->options.framing;
}
