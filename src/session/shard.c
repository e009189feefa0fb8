/* SPDX-License-Identifier: Apache-2.0 */
#include "session/shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/ctx.h"
#include "base/room.h"

/* Size of the warm-up before a part, in which the trace unit repeats what later packets depend on; less when
 * the part itself is smaller. */
#define WARM_UP (UINT64_C(1) << 20)

/* Reading begins at a multiple of so many bytes, because frames begin there. */
#define WARM_ALIGN 16u

/* ---- streams ---- */

static int no_memory(const struct ct_shard *shard)
{
    return ct_fail_nomem(shard->analysis.ctx, "shard");
}

struct ct_shard_stream *ct_shard_find(const struct ct_shard *shard, uint32_t buffer, uint8_t id)
{
    for (size_t i = 0; i < shard->stream_count; i++)
        if (shard->streams[i].buffer == buffer && shard->streams[i].id == id)
            return &shard->streams[i];
    return NULL;
}

struct ct_shard_stream *ct_shard_stream(struct ct_shard *shard, uint32_t buffer, uint8_t id)
{
    struct ct_shard_stream *found = ct_shard_find(shard, buffer, id);
    if (found)
        return found;
    if (!CT_PUSH_ROOM(shard->streams, shard->stream_count))
        return no_memory(shard), NULL;
    struct ct_shard_stream *stream = &shard->streams[shard->stream_count++];
    *stream = (struct ct_shard_stream){.buffer = buffer, .id = id};
    return stream;
}

int ct_shard_add_context(struct ct_shard *shard, struct ct_shard_stream *stream,
                         const struct ct_edge_context *context)
{
    for (size_t i = 0; i < stream->context_count; i++)
        if (!ct_edge_context_order(&stream->contexts[i], context))
            return CT_OK;
    if (!CT_PUSH_ROOM(stream->contexts, stream->context_count))
        return no_memory(shard);
    stream->contexts[stream->context_count++] = *context;
    return CT_OK;
}

/* ---- byte ranges ---- */

/* Returns the number of trace bytes in a buffer; 0 when it has no file. */
static uint64_t size_of(const struct ct_buffer *buffer)
{
    struct stat st;
    uint64_t size = 0;
    for (size_t i = 0; i < buffer->piece_count; i++)
        size += buffer->pieces[i].size;
    return buffer->pieces ? size : stat(buffer->path, &st) ? 0 : (uint64_t)st.st_size;
}

int ct_shard_begin(struct ct_shard *s, const struct ct_buffer *buffers, size_t count)
{
    if (!s->first || s->starts)
        return ct_fail(s->analysis.ctx, CT_ERR_ARG,
                       "ct_session_run: the shard has already been used or has "
                       "no number; make a new one with ct_shard_new and a "
                       "number from 1 for each capture");
    s->buffers = buffers;
    s->starts = calloc(count + 1, sizeof *s->starts);
    if (!s->starts)
        return no_memory(s);
    for (size_t i = 0; i < count; i++)
        s->starts[i + 1] = s->starts[i] + size_of(&buffers[i]);
    s->each = s->starts[count] / s->count + 1;
    s->begin = s->each * (s->first - 1);
    s->end = s->first == s->count ? UINT64_MAX : s->begin + s->each;
    return CT_OK;
}

/* Computes the part of a buffer that begins at `at` and has `size` bytes. */
static void set_part(struct ct_shard *s, uint64_t at, uint64_t size, struct ct_chain_shard *part)
{
    const uint64_t warm = s->each < WARM_UP ? s->each : WARM_UP;
    part->begin = s->begin > at ? s->begin - at : 0;
    part->end = s->end - at < size ? s->end - at : UINT64_MAX;
    part->warm_up = part->begin > warm ? part->begin - warm : 0;
    part->warm_up -= part->warm_up % WARM_ALIGN;
    part->step = s->each;
    part->near = warm;
    s->from_start = !part->begin;
}

bool ct_shard_next(struct ct_shard *s, const struct ct_buffer *buffer, bool can_cut,
                   struct ct_chain_shard *part)
{
    s->buffer = (uint32_t)(buffer - s->buffers);
    const uint64_t at = s->starts[s->buffer], size = s->starts[s->buffer + 1] - at;
    if (*s->why)
        return false;
    if (at >= s->begin && at < s->end && (!can_cut || at + size <= s->end))
        return true;
    if (!can_cut || at >= s->end || at + size <= s->begin)
        return false;
    set_part(s, at, size, part);
    return true;
}

/* ---- results of a part ---- */

void ct_shard_refuse(struct ct_shard *s, const char *why)
{
    if (!*s->why)
        snprintf(s->why, sizeof s->why, "%s", why);
}

int ct_shard_reach(struct ct_shard *s, const struct ct_stream *stream, bool is_end, uint64_t offset,
                   const struct ct_seam *seam)
{
    struct ct_shard_stream *noted = ct_shard_stream(s, s->buffer, stream->id);
    const size_t room = 20 + 17 * (size_t)seam->count;
    char *text = noted ? malloc(room) : NULL;
    if (!text)
        return no_memory(s);
    int size = snprintf(text, room, "%" PRIx64, offset);
    for (uint32_t i = 0; i < seam->count; i++)
        size += snprintf(text + size, room - (size_t)size, " %" PRIx64, seam->numbers[i]);
    if (seam->overflow)
        ct_shard_refuse(s, "the decoder state at its boundary is too large to compare");
    *(is_end ? &noted->end : &noted->begin) = text;
    return CT_OK;
}

static int take_stream(struct ct_shard *s, const struct ct_stream *stream)
{
    uint32_t nodes = 0, edges = 0;
    size_t contexts = 0;
    struct ct_shard_stream *noted =
        s->from_start ? ct_shard_stream(s, s->buffer, stream->id) : ct_shard_find(s, s->buffer, stream->id);
    int rc = CT_OK;
    if (!noted) /* it did not reach a point */
        return s->from_start ? CT_ERR_NOMEM : CT_OK;
    if (stream->graph) {
        ct_graph_nodes(stream->graph, &nodes);
        ct_graph_edges(stream->graph, &edges);
    }
    const struct ct_edge_context *all = stream->edges ? ct_edges_contexts(stream->edges, &contexts) : NULL;
    noted->nodes = nodes;
    noted->edges = edges;
    for (size_t i = 0; i < contexts && !rc; i++)
        rc = ct_shard_add_context(s, noted, &all[i]);
    return rc;
}

int ct_shard_take(struct ct_shard *s, const struct ct_chain *chain)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    const struct ct_frame_stats *frames = ct_chain_frame_stats(chain);
    if (frames && (frames->lost_bytes || frames->resets))
        ct_shard_refuse(s, "bytes between the trace frames are lost");
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++)
        rc = take_stream(s, &streams[i]);
    return rc;
}

int ct_shard_finish(struct ct_shard *s, const struct ct_seen *seen, bool damaged, const char *run)
{
    s->has_trace = seen->has_trace;
    s->ran = seen->ran;
    s->damaged = damaged;
    if (seen->misframed)
        ct_shard_refuse(s, "the trace has no frames");
    s->analysis.captures = (struct ct_analysis_captures){.losses = seen->losses};
    /* the capture is named only once */
    return s->first == 1 && *run ? ct_analysis_add_run(&s->analysis, run) : CT_OK;
}
