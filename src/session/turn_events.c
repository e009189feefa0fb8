/* SPDX-License-Identifier: Apache-2.0 */
#include "session/turn_events.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "session/sieve.h"

enum {
    BATCH = 256, /* maximal number of events given at a time */
};

struct ct_turn_events {
    const struct ct_session *session;
    struct ct_events *events;
    struct ct_event_sieve *sieve; /* NULL when the filter keeps everything */
    struct ct_event batch[BATCH];
};

int ct_turn_events_new(const struct ct_session *session, const struct ct_source *source,
                       const struct ct_maps *maps, struct ct_turn_events **out)
{
    const struct ct_sieve_options how = {
        .size = sizeof how, .filter = &session->filter, .source = source, .maps = maps};
    struct ct_turn_events *e = calloc(1, sizeof *e);
    if (!e)
        return ct_fail_nomem(session->ctx, "events");
    e->session = session;
    int rc = ct_events_new(session->ctx, source, &e->events);
    if (!rc && session->sieves)
        rc = ct_event_sieve_new(session->ctx, &how, &e->sieve);
    if (rc) {
        ct_turn_events_free(e);
        return rc;
    }
    *out = e;
    return CT_OK;
}

void ct_turn_events_free(struct ct_turn_events *e)
{
    if (!e)
        return;
    ct_events_free(e->events);
    ct_event_sieve_free(e->sieve);
    free(e);
}

void ct_turn_events_begin_inside(struct ct_turn_events *e, const struct ct_sieve_clock *clock)
{
    ct_events_set_cycle(e->events, clock->cycles);
    ct_event_sieve_begin_inside(e->sieve, clock);
}

const struct ct_sieve_seen *ct_turn_events_seen(const struct ct_turn_events *e)
{
    return ct_event_sieve_seen(e->sieve);
}

/* Passes on the first `count` events of the batch. */
static int give(struct ct_turn_events *e, void *user, const struct ct_stream *stream, size_t count)
{
    int rc = e->sieve ? ct_event_sieve_run(e->sieve, e->batch, count, &count) : CT_OK;
    if (!rc && count)
        rc = e->session->options.events(user, stream, e->batch, count);
    return !rc && ct_event_sieve_is_over(e->sieve) ? CT_SESSION_NEXT : rc;
}

int ct_turn_events_from_elems(struct ct_turn_events *e, void *user, const struct ct_stream *stream,
                              const struct ct_elem_batch *batch)
{
    int rc = CT_OK;
    for (size_t done = 0, count; done < batch->count && !rc;) {
        done += ct_events_from_elems(e->events, batch->elems + done, batch->count - done, batch->end,
                                     e->batch, BATCH, &count);
        rc = give(e, user, stream, count);
    }
    return rc;
}

int ct_turn_events_from_flow(struct ct_turn_events *e, void *user, const struct ct_stream *stream,
                             const struct ct_flow_batch *batch)
{
    int rc = CT_OK;
    ct_events_set_memory(e->events, batch->memory);
    for (size_t done = 0, count; done < batch->count && !rc;) {
        done += ct_events_from_flow(e->events, batch->records + done, batch->count - done, e->batch, BATCH,
                                    &count);
        rc = give(e, user, stream, count);
    }
    return rc;
}
