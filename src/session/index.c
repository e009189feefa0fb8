/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an index: decodes a buffer once and records the clock of each stream at its points. */
#include "session/index.h"

#include "base/ctx.h"
#include "base/room.h"
#include "chain/leave.h"
#include "chain/points.h"

#include <stdlib.h>

void ct_index_free(struct ct_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < CT_INDEX_STREAMS; i++)
        free(index->streams[i].points);
    free(index);
}

bool ct_index_is_reached(const struct ct_sieve_clock *clock, const struct ct_filter_point *point)
{
    switch ((enum ct_filter_point_kind)point->kind) {
    case CT_POINT_TICKS:
        return clock->ticks >= point->value;
    case CT_POINT_CYCLES:
        return clock->cycles >= point->value;
    case CT_POINT_INSTRUCTIONS:
        return clock->instructions >= point->value;
    default:
        return false;
    }
}

static uint64_t sum_up(const struct ct_elem *elem, uint64_t offset)
{
    const uint64_t sum =
        (offset ^ (uint64_t)elem->aux << 48 ^ (uint64_t)elem->n << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return ((sum ^ sum >> 29 ^ elem->v) * UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

static void count_cycles(struct ct_index_place *place, enum ct_protocol protocol, const struct ct_elem *elem)
{
    const bool is_etm4 = protocol == CT_PROTOCOL_ETM4 || protocol == CT_PROTOCOL_ETE;
    if (elem->n == CT_CYCLES_ATTACHED && is_etm4) /* the next cycle count of an ETMv4 includes that of a
                                                     timestamp */
        return;
    place->clock.cycles += elem->aux ? 0 : elem->v;
    place->counts++;
}

/* Handles an element of a kind in COUNTED. */
static void count(struct ct_index_place *place, enum ct_protocol protocol, const struct ct_elem *elem,
                  uint64_t offset)
{
    switch (elem->kind) {
    case CT_ELEM_CYCLES:
        count_cycles(place, protocol, elem);
        break;
    case CT_ELEM_ATOMS:
    case CT_ELEM_LOST_ADDRESS:
        place->clock.cycles += elem->aux & CT_ATOMS_CYCLES ? elem->v >> 32 : 0;
        place->counts += (elem->aux & CT_ATOMS_CYCLES) != 0;
        break;
    case CT_ELEM_ADDRESS:
        place->addresses++;
        break;
    case CT_ELEM_CONTEXT:
        place->context = sum_up(elem, offset);
        break;
    case CT_ELEM_DATA:
        place->owners += elem->n == CT_DATA_LATER;
        break;
    case CT_ELEM_Q:
        place->unclear = true;
        break;
    default:
        place->clock.ticks = elem->v > place->clock.ticks ? elem->v : place->clock.ticks;
        place->timestamp = sum_up(elem, offset);
        break;
    }
}

#define KIND(name) (UINT64_C(1) << CT_ELEM_##name)
#define COUNTED                                                                                              \
    (KIND(CYCLES) | KIND(LOST_ADDRESS) | KIND(ADDRESS) | KIND(CONTEXT) | KIND(DATA) | KIND(Q) |              \
     KIND(TIMESTAMP))

void ct_index_count(struct ct_index_place *place, enum ct_protocol protocol,
                    const struct ct_elem_batch *batch)
{
    const uint64_t counted = COUNTED | (protocol == CT_PROTOCOL_ETM3 ? KIND(ATOMS) : 0);
    place->elements += batch->count;
    for (size_t i = 0; i < batch->count; i++)
        if (counted >> batch->elems[i].kind & 1)
            count(place, protocol, &batch->elems[i], ct_elem_offset(&batch->elems[i], batch->end));
}

/* ---- decoding for the index ---- */

struct look {
    const struct ct_index_look *what;
    struct ct_chain *chain;
    struct ct_index *index;
    bool left[CT_INDEX_STREAMS]; /* streams that were decoded as far as needed */
    bool stopped;                /* all streams were */
};

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    const struct look *look = user;
    ct_index_count(&look->index->streams[stream->id].end, (enum ct_protocol)stream->source->protocol, batch);
    return 0;
}

uint64_t ct_index_instructions(const struct ct_chain *chain, uint8_t id)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    size_t i = 0;
    while (i < count && streams[i].id != id)
        i++;
    return i < count ? streams[i].stats.instructions : 0;
}

static int add_point(const struct look *look, const struct ct_stream *stream,
                     const struct ct_chain_point *point)
{
    struct ct_index_stream *s = &look->index->streams[stream->id];
    if (!CT_MAKE_ROOM(s->points, s->room, s->count + 1))
        return ct_fail_nomem(look->what->ctx, look->what->buffer->name);
    s->points[s->count++] =
        (struct ct_index_point){.offset = point->offset, .state = point->state, .place = s->end};
    return CT_OK;
}

/* Adds a point to the index, and leaves the stream when it was decoded far enough. */
static int on_point(void *user, const struct ct_stream *stream, const struct ct_chain_point *point)
{
    struct look *look = user;
    struct ct_index_stream *s = &look->index->streams[stream->id];
    if (look->left[stream->id])
        return 0;
    if (look->what->instructions)
        s->end.clock.instructions = ct_index_instructions(look->chain, stream->id);
    const int rc = add_point(look, stream, point);
    look->left[stream->id] = look->what->from && ct_index_is_reached(&s->end.clock, look->what->from);
    if (rc || !look->left[stream->id])
        return rc;
    look->stopped = !ct_chain_leave(look->chain, stream->id);
    return look->stopped;
}

static int on_bytes(void *user, uint64_t bytes)
{
    const struct look *look = user;
    return look->what->progress ? look->what->progress(look->what->user, bytes) : 0;
}

static int run(struct look *look)
{
    const struct ct_index_look *what = look->what;
    const struct ct_chain_options options = {.size = sizeof options,
                                             .level = what->instructions ? CT_LEVEL_FLOW : CT_LEVEL_ELEMENT,
                                             .ids = {what->ids[0], what->ids[1]}};
    const struct ct_chain_sink sink = {.user = look, .elems = on_elems, .bytes = on_bytes};
    const struct ct_chain_points points = {.user = look, .apart = what->apart, .reach = on_point};
    int rc = ct_chain_new(what->ctx, what->buffer, &options, &sink, &look->chain);
    if (rc)
        return rc;
    ct_chain_tell_points(look->chain, &points);
    rc = ct_chain_run(look->chain);
    look->index->framing = (uint8_t)ct_chain_framing(look->chain);
    for (size_t i = 0; i < CT_INDEX_STREAMS; i++) {
        struct ct_index_place *end = &look->index->streams[i].end;
        look->index->has_instructions &= !end->unclear;
        if (what->instructions)
            end->clock.instructions = ct_index_instructions(look->chain, (uint8_t)i);
    }
    ct_chain_free(look->chain);
    return look->stopped ? CT_OK : rc;
}

int ct_index_make(const struct ct_index_look *look, struct ct_index **out)
{
    struct look l = {.what = look, .index = calloc(1, sizeof *l.index)};
    if (!l.index)
        return ct_fail_nomem(look->ctx, look->buffer->name);
    l.index->followed = l.index->has_instructions = look->instructions;
    const int rc = run(&l);
    if (rc)
        ct_index_free(l.index);
    else
        *out = l.index;
    return rc;
}
