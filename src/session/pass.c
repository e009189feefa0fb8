/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a chain over one buffer, and passes what it delivers on to the analyses of the session. */
#include "session/pass.h"

#include "chain/leave.h"
#include "session/shard.h"
#include "session/sieve.h"

#include <stddef.h>

static int on_bytes(void *user, uint64_t bytes)
{
    const struct ct_pass *pass = user;
    const struct ct_session_options *options = &pass->session->options;
    return options->progress ? options->progress(options->user, pass->before + pass->begin.offset + bytes)
                             : 0;
}

static struct ct_stream_origin origin_of(const struct ct_pass *pass, const struct ct_stream *stream)
{
    const struct ct_source *source = stream->source;
    return (struct ct_stream_origin){.run = pass->session->run,
                                     .buffer = pass->buffer->name,
                                     .id = stream->id,
                                     .core = !source        ? NULL
                                             : source->core ? source->core
                                                            : source->name};
}

static int give_steps(const struct ct_pass *pass, const struct ct_stream *stream,
                      const struct ct_step_batch *batch)
{
    struct ct_session *s = pass->session;
    const struct ct_stream_origin origin = origin_of(pass, stream);
    s->first_lane = pass->first_lane;
    const struct ct_analysis_batch steps = {.input = CT_INPUT_STEPS,
                                            .lane = pass->first_lane + stream->id,
                                            .graph = batch->graph,
                                            .steps = batch,
                                            .origin = &origin};
    int rc = s->options.steps ? s->options.steps(s->options.user, stream, batch) : 0;
    for (size_t i = 0; i < s->count && !rc; i++)
        if (s->analyses[i]->kind->inputs & CT_INPUT_STEPS)
            rc = ct_analysis_take(s->analyses[i], &steps);
    return rc;
}

static int on_events(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch)
{
    const struct ct_pass *pass = user;
    const struct ct_session *s = pass->session;
    const struct ct_stream_origin origin = origin_of(pass, stream);
    const struct ct_analysis_batch events = {
        .input = CT_INPUT_EVENTS, .lane = pass->first_lane + stream->id, .events = batch, .origin = &origin};
    int rc = CT_OK;
    for (size_t i = 0; i < s->count && !rc; i++)
        if (s->analyses[i]->kind->inputs & CT_INPUT_EVENTS)
            rc = ct_analysis_take(s->analyses[i], &events);
    return rc;
}

/* ---- filtering ---- */

int ct_session_sieve(const struct ct_session *s, const struct ct_source *source, const struct ct_maps *maps,
                     struct ct_sieve **out)
{
    const struct ct_sieve_options options = {.size = sizeof options,
                                             .filter = &s->filter,
                                             .source = source,
                                             .maps = maps,
                                             .programs = s->options.programs};
    return ct_sieve_new(s->ctx, &options, out);
}

static int begin_sieve(const struct ct_pass *pass, const struct ct_stream *stream, struct ct_sieved *sieved)
{
    const int rc = ct_session_sieve(pass->session, stream->source, pass->maps, &sieved->sieve);
    if (!rc && pass->begin.offset)
        ct_sieve_begin_inside(sieved->sieve, &pass->begin.clocks[stream->id]);
    return rc ? rc : ct_edges_new(pass->session->ctx, NULL, &sieved->edges);
}

/* Counts the kept steps as a chain would have counted them: with cycles only when an analysis takes
 * cycles. */
static int count_steps(const struct ct_session *s, struct ct_edges *edges, struct ct_step_batch batch)
{
    if (!(s->inputs & CT_INPUT_CYCLES))
        batch.cycles = NULL;
    return s->inputs & (CT_INPUT_COUNTS | CT_INPUT_CYCLES) ? ct_edges_add(edges, &batch) : CT_OK;
}

/* Stops decoding a stream whose window has ended. When this applies to all streams of the chain, the result
 * ends it. */
static int leave_stream(struct ct_pass *pass, const struct ct_stream *stream)
{
    pass->session->sieved[stream->id].over = true;
    pass->session->sieve_seen.left = 1;
    pass->stopped = !ct_chain_leave(pass->chain, stream->id);
    return pass->stopped;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct ct_pass *pass = user;
    struct ct_sieved *sieved = &pass->session->sieved[stream->id];
    struct ct_step_batch kept;
    if (!pass->session->sieves)
        return give_steps(pass, stream, batch);
    if (sieved->over)
        return 0;
    int rc = sieved->edges ? CT_OK : begin_sieve(pass, stream, sieved);
    if (!rc)
        rc = ct_sieve_run(sieved->sieve, batch, &kept);
    if (!rc)
        rc = count_steps(pass->session, sieved->edges, kept);
    if (!rc)
        rc = give_steps(pass, stream, &kept);
    return rc || !ct_sieve_is_over(sieved->sieve) ? rc : leave_stream(pass, stream);
}

void ct_pass_end_sieves(struct ct_session *s)
{
    for (size_t i = 0; i < CT_SESSION_LANES; i++) {
        if (s->sieved[i].sieve)
            ct_sieve_seen_add(&s->sieve_seen, ct_sieve_seen_of(s->sieved[i].sieve));
        ct_sieve_free(s->sieved[i].sieve);
        ct_edges_free(s->sieved[i].edges);
        s->sieved[i] = (struct ct_sieved){0};
    }
}

bool ct_session_ids(const struct ct_session *s, const struct ct_buffer *buffer, uint64_t ids[2])
{
    const uint64_t *only = s->options.ids;
    uint64_t wanted[2];
    if (!ct_filter_ids(&s->filter, buffer, wanted))
        return false;
    const bool all = !(wanted[0] | wanted[1]);
    const bool any = !(only[0] | only[1]);
    for (size_t i = 0; i < 2; i++)
        ids[i] = all ? only[i] : any ? wanted[i] : wanted[i] & only[i];
    return (all && any) || ids[0] | ids[1];
}

/* Makes the sieves of streams that end before their window: decoding from the first byte would have made
 * them, without keeping a step. */
static int begin_dead(struct ct_pass *pass)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(pass->chain, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        const uint8_t id = streams[i].id;
        const struct ct_step_batch none = {.graph = streams[i].graph};
        if (pass->begin.dead[id] && pass->session->index->streams[id].end.elements)
            rc = on_steps(pass, &streams[i], &none);
    }
    return rc;
}

bool ct_pass_can_say_state(const struct ct_analysis *analysis)
{
    return analysis->kind->size >= offsetof(struct ct_analysis_kind, words) && analysis->kind->cut;
}

/* Adds the states of the analyses to that of decoding, where a stream is cut. */
static int on_cut(void *user, const struct ct_stream *stream, bool is_end, uint64_t offset,
                  const struct ct_seam *seam)
{
    const struct ct_pass *pass = user;
    const struct ct_session *s = pass->session;
    struct ct_seam all = *seam;
    int rc = CT_OK;
    for (size_t i = 0; i < s->count && !rc; i++) {
        struct ct_analysis_cut cut = {0};
        if (ct_pass_can_say_state(s->analyses[i]))
            rc = s->analyses[i]->kind->cut(s->analyses[i], pass->first_lane + stream->id, is_end, &cut);
        if (rc == CT_ERR_NOT_FOUND) {
            ct_shard_refuse(s->options.shard, "a watchpoint depends on trace long before the shard");
            rc = CT_OK;
        }
        for (size_t k = 0; k < cut.count; k++)
            ct_seam_put(&all, cut.numbers[k]);
    }
    return rc ? rc : ct_shard_reach(s->options.shard, stream, is_end, offset, &all);
}

int ct_pass_run(const struct ct_session *s, struct ct_pass *pass, const struct ct_buffer *buffer, bool counts,
                bool steps, bool is_last)
{
    const bool cycles = (counts && s->inputs & CT_INPUT_CYCLES) || s->options.edges == CT_EDGES_CYCLES;
    const struct ct_chain_options options = {.size = sizeof options,
                                             .level = CT_LEVEL_STEPS,
                                             .edges = cycles   ? CT_EDGES_CYCLES
                                                      : counts ? CT_EDGES_COUNTS
                                                               : s->options.edges,
                                             .threads = s->options.threads,
                                             .framing = pass->begin.offset ? pass->begin.framing
                                                                           : (uint8_t)CT_FRAMING_AUTO,
                                             .ids = {pass->ids[0], pass->ids[1]}};
    pass->sink = (struct ct_chain_sink){.user = pass, .bytes = on_bytes, .steps = steps ? on_steps : NULL};
    if (is_last && s->inputs & CT_INPUT_EVENTS)
        pass->sink.events = on_events;
    int rc = ct_chain_new(s->ctx, buffer, &options, &pass->sink, &pass->chain);
    if (!rc && pass->begin.offset) {
        ct_index_begin_chain(pass->chain, &pass->begin);
        rc = begin_dead(pass);
    }
    pass->part.user = pass;
    pass->part.reach = on_cut;
    if (!rc && pass->part.end)
        ct_chain_begin_shard(pass->chain, &pass->part);
    if (!rc)
        rc = ct_chain_run(pass->chain);
    if (!rc && pass->part.end)
        rc = ct_shard_take(s->options.shard, pass->chain);
    return pass->stopped ? CT_OK : rc;
}
