/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a session, which begins and ends decoding near a window, gives the same steps and events of the
 * window as a sieve that sees the whole trace; for streams with and without frames, damaged and sound,
 * decoded together and in turns, by one thread and two. CT_SEED sets the first seed, CT_COUNT the number of
 * traces, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/output.h"
#include "support/part.h"
#include "support/random_trace.h"
#include "support/require.h"
#include "support/seeds.h"
#include "coretap/session.h"
#include "session/session.h"

enum {
    IDS = 128,
    WINDOWS = 8,       /* windows of steps per trace … */
    EVENT_WINDOWS = 4, /* … and of events */
    BATCH = 200,       /* greatest number of events per batch */
    PIECES = 12,
    FRAMINGS = CT_FRAMING_DSTREAM + 1,
};

/* Steps and marks of a stream, as bytes. */
struct result {
    int rc;
    struct output ids[IDS];
    struct ct_sieve_seen seen;
    uint64_t bytes; /* bytes of input */
};

static void add_mark(struct output *log, const struct ct_step_mark *mark)
{
    const uint64_t numbers[] = {mark->offset, mark->value, mark->elem.kind, mark->elem.n, mark->elem.aux,
                                mark->elem.v, mark->kind,  mark->space,     mark->isa,    mark->n};
    output_append(log, numbers, sizeof numbers);
}

/* Adds a step by its addresses: numbers of nodes and edges depend on what was decoded before. */
static void add_step(struct output *log, const struct ct_step_batch *batch, size_t step)
{
    uint32_t count;
    const struct ct_edge *edge = &ct_graph_edges(batch->graph, &count)[batch->edge[step]];
    const struct ct_node *node = &ct_graph_nodes(batch->graph, &count)[edge->from];
    const uint64_t numbers[] = {node->start, node->end,  node->n,    node->isa,
                                edge->next,  edge->exec, edge->kind, batch->cycles ? batch->cycles[step] : 0};
    output_append(log, numbers, sizeof numbers);
}

static void add_batch(struct output *log, const struct ct_step_batch *batch)
{
    size_t mark = 0;
    for (size_t i = 0; i <= batch->count; i++) {
        for (; mark < batch->mark_count && batch->marks[mark].at == i; mark++)
            add_mark(log, &batch->marks[mark]);
        if (i < batch->count)
            add_step(log, batch, i);
    }
}

/* ---- the whole trace ---- */

struct whole {
    const struct ct_filter *filter;
    struct ct_sieve *sieves[IDS];
    struct result *result;
};

static int sift(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct whole *whole = user;
    const struct ct_sieve_options options = {
        .size = sizeof options, .filter = whole->filter, .source = stream->source};
    struct ct_sieve **sieve = &whole->sieves[stream->id];
    struct ct_step_batch kept;
    int rc = *sieve ? CT_OK : ct_sieve_new(NULL, &options, sieve);
    if (!rc)
        rc = ct_sieve_run(*sieve, batch, &kept);
    if (!rc)
        add_batch(&whole->result->ids[stream->id], &kept);
    return rc;
}

static void clear(struct result *result)
{
    for (unsigned i = 0; i < IDS; i++)
        result->ids[i].size = 0;
    result->seen = (struct ct_sieve_seen){0};
}

static void run_whole(const struct random_trace *trace, const struct ct_filter *filter, struct result *out)
{
    struct whole whole = {.filter = filter, .result = out};
    const struct ct_chain_sink sink = {.user = &whole, .steps = sift};
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_STEPS};
    struct ct_chain *chain;
    clear(out);
    if (ct_chain_new(NULL, &trace->buffer, &options, &sink, &chain))
        abort();
    out->rc = ct_chain_run(chain);
    out->bytes = trace->size;
    for (unsigned i = 0; i < IDS; i++) {
        if (whole.sieves[i])
            ct_sieve_seen_add(&out->seen, ct_sieve_seen_of(whole.sieves[i]));
        ct_sieve_free(whole.sieves[i]);
    }
    ct_chain_free(chain);
}

/* ---- events of the whole trace ---- */

struct whole_events {
    const struct ct_filter *filter;
    struct ct_events *events[IDS];
    struct ct_event_sieve *sieves[IDS];
    struct ct_event batch[BATCH];
    struct result *result;
};

/* Begins the events of all streams, even of those without trace: a turn does not know which those are. */
static int begin_events(struct whole_events *w, const struct ct_chain *chain)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        const struct ct_sieve_options options = {
            .size = sizeof options, .filter = w->filter, .source = streams[i].source};
        rc = ct_events_new(NULL, streams[i].source, &w->events[streams[i].id]);
        if (!rc)
            rc = ct_event_sieve_new(NULL, &options, &w->sieves[streams[i].id]);
    }
    return rc;
}

static int sift_events(struct whole_events *w, const struct ct_stream *stream, size_t count)
{
    const int rc = ct_event_sieve_run(w->sieves[stream->id], w->batch, count, &count);
    if (!rc)
        output_append(&w->result->ids[stream->id], w->batch, count * sizeof *w->batch);
    return rc;
}

static int sift_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct whole_events *w = user;
    int rc = CT_OK;
    for (size_t done = 0, count; done < batch->count && !rc;) {
        done += ct_events_from_elems(w->events[stream->id], batch->elems + done, batch->count - done,
                                     batch->end, w->batch, BATCH, &count);
        rc = sift_events(w, stream, count);
    }
    return rc;
}

static int sift_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct whole_events *w = user;
    int rc = CT_OK;
    ct_events_set_memory(w->events[stream->id], batch->memory);
    for (size_t done = 0, count; done < batch->count && !rc;) {
        done += ct_events_from_flow(w->events[stream->id], batch->records + done, batch->count - done,
                                    w->batch, BATCH, &count);
        rc = sift_events(w, stream, count);
    }
    return rc;
}

static void run_whole_events(const struct random_trace *trace, const struct ct_filter *filter,
                             enum ct_level level, struct result *out)
{
    static struct whole_events whole;
    const struct ct_chain_sink sink = {.user = &whole,
                                       .elems = level == CT_LEVEL_ELEMENT ? sift_elems : NULL,
                                       .flow = level == CT_LEVEL_FLOW ? sift_flow : NULL};
    const struct ct_chain_options options = {.size = sizeof options, .level = (uint8_t)level};
    struct ct_chain *chain;
    whole = (struct whole_events){.filter = filter, .result = out};
    clear(out);
    if (ct_chain_new(NULL, &trace->buffer, &options, &sink, &chain))
        abort();
    out->rc = begin_events(&whole, chain);
    if (!out->rc)
        out->rc = ct_chain_run(chain);
    for (unsigned i = 0; i < IDS; i++) {
        if (whole.sieves[i])
            ct_sieve_seen_add(&out->seen, ct_event_sieve_seen(whole.sieves[i]));
        ct_event_sieve_free(whole.sieves[i]);
        ct_events_free(whole.events[i]);
    }
    ct_chain_free(chain);
}

/* ---- the window ---- */

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct result *result = user;
    add_batch(&result->ids[stream->id], batch);
    return 0;
}

static int on_turn(void *user, struct ct_session_turn *turn)
{
    (void)user;
    turn->level = CT_LEVEL_STEPS;
    turn->sink.steps = on_steps;
    return 0;
}

static int on_events(void *user, const struct ct_stream *stream, const struct ct_event *events, size_t count)
{
    struct result *result = user;
    output_append(&result->ids[stream->id], events, count * sizeof *events);
    return 0;
}

static int on_element_turn(void *user, struct ct_session_turn *turn)
{
    (void)user;
    turn->level = CT_LEVEL_ELEMENT;
    return 0;
}

static int on_flow_turn(void *user, struct ct_session_turn *turn)
{
    (void)user;
    turn->level = CT_LEVEL_FLOW;
    return 0;
}

enum how {
    TWO_THREADS = 1,
    TURNS = 2, /* one stream after the other */
    INDEX = 4, /* index in a file */
    OF_ELEMENTS = 8,
    ALONG_PROGRAM = 16, /* with the one before: events, in turns */
};

static bool is_of_events(unsigned how)
{
    return how & (OF_ELEMENTS | ALONG_PROGRAM);
}

static void run_window(const struct random_trace *trace, const struct ct_filter *filter, unsigned how,
                       uint64_t apart, struct result *out)
{
    const struct ct_capture capture = {.path = "random", .buffer_count = 1, .buffers = &trace->buffer};
    const struct ct_session_options options = {.size = sizeof options,
                                               .threads = how & TWO_THREADS ? 2 : 1,
                                               .index = how & INDEX ? 1 : 0,
                                               .user = out,
                                               .steps = how & TURNS || is_of_events(how) ? NULL : on_steps,
                                               .begin = how & OF_ELEMENTS     ? on_element_turn
                                                        : how & ALONG_PROGRAM ? on_flow_turn
                                                        : how & TURNS         ? on_turn
                                                                              : NULL,
                                               .events = is_of_events(how) ? on_events : NULL,
                                               .filter = filter};
    struct ct_session *session;
    clear(out);
    if (ct_session_new(NULL, &options, &session))
        abort();
    ct_session_tune(session, apart);
    out->rc = ct_session_run(session, &capture, capture.buffers, 1);
    out->seen = *ct_session_sieved(session);
    out->bytes = ct_session_seen(session)->bytes;
    ct_session_free(session);
}

static int same(const struct result *a, const struct result *b)
{
    REQUIRE(a->rc == b->rc);
    for (unsigned i = 0; i < IDS && !a->rc; i++)
        REQUIRE(output_same(&a->ids[i], &b->ids[i]));
    return 1;
}

/* ---- cases ---- */

/* Folder for a trace and its index. */
static char folder[] = "/tmp/coretap-window-XXXXXX";
static char trace_path[sizeof folder + 16];
static char index_paths[2][sizeof folder + 24]; /* for a trace in one piece, and in several */

/* Writes the trace to a file in the folder, which has no index yet. */
static int move_to_folder(struct random_trace *trace)
{
    FILE *file = fopen(trace_path, "wb");
    REQUIRE(file);
    const size_t written = fwrite(trace->bytes, 1, trace->size, file);
    REQUIRE(fclose(file) == 0 && written == trace->size);
    for (unsigned i = 0; i < 2; i++)
        remove(index_paths[i]);
    trace->buffer.path = trace_path;
    return 1;
}

/* Cuts the trace into pieces. Some are adjacent; between others bytes are missing. */
static void cut_up(struct rng *rng, struct random_trace *trace)
{
    static struct ct_piece pieces[PIECES];
    uint64_t at = 0;
    size_t count = 0;
    while (count < PIECES && at < trace->size) {
        const uint64_t left = trace->size - at;
        const bool joins = count && rng_chance(rng, 40);
        const uint64_t gap = joins ? 0 : rng_below(rng, 40) % left;
        const uint64_t most = count + 1 < PIECES ? 1 + rng_below(rng, 1 + 2 * trace->size / PIECES) : left;
        pieces[count++] = (struct ct_piece){.offset = at + gap,
                                            .size = most < left - gap ? most : left - gap,
                                            .time = CT_NO_TIME,
                                            .tid = CT_NO_THREAD,
                                            .joins = joins};
        at = pieces[count - 1].offset + pieces[count - 1].size;
    }
    trace->buffer.pieces = pieces;
    trace->buffer.piece_count = count;
}

/* Returns a random point of the trace that `seen` describes, or one shortly after its end. It is never 0:
 * whether a stream is past that is known before its first cycle count. */
static struct ct_filter_point random_point(struct rng *rng, const struct ct_sieve_seen *seen)
{
    static const char *const places[] = {"0x400010", "0x400200", "0x400c00"};
    struct ct_filter_point point = {0};
    const uint64_t part = rng_below(rng, 1100);
    switch (rng_below(rng, 6)) {
    case 0:
    case 1:
        point.kind = CT_POINT_TICKS;
        point.value = 1 + seen->first_ticks + (seen->last_ticks - seen->first_ticks) / 1000 * part;
        break;
    case 2:
    case 3:
        point.kind = seen->has_cycles ? CT_POINT_CYCLES : CT_POINT_INSTRUCTIONS;
        point.value = 1 + (seen->has_cycles ? seen->cycles : seen->instructions) * part / 1000;
        break;
    case 4:
        point.kind = CT_POINT_INSTRUCTIONS;
        point.value = 1 + seen->instructions * part / 1000;
        break;
    default:
        point.kind = CT_POINT_PLACE;
        point.place = places[rng_below(rng, 3)];
        point.times = rng_below(rng, 5);
        break;
    }
    return point;
}

/* Returns a random point for events, which have only ticks and cycles. */
static struct ct_filter_point random_event_point(struct rng *rng, const struct ct_sieve_seen *seen)
{
    struct ct_filter_point point = {.kind = CT_POINT_TICKS};
    const uint64_t part = rng_below(rng, 1100);
    if (seen->has_cycles && rng_chance(rng, 50)) {
        point.kind = CT_POINT_CYCLES;
        point.value = 1 + seen->cycles * part / 1000;
    } else {
        point.value = 1 + seen->first_ticks + (seen->last_ticks - seen->first_ticks) / 1000 * part;
    }
    return point;
}

static struct result whole, window;

/* Over all seeds: windows that took fewer steps than the whole; steps of windows begun inside, by framing and
 * in windows of events. */
static uint64_t spared, inside[FRAMINGS], events_inside;

static int check_events(struct rng *rng, const struct random_trace *trace)
{
    struct ct_filter filter = {.size = sizeof filter};
    const unsigned of = rng_chance(rng, 50) ? OF_ELEMENTS : ALONG_PROGRAM;
    const enum ct_level level = of == OF_ELEMENTS ? CT_LEVEL_ELEMENT : CT_LEVEL_FLOW;
    run_whole_events(trace, &filter, level, &whole);
    const struct ct_sieve_seen seen = whole.seen;
    for (unsigned i = 0; i < EVENT_WINDOWS; i++) {
        filter.from = random_event_point(rng, &seen);
        filter.to = rng_chance(rng, 60) ? (struct ct_filter_point){0} : random_event_point(rng, &seen);
        run_whole_events(trace, &filter, level, &whole);
        for (unsigned how = 0; how <= (TWO_THREADS | INDEX); how++) {
            if (how & TURNS)
                continue;
            run_window(trace, &filter, of | how, 1 + rng_wide(rng, 10), &window);
            REQUIRE(same(&whole, &window));
            spared += whole.seen.steps > window.seen.steps;
            events_inside += window.seen.inside;
        }
    }
    return 1;
}

static int check(uint64_t seed)
{
    static struct random_trace trace;
    struct rng rng = {seed};
    struct ct_filter filter = {.size = sizeof filter};
    random_trace_fill(&rng, &trace);
    REQUIRE(move_to_folder(&trace));
    if (trace.buffer.framing != CT_FRAMING_DSTREAM && rng_chance(&rng, 40))
        cut_up(&rng, &trace);
    run_whole(&trace, &filter, &whole);
    const struct ct_sieve_seen seen = whole.seen;
    for (unsigned i = 0; i < WINDOWS; i++) {
        filter.from = rng_chance(&rng, 60) ? (struct ct_filter_point){0} : random_point(&rng, &seen);
        filter.to = rng_chance(&rng, 60) ? (struct ct_filter_point){0} : random_point(&rng, &seen);
        run_whole(&trace, &filter, &whole);
        for (unsigned how = 0; how < 2 * INDEX; how++) {
            run_window(&trace, &filter, how, 1 + rng_wide(&rng, 10), &window);
            REQUIRE(same(&whole, &window));
            spared += whole.seen.steps > window.seen.steps;
            inside[trace.buffer.framing] += window.seen.inside;
        }
    }
    return check_events(&rng, &trace);
}

static void free_result(struct result *r)
{
    for (unsigned i = 0; i < IDS; i++)
        output_free(&r->ids[i]);
}

int main(void)
{
    if (!mkdtemp(folder))
        abort();
    snprintf(trace_path, sizeof trace_path, "%s/trace", folder);
    snprintf(index_paths[0], sizeof index_paths[0], "%s/trace.ctx", folder);
    snprintf(index_paths[1], sizeof index_paths[1], "%s/trace.random.ctx", folder);
    const struct seeds seeds = seeds_begin(2, test_part(30), 6000);
    int ok = seeds_hold(seeds, 1, check, 1, "a window has what a sieve keeps of the whole");
    const bool in_all = inside[CT_FRAMING_NONE] && inside[CT_FRAMING_FRAMES] && inside[CT_FRAMING_TPIU] &&
                        (inside[CT_FRAMING_DSTREAM] || seeds.cases < 1000);
    /* Few traces, from another first seed, may have no window inside for one of the framings. */
    const bool enough = seeds.cases >= (seeds.first == 1 ? 20 : 1000);
    printf("# %" PRIu64 " windows of fewer steps than the whole\n", spared);
    for (unsigned i = CT_FRAMING_NONE; i < FRAMINGS; i++)
        printf("# %" PRIu64 " begun inside of framing %s\n", inside[i], ct_framing_name((enum ct_framing)i));
    printf("# %" PRIu64 " of events begun inside\n", events_inside);
    ok &= seeds_tell((spared && in_all && events_inside) || !enough, 2, "less is followed than the whole");
    for (unsigned i = 0; i < 2; i++)
        remove(index_paths[i]);
    remove(trace_path);
    const bool cleared = rmdir(folder) == 0; /* so each case began without an index */
    free_result(&whole);
    free_result(&window);
    return ok && cleared ? 0 : 1;
}
