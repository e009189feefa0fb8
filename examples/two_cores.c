/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the exceptions of all cores of a capture in one order, on the axis of their timestamps:
 *
 *     two_cores CAPTURE
 *
 * One chain decodes the buffer. Each core has an object that makes events of its records and a timeline that
 * gives their times; the lists are merged at the end. The timestamps must come from one clock, and each core
 * must have its own trace ID. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <coretap/decode.h>
#include <coretap/event.h>
#include <coretap/input.h>
#include <coretap/timeline.h>

/* A core, found by its trace ID. */
struct core {
    const char *name;
    struct ct_events *events;
    struct ct_timeline *timeline;
    struct ct_timed_event *all;
    size_t count, room, shown;
};

struct cores {
    struct ct_ctx *ctx;
    struct core by_id[128];
};

/* Takes the events that the timeline has ready. */
static int fetch(struct core *core)
{
    for (;;) {
        if (core->room - core->count < 256) {
            const size_t room = 2 * core->room + 256;
            struct ct_timed_event *all = realloc(core->all, room * sizeof *all);
            if (!all)
                return CT_ERR_NOMEM;
            core->all = all;
            core->room = room;
        }
        const size_t n = ct_timeline_fetch(core->timeline, core->all + core->count, core->room - core->count);
        if (n == 0)
            return CT_OK;
        core->count += n;
    }
}

static int open_core(struct ct_ctx *ctx, const struct ct_source *source, struct core *core)
{
    core->name = source->name;
    const int rc = ct_events_new(ctx, source, &core->events);
    return rc ? rc : ct_timeline_new(ctx, &core->timeline);
}

/* Turns the records of a core into events and passes these to its timeline. */
static int take(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct cores *cores = user;
    struct core *core = &cores->by_id[stream->id];
    struct ct_event events[CT_EVENTS_MIN];
    size_t count;
    int rc = core->events ? CT_OK : open_core(cores->ctx, stream->source, core);
    for (size_t done = 0; done < batch->count && !rc;) {
        done += ct_events_from_flow(core->events, batch->records + done, batch->count - done, events,
                                    CT_EVENTS_MIN, &count);
        for (size_t pushed = 0; pushed < count && !rc;) {
            pushed += ct_timeline_push(core->timeline, events + pushed, count - pushed);
            rc = fetch(core);
        }
    }
    return rc;
}

static int decode(struct cores *cores, const struct ct_buffer *buffer)
{
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_FLOW};
    const struct ct_chain_sink sink = {.user = cores, .flow = take};
    struct ct_chain *chain;
    int rc = ct_chain_new(cores->ctx, buffer, &options, &sink, &chain);
    if (rc)
        return rc;
    rc = ct_chain_run(chain);
    ct_chain_free(chain);
    return rc;
}

/* Returns the core whose next event is the earliest, or NULL after the last event. */
static struct core *earliest(struct cores *cores)
{
    struct core *first = NULL;
    for (size_t i = 0; i < 128; i++) {
        struct core *core = &cores->by_id[i];
        if (core->shown < core->count &&
            (!first || core->all[core->shown].time < first->all[first->shown].time))
            first = core;
    }
    return first;
}

static void show(struct cores *cores)
{
    for (struct core *core; (core = earliest(cores)); core->shown++) {
        const struct ct_timed_event *next = &core->all[core->shown];
        if (next->event.type == CT_EVENT_EXCEPTION)
            printf("%" PRIu64 " %s: exception %" PRIu64 ", returns to %#" PRIx64 "\n", next->time, core->name,
                   next->event.value, next->event.extra);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: two_cores CAPTURE\n");
        return 2;
    }
    static struct cores cores;
    struct ct_capture *capture = NULL;
    cores.ctx = ct_ctx_new();
    int rc = cores.ctx ? ct_capture_open(cores.ctx, argv[1], &capture) : CT_ERR_NOMEM;
    for (size_t i = 0; !rc && i < capture->buffer_count; i++)
        rc = decode(&cores, &capture->buffers[i]);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), cores.ctx ? ct_ctx_error(cores.ctx) : "");
    else
        show(&cores);
    for (size_t i = 0; i < 128; i++) {
        ct_events_free(cores.by_id[i].events);
        ct_timeline_free(cores.by_id[i].timeline);
        free(cores.by_id[i].all);
    }
    ct_capture_free(capture);
    ct_ctx_free(cores.ctx);
    return rc ? 1 : 0;
}
