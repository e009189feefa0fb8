/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the events of several sources in one order. A separate chain decodes each source, a little at a time.
 * The source with the earliest next event gives events until another source has an earlier one. */
#include "coretap/merge.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_of.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/room.h"
#include "chain/feed.h"
#include "session/find_time.h"
#include "session/sieve.h"

#define PIECE 4096 /* input bytes decoded at a time, whose events must be held */

#define READY 512 /* maximal number of events of a source that are held with their times */

#define BATCH 2048 /* maximal number of events made at a time */

/* A source with its chain and the events it holds. */
struct reader {
    struct ct_merge *merge;
    struct ct_merge_source *source;
    struct ct_chain *chain;
    struct ct_chain_sink sink;
    struct ct_feed feed;
    struct ct_events *events;
    struct ct_timeline *timeline;
    struct ct_event_sieve *sieve; /* applies the filter except for ticks; NULL when everything is kept */
    struct ct_sieve *step_sieve;  /* the same for steps, with ticks */
    uint64_t kept;
    bool over; /* nothing more of the source is wanted: its times never decrease */
    /* Events of the last piece that did not fit into the timeline. */
    struct ct_event *pending;
    size_t pending_count, pending_done, pending_cap;
    struct ct_timed_event ready[READY];
    size_t ready_count, ready_done;
};

/* Which sources give events: first those with timestamps, then those without. */
enum turn {
    NOT_BEGUN,
    TIMED,
    UNTIMED,
};

struct ct_merge {
    struct ct_ctx *ctx;
    struct ct_merge_options options;
    struct ct_filter filter;
    struct ct_merge_source *sources;
    struct reader *readers; /* one for each source, in their order */
    size_t count;
    enum turn turn;
    struct reader *last; /* the reader whose events were given last */
    int result;          /* the first error */
    bool working;        /* in ct_merge_next or ct_merge_pull, from which receivers are called */
    struct ct_seen seen;
    struct ct_sieve_seen sieved;
    uint64_t bytes;
    struct ct_event batch[BATCH];
};

/* ---- decoding a source ---- */

static int keep(struct reader *r, const struct ct_event *events, size_t count)
{
    if (!CT_MAKE_ROOM(r->pending, r->pending_cap, r->pending_count + count))
        return ct_fail_nomem(r->merge->ctx, "events");
    if (count)
        memcpy(r->pending + r->pending_count, events, count * sizeof *events);
    r->pending_count += count;
    return CT_OK;
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct reader *r = user;
    struct ct_event *events = r->merge->batch;
    int rc = CT_OK;
    (void)stream;
    for (size_t done = 0, count; done < batch->count && !rc;) {
        done += ct_events_from_elems(r->events, batch->elems + done, batch->count - done, batch->end, events,
                                     BATCH, &count);
        rc = keep(r, events, count);
    }
    return rc;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct reader *r = user;
    struct ct_event *events = r->merge->batch;
    int rc = CT_OK;
    (void)stream;
    ct_events_set_memory(r->events, batch->memory);
    for (size_t done = 0, count; done < batch->count && !rc;) {
        done +=
            ct_events_from_flow(r->events, batch->records + done, batch->count - done, events, BATCH, &count);
        rc = keep(r, events, count);
    }
    return rc;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct reader *r = user;
    struct ct_merge *m = r->merge;
    struct ct_step_batch kept = *batch;
    (void)stream;
    int rc = r->step_sieve && !r->over ? ct_sieve_run(r->step_sieve, batch, &kept) : CT_OK;
    if (!rc && !r->over)
        rc = m->options.steps(m->options.user, (size_t)(r - m->readers), &kept);
    r->over |= r->step_sieve && ct_sieve_is_over(r->step_sieve);
    return rc;
}

static struct ct_chain_options chain_options(const struct ct_merge_source *s, enum ct_level level)
{
    struct ct_chain_options options = {.size = sizeof options, .level = (uint8_t)level};
    options.ids[s->id / 64] = UINT64_C(1) << s->id % 64;
    return options;
}

static int open_reader(struct reader *r, uint16_t threads)
{
    struct ct_ctx *ctx = r->merge->ctx;
    struct ct_merge_source *s = r->source;
    struct ct_chain_options options = chain_options(s, (enum ct_level)s->level);
    options.threads = threads;
    r->sink = (struct ct_chain_sink){.user = r};
    if (s->level == CT_LEVEL_STEPS)
        r->sink.steps = on_steps;
    else if (s->level == CT_LEVEL_FLOW)
        r->sink.flow = on_flow;
    else
        r->sink.elems = on_elems;
    const int rc = ct_chain_new(ctx, s->buffer, &options, &r->sink, &r->chain);
    s->chain = r->chain;
    return rc
           ?: ct_feed_open(&r->feed, ctx, s->buffer, 0)
           ?: ct_events_new(ctx, s->source, &r->events)
           ?: ct_timeline_new(ctx, &r->timeline);
}

static void close_reader(struct reader *r)
{
    ct_chain_free(r->chain);
    ct_events_free(r->events);
    ct_timeline_free(r->timeline);
    ct_event_sieve_free(r->sieve);
    ct_sieve_free(r->step_sieve);
    ct_feed_close(&r->feed);
    free(r->pending);
}

/* Decodes one more piece of the source's input. */
static int read_piece(struct reader *r)
{
    struct ct_merge *m = r->merge;
    size_t pushed;
    r->pending_count = r->pending_done = 0;
    const int rc = ct_feed_push(&r->feed, r->chain, PIECE, &pushed);
    if (rc)
        return rc;
    if (r->feed.ended)
        return ct_chain_finish(r->chain);
    m->bytes += pushed;
    return m->options.progress ? m->options.progress(m->options.user, m->bytes) : CT_OK;
}

/* ---- the filter ---- */

static bool is_behind_window(const struct reader *r, uint64_t time)
{
    const struct ct_filter_point *to = &r->merge->filter.to;
    return to->kind == CT_POINT_TICKS && r->source->timed && time >= to->value;
}

/* Returns whether an event is in the window of ticks. A source without timestamps is before it. */
static bool is_in_window(const struct reader *r, uint64_t time)
{
    const struct ct_filter_point *from = &r->merge->filter.from;
    return (from->kind != CT_POINT_TICKS || (r->source->timed && time >= from->value)) &&
           !is_behind_window(r, time);
}

/* Removes timed events that the filter excludes. */
static int sift(struct reader *r)
{
    const size_t count = r->ready_count;
    if (!r->sieve)
        return CT_OK;
    r->ready_count = 0;
    for (size_t i = 0; i < count && !r->over; i++) {
        size_t kept;
        r->over = is_behind_window(r, r->ready[i].time);
        const int rc = ct_event_sieve_run(r->sieve, &r->ready[i].event, 1, &kept);
        if (rc)
            return rc;
        if (kept && is_in_window(r, r->ready[i].time))
            r->ready[r->ready_count++] = r->ready[i];
    }
    r->kept += r->ready_count;
    return CT_OK;
}

static void leave_ticks(struct ct_filter_point *point)
{
    if (point->kind == CT_POINT_TICKS)
        *point = (struct ct_filter_point){0};
}

/* Makes the sieve of a source. It gets no ticks, which is_in_window applies: a sieve only knows the timestamp
 * before an event. */
static int begin_sieve(struct reader *r)
{
    const struct ct_merge *m = r->merge;
    struct ct_filter filter = m->filter;
    const struct ct_sieve_options how = {.size = sizeof how,
                                         .filter = m->options.steps ? &m->filter : &filter,
                                         .source = r->source->source,
                                         .maps = m->options.maps,
                                         .programs = m->options.programs};
    if (m->options.steps)
        return ct_filter_steps(&m->filter) ? ct_sieve_new(m->ctx, &how, &r->step_sieve) : CT_OK;
    leave_ticks(&filter.from);
    leave_ticks(&filter.to);
    return ct_filter_steps(&m->filter) ? ct_event_sieve_new(m->ctx, &how, &r->sieve) : CT_OK;
}

/* ---- events with their times ---- */

/* Decodes until a wanted event with its time is available, or the source has ended. */
static int fill(struct reader *r)
{
    int rc = CT_OK;
    r->ready_done = r->ready_count = 0;
    while (!rc && !r->ready_count && !r->over) {
        r->ready_count = ct_timeline_fetch(r->timeline, r->ready, READY);
        if (r->ready_count)
            rc = sift(r);
        else if (r->pending_done < r->pending_count)
            r->pending_done += ct_timeline_push(r->timeline, r->pending + r->pending_done,
                                                r->pending_count - r->pending_done);
        else if (r->feed.ended)
            break;
        else
            rc = read_piece(r);
    }
    return rc;
}

/* ---- the sources ---- */

/* Determines whether a source has trace, and timestamps. */
static int look_at(struct ct_ctx *ctx, struct ct_merge_source *s)
{
    struct ct_found_time found;
    const int rc = ct_find_time(ctx, s, 0, &found);
    s->timed = found.found;
    s->first_time = found.time;
    s->has_trace = found.has_trace;
    return rc;
}

int ct_merge_reaches(const struct ct_merge *m, size_t source, uint64_t time, int *reaches)
{
    CT_REQUIRE_OF(m, reaches, source < m->count);
    struct ct_found_time found;
    const int rc = ct_find_time(m->ctx, &m->sources[source], time, &found);
    *reaches = found.found;
    return rc;
}

static bool has_id(const uint64_t ids[2], uint8_t id)
{
    return !(ids[0] | ids[1]) || ids[id / 64] >> id % 64 & 1;
}

static bool is_wanted(const struct ct_merge *m, const struct ct_buffer *buffer, uint8_t id)
{
    uint64_t ids[2];
    return has_id(m->options.ids, id) && ct_filter_ids(&m->filter, buffer, ids) && has_id(ids, id);
}

static int add_source(struct ct_merge *m, const struct ct_buffer *buffer, const struct ct_source *source,
                      uint8_t id)
{
    if (!is_wanted(m, buffer, id))
        return CT_OK;
    for (size_t i = 0; i < m->count; i++)
        if (m->sources[i].buffer == buffer && m->sources[i].id == id)
            return CT_OK;
    struct ct_merge_source *s = &m->sources[m->count];
    *s = (struct ct_merge_source){
        .buffer = buffer,
        .source = source,
        .id = id,
        .level = (uint8_t)(m->options.steps
                               ? CT_LEVEL_STEPS
                               : ct_events_level(buffer, source, (enum ct_events_from)m->options.from))};
    struct reader *r = &m->readers[m->count++];
    *r = (struct reader){.merge = m, .source = s};
    return look_at(m->ctx, s) ?: begin_sieve(r);
}

static int add_buffer(struct ct_merge *m, const struct ct_buffer *buffer)
{
    const bool framed = buffer->framing != CT_FRAMING_NONE;
    const size_t count = framed ? buffer->source_count : buffer->source_count > 0;
    int rc = CT_OK;
    if (buffer->path && !strcmp(buffer->path, "-"))
        return ct_fail(
            m->ctx, CT_ERR_ARG,
            "%s: this is standard input, which can be read only once; merging reads the trace once for "
            "each source; save the trace to a file",
            buffer->name);
    for (size_t i = 0; i < count && !rc; i++)
        rc = add_source(m, buffer, &buffer->sources[i], framed ? buffer->sources[i].trace_id : 0);
    return rc;
}

static int add_buffers(struct ct_merge *m, const struct ct_buffer *buffers, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most += buffers[i].source_count;
    m->sources = calloc(most + 1, sizeof *m->sources);
    m->readers = calloc(most + 1, sizeof *m->readers);
    if (!m->sources || !m->readers)
        return ct_fail_nomem(m->ctx, "sources");
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++)
        rc = add_buffer(m, &buffers[i]);
    return rc;
}

int ct_merge_new(struct ct_ctx *ctx, const struct ct_buffer *buffers, size_t count,
                 const struct ct_merge_options *options, struct ct_merge **out)
{
    struct ct_merge_options o;
    struct ct_filter filter = {.size = sizeof filter};
    CT_REQUIRE_OUT(ctx, out, buffers || !count);
    int rc = ct_options_read(ctx, __func__, options, &o, sizeof o);
    if (!rc && o.filter)
        rc = ct_options_read(ctx, __func__, o.filter, &filter, sizeof filter);
    if (rc)
        return rc;
    if (o.from > CT_EVENTS_FROM_TRACE)
        return ct_fail(ctx, CT_ERR_ARG,
                       "%s: options.from is %u, which is not a value of enum "
                       "ct_events_from; no events are made",
                       __func__, o.from);
    struct ct_merge *m = calloc(1, sizeof *m);
    if (!m)
        return ct_fail_nomem(ctx, "merging");
    m->ctx = ctx;
    m->options = o;
    m->options.filter = NULL; /* the copy is used from here on */
    m->filter = filter;
    rc = add_buffers(m, buffers, count);
    if (rc)
        ct_merge_free(m);
    else
        *out = m;
    return rc;
}

void ct_merge_free(struct ct_merge *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++)
        close_reader(&m->readers[i]);
    free(m->readers);
    free(m->sources);
    free(m);
}

const struct ct_merge_source *ct_merge_sources(const struct ct_merge *m, size_t *count)
{
    return CT_ARRAY_OF(m, sources, count, count);
}

/* ---- the common order ---- */

static uint64_t next_time(const struct reader *r)
{
    return r->ready[r->ready_done].time;
}

static bool is_in_turn(const struct ct_merge *m, const struct reader *r)
{
    return (m->turn == TIMED) == (bool)r->source->timed && r->ready_done < r->ready_count;
}

/* Finds the reader with the earliest next event (the first one among equals), and the last time up to which
 * its events come before those of the others. NULL when all have ended. */
static struct reader *find_earliest(struct ct_merge *m, uint64_t *until)
{
    struct reader *best = NULL;
    *until = UINT64_MAX;
    for (size_t i = 0; i < m->count; i++) {
        struct reader *r = &m->readers[i];
        if (!is_in_turn(m, r))
            continue;
        if (m->turn == UNTIMED)
            return r;
        if (!best || next_time(r) < next_time(best)) {
            /* The reader found before is earlier in the order, so it is first at equal times. */
            if (best)
                *until = next_time(best) - 1;
            best = r;
        } else if (next_time(r) < *until) {
            *until = next_time(r);
        }
    }
    return best;
}

static void take(struct reader *r, uint64_t until, struct ct_merge_batch *out)
{
    const size_t first = r->ready_done;
    while (r->ready_done < r->ready_count && (!r->source->timed || next_time(r) <= until))
        r->ready_done++;
    *out = (struct ct_merge_batch){
        .source = r->source, .events = r->ready + first, .count = r->ready_done - first};
}

/* Returns the number of threads for source `index` of `count` that are decoded in turn. Each gets the
 * caller's thread and a share of the others. */
static uint16_t threads_of(const struct ct_merge *m, size_t index, size_t count)
{
    const size_t others = m->options.threads ? m->options.threads - 1u : 0;
    return (uint16_t)(1 + others / count + (index < others % count));
}

static int begin_turn(struct ct_merge *m, enum turn turn)
{
    int rc = CT_OK;
    size_t count = 0, index = 0;
    m->turn = turn;
    for (size_t i = 0; i < m->count; i++)
        count += m->sources[i].timed == (turn == TIMED);
    for (size_t i = 0; i < m->count && !rc; i++) {
        if (m->sources[i].timed != (turn == TIMED))
            continue;
        rc = open_reader(&m->readers[i], threads_of(m, index++, count)) ?: fill(&m->readers[i]);
    }
    return rc;
}

static int next(struct ct_merge *m, struct ct_merge_batch *out)
{
    struct reader *earliest = NULL;
    uint64_t until;
    int rc = CT_OK;
    if (m->last && m->last->ready_done == m->last->ready_count)
        rc = fill(m->last);
    if (!rc && m->turn == NOT_BEGUN)
        rc = begin_turn(m, TIMED);
    if (!rc)
        earliest = find_earliest(m, &until);
    if (!rc && !earliest && m->turn == TIMED) {
        rc = begin_turn(m, UNTIMED);
        earliest = find_earliest(m, &until);
    }
    m->last = earliest;
    if (!rc && earliest)
        take(earliest, until, out);
    return rc;
}

/* Begins a call that decodes. CT_ERR_ARG when a receiver makes it: the sources are in the middle of a batch
 * then. */
static int enter(struct ct_merge *m, const char *function)
{
    if (m->working)
        return ct_fail(m->ctx, CT_ERR_ARG,
                       "%s: a receiver of the merge calls it, so nothing is decoded; call it after the "
                       "receiver has returned",
                       function);
    m->working = true;
    return CT_OK;
}

static int leave(struct ct_merge *m, int result)
{
    m->working = false;
    return m->result = result;
}

int ct_merge_next(struct ct_merge *m, struct ct_merge_batch *out)
{
    CT_REQUIRE_OF(m, out);
    *out = (struct ct_merge_batch){0};
    if (m->options.steps)
        return ct_fail(m->ctx, CT_ERR_ARG,
                       "%s: options.steps is set, so the sources deliver steps and no "
                       "events; call ct_merge_pull instead",
                       __func__);
    const int rc = enter(m, __func__);
    return rc ? rc : leave(m, m->result ? m->result : next(m, out));
}

static size_t count_active(const struct ct_merge *m, size_t before)
{
    size_t count = 0;
    for (size_t i = 0; i < before; i++)
        count += m->sources[i].has_trace;
    return count;
}

static int pull(struct ct_merge *m, struct reader *r)
{
    const size_t number = (size_t)(r - m->readers);
    const size_t active = count_active(m, m->count);
    int rc = r->chain || !active ? CT_OK : open_reader(r, threads_of(m, count_active(m, number), active));
    if (!rc && !r->feed.ended && r->chain)
        rc = read_piece(r);
    return rc;
}

int ct_merge_pull(struct ct_merge *m, size_t source, int *more)
{
    if (!m || !more || source >= m->count || !m->options.steps)
        return ct_fail(m ? m->ctx : NULL, CT_ERR_ARG,
                       "%s: the source does not exist, an argument is null, or options.steps is not set; no "
                       "steps are delivered",
                       __func__);
    struct reader *r = &m->readers[source];
    int rc = enter(m, __func__);
    if (!rc)
        rc = leave(m, m->result ? m->result : pull(m, r));
    *more = !rc && r->chain && !r->feed.ended && !r->over;
    return rc;
}

const struct ct_sieve_seen *ct_merge_sieved(struct ct_merge *m)
{
    if (!m)
        return NULL;
    m->sieved = (struct ct_sieve_seen){0};
    for (size_t i = 0; i < m->count; i++) {
        if (m->readers[i].step_sieve)
            ct_sieve_seen_add(&m->sieved, ct_sieve_seen_of(m->readers[i].step_sieve));
        if (!m->readers[i].sieve)
            continue;
        struct ct_sieve_seen seen = *ct_event_sieve_seen(m->readers[i].sieve);
        seen.kept = m->readers[i].kept;
        ct_sieve_seen_add(&m->sieved, &seen);
    }
    return &m->sieved;
}

const struct ct_seen *ct_merge_seen(struct ct_merge *m)
{
    if (!m)
        return NULL;
    m->seen = (struct ct_seen){0};
    for (size_t i = 0; i < m->count; i++) {
        const struct ct_merge_source *s = &m->sources[i];
        if (s->chain)
            ct_seen_add(&m->seen, s->chain, (enum ct_level)s->level,
                        !i || s->buffer != m->sources[i - 1].buffer);
    }
    return &m->seen;
}
