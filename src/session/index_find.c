/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where to begin decoding for a window. A decoder that begins at some point before the window is run up
 * to the window, and must reach the state that decoding from the first byte has there. */
#include "session/index.h"

#include "base/cycle_counts.h"
#include "base/search.h"
#include "chain/chunks.h"
#include "chain/feed.h"
#include "chain/leave.h"
#include "chain/points.h"

#include <string.h>

/* Number of points between the start of the first try and the window. After each try that does not reach the
 * right state, the number is multiplied by MORE_POINTS. */
#define FIRST_POINTS 2u
#define MORE_POINTS  4u
#define TRIES        4u

/* Bytes of the file that are read after a point before the point is reported: a chunk, and the rest of the
 * one before. */
#define BEHIND (2 * (uint64_t)CT_CHUNK_SIZE)

/* Addresses required between the point and the window. After the first one, execution is known; consequences
 * of a wrong address before it end with the second one. */
#define LEAST_ADDRESSES 2u

/* Elements that move execution, one of which is also required: up to it, events older than the point may wait
 * for a cycle count (event.h). */
#define KIND(name) (UINT64_C(1) << CT_ELEM_##name)
#define MOVES      (KIND(ATOMS) | KIND(SOURCE) | KIND(WAYPOINT) | KIND(Q) | KIND(EXCEPTION))

struct search {
    const struct ct_index *index;
    const struct ct_index_look *look;
    struct ct_index_begin *begin;
    size_t last[CT_INDEX_STREAMS]; /* for each stream: one more than the number of its last point before the
                                      window; 0: the stream is not searched */
    struct ct_chain *chain;
    struct ct_index_place places[CT_INDEX_STREAMS];
    bool moved[CT_INDEX_STREAMS]; /* one of MOVES came */
    bool found[CT_INDEX_STREAMS];
    uint64_t end; /* offset in the file after which none of these points can come */
    bool stopped; /* all streams were found, or one cannot be found */
    bool failed;
};

/* ---- a try ---- */

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct search *s = user;
    bool *moved = &s->moved[stream->id];
    ct_index_count(&s->places[stream->id], (enum ct_protocol)stream->source->protocol, batch);
    for (size_t i = 0; i < batch->count && !*moved; i++)
        *moved = MOVES >> batch->elems[i].kind & 1;
    return 0;
}

/* Returns whether a decoder that began at a point gives the same from here on as one that began at the first
 * byte. */
static bool is_same(const struct ct_index_place *whole, const struct ct_index_place *part, bool moved)
{
    if (part->elements == whole->elements)
        return true; /* the stream had nothing before the point */
    return moved && part->addresses >= LEAST_ADDRESSES && part->context == whole->context &&
           part->timestamp == whole->timestamp && (part->counts || !whole->counts) &&
           part->owners == whole->owners && part->clock.cycles <= whole->clock.cycles &&
           part->clock.instructions <= whole->clock.instructions;
}

static void set_clock(struct search *s, uint8_t id, const struct ct_index_place *whole,
                      const struct ct_index_place *part)
{
    struct ct_sieve_clock *clock = &s->begin->clocks[id];
    clock->cycles = whole->clock.cycles - part->clock.cycles;
    clock->instructions =
        s->index->has_instructions ? whole->clock.instructions - part->clock.instructions : 0;
    clock->ticks = whole->clock.ticks;
}

static int on_point(void *user, const struct ct_stream *stream, const struct ct_chain_point *point)
{
    struct search *s = user;
    struct ct_index_place *part = &s->places[stream->id];
    const struct ct_index_point *last = &s->index->streams[stream->id].points[s->last[stream->id] - 1];
    if (s->found[stream->id] || point->offset < last->offset)
        return 0;
    if (s->index->has_instructions)
        part->clock.instructions = ct_index_instructions(s->chain, stream->id);
    s->failed = point->offset != last->offset || point->state != last->state ||
                !is_same(&last->place, part, s->moved[stream->id]);
    s->found[stream->id] = true;
    set_clock(s, stream->id, &last->place, part);
    s->stopped = s->failed || !ct_chain_leave(s->chain, stream->id);
    return s->stopped;
}

/* Stops after the last point: frames may lack synchronisation words, or a stream its points. */
static int on_bytes(void *user, uint64_t bytes)
{
    struct search *s = user;
    const enum ct_framing framing = (enum ct_framing)s->begin->framing;
    if (ct_framing_file_offset(framing, s->begin->offset) + bytes >= s->end)
        s->stopped = s->failed = true;
    return s->stopped;
}

void ct_index_begin_chain(struct ct_chain *chain, const struct ct_index_begin *begin)
{
    ct_chain_begin_inside(chain, begin->offset);
    for (size_t i = 0; i < CT_INDEX_STREAMS; i++)
        if (begin->dead[i])
            ct_chain_leave(chain, (uint8_t)i);
}

static int try_begin(struct search *s)
{
    const struct ct_chain_options options = {.size = sizeof options,
                                             .level = s->index->has_instructions ? CT_LEVEL_FLOW
                                                                                 : CT_LEVEL_ELEMENT,
                                             .framing = s->begin->framing,
                                             .ids = {s->look->ids[0], s->look->ids[1]}};
    const struct ct_chain_sink sink = {.user = s, .elems = on_elems, .bytes = on_bytes};
    const struct ct_chain_points points = {.user = s, .reach = on_point};
    memset(s->places, 0, sizeof s->places);
    memset(s->moved, 0, sizeof s->moved);
    memset(s->found, 0, sizeof s->found);
    s->stopped = s->failed = false;
    int rc = ct_chain_new(s->look->ctx, s->look->buffer, &options, &sink, &s->chain);
    if (rc)
        return rc;
    ct_chain_tell_points(s->chain, &points);
    ct_index_begin_chain(s->chain, s->begin);
    rc = ct_chain_run(s->chain);
    ct_chain_free(s->chain);
    s->failed |= !s->stopped; /* a stream did not reach its point */
    return s->stopped ? CT_OK : rc;
}

/* ---- the search ---- */

static bool is_wanted(const struct ct_index_look *look, size_t id)
{
    return !(look->ids[0] | look->ids[1]) || look->ids[id / 64] >> id % 64 & 1;
}

/* Returns whether the window is in cycles and a stream has no counts, so that it must be decoded whole for
 * the message. */
static bool lacks_counts(const struct ct_index_look *look)
{
    const struct ct_buffer *b = look->buffer;
    if (look->from->kind != CT_POINT_CYCLES && look->to->kind != CT_POINT_CYCLES)
        return false;
    for (size_t i = 0; i < b->source_count; i++) {
        struct ct_cycle_counts counts;
        if (ct_cycle_counts_of(NULL, &b->sources[i], &counts) || !counts.there)
            return true;
    }
    return false;
}

/* Finds the last point of each stream before the window. Returns false when a stream reaches its window
 * before its first point. */
static bool find_last(struct search *s)
{
    bool any = false;
    for (size_t i = 0; i < CT_INDEX_STREAMS; i++) {
        const struct ct_index_stream *stream = &s->index->streams[i];
        const bool is_reached = ct_index_is_reached(&stream->end.clock, s->look->from);
        s->begin->dead[i] = !is_reached;
        if (!is_reached || !is_wanted(s->look, i))
            continue;
        s->last[i] = CT_COUNT_WHILE(stream->count, at,
                                    !ct_index_is_reached(&stream->points[at].place.clock, s->look->from));
        any = true;
        if (!s->last[i])
            return false;
        const uint64_t end = ct_framing_file_offset((enum ct_framing)s->index->framing,
                                                    stream->points[s->last[i] - 1].offset) +
                             BEHIND;
        s->end = end > s->end ? end : s->end;
    }
    return any;
}

/* Returns the last offset at or before `offset` at which reading of frames may begin: the start of a chunk
 * when the whole trace is read. A piece that continues another one may begin inside of a frame. */
static uint64_t align(const struct ct_index_look *look, enum ct_framing framing, uint64_t offset)
{
    const struct ct_buffer *buffer = look->buffer;
    size_t piece = buffer->pieces ? ct_feed_piece_at(buffer, offset) : 0;
    const bool joins = buffer->pieces && buffer->pieces[piece].joins;
    while (buffer->pieces && piece && buffer->pieces[piece].joins)
        piece--;
    const uint64_t start = buffer->pieces ? buffer->pieces[piece].offset : 0;
    return joins ? start : start + ct_chain_align(framing, offset - start, look->align);
}

/* Returns an offset from which each stream has at least `points` points before its window, if it has so
 * many. */
static uint64_t offset_before(const struct search *s, size_t points)
{
    uint64_t offset = UINT64_MAX;
    for (size_t i = 0; i < CT_INDEX_STREAMS; i++) {
        const size_t last = s->last[i];
        if (!last)
            continue;
        const uint64_t at = s->index->streams[i].points[last > points ? last - 1 - points : 0].offset;
        offset = at < offset ? at : offset;
    }
    const enum ct_framing framing = (enum ct_framing)s->begin->framing;
    return framing > CT_FRAMING_NONE ? align(s->look, framing, offset) : offset;
}

int ct_index_find(const struct ct_index *index, const struct ct_index_look *look,
                  struct ct_index_begin *begin)
{
    struct search s = {.index = index, .look = look, .begin = begin};
    *begin = (struct ct_index_begin){.framing = index->framing};
    if ((look->instructions && !index->has_instructions) || lacks_counts(look) || !find_last(&s))
        return CT_OK;
    size_t points = FIRST_POINTS;
    for (unsigned i = 0; i < TRIES; i++, points *= MORE_POINTS) {
        begin->offset = offset_before(&s, points);
        const int rc = begin->offset ? try_begin(&s) : CT_OK;
        if (rc || !begin->offset || !s.failed)
            return rc;
    }
    begin->offset = 0;
    return CT_OK;
}
