/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes streams one after the other, each in its own pass, for commands that print the records of a stream
 * together. */
#include "session/session.h"

#include "base/ctx.h"
#include "session/sieve.h"
#include "session/turn_events.h"

#include <stdlib.h>

/* The receivers of the records: the caller's, or those of a part that the caller made for a thread. */
struct taker {
    struct pass *pass;
    void *user;
};

struct pass {
    struct ct_session *session;
    struct ct_session_turn turn;
    struct ct_sieve *sieve;        /* NULL when all steps are wanted */
    struct ct_turn_events *events; /* NULL when the receivers take other records */
    uint64_t before;               /* bytes of the previous passes */
    struct taker taker;
    bool stopped;                /* the window has ended */
    struct ct_index_begin begin; /* where decoding of the stream begins */
};

/* ---- receivers: each calls that of the turn ---- */

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct taker *t = user;
    return t->pass->turn.sink.packets(t->user, stream, batch);
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    const struct taker *t = user;
    return t->pass->turn.sink.elems(t->user, stream, batch);
}

static int on_events(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch)
{
    const struct taker *t = user;
    return t->pass->turn.sink.events(t->user, stream, batch);
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    const struct taker *t = user;
    return t->pass->turn.sink.flow(t->user, stream, batch);
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    const struct taker *t = user;
    struct ct_step_batch kept = *batch;
    int rc = t->pass->sieve ? ct_sieve_run(t->pass->sieve, batch, &kept) : CT_OK;
    if (!rc)
        rc = t->pass->turn.sink.steps(t->user, stream, &kept);
    if (!rc && t->pass->sieve && ct_sieve_is_over(t->pass->sieve))
        rc = t->pass->stopped = true; /* ends the chain, which returns it */
    return rc;
}

static int make_events_of_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    const struct taker *t = user;
    return ct_turn_events_from_elems(t->pass->events, t->user, stream, batch);
}

static int make_events_of_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    const struct taker *t = user;
    return ct_turn_events_from_flow(t->pass->events, t->user, stream, batch);
}

static int on_mark(void *user, const struct ct_frame_mark *mark)
{
    const struct taker *t = user;
    return t->pass->turn.sink.mark(t->user, mark);
}

static int on_bytes(void *user, uint64_t bytes)
{
    const struct taker *t = user;
    const struct ct_session_options *options = &t->pass->session->options;
    const int rc = options->progress
                       ? options->progress(options->user, t->pass->before + t->pass->begin.offset + bytes)
                       : 0;
    return rc || !t->pass->turn.sink.bytes ? rc : t->pass->turn.sink.bytes(t->user, bytes);
}

static void *on_part_new(void *user, const struct ct_stream *stream)
{
    const struct taker *whole = user;
    struct taker *part = malloc(sizeof *part);
    void *theirs = part ? whole->pass->turn.sink.part_new(whole->user, stream) : NULL;
    if (!theirs) {
        free(part);
        return NULL;
    }
    *part = (struct taker){whole->pass, theirs};
    return part;
}

static int on_part_end(void *user, const struct ct_stream *stream, void *part, int keep)
{
    const struct taker *whole = user;
    void *theirs = ((struct taker *)part)->user;
    free(part);
    return whole->pass->turn.sink.part_end(whole->user, stream, theirs, keep);
}

/* Returns a sink with the receivers of the turn, or with one that makes events. */
static struct ct_chain_sink sink_of(struct pass *pass)
{
    const struct ct_chain_sink *theirs = &pass->turn.sink;
    struct ct_chain_sink sink = {.user = &pass->taker,
                                 .packets = theirs->packets ? on_packets : NULL,
                                 .elems = theirs->elems ? on_elems : NULL,
                                 .events = theirs->events ? on_events : NULL,
                                 .flow = theirs->flow ? on_flow : NULL,
                                 .steps = theirs->steps ? on_steps : NULL,
                                 .mark = theirs->mark ? on_mark : NULL,
                                 .bytes = on_bytes,
                                 .part_new = theirs->part_new ? on_part_new : NULL,
                                 .part_end = theirs->part_end ? on_part_end : NULL};
    if (pass->events && pass->turn.level == CT_LEVEL_FLOW)
        sink.flow = make_events_of_flow;
    else if (pass->events)
        sink.elems = make_events_of_elems;
    return sink;
}

/* ---- a pass ---- */

/* Returns the source of an ID; NULL when the buffer has none. */
static const struct ct_source *source_of(const struct ct_buffer *buffer, unsigned id)
{
    if (buffer->framing == CT_FRAMING_NONE)
        return id == 0 && buffer->source_count ? &buffer->sources[0] : NULL;
    for (size_t i = 0; i < buffer->source_count; i++)
        if (buffer->sources[i].trace_id == id)
            return &buffer->sources[i];
    return NULL;
}

/* Refuses a filter that excludes steps when the receivers take other records, and receivers of records beside
 * that of events. */
static int check_receivers(const struct pass *pass)
{
    const struct ct_session *s = pass->session;
    const struct ct_chain_sink *sink = &pass->turn.sink;
    const bool takes = sink->packets || sink->elems || sink->events || sink->flow;
    const bool makes_events = pass->turn.level == CT_LEVEL_ELEMENT || pass->turn.level == CT_LEVEL_FLOW;
    if (pass->events && (takes || sink->steps || !makes_events))
        return ct_fail(s->ctx, CT_ERR_ARG,
                       "ct_session_run: a turn takes events, but %s; choose one of "
                       "them",
                       makes_events ? "it also has a receiver of other records"
                                    : "its level makes no "
                                      "events");
    if (s->sieves && takes)
        return ct_fail(s->ctx, CT_ERR_ARG,
                       "ct_session_run: the filter excludes instructions, but a receiver takes other records "
                       "than steps, which cannot be filtered so; remove the filter or that receiver");
    return CT_OK;
}

/* Begins a turn. Looks up the names in the filter first, so that nothing is printed for a stream that cannot
 * be filtered. */
static int begin(struct pass *pass, const struct ct_maps *maps)
{
    const struct ct_session *s = pass->session;
    int rc = s->options.events ? ct_turn_events_new(s, pass->turn.source, maps, &pass->events)
             : s->sieves       ? ct_session_sieve(s, pass->turn.source, maps, &pass->sieve)
                               : CT_OK;
    if (!rc)
        rc = s->options.begin(s->options.user, &pass->turn);
    pass->taker = (struct taker){pass, pass->turn.sink.user};
    return rc ? rc : check_receivers(pass);
}

static void begin_inside(struct pass *pass)
{
    const struct ct_sieve_clock *clock = &pass->begin.clocks[pass->turn.id];
    if (pass->events)
        ct_turn_events_begin_inside(pass->events, clock);
    else
        ct_sieve_begin_inside(pass->sieve, clock);
}

/* Adds the statistics of the stream to those of the others. */
static void end(const struct pass *pass)
{
    const struct ct_sieve_seen *seen =
        pass->events ? ct_turn_events_seen(pass->events) : ct_sieve_seen_of(pass->sieve);
    ct_sieve_seen_add(&pass->session->sieve_seen, seen);
}

static int decode(struct pass *pass, const struct ct_capture *capture, bool is_first)
{
    struct ct_session *s = pass->session;
    const struct ct_session_turn *turn = &pass->turn;
    const struct ct_chain_sink sink = sink_of(pass);
    struct ct_chain_options options = {.size = sizeof options,
                                       .level = turn->level,
                                       .split_source_ranges = turn->split_source_ranges,
                                       .bytewise = turn->bytewise,
                                       .threads = s->options.threads};
    struct ct_chain *chain;
    options.ids[turn->id / 64] = UINT64_C(1) << turn->id % 64;
    int rc = ct_session_begin(s, turn->buffer, options.ids, pass->before, &pass->begin);
    if (rc)
        return rc;
    if (pass->begin.offset) {
        options.framing = pass->begin.framing;
        begin_inside(pass);
    }
    rc = ct_chain_new(s->ctx, turn->buffer, &options, &sink, &chain);
    if (rc)
        return rc;
    if (pass->begin.offset)
        ct_index_begin_chain(chain, &pass->begin);
    rc = ct_chain_run(chain);
    if (pass->stopped || rc == CT_SESSION_NEXT) {
        s->sieve_seen.left = 1;
        rc = CT_OK;
    }
    if (!rc)
        rc = ct_session_decoded(s, capture, turn->buffer, chain);
    ct_seen_add(&s->seen, chain, (enum ct_level)turn->level, is_first);
    const struct ct_frame_stats *frames = ct_chain_frame_stats(chain);
    s->turned += frames ? frames->input_bytes : 0;
    end(pass);
    ct_chain_free(chain);
    return rc;
}

int ct_session_turns(struct ct_session *s, const struct ct_capture *capture, const struct ct_buffer *buffer,
                     uint32_t first_lane)
{
    uint64_t ids[2];
    int rc = CT_OK;
    bool is_first = true;
    if (!ct_session_ids(s, buffer, ids))
        return CT_OK;
    const bool all = !(ids[0] | ids[1]);
    for (unsigned id = 0; id < CT_SESSION_LANES && !rc; id++) {
        struct pass pass = {.session = s,
                            .turn = {.buffer = buffer,
                                     .source = source_of(buffer, id),
                                     .sink.user = s->options.user,
                                     .id = (uint8_t)id,
                                     .level = CT_LEVEL_FLOW},
                            .before = s->turned};
        if (!pass.turn.source || !(all || ids[id / 64] >> id % 64 & 1))
            continue;
        s->first_lane = first_lane;
        rc = begin(&pass, capture->maps) ?: decode(&pass, capture, is_first);
        ct_sieve_free(pass.sieve);
        ct_turn_events_free(pass.events);
        is_first = false;
    }
    return rc;
}
