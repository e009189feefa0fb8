/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "chain/chain.h"
#include "chain/chain_tune.h"
#include "chain/data_trace.h"
#include "chain/leave.h"
#include "chain/m_steps.h"
#include "chain/memories.h"
#include "chain/narrow.h"
#include "chain/points.h"
#include "chain/shard.h"
#include "chain/relayed.h"
#include "chain/threads/parallel.h"
#include "chain/threads/relay.h"
#include "chain/threads/side_by_side.h"
#include "chain/undescribed.h"
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
               "source %s (ID %02x): %s is not decoded by this version; its trace is left out", source->name,
               id, ct_protocol_name((enum ct_protocol)source->protocol));
        return CT_OK;
    }
    if (c->options.bytewise &&
        !ct_protocol_ops_bytewise((enum ct_protocol)source->protocol, c->options.bytewise))
        return ct_fail(
            c->ctx, CT_ERR_UNSUPPORTED,
            "source %s (ID %02x): %s is not decoded %u bytes a turn, as only ETMv4 and ETE are, with 1 "
            "to 8 bytes; nothing is decoded: choose IDs of these, or decode as always",
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

static int start(struct ct_chain *c, enum ct_framing framing)
{
    struct ct_demux_options options = {.size = sizeof options, .framing = (uint8_t)framing};
    c->options.framing = (uint8_t)framing;
    int rc = ct_demux_new(c->ctx, &options, &c->demux);
    if (!rc)
        rc = make_streams(c, framing != CT_FRAMING_NONE);
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
uint16_t ct_chain_useful_threads(const struct ct_chain *c, uint16_t wanted)
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
    return c->options.stream_threads && c->options.level == CT_LEVEL_STEPS && s->steps && !s->packets &&
           !s->elems && !s->events && !s->flow && !c->points && !ct_memories_change(c->memories);
}

/* Starts decoding streams side by side, with as many threads as are requested and useful. */
static int start_side_by_side(struct ct_chain *c)
{
    if (c->side || !is_side_by_side(c))
        return CT_OK;
    const size_t useful = ct_chain_useful_threads(c, c->options.stream_threads);
    const size_t most = useful < 2 * c->count ? useful : 2 * c->count;
    const struct ct_side_how how = {
        .ctx = c->ctx, .sink = c->sink, .streams = c->count, .helpers = most - 1, .slice = c->segment};
    return ct_side_by_side_new(&how, &c->side);
}

int ct_chain_start_threads(struct ct_chain *c)
{
    if (!c->parallel)
        c->options.threads = ct_chain_useful_threads(c, c->options.threads);
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
                                        .segment = c->segment,
                                        .shared_blocks = c->shared_blocks};
    return ct_parallel_new(&how, &c->parallel);
}

void ct_chain_tune(struct ct_chain *c, size_t segment, uint32_t shared_blocks)
{
    c->segment = segment;
    c->shared_blocks = shared_blocks;
}

void ct_chain_tasks(const struct ct_chain *c, uint64_t *tasks, uint64_t *again)
{
    *tasks = *again = 0;
    if (c->parallel)
        ct_parallel_tasks(c->parallel, tasks, again);
}

/* Returns the number of streams that are still decoded. */
static size_t count_decoded(const struct ct_chain *c)
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
    return count_decoded(c);
}

void ct_chain_relay(struct ct_chain *c)
{
    const struct ct_chain_sink *s = c->sink;
    c->relays = c->options.level == CT_LEVEL_STEPS && s->steps && !s->packets && !s->elems && !s->events &&
                !s->flow && !s->part_new && !ct_memories_change(c->memories);
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
    if (!buffer || !sink || !out)
        return ct_fail_null(ctx, __func__);
    struct ct_chain_options o;
    int rc = ct_options_read(ctx, "ct_chain_new", options, &o, sizeof o);
    if (rc)
        return rc;
    if (o.level > CT_LEVEL_STEPS || o.edges > CT_EDGES_COUNTS || o.engine > CT_ENGINE_FAST)
        return ct_fail(ctx, CT_ERR_ARG,
                       "ct_chain_new: there is no level %u, edges %u or engine %u; choose another", o.level,
                       o.edges, o.engine);
    if (o.engine == CT_ENGINE_FAST && sink->events && o.level >= CT_LEVEL_FLOW)
        return ct_fail(ctx, CT_ERR_ARG, "ct_chain_new: the fast engine makes no events; choose another");
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
        rc = start(c, (enum ct_framing)c->options.framing);
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
    ct_relay_free(c->relay);
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

static int run_shard(struct ct_chain *c, struct ct_stream_chain *stream, const struct ct_run *run,
                     enum ct_behind behind, size_t *used)
{
    const int rc = ct_stream_chain_run_shard(stream, run, behind, (enum ct_level)c->options.level, c->batches,
                                             c->sink, c->shard, used);
    if (rc || count_decoded(c))
        return rc;
    stream->stream.stats.bytes += *used;
    return CT_CHAIN_OVER;
}

static int run_stream(struct ct_chain *c, struct ct_stream_chain *stream, const struct ct_run *run,
                      enum ct_behind behind, size_t *used)
{
    const enum ct_level level = (enum ct_level)c->options.level;
    if (c->shard)
        return run_shard(c, stream, run, behind, used);
    if (c->points)
        return ct_stream_chain_run_points(stream, run, behind, level, c->batches, c->sink, c->points, used);
    return ct_stream_chain_run(stream, run, behind, level, c->batches, c->sink, used);
}

/* Skips the bytes of a stream up to its first synchronisation point. Keeps the last few bytes, in which one
 * may begin. */
static void find_begin(struct ct_chain *c, struct ct_stream_chain *stream, struct ct_run *run)
{
    const size_t found = run->size ? stream->ops->find_sync(run->data, run->size, 0) : SIZE_MAX;
    const size_t none = run->size > CT_SYNC_SIZE_MAX ? run->size - CT_SYNC_SIZE_MAX : 0;
    stream->inside = found == SIZE_MAX;
    ct_demux_consume(c->demux, stream->stream.id, stream->inside ? none : found);
    ct_demux_run(c->demux, stream->stream.id, run);
    if (!stream->inside)
        ct_narrow_note(&stream->narrow, ct_run_offset(run, run->pos));
}

/* Leaves the streams of which the shard has nothing. Result: 0 or CT_CHAIN_OVER. */
static int leave_missed(struct ct_chain *c)
{
    for (size_t i = 0; i < c->count; i++)
        ct_stream_chain_miss_shard(&c->streams[i], c->shard, ct_demux_offset(c->demux));
    return count_decoded(c) ? CT_OK : CT_CHAIN_OVER;
}

/* Gets the bytes that the demultiplexer has for a stream. Returns false when there is nothing to decode. */
static bool get_run(struct ct_chain *c, struct ct_stream_chain *stream, enum ct_behind behind,
                    struct ct_run *run)
{
    ct_demux_run(c->demux, stream->stream.id, run);
    if (stream->left) {
        if (c->parallel)
            ct_parallel_skip(c->parallel, (size_t)(stream - c->streams), run->size);
        else
            stream->stream.stats.bytes += c->shard ? 0 : run->size;
        ct_demux_consume(c->demux, stream->stream.id, run->size);
    } else if (stream->inside) {
        find_begin(c, stream, run);
    }
    return !stream->left && !stream->inside && (run->size || behind != CT_BEHIND_MORE);
}

/* Decodes all streams side by side, as far as the demultiplexer has bytes. */
static int drain_side_by_side(struct ct_chain *c, enum ct_behind behind)
{
    struct ct_side_run *runs = ct_side_by_side_runs(c->side);
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        runs[count].stream = &c->streams[i];
        count += get_run(c, &c->streams[i], behind, &runs[count].run);
    }
    const int rc = ct_side_by_side_run(c->side, count, behind);
    for (size_t i = 0; i < count; i++) {
        runs[i].stream->stream.stats.bytes += runs[i].used;
        ct_demux_consume(c->demux, runs[i].stream->stream.id, runs[i].used);
    }
    return rc;
}

/* Decodes every stream, as far as the demultiplexer has bytes. */
static int drain(struct ct_chain *c, enum ct_behind behind)
{
    if (c->side)
        return drain_side_by_side(c, behind);
    for (size_t i = 0; i < c->count; i++) {
        struct ct_stream_chain *stream = &c->streams[i];
        struct ct_run run;
        if (!get_run(c, stream, behind, &run))
            continue;
        if (c->parallel) {
            int rc = ct_parallel_push(c->parallel, i, &run);
            if (rc)
                return rc;
            ct_demux_consume(c->demux, stream->stream.id, run.size);
            continue;
        }
        size_t used;
        int rc = run_stream(c, stream, &run, behind, &used);
        if (rc)
            return rc;
        stream->stream.stats.bytes += used;
        ct_demux_consume(c->demux, stream->stream.id, used);
    }
    if (c->shard)
        return leave_missed(c);
    return c->parallel && behind != CT_BEHIND_MORE ? ct_parallel_flush(c->parallel, behind) : 0;
}

static void reset_streams(struct ct_chain *c, bool whole)
{
    if (c->parallel)
        ct_parallel_reset(c->parallel, whole);
    for (size_t i = 0; !c->parallel && i < c->count; i++)
        ct_stream_chain_reset(&c->streams[i], whole);
}

/* Returns true when bytes of any stream may be missing here, so that every stream must synchronise again. */
static bool is_break(const struct ct_frame_mark *marks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (marks[i].kind == CT_FRAME_RESET || marks[i].kind == CT_FRAME_CUT)
            return true;
    return false;
}

static int tell_marks(const struct ct_chain *c)
{
    size_t count;
    const struct ct_frame_mark *marks = ct_demux_marks(c->demux, &count);
    int rc = 0;
    for (size_t i = 0; !rc && i < count && c->sink->mark; i++)
        rc = c->sink->mark(c->sink->user, &marks[i]);
    return rc;
}

/* Decodes the runs, which end before the marks, then passes the marks to the receiver. */
static int drain_to_marks(struct ct_chain *c)
{
    size_t count;
    const struct ct_frame_mark *marks = ct_demux_marks(c->demux, &count);
    bool broken = is_break(marks, count);
    int rc = drain(c, broken ? CT_BEHIND_BREAK : CT_BEHIND_MORE);
    if (!rc && c->parallel && count && !broken)
        rc = ct_parallel_flush(c->parallel, CT_BEHIND_MORE);
    if (!rc)
        rc = tell_marks(c);
    if (!rc && broken) /* else threads may still work on the streams */
        reset_streams(c, false);
    return rc;
}

/* Detects the framing from the first bytes, unless it was stated. A wrong byte order is an error when the
 * framing was not stated, and only a warning when it was: the user may know better. */
static int look_at_first(struct ct_chain *c, const uint8_t *bytes, size_t size)
{
    const char *trouble = c->options.framing == CT_FRAMING_NONE ? NULL : ct_framing_trouble(bytes, size);
    if (trouble && !c->demux)
        return ct_fail(c->ctx, CT_ERR_FORMAT, "%s: %s", c->buffer->path, trouble);
    if (trouble)
        ct_log(c->ctx, CT_LOG_WARNING, "%s: %s", c->buffer->path, trouble);
    return c->demux ? CT_OK : start(c, ct_framing_probe(bytes, size));
}

/* unframed chunks of this size and larger are decoded in place, without a copy */
#define STRAIGHT 1024u
/* at most so many bytes of a chunk are used to complete the rest of the chunk before */
#define JOINT 256u

static bool goes_straight(const struct ct_chain *c, size_t size)
{
    return c->options.framing == CT_FRAMING_NONE && size >= STRAIGHT && c->count == 1 && !c->parallel &&
           !c->side && !c->streams[0].inside && !c->streams[0].left;
}

/* Decodes the rest of the chunk before, completed with the first bytes of this one. *used receives how many
 * bytes of this one were consumed; 0 when something is still left. */
static int finish_packet(struct ct_chain *c, const uint8_t *bytes, size_t *used)
{
    struct ct_run run;
    *used = 0;
    ct_demux_run(c->demux, 0, &run);
    if (!run.size)
        return CT_OK;
    int rc = ct_demux_push(c->demux, bytes, JOINT, used);
    if (!rc)
        rc = drain(c, CT_BEHIND_MORE);
    ct_demux_run(c->demux, 0, &run);
    if (rc || run.size > *used)
        return rc;
    ct_demux_take_back(c->demux, run.size);
    *used -= run.size;
    return rc;
}

/* Decodes a chunk of a stream without frames in place. */
static int run_straight(struct ct_chain *c, const uint8_t *bytes, size_t size, size_t *used)
{
    struct ct_stream_chain *stream = &c->streams[0];
    struct ct_run run;
    ct_demux_run(c->demux, 0, &run);
    const struct ct_span span = {.pos = run.pos, .place = ct_demux_offset(c->demux) << CT_SPAN_BITS};
    run = (struct ct_run){.data = bytes, .size = size, .pos = run.pos, .spans = &span, .span_count = 1};
    int rc = run_stream(c, stream, &run, CT_BEHIND_MORE, used);
    if (rc)
        return rc;
    stream->stream.stats.bytes += *used;
    ct_demux_skip(c->demux, *used);
    return CT_OK;
}

/* Decodes as much of a chunk as possible in place; *used receives the number of bytes. */
static int push_straight(struct ct_chain *c, const uint8_t *bytes, size_t size, size_t *used)
{
    struct ct_run left;
    size_t more = 0;
    int rc = finish_packet(c, bytes, used);
    ct_demux_run(c->demux, 0, &left);
    if (!rc && !left.size)
        rc = run_straight(c, bytes + *used, size - *used, &more);
    *used += more;
    return rc;
}

/* Begins a call that decodes. CT_ERR_ARG inside of another call or after the end. After an error it returns
 * that error, because the position in the trace is lost. */
static int enter(struct ct_chain *c, const char *function)
{
    if (c->stopped && !c->busy)
        return c->stopped;
    if (c->busy || c->ended)
        return ct_fail(c->ctx, CT_ERR_ARG, "%s: %s, so nothing is decoded: %s", function,
                       c->busy ? "a receiver of the chain calls it" : "the trace has ended",
                       c->busy ? "call it when the receiver has returned" : "make a new chain");
    c->busy = true;
    return CT_OK;
}

static int leave(struct ct_chain *c, int rc)
{
    c->busy = false;
    return c->stopped = ct_tell_nomem(c->ctx, c->buffer->path, rc);
}

int ct_chain_push(struct ct_chain *c, const void *data, size_t size)
{
    if (!c || (!data && size))
        return CT_ERR_ARG;
    const uint8_t *bytes = data;
    int rc = enter(c, __func__);
    if (rc)
        return rc;
    if (size && c->bytes == 0)
        rc = look_at_first(c, bytes, size);
    if (!rc && size && c->bytes == 0)
        rc = ct_chain_start_threads(c);
    if (!rc && goes_straight(c, size)) {
        size_t used;
        rc = push_straight(c, bytes, size, &used);
        bytes += used;
        size -= used;
        c->bytes += used;
    }
    while (!rc && size) {
        size_t used;
        rc = ct_demux_push(c->demux, bytes, size, &used);
        if (!rc)
            rc = drain_to_marks(c);
        bytes += used;
        size -= used;
        c->bytes += used;
    }
    if (!rc && c->sink->bytes)
        rc = c->sink->bytes(c->sink->user, c->bytes);
    return leave(c, rc);
}

/* Returns the number of bytes in the data trace of a stream, for levels with packets. */
static uint64_t data_trace_bytes(const struct ct_chain *c, size_t stream)
{
    const bool framed = c->demux && ct_chain_framing(c) != CT_FRAMING_NONE;
    if (c->options.level < CT_LEVEL_PACKET)
        return 0;
    return ct_data_trace_bytes(c->buffer, c->streams[stream].stream.source,
                               framed ? ct_demux_stats(c->demux) : NULL);
}

int ct_chain_finish(struct ct_chain *c)
{
    if (!c)
        return CT_ERR_ARG;
    int rc = enter(c, __func__);
    if (rc)
        return rc;
    c->ended = true;
    if (!c->demux)
        return leave(c, CT_OK);
    rc = ct_demux_finish(c->demux);
    if (!rc)
        rc = drain(c, CT_BEHIND_END);
    if (!rc)
        rc = tell_marks(c);
    for (size_t i = 0; !rc && i < c->count; i++)
        rc = ct_stream_chain_sync(&c->streams[i]);
    for (size_t i = 0; !rc && i < c->count; i++) {
        const uint64_t bytes = data_trace_bytes(c, i);
        if (bytes)
            ct_data_trace_warn(c->ctx, c->streams[i].stream.source, bytes);
    }
    if (!rc && c->options.level >= CT_LEVEL_PACKET && ct_chain_framing(c) != CT_FRAMING_NONE)
        ct_undescribed_warn(c->ctx, c->buffer, &c->options, ct_demux_stats(c->demux));
    return leave(c, rc);
}

/* Ends what was decoded so far: frames and packets that are cut here will never be complete. */
static int break_off(struct ct_chain *c)
{
    int rc = ct_demux_finish(c->demux);
    if (!rc)
        rc = drain(c, CT_BEHIND_BREAK);
    if (!rc)
        rc = tell_marks(c);
    if (!rc)
        reset_streams(c, !c->cut);
    return rc;
}

int ct_chain_begin_piece(struct ct_chain *c, const struct ct_piece *piece)
{
    if (!c || !piece)
        return CT_ERR_ARG;
    int rc = enter(c, __func__);
    if (rc)
        return rc;
    if (!c->demux && !piece->offset) { /* the framing will be detected from the piece's bytes */
        c->cut = piece->cut;
        return leave(c, CT_OK);
    }
    if (!c->demux)
        rc = start(c, CT_FRAMING_FRAMES);
    else if (c->bytes && !piece->joins)
        rc = break_off(c);
    else if (c->parallel) /* delivers what came before, which belongs to another position */
        rc = ct_parallel_flush(c->parallel, CT_BEHIND_MORE);
    if (rc)
        return leave(c, rc);
    const uint64_t offset = ct_framing_block_offset(ct_chain_framing(c), piece->offset);
    if (piece->joins && c->bytes)
        ct_demux_move(c->demux, offset);
    else
        ct_demux_restart(c->demux, offset);
    if (c->begin_id)
        ct_demux_set_id(c->demux, c->begin_id);
    c->cut = piece->cut;
    for (size_t i = 0; !rc && i < c->count; i++)
        rc = c->streams[i].follow ? ct_follow_piece(c->streams[i].follow, piece) : CT_OK;
    return leave(c, rc);
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
        view->stats.losses.lost_bytes += data_trace_bytes(c, i) + (not_followed ? view->stats.bytes : 0);
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
