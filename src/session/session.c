/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a capture. Where memory changes, the programs that ran are known only when it is over; who
 * wants steps then gets them in a second one. */
#include "coretap/session.h"

#include "base/ctx.h"
#include "base/options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 128, /* of a buffer: as many as there are trace IDs */
};

struct ct_session {
    struct ct_ctx *ctx;
    struct ct_session_options options;
    struct ct_analysis **analyses;
    size_t count;
    uint32_t inputs; /* enum ct_analysis_input, of all */
    struct ct_seen seen;
    uint32_t lanes;    /* of the buffers that were run */
    uint8_t *memories; /* of the capture, by number: 1 for those whose programs were looked for */
    size_t memory_count;
};

int ct_session_new(struct ct_ctx *ctx, const struct ct_session_options *options, struct ct_session **out)
{
    struct ct_session_options o;
    if (!out)
        return ct_fail(ctx, CT_ERR_ARG, "ct_session_new: a null pointer");
    const int rc = ct_options_read(ctx, "ct_session_new", options, &o, sizeof o);
    if (rc)
        return rc;
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
    free(s->analyses);
    free(s->memories);
    free(s);
}

int ct_session_add(struct ct_session *s, struct ct_analysis *analysis)
{
    if (!s || !analysis)
        return CT_ERR_ARG;
    struct ct_analysis **analyses = realloc(s->analyses, (s->count + 1) * sizeof(struct ct_analysis *));
    if (!analyses)
        return ct_fail_nomem(s->ctx, "session");
    s->analyses = analyses;
    analyses[s->count++] = analysis;
    s->inputs |= analysis->kind->inputs;
    return CT_OK;
}

const struct ct_seen *ct_session_seen(const struct ct_session *s)
{
    return &s->seen;
}

/* ---- programs ---- */

/* Looks once for what lay in a memory. */
static int find_programs_in(struct ct_session *s, const struct ct_maps *maps, uint32_t memory)
{
    if (memory < s->memory_count && s->memories[memory])
        return CT_OK;
    if (memory >= s->memory_count) {
        uint8_t *memories = realloc(s->memories, (size_t)memory + 1);
        if (!memories)
            return ct_fail_nomem(s->ctx, "session");
        memset(memories + s->memory_count, 0, memory + 1 - s->memory_count);
        s->memories = memories;
        s->memory_count = (size_t)memory + 1;
    }
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

/* A chain over one buffer, and what its receivers need. */
struct pass {
    struct ct_session *session;
    struct ct_chain_sink sink;
    struct ct_chain *chain;
    uint64_t before;     /* bytes of the buffers that are over */
    uint32_t first_lane; /* of the buffer: its streams have the number of their ID behind it */
};

static int on_bytes(void *user, uint64_t bytes)
{
    const struct pass *pass = user;
    const struct ct_session_options *options = &pass->session->options;
    return options->progress ? options->progress(options->user, pass->before + bytes) : 0;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    const struct pass *pass = user;
    const struct ct_session *s = pass->session;
    const struct ct_analysis_batch steps = {.input = CT_INPUT_STEPS,
                                            .lane = pass->first_lane + stream->id,
                                            .graph = batch->graph,
                                            .steps = batch};
    int rc = s->options.steps ? s->options.steps(s->options.user, stream, batch) : 0;
    for (size_t i = 0; i < s->count && !rc; i++)
        if (s->analyses[i]->kind->inputs & CT_INPUT_STEPS)
            rc = ct_analysis_take(s->analyses[i], &steps);
    return rc;
}

/* The chain keeps the address of the sink: both are in `pass`. */
static int run_chain(const struct ct_session *s, struct pass *pass, const struct ct_buffer *buffer,
                     bool counts, bool steps)
{
    const struct ct_chain_options options = {.size = sizeof options,
                                             .level = CT_LEVEL_STEPS,
                                             .edges = !counts                       ? CT_EDGES_NONE
                                                      : s->inputs & CT_INPUT_CYCLES ? CT_EDGES_CYCLES
                                                                                    : CT_EDGES_COUNTS,
                                             .threads = s->options.threads,
                                             .ids = {s->options.ids[0], s->options.ids[1]}};
    pass->sink = (struct ct_chain_sink){.user = pass, .bytes = on_bytes, .steps = steps ? on_steps : NULL};
    const int rc = ct_chain_new(s->ctx, buffer, &options, &pass->sink, &pass->chain);
    return rc ? rc : ct_chain_run(pass->chain);
}

/* Gives an analysis what was counted in the streams. */
static int give_counts(struct ct_analysis *analysis, const struct ct_chain *chain, uint32_t first_lane)
{
    static const enum ct_analysis_input inputs[] = {CT_INPUT_COUNTS, CT_INPUT_CYCLES};
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < 2 * count && !rc; i++) {
        const struct ct_stream *stream = &streams[i / 2];
        const struct ct_analysis_batch batch = {.input = inputs[i % 2],
                                                .lane = first_lane + stream->id,
                                                .graph = stream->graph,
                                                .edges = stream->edges};
        if (stream->edges && analysis->kind->inputs & batch.input)
            rc = ct_analysis_take(analysis, &batch);
    }
    return rc;
}

int ct_session_give(struct ct_analysis *analysis, struct ct_programs *programs, const struct ct_chain *chain)
{
    if (!analysis || !chain)
        return CT_ERR_ARG;
    const int rc = tell_one(analysis, programs);
    return rc ? rc : give_counts(analysis, chain, 0);
}

static int run_buffer(struct ct_session *s, const struct ct_capture *capture, const struct ct_buffer *buffer,
                      uint32_t first_lane, bool by_memory, bool steps)
{
    struct pass pass = {.session = s, .before = s->seen.bytes, .first_lane = first_lane};
    int rc =
        run_chain(s, &pass, buffer, s->inputs & (CT_INPUT_COUNTS | CT_INPUT_CYCLES), steps && !by_memory);
    if (!rc && by_memory)
        rc = find_programs(s, capture, pass.chain);
    if (!rc && by_memory)
        rc = tell_programs(s);
    for (size_t i = 0; i < s->count && !rc; i++)
        rc = give_counts(s->analyses[i], pass.chain, first_lane);
    if (!rc && s->options.decoded && !(by_memory && steps))
        rc = s->options.decoded(s->options.user, buffer, pass.chain);
    if (!rc)
        ct_seen_add(&s->seen, pass.chain, CT_LEVEL_STEPS, 1);
    ct_chain_free(pass.chain);
    return rc;
}

/* Steps once more: now it is known which programs they are of. */
static int give_steps(struct ct_session *s, const struct ct_buffer *buffer, uint32_t first_lane)
{
    struct pass pass = {.session = s, .first_lane = first_lane};
    int rc = run_chain(s, &pass, buffer, false, true);
    if (!rc && s->options.decoded)
        rc = s->options.decoded(s->options.user, buffer, pass.chain);
    ct_chain_free(pass.chain);
    return rc;
}

int ct_session_run(struct ct_session *s, const struct ct_capture *capture, const struct ct_buffer *buffers,
                   size_t count)
{
    if (!s || !capture || (!buffers && count))
        return CT_ERR_ARG;
    const bool by_memory = s->options.programs && ct_programs_by_memory(capture);
    const bool steps = s->options.steps || s->inputs & CT_INPUT_STEPS;
    s->seen = (struct ct_seen){0};
    s->memory_count = 0;
    const uint32_t first = s->lanes;
    s->lanes += (uint32_t)count * LANES;
    int rc = tell_programs(s);
    for (size_t i = 0; i < count && !rc; i++)
        rc = run_buffer(s, capture, &buffers[i], first + (uint32_t)i * LANES, by_memory, steps);
    for (size_t i = 0; i < count && !rc && by_memory && steps; i++)
        rc = give_steps(s, &buffers[i], first + (uint32_t)i * LANES);
    const struct ct_analysis_captures one = {
        .known = 1, .damaged = ct_seen_is_damaged(&s->seen, capture, 0) ? 1 : 0, .losses = s->seen.losses};
    for (size_t i = 0; i < s->count && !rc; i++)
        rc = ct_analysis_add_captures(s->analyses[i], &one);
    return rc;
}
