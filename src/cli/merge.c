/* SPDX-License-Identifier: Apache-2.0 */
/* coretap decode --merge: the events of all sources of a capture in one order. */
#include "cli/merge.h"

#include <stdlib.h>
#include <string.h>

#include "chain/feed.h"
#include "cli/event_names.h"
#include "cli/event_printer.h"

/* Input bytes that are decoded for one source at a time: what they give has to be held. */
#define PIECE 4096

#define BATCH 512

/* One source on its way to the common order. */
struct lane {
    struct merging *merging;
    const struct ct_buffer *buffer;
    const struct ct_source *source;
    uint8_t id;
    bool along_binary;
    bool timed; /* there is a timestamp in it */
    struct ct_chain *chain;
    struct ct_chain_sink sink;
    struct ct_feed feed;
    struct ct_events *events;
    struct ct_timeline *timeline;
    /* Events of the last piece that the timeline had no room for. */
    struct ct_event *pending;
    size_t pending_count, pending_done, pending_cap;
    /* Those whose time is known. */
    struct ct_timed_event ready[BATCH];
    size_t ready_count, ready_done;
    struct cli_event_printer printer;
};

struct merging {
    const struct cli_args *args;
    struct cli_capture capture;
    struct cli_merge_how how;
    struct cli_event_names names;
    struct lane *lanes;
    size_t count;
    struct ct_text text;
    struct ct_event batch[2048];
    uint64_t bytes;
};

static int keep(struct lane *l, const struct ct_event *events, size_t count)
{
    if (l->pending_cap - l->pending_count < count) {
        size_t cap = 2 * (l->pending_count + count);
        struct ct_event *grown = realloc(l->pending, cap * sizeof *grown);
        if (!grown)
            return CT_ERR_NOMEM;
        l->pending = grown;
        l->pending_cap = cap;
    }
    if (count)
        memcpy(l->pending + l->pending_count, events, count * sizeof *events);
    l->pending_count += count;
    return 0;
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct lane *l = user;
    struct ct_event *events = l->merging->batch;
    (void)stream;
    for (size_t done = 0, count; done < batch->count;) {
        done += ct_events_from_elems(l->events, batch->elems + done, batch->count - done, batch->end, events,
                                     2048, &count);
        int rc = keep(l, events, count);
        if (rc)
            return rc;
    }
    return 0;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct lane *l = user;
    struct ct_event *events = l->merging->batch;
    (void)stream;
    struct cli_event_names *names = &l->merging->names;
    ct_events_set_memory(l->events, batch->memory);
    if (names->names && !cli_event_names_in(names, batch->memory))
        return CT_ERR_ARG;
    for (size_t done = 0, count; done < batch->count;) {
        done +=
            ct_events_from_flow(l->events, batch->records + done, batch->count - done, events, 2048, &count);
        int rc = keep(l, events, count);
        if (rc)
            return rc;
    }
    return 0;
}

/* Stops the look for a timestamp at the first one. */
static int find_timestamp(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct lane *l = user;
    (void)stream;
    for (size_t i = 0; i < batch->count; i++) {
        bool local = l->source->protocol == CT_PROTOCOL_ITM && batch->elems[i].n != CT_TIMESTAMP_GLOBAL;
        if (batch->elems[i].kind == CT_ELEM_TIMESTAMP && !local) {
            l->timed = true;
            return 1;
        }
    }
    return 0;
}

static struct ct_chain_options lane_options(const struct lane *l, enum ct_level level)
{
    struct ct_chain_options options = cli_capture_chain_options(&l->merging->capture, level);
    options.ids[0] = options.ids[1] = 0;
    options.ids[l->id / 64] = UINT64_C(1) << (l->id % 64);
    return options;
}

/* Looks whether there is a time for this source at all. False: a library error was said. */
static bool look_for_time(struct lane *l)
{
    struct ct_ctx *ctx = l->merging->args->ctx;
    struct ct_chain_sink sink = {.user = l, .elems = find_timestamp};
    struct ct_chain_options options = lane_options(l, CT_LEVEL_ELEMENT);
    struct ct_chain *chain;
    bool has_trace = false;
    int rc = ct_chain_new(ctx, l->buffer, &options, &sink, &chain);
    if (!rc) {
        rc = ct_chain_run(chain);
        size_t count;
        const struct ct_stream *streams = ct_chain_streams(chain, &count);
        has_trace = count && streams[0].stats.bytes;
        ct_chain_free(chain);
    }
    if (rc < 0)
        cli_library_error(ctx);
    else if (!l->timed && has_trace)
        cli_say("%s, ID %02x: has no timestamps, so its place among the others is not known; it is printed "
                "after them",
                l->buffer->name, l->id);
    return rc >= 0;
}

static int open_lane(struct lane *l)
{
    struct ct_ctx *ctx = l->merging->args->ctx;
    l->sink = (struct ct_chain_sink){.user = l};
    if (l->along_binary)
        l->sink.flow = on_flow;
    else
        l->sink.elems = on_elems;
    struct ct_chain_options options = lane_options(l, l->along_binary ? CT_LEVEL_FLOW : CT_LEVEL_ELEMENT);
    int rc = ct_chain_new(ctx, l->buffer, &options, &l->sink, &l->chain);
    if (!rc)
        rc = ct_feed_open(&l->feed, ctx, l->buffer);
    if (!rc)
        rc = ct_events_new(ctx, l->source, &l->events);
    if (!rc)
        rc = ct_timeline_new(ctx, &l->timeline);
    return rc;
}

static void close_lane(struct lane *l)
{
    ct_chain_free(l->chain);
    ct_events_free(l->events);
    ct_timeline_free(l->timeline);
    ct_feed_close(&l->feed);
    free(l->pending);
    l->chain = NULL;
    l->events = NULL;
    l->timeline = NULL;
    l->pending = NULL;
}

/* Decodes one more piece of the input. */
static int read_piece(struct lane *l)
{
    size_t pushed;
    l->pending_count = l->pending_done = 0;
    int rc = ct_feed_push(&l->feed, l->chain, PIECE, &pushed);
    if (!rc && l->feed.ended)
        return ct_chain_finish(l->chain);
    l->merging->bytes += pushed;
    cli_progress_update(&l->merging->capture.progress, l->merging->bytes);
    return rc;
}

/* Goes on until an event with its time is there, or nothing more comes. */
static int fill(struct lane *l)
{
    l->ready_done = 0;
    for (;;) {
        l->ready_count = ct_timeline_fetch(l->timeline, l->ready, BATCH);
        if (l->ready_count)
            return 0;
        if (l->pending_done < l->pending_count) {
            l->pending_done += ct_timeline_push(l->timeline, l->pending + l->pending_done,
                                                l->pending_count - l->pending_done);
            continue;
        }
        if (l->feed.ended)
            return 0;
        int rc = read_piece(l);
        if (rc)
            return rc;
    }
}

static void print(struct lane *l, const struct ct_timed_event *timed)
{
    l->printer.origin.time = l->timed ? &timed->time : NULL;
    cli_event_print(&l->printer, &timed->event);
}

/* The lane whose next event is the earliest; the first of several. NULL when all are at their end. */
static struct lane *earliest(struct merging *m, bool timed)
{
    struct lane *best = NULL;
    for (size_t i = 0; i < m->count; i++) {
        struct lane *l = &m->lanes[i];
        if (l->timed != timed || l->ready_done == l->ready_count)
            continue;
        if (!timed)
            return l;
        if (!best || l->ready[l->ready_done].time < best->ready[best->ready_done].time)
            best = l;
    }
    return best;
}

/* Prints the lanes that have (or have not) timestamps. */
static int run_lanes(struct merging *m, bool timed)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < m->count; i++) {
        if (m->lanes[i].timed != timed)
            continue;
        rc = open_lane(&m->lanes[i]);
        if (!rc)
            rc = fill(&m->lanes[i]);
    }
    for (struct lane *l; !rc && (l = earliest(m, timed));) {
        print(l, &l->ready[l->ready_done++]);
        if (m->text.failed)
            rc = CT_ERR_IO;
        else if (l->ready_done == l->ready_count)
            rc = fill(l);
    }
    return rc;
}

static bool add_lane(struct merging *m, const struct ct_buffer *buffer, const struct ct_source *source,
                     uint8_t id)
{
    const struct cli_value *only = &m->args->values[CLI_CAPTURE_ID];
    if (only->given && only->number != id)
        return true;
    for (size_t i = 0; i < m->count; i++)
        if (m->lanes[i].buffer == buffer && m->lanes[i].id == id)
            return true;
    struct lane *l = &m->lanes[m->count++];
    l->merging = m;
    l->buffer = buffer;
    l->source = source;
    l->id = id;
    l->printer = (struct cli_event_printer){
        .text = &m->text,
        .format = m->how.format,
        .text_ports = m->how.text_ports,
        .origin = {
            .buffer = buffer->name, .source = source, .id = id, .merged = true, .names = m->names.names}};
    l->along_binary = m->how.along_binary(m->args, buffer, source);
    return look_for_time(l);
}

static bool make_lanes(struct merging *m)
{
    size_t most = 0;
    for (size_t i = 0; i < m->capture.count; i++)
        most += m->capture.buffers[i].source_count;
    m->lanes = calloc(most + 1, sizeof *m->lanes);
    if (!m->lanes) {
        cli_no_memory();
        return false;
    }
    for (size_t i = 0; i < m->capture.count; i++) {
        const struct ct_buffer *b = &m->capture.buffers[i];
        bool framed = b->framing != CT_FRAMING_NONE;
        for (size_t s = 0; s < (framed ? b->source_count : b->source_count > 0); s++)
            if (!add_lane(m, b, &b->sources[s], framed ? b->sources[s].trace_id : 0))
                return false;
    }
    return true;
}

static int merge(struct merging *m)
{
    if (!cli_event_names_open(&m->names, m->args, m->how.elf, !m->how.no_names, &m->capture))
        return CLI_FAILED;
    if (!make_lanes(m))
        return CLI_FAILED;
    ct_event_head(&m->text, m->how.format, true);
    int rc = run_lanes(m, true);
    if (!rc)
        rc = run_lanes(m, false);
    ct_text_flush(&m->text);
    int code = CLI_CLEAN;
    if (rc && !m->text.failed)
        code = cli_library_error(m->args->ctx);
    for (size_t i = 0; i < m->count; i++)
        if (m->lanes[i].chain)
            cli_capture_count(&m->capture, m->lanes[i].chain,
                              m->lanes[i].along_binary ? CT_LEVEL_FLOW : CT_LEVEL_ELEMENT,
                              !i || m->lanes[i].buffer != m->lanes[i - 1].buffer);
    return code;
}

int cli_merge_run(const struct cli_args *args, const struct cli_merge_how *how)
{
    struct merging *m = calloc(1, sizeof *m);
    if (!m) {
        cli_no_memory();
        return CLI_FAILED;
    }
    m->args = args;
    m->how = *how;
    ct_text_init(&m->text, stdout);
    int code = CLI_FAILED;
    if (cli_capture_open(&m->capture, args)) {
        if (cli_capture_spool_always(&m->capture))
            code = cli_capture_code_or_empty(&m->capture, merge(m));
        for (size_t i = 0; i < m->count; i++)
            close_lane(&m->lanes[i]);
        cli_capture_close(&m->capture);
        cli_event_names_close(&m->names);
    }
    free(m->lanes);
    free(m);
    return code;
}
