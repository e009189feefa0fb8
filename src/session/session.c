/* SPDX-License-Identifier: Apache-2.0 */
/* Runs analyses over a capture in one pass. When memory changes, the programs that ran are known only at its
 * end; analyses of steps then get the steps in a second pass. */
#include "session/session.h"

#include "base/ctx.h"
#include "base/described.h"
#include "base/options.h"
#include "base/require.h"
#include "base/room.h"
#include "chain/memories.h"
#include "coretap/ran.h"
#include "session/pass.h"
#include "session/shard.h"

#include <stdio.h>
#include <stdlib.h>

int ct_session_new(struct ct_ctx *ctx, const struct ct_session_options *options, struct ct_session **out)
{
    struct ct_session_options o;
    CT_REQUIRE_OUT(ctx, out);
    const int rc = ct_options_read(ctx, "ct_session_new", options, &o, sizeof o);
    if (rc)
        return rc;
    if (o.events && !o.begin)
        return ct_fail(ctx, CT_ERR_ARG,
                       "ct_session_new: options.events is set, but options.begin is not; "
                       "set both");
    if (o.shard && o.begin)
        return ct_fail(ctx, CT_ERR_ARG,
                       "ct_session_new: options.shard and options.begin are both set; a "
                       "shard has no turns, so set only one of them");
    struct ct_session *session = calloc(1, sizeof *session);
    if (!session)
        return ct_fail_nomem(ctx, "session");
    session->ctx = ctx;
    session->options = o;
    *out = session;
    return CT_OK;
}

void ct_session_free(struct ct_session *s)
{
    if (!s)
        return;
    ct_session_forget_index(s);
    free(s->analyses);
    free(s->memories);
    free(s);
}

int ct_session_add(struct ct_session *s, struct ct_analysis *analysis)
{
    CT_REQUIRE_OF(s, analysis);
    if (s->options.begin)
        return ct_fail(s->ctx, CT_ERR_ARG,
                       "ct_session_add: options.begin is set, so the session takes no "
                       "analyses; use another session");
    for (size_t i = 0; i < s->count; i++)
        if (s->analyses[i] == analysis)
            return ct_fail(s->ctx, CT_ERR_ARG,
                           "ct_session_add: the session already has this analysis; add "
                           "it once");
    if (s->ran)
        return ct_fail(s->ctx, CT_ERR_ARG,
                       "ct_session_add: the session has already run; add analyses before "
                       "the first ct_session_run");
    if (!CT_PUSH_ROOM(s->analyses, s->count))
        return ct_fail_nomem(s->ctx, "session");
    s->analyses[s->count++] = analysis;
    s->inputs |= analysis->kind->inputs;
    return CT_OK;
}

const struct ct_seen *ct_session_seen(const struct ct_session *s)
{
    if (!s)
        return NULL;
    return &s->seen;
}

const struct ct_sieve_seen *ct_session_sieved(const struct ct_session *s)
{
    return s ? &s->sieve_seen : NULL;
}

uint32_t ct_session_lane(const struct ct_session *s, uint8_t id)
{
    return s ? s->first_lane + id : 0;
}

/* ---- programs ---- */

/* Finds the programs of a memory, once for each memory. */
static int find_programs_in(struct ct_session *s, const struct ct_maps *maps, uint32_t memory)
{
    if (memory < s->memory_count && s->memories[memory])
        return CT_OK;
    if (!CT_MAKE_ZEROED_ROOM(s->memories, s->memory_count, (size_t)memory + 1))
        return ct_fail_nomem(s->ctx, "session");
    s->memories[memory] = 1;
    return ct_programs_in(s->options.programs, maps, memory);
}

static int find_programs(struct ct_session *s, const struct ct_capture *capture, const struct ct_chain *chain)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        uint32_t node_count = 0;
        const struct ct_node *nodes = streams[i].graph ? ct_graph_nodes(streams[i].graph, &node_count) : NULL;
        for (uint32_t k = 0; k < node_count && !rc; k++)
            rc = find_programs_in(s, capture->maps, nodes[k].memory);
    }
    return rc;
}

static int tell_one(struct ct_analysis *analysis, struct ct_programs *programs)
{
    return programs && analysis->kind->programs ? analysis->kind->programs(analysis, programs) : CT_OK;
}

static int tell_programs(const struct ct_session *s)
{
    int rc = CT_OK;
    for (size_t i = 0; i < s->count && !rc; i++)
        rc = tell_one(s->analyses[i], s->options.programs);
    return rc;
}

/* ---- a pass ---- */

/* Ends the chain's streams for the analyses. */
static int end_streams(const struct ct_session *s, const struct ct_chain *chain, uint32_t first_lane)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < s->count * count && !rc; i++)
        rc = ct_analysis_end(s->analyses[i / count], first_lane + streams[i % count].id);
    return rc;
}

/* Gives an analysis the counts of the streams or, if `sieved` is not NULL, of the steps that were kept. */
static int give_counts(struct ct_analysis *analysis, const struct ct_chain *chain, uint32_t first_lane,
                       const struct ct_sieved *sieved)
{
    static const enum ct_analysis_input inputs[] = {CT_INPUT_COUNTS, CT_INPUT_CYCLES};
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < 2 * count && !rc; i++) {
        const struct ct_stream *stream = &streams[i / 2];
        const struct ct_edges *edges = sieved ? sieved[stream->id].edges : stream->edges;
        const struct ct_analysis_batch batch = {
            .input = inputs[i % 2], .lane = first_lane + stream->id, .graph = stream->graph, .edges = edges};
        if (edges && analysis->kind->inputs & batch.input)
            rc = ct_analysis_take(analysis, &batch);
    }
    return rc;
}

int ct_session_give(struct ct_analysis *analysis, struct ct_programs *programs, const struct ct_chain *chain)
{
    CT_REQUIRE_OF(analysis, chain);
    return tell_one(analysis, programs) ?: give_counts(analysis, chain, 0, NULL);
}

static int give_all_counts(const struct ct_session *s, const struct ct_chain *chain, uint32_t first_lane)
{
    int rc = CT_OK;
    for (size_t i = 0; i < s->count && !rc; i++)
        rc = give_counts(s->analyses[i], chain, first_lane, s->sieves ? s->sieved : NULL);
    return rc;
}

static int give_totals(struct ct_session *s, const struct ct_pass *pass)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(pass->chain, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < s->count * count && !rc; i++) {
        const struct ct_stream *stream = &streams[i % count];
        const struct ct_stream_stats *stats = &stream->stats;
        const struct ct_stream_totals totals = {.goes_on = pass->part.begin > 0,
                                                .bytes = stats->bytes,
                                                .packets = stats->packets,
                                                .elements = stats->elements,
                                                .atoms = stats->atoms,
                                                .branches = stats->branches,
                                                .instructions = stats->instructions,
                                                .ranges = stats->ranges};
        const struct ct_analysis_batch batch = {
            .input = CT_INPUT_TOTALS, .lane = pass->first_lane + stream->id, .totals = &totals};
        if (s->analyses[i / count]->kind->inputs & CT_INPUT_TOTALS)
            rc = ct_analysis_take(s->analyses[i / count], &batch);
    }
    return rc;
}

/* Drops the warm-up results of streams that did not reach the point where the part begins. */
static int forget_warm_ups(const struct ct_session *s, const struct ct_pass *pass)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(pass->chain, &count);
    const uint32_t buffer = pass->part.end ? s->options.shard->buffer : 0;
    int rc = CT_OK;
    for (size_t i = 0; pass->part.end && i < s->count * count && !rc; i++) {
        struct ct_analysis *analysis = s->analyses[i / count];
        const uint8_t id = streams[i % count].id;
        struct ct_analysis_cut cut = {0};
        if (ct_pass_can_say_state(analysis) && !ct_shard_find(s->options.shard, buffer, id))
            rc = analysis->kind->cut(analysis, pass->first_lane + id, 0, &cut);
        rc = rc == CT_ERR_NOT_FOUND ? CT_OK : rc;
    }
    return rc;
}

int ct_session_decoded(const struct ct_session *s, const struct ct_capture *capture,
                       const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    if (s->options.ran && ct_ran_add(s->options.ran, capture, buffer, chain, s->options.programs) != CT_OK)
        return ct_fail_nomem(s->ctx, "programs");
    return s->options.decoded ? s->options.decoded(s->options.user, buffer, chain) : CT_OK;
}

/* Finishes a buffer: gives counts to the analyses and adds up the statistics. */
static int finish(struct ct_session *s, const struct ct_pass *pass, const struct ct_capture *capture,
                  const struct ct_buffer *buffer)
{
    s->first_lane = pass->first_lane;
    int rc = ct_session_decoded(s, capture, buffer, pass->chain);
    if (!rc && s->inputs & CT_INPUT_TOTALS)
        rc = give_totals(s, pass);
    if (!rc)
        rc = forget_warm_ups(s, pass);
    return rc ? rc : end_streams(s, pass->chain, pass->first_lane);
}

/* Returns whether a buffer can be cut: all analyses take from a stream sums over its parts, or steps whose
 * state they can give. Not when programs are found from the trace, because a part may find others. */
static bool can_cut(const struct ct_session *s, const struct ct_buffer *buffer, bool by_memory)
{
    const uint32_t sums = CT_INPUT_COUNTS | CT_INPUT_CYCLES | CT_INPUT_TOTALS;
    bool fine = !s->options.steps && ct_chain_can_shard(buffer);
    for (size_t i = 0; i < s->count && fine; i++) {
        const uint32_t others = s->analyses[i]->kind->inputs & ~sums;
        fine = !others || (others == CT_INPUT_STEPS && ct_pass_can_say_state(s->analyses[i]) && !by_memory);
    }
    return fine;
}

/* Decides which part of a buffer is decoded. Returns false when none is. */
static bool is_wanted(const struct ct_session *s, const struct ct_buffer *buffer, bool by_memory,
                      struct ct_pass *pass)
{
    const bool in_shard = !s->options.shard ||
                          ct_shard_next(s->options.shard, buffer, can_cut(s, buffer, by_memory), &pass->part);
    return ct_session_ids(s, buffer, pass->ids) && in_shard;
}

static int run_buffer(struct ct_session *s, const struct ct_capture *capture, const struct ct_buffer *buffer,
                      uint32_t first_lane, bool by_memory, bool steps)
{
    struct ct_pass pass = {.session = s,
                           .before = s->seen.bytes,
                           .first_lane = first_lane,
                           .maps = capture->maps,
                           .buffer = buffer};
    const bool again = by_memory && steps;
    const bool counts = s->inputs & (CT_INPUT_COUNTS | CT_INPUT_CYCLES) && !s->sieves;
    if (!is_wanted(s, buffer, by_memory, &pass))
        return CT_OK;
    int rc = again ? CT_OK : ct_session_begin(s, buffer, pass.ids, pass.before, &pass.begin);
    if (!rc)
        rc = ct_pass_run(s, &pass, buffer, counts, steps && !again, !again);
    if (!rc && by_memory)
        rc = find_programs(s, capture, pass.chain);
    if (!rc && by_memory)
        rc = tell_programs(s);
    if (!rc && !(again && s->sieves))
        rc = give_all_counts(s, pass.chain, first_lane);
    if (!rc && !again)
        rc = finish(s, &pass, capture, buffer);
    ct_seen_add(&s->seen, pass.chain, CT_LEVEL_STEPS, 1); /* also what was decoded before an error */
    ct_pass_end_sieves(s);
    ct_chain_free(pass.chain);
    return rc;
}

/* Gives steps in a second pass, now that their programs are known, and counts what a filter keeps. */
static int run_again(struct ct_session *s, const struct ct_capture *capture, const struct ct_buffer *buffer,
                     uint32_t first_lane)
{
    struct ct_pass pass = {.session = s, .first_lane = first_lane, .maps = capture->maps, .buffer = buffer};
    if (!is_wanted(s, buffer, true, &pass))
        return CT_OK;
    int rc = ct_session_begin(s, buffer, pass.ids, 0, &pass.begin);
    if (!rc)
        rc = ct_pass_run(s, &pass, buffer, false, true, true);
    if (!rc && s->sieves)
        rc = give_all_counts(s, pass.chain, first_lane);
    if (!rc)
        rc = finish(s, &pass, capture, buffer);
    ct_pass_end_sieves(s);
    ct_chain_free(pass.chain);
    return rc;
}

/* Stores the name of the capture for results; none if it is too long. */
static void name_run(struct ct_session *s, const struct ct_capture *capture)
{
    const char *part = s->options.part && *s->options.part ? s->options.part : NULL;
    const int size =
        snprintf(s->run, sizeof s->run, part ? "%s (%s)" : "%s", capture->path ? capture->path : "", part);
    if (size < 0 || (size_t)size >= sizeof s->run)
        s->run[0] = '\0';
}

/* Begins a shard, unless a filter follows each stream from its first step. */
static int begin_shard(const struct ct_session *s, const struct ct_buffer *buffers, size_t count)
{
    const int rc = ct_shard_begin(s->options.shard, buffers, count);
    if (!rc && s->sieves)
        ct_shard_refuse(s->options.shard, "a filter excludes part of the execution");
    return rc;
}

/* Adds the capture to the analyses. That of a shard is added when all shards are merged. */
static int end_run(const struct ct_session *s, const struct ct_capture *capture)
{
    const struct ct_analysis_captures one = {
        .known = 1, .damaged = ct_seen_is_damaged(&s->seen, capture, 0) ? 1 : 0, .losses = s->seen.losses};
    if (s->options.shard)
        return ct_shard_finish(s->options.shard, &s->seen, capture->damage_count > 0, s->run);
    int rc = CT_OK;
    for (size_t i = 0; i < s->count && !rc; i++)
        rc = ct_analysis_add_captures(s->analyses[i], &one);
    for (size_t i = 0; i < s->count && !rc && s->run[0]; i++)
        rc = ct_analysis_add_run(s->analyses[i], s->run);
    return rc;
}

/* Finds the programs before decoding, if the capture has only one memory, and then sets *by_memory to
 * false. */
static int find_only_programs(struct ct_session *s, const struct ct_capture *capture,
                              const struct ct_buffer *buffers, size_t count, bool *by_memory)
{
    bool stay = count > 0;
    for (size_t i = 0; i < count; i++)
        stay &= ct_memories_stay(&buffers[i]);
    if (!*by_memory || !stay)
        return CT_OK;
    *by_memory = false;
    return find_programs_in(s, capture->maps, 0);
}

static int run(struct ct_session *s, const struct ct_capture *capture, const struct ct_buffer *buffers,
               size_t count)
{
    bool by_memory = s->options.programs && !s->options.begin && ct_programs_by_memory(capture);
    s->sieve_seen = (struct ct_sieve_seen){0};
    s->seen = (struct ct_seen){0};
    s->memory_count = 0;
    s->turned = 0;
    ct_session_forget_index(s);
    name_run(s, capture);
    int rc = ct_filter_settle(s->ctx, s->options.filter, capture, buffers, count, &s->filter);
    s->sieves = !rc && ct_filter_steps(&s->filter);
    const bool steps = s->options.steps || s->inputs & CT_INPUT_STEPS || s->sieves;
    if (s->sieves && s->inputs & (CT_INPUT_EVENTS | CT_INPUT_TOTALS))
        rc = ct_fail(s->ctx, CT_ERR_ARG,
                     "ct_session_run: the filter excludes instructions, but an analysis "
                     "takes events or totals, which cannot be filtered so; remove the "
                     "filter or that analysis");
    if (!rc && s->options.shard)
        rc = begin_shard(s, buffers, count);
    const uint32_t first = s->lanes;
    s->lanes += (uint32_t)count * CT_SESSION_LANES;
    if (!rc)
        rc = find_only_programs(s, capture, buffers, count, &by_memory);
    if (!rc)
        rc = tell_programs(s);
    for (size_t i = 0; i < count && !rc; i++)
        rc = s->options.begin
                 ? ct_session_turns(s, capture, &buffers[i], first + (uint32_t)i * CT_SESSION_LANES)
                 : run_buffer(s, capture, &buffers[i], first + (uint32_t)i * CT_SESSION_LANES, by_memory,
                              steps);
    for (size_t i = 0; i < count && !rc && by_memory && steps; i++)
        rc = run_again(s, capture, &buffers[i], first + (uint32_t)i * CT_SESSION_LANES);
    return rc ? rc : end_run(s, capture);
}

int ct_session_run(struct ct_session *s, const struct ct_capture *capture, const struct ct_buffer *buffers,
                   size_t count)
{
    CT_REQUIRE_OF(s, capture, buffers || !count);
    if (s->running)
        return ct_fail(s->ctx, CT_ERR_ARG,
                       "ct_session_run: a callback of the same session calls it; nothing is decoded; call it "
                       "after the first run has returned");
    int rc = ct_buffers_check(s->ctx, __func__, buffers, count);
    if (rc)
        return rc;
    s->ran = s->running = true;
    rc = run(s, capture, buffers, count);
    s->running = false;
    return rc;
}
