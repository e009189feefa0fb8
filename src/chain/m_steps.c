/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/m_steps.h"

#include <stdlib.h>

#include "analysis/m_threads.h"
#include "base/ctx.h"

#define IDS 128

struct ct_m_steps {
    struct ct_ctx *ctx;
    const struct ct_chain_sink *sink;
    struct ct_chain_sink own;
    struct ct_m_threads *threads[IDS]; /* by trace ID */
};

bool ct_m_steps_help(const struct ct_buffer *buffer, const struct ct_chain_sink *sink)
{
    bool has_m_profile = false;
    for (size_t i = 0; i < buffer->source_count; i++)
        has_m_profile |= buffer->sources[i].arch.profile == CT_PROFILE_M;
    return has_m_profile && sink->steps && !sink->part_new;
}

static int put_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct ct_m_steps *m = user;
    return m->sink->packets(m->sink->user, stream, batch);
}

static int put_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    const struct ct_m_steps *m = user;
    return m->sink->elems(m->sink->user, stream, batch);
}

static int put_events(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch)
{
    const struct ct_m_steps *m = user;
    return m->sink->events(m->sink->user, stream, batch);
}

static int put_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    const struct ct_m_steps *m = user;
    return m->sink->flow(m->sink->user, stream, batch);
}

static int put_mark(void *user, const struct ct_frame_mark *mark)
{
    const struct ct_m_steps *m = user;
    return m->sink->mark(m->sink->user, mark);
}

static int put_bytes(void *user, uint64_t bytes)
{
    const struct ct_m_steps *m = user;
    return m->sink->bytes(m->sink->user, bytes);
}

static int put_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct ct_m_steps *m = user;
    struct ct_m_threads **threads = &m->threads[stream->id];
    struct ct_step_batch decided = *batch;
    int rc = CT_OK;
    if (stream->source && stream->source->arch.profile == CT_PROFILE_M) {
        rc = *threads ? CT_OK : ct_m_threads_new(m->ctx, threads);
        if (!rc)
            rc = ct_m_threads_run(*threads, batch, &decided);
    }
    if (rc || (!decided.count && !decided.mark_count))
        return rc;
    return m->sink->steps(m->sink->user, stream, &decided);
}

int ct_m_steps_new(struct ct_ctx *ctx, const struct ct_chain_sink *sink, struct ct_m_steps **out)
{
    struct ct_m_steps *m = calloc(1, sizeof *m);
    *out = m;
    if (!m)
        return ct_fail_nomem(ctx, "threads");
    m->ctx = ctx;
    m->sink = sink;
    m->own = (struct ct_chain_sink){.user = m,
                                    .packets = sink->packets ? put_packets : NULL,
                                    .elems = sink->elems ? put_elems : NULL,
                                    .events = sink->events ? put_events : NULL,
                                    .flow = sink->flow ? put_flow : NULL,
                                    .steps = put_steps,
                                    .mark = sink->mark ? put_mark : NULL,
                                    .bytes = sink->bytes ? put_bytes : NULL};
    return CT_OK;
}

void ct_m_steps_free(struct ct_m_steps *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < IDS; i++)
        ct_m_threads_free(m->threads[i]);
    free(m);
}

const struct ct_chain_sink *ct_m_steps_sink(const struct ct_m_steps *m)
{
    return &m->own;
}
