/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the bytes of a chain through the demultiplexer to its streams. */
#include "base/ctx.h"
#include "base/described.h"
#include "base/require.h"
#include "chain/chain.h"
#include "chain/data_trace.h"
#include "chain/never_synced.h"
#include "chain/points.h"
#include "chain/shard.h"
#include "chain/threads/parallel.h"
#include "chain/threads/side_by_side.h"
#include "chain/undescribed.h"
#include "frame/demux_skip.h"

static int run_shard(struct ct_chain *c, struct ct_stream_chain *stream, const struct ct_run *run,
                     enum ct_behind behind, size_t *used)
{
    const int rc = ct_stream_chain_run_shard(stream, run, behind, (enum ct_level)c->options.level, c->batches,
                                             c->sink, c->shard, used);
    if (rc || ct_chain_count_decoded(c))
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

/* Leaves the streams of which the shard has nothing. Returns 0 or CT_CHAIN_OVER. */
static int leave_missed(struct ct_chain *c)
{
    for (size_t i = 0; i < c->count; i++)
        ct_stream_chain_miss_shard(&c->streams[i], c->shard, ct_demux_offset(c->demux));
    return ct_chain_count_decoded(c) ? CT_OK : CT_CHAIN_OVER;
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

/* Detects the framing from the first bytes, unless it was stated. Trouble with them is an error when the
 * framing was not stated, and only a warning when it was: the user may know better. */
static int look_at_first(struct ct_chain *c, const uint8_t *bytes, size_t size)
{
    const char *trouble = ct_framing_trouble((enum ct_framing)c->options.framing, bytes, size);
    if (trouble && !c->demux)
        return ct_fail(c->ctx, CT_ERR_FORMAT, "%s: %s", ct_buffer_title(c->buffer), trouble);
    if (trouble)
        ct_log(c->ctx, CT_LOG_WARNING, "%s: %s", ct_buffer_title(c->buffer), trouble);
    return c->demux ? CT_OK : ct_chain_start(c, ct_framing_probe(bytes, size));
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
    int rc = ct_demux_push(c->demux, bytes, JOINT, used) ?: drain(c, CT_BEHIND_MORE);
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
        return ct_fail(c->ctx, CT_ERR_ARG, "%s: %s, so nothing is decoded; %s", function,
                       c->busy ? "a callback of the chain calls it" : "the trace has ended",
                       c->busy ? "call it after the callback has returned" : "make a new chain");
    c->busy = true;
    return CT_OK;
}

static int leave(struct ct_chain *c, int rc)
{
    c->busy = false;
    return c->stopped = ct_tell_nomem(c->ctx, ct_buffer_title(c->buffer), rc);
}

int ct_chain_push(struct ct_chain *c, const void *data, size_t size)
{
    CT_REQUIRE_OF(c, data || !size);
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
        rc = ct_demux_push(c->demux, bytes, size, &used) ?: drain_to_marks(c);
        bytes += used;
        size -= used;
        c->bytes += used;
    }
    if (!rc && c->sink->bytes)
        rc = c->sink->bytes(c->sink->user, c->bytes);
    return leave(c, rc);
}

int ct_chain_finish(struct ct_chain *c)
{
    CT_REQUIRE(NULL, c);
    int rc = enter(c, __func__);
    if (rc)
        return rc;
    c->ended = true;
    if (!c->demux)
        return leave(c, CT_OK);
    rc = ct_demux_finish(c->demux) ?: drain(c, CT_BEHIND_END) ?: tell_marks(c);
    for (size_t i = 0; !rc && i < c->count; i++)
        rc = ct_stream_chain_sync(&c->streams[i]);
    for (size_t i = 0; !rc && i < c->count; i++)
        ct_never_synced_warn(c->ctx, &c->streams[i].stream);
    for (size_t i = 0; !rc && i < c->count; i++) {
        const uint64_t bytes = ct_chain_data_trace_bytes(c, i);
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
    int rc = ct_demux_finish(c->demux) ?: drain(c, CT_BEHIND_BREAK) ?: tell_marks(c);
    if (!rc)
        reset_streams(c, !c->cut);
    return rc;
}

int ct_chain_begin_piece(struct ct_chain *c, const struct ct_piece *piece)
{
    CT_REQUIRE_OF(c, piece);
    int rc = enter(c, __func__);
    if (rc)
        return rc;
    if (!c->demux && !piece->offset) { /* the framing will be detected from the piece's bytes */
        c->cut = piece->cut;
        return leave(c, CT_OK);
    }
    if (!c->demux)
        rc = ct_chain_start(c, CT_FRAMING_FRAMES);
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
