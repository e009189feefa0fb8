/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that several threads give the result of one: packets, elements, flow records, steps, marks,
 * statistics and edges; for streams with and without frames, damaged and sound, with tasks of any length, or
 * decoded side by side; for receivers called in order and those given parts. A receiver that ends a chain
 * early has the start of the result. CT_SEED sets the first seed, CT_COUNT the number of streams, CT_LONG=1
 * the long tier. With arguments, checks the snapshots in the folders that they name. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/chain_tune.h"
#include "support/corpus.h"
#include "support/part.h"
#include "support/random_trace.h"
#include "support/seeds.h"
#include "coretap/decode.h"

/* Everything that was received, as bytes. */
struct log {
    int is_part;
    uint8_t *bytes;
    size_t size, room;
};

enum {
    IDS = 128,
    LONG_FILE = 1000000,
};

struct result {
    struct log ids[IDS];
    struct log marks;
    struct log order; /* the IDs of steps, in the order received */
    struct ct_stream_stats stats[IDS];
    uint64_t tasks, again;
    uint64_t batches; /* number received … */
    uint64_t most;    /* … and the number at which a receiver ends the chain; 0: never */
};

static void add(struct log *log, const void *bytes, size_t size)
{
    if (log->size + size > log->room) {
        log->room = 2 * (log->size + size);
        log->bytes = realloc(log->bytes, log->room);
        if (!log->bytes)
            abort();
    }
    memcpy(log->bytes + log->size, bytes, size);
    log->size += size;
}

/* Returns the log to write to: that of the whole result, or that of a part, which is added to the whole in
 * its turn. */
static struct log *log_of(void *user, const struct ct_stream *stream)
{
    struct log *part = user;
    if (part->is_part)
        return part;
    return &((struct result *)user)->ids[stream->id];
}

/* Returns the result of a receiver after a batch. Parts are not counted. */
static int end_of_batch(void *user)
{
    struct result *r = ((struct log *)user)->is_part ? NULL : user;
    return r && ++r->batches == r->most;
}

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct log *log = log_of(user, stream);
    for (size_t i = 0; i < batch->count; i++) {
        const uint8_t *packet = (const uint8_t *)batch->packets + i * batch->stride;
        const struct ct_etm4_packet *p = (const void *)packet;
        add(log, packet, batch->stride);
        add(log, &batch->offsets[i], sizeof *batch->offsets);
        if (batch->protocol <= CT_PROTOCOL_ETE && p->size)
            add(log, batch->run->data + (p->pos - batch->run->pos), p->size);
    }
    return end_of_batch(user);
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct log *log = log_of(user, stream);
    for (size_t i = 0; i < batch->count; i++) {
        const uint64_t offset = ct_elem_offset(&batch->elems[i], batch->end);
        add(log, &batch->elems[i], sizeof *batch->elems);
        add(log, &offset, sizeof offset);
    }
    return end_of_batch(user);
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    add(log_of(user, stream), batch->records, batch->count * sizeof *batch->records);
    return end_of_batch(user);
}

/* Adds the marks before a step. Returns the first mark after it. */
static size_t add_marks(struct log *log, const struct ct_step_batch *batch, size_t mark, size_t step)
{
    for (; mark < batch->mark_count && batch->marks[mark].at <= step; mark++) {
        struct ct_step_mark m = batch->marks[mark];
        m.at = 0; /* depends on where batches end */
        add(log, &m, sizeof m);
    }
    return mark;
}

/* Records the order in which streams come. */
static void add_order(void *user, uint8_t id)
{
    struct result *r = ((struct log *)user)->is_part ? NULL : user;
    if (r && (!r->order.size || r->order.bytes[r->order.size - 1] != id))
        add(&r->order, &id, 1);
}

/* Adds where an edge begins and leads, from the graph of a batch. */
static void add_edge(struct log *log, const struct ct_graph *graph, uint32_t number)
{
    uint32_t nodes, edges;
    const struct ct_node *node = ct_graph_nodes(graph, &nodes);
    const struct ct_edge *edge = ct_graph_edges(graph, &edges);
    uint64_t place[2] = {0};
    if (number < edges && edge[number].from < nodes) {
        place[0] = node[edge[number].from].start;
        place[1] = edge[number].next;
    }
    add(log, place, sizeof place);
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct log *log = log_of(user, stream);
    size_t mark = 0;
    for (size_t i = 0; i < batch->count; i++) {
        mark = add_marks(log, batch, mark, i);
        add(log, &batch->edge[i], sizeof *batch->edge);
        add_edge(log, batch->graph, batch->edge[i]);
        if (batch->cycles)
            add(log, &batch->cycles[i], sizeof *batch->cycles);
    }
    add_marks(log, batch, mark, batch->count);
    add_order(user, stream->id);
    return end_of_batch(user);
}

static void *part_new(void *user, const struct ct_stream *stream)
{
    (void)user, (void)stream;
    struct log *log = calloc(1, sizeof *log);
    if (log)
        log->is_part = 1;
    return log;
}

static int part_end(void *user, const struct ct_stream *stream, void *part, int keep)
{
    struct log *log = part;
    if (keep && log->size)
        add(log_of(user, stream), log->bytes, log->size);
    free(log->bytes);
    free(log);
    return 0;
}

/* Logs a mark with the sizes of all other logs: everything before a mark has to come before it. */
static int on_mark(void *user, const struct ct_frame_mark *mark)
{
    struct result *r = user;
    const uint64_t numbers[] = {mark->offset, mark->lost, mark->kind};
    add(&r->marks, numbers, sizeof numbers);
    for (unsigned i = 0; i < IDS; i++)
        add(&r->marks, &r->ids[i].size, sizeof r->ids[i].size);
    return 0;
}

/* What a run asks for. */
struct what {
    uint8_t level, edges;
    int records; /* receives records of this level */
};

static const struct what whats[] = {
    {CT_LEVEL_PACKET, CT_EDGES_NONE, 1},  {CT_LEVEL_ELEMENT, CT_EDGES_NONE, 1},
    {CT_LEVEL_FLOW, CT_EDGES_NONE, 1},    {CT_LEVEL_STEPS, CT_EDGES_CYCLES, 1},
    {CT_LEVEL_FLOW, CT_EDGES_NONE, 0},    {CT_LEVEL_STEPS, CT_EDGES_COUNTS, 0},
    {CT_LEVEL_STEPS, CT_EDGES_CYCLES, 0},
};

enum {
    WHATS = sizeof whats / sizeof *whats
};

/* Adds nodes, edges and contexts with their numbers, and their counts. */
static void log_edges(const struct ct_stream *stream, struct log *log)
{
    uint32_t nodes, edges;
    size_t contexts;
    const struct ct_node *node = ct_graph_nodes(stream->graph, &nodes);
    const struct ct_edge *edge = ct_graph_edges(stream->graph, &edges);
    const struct ct_edge_context *context = ct_edges_contexts(stream->edges, &contexts);
    const struct ct_edge_totals totals = ct_edges_totals(stream->edges);
    if (nodes)
        add(log, node, nodes * sizeof *node);
    if (edges)
        add(log, edge, edges * sizeof *edge);
    if (contexts)
        add(log, context, contexts * sizeof *context);
    add(log, &totals, sizeof totals);
    for (size_t c = 0; c < contexts; c++) {
        for (uint32_t e = 0; e < context[c].edges; e++) {
            const struct ct_edge_stats stats = ct_edges_get(stream->edges, c, e);
            add(log, &stats, sizeof stats);
        }
    }
}

struct how {
    struct what what;
    unsigned threads, stream_threads;
    size_t segment;
    int parts;
    int is_file; /* reads the file that the buffer names */
    int maps;    /* … and maps it */
    struct rng *cuts;
};

static void run(const struct random_trace *s, const struct how *how, struct result *out)
{
    const int level = how->what.records ? how->what.level : -1;
    const struct ct_chain_sink sink = {
        .user = out,
        .packets = level == CT_LEVEL_PACKET ? on_packets : NULL,
        .elems = level == CT_LEVEL_ELEMENT ? on_elems : NULL,
        .flow = level == CT_LEVEL_FLOW ? on_flow : NULL,
        .steps = level == CT_LEVEL_STEPS ? on_steps : NULL,
        .mark = on_mark,
        .part_new = how->parts ? part_new : NULL,
        .part_end = how->parts ? part_end : NULL,
    };
    const struct ct_chain_options options = {.size = sizeof options,
                                             .level = how->what.level,
                                             .edges = how->what.edges,
                                             .threads = (uint16_t)how->threads,
                                             .stream_threads = (uint16_t)how->stream_threads};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_chain *chain;
    ct_ctx_map_files(ctx, how->maps);
    out->marks.size = out->order.size = 0;
    out->batches = 0;
    for (unsigned i = 0; i < IDS; i++)
        out->ids[i].size = 0;
    memset(out->stats, 0, sizeof out->stats);
    if (ct_chain_new(ctx, &s->buffer, &options, &sink, &chain))
        abort();
    ct_chain_tune(chain, how->segment);
    int rc = how->is_file ? ct_chain_run(chain) : 0;
    for (size_t at = 0; at < s->size && !rc && !how->is_file;) {
        size_t piece = how->cuts ? 1 + rng_wide(how->cuts, 13) : s->size;
        piece = piece < s->size - at ? piece : s->size - at;
        rc = ct_chain_push(chain, s->bytes + at, piece);
        at += piece;
    }
    if (!rc && !how->is_file)
        rc = ct_chain_finish(chain);
    if (rc && out->batches != out->most)
        abort();
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    for (size_t i = 0; i < count; i++) {
        out->stats[streams[i].id] = streams[i].stats;
        if (streams[i].edges)
            log_edges(&streams[i], &out->ids[streams[i].id]);
    }
    ct_chain_tasks(chain, &out->tasks, &out->again);
    ct_chain_free(chain);
    ct_ctx_free(ctx);
}

static int same_log(const struct log *a, const struct log *b, const char *what, unsigned id)
{
    if (a->size == b->size && (!a->size || !memcmp(a->bytes, b->bytes, a->size)))
        return 1;
    printf("# %s %02x: %zu bytes and %zu\n", what, id, a->size, b->size);
    return 0;
}

static int same(const struct result *a, const struct result *b)
{
    for (unsigned i = 0; i < IDS; i++) {
        if (!same_log(&a->ids[i], &b->ids[i], "ID", i))
            return 0;
        if (memcmp(&a->stats[i], &b->stats[i], sizeof a->stats[i]) != 0) {
            printf("# ID %02x: statistics differ\n", i);
            return 0;
        }
    }
    return same_log(&a->marks, &b->marks, "marks", 0);
}

static struct result one, many; /* of one thread, and of several */

/* Compares all numbers of threads, with tasks of any length, with one thread. */
static int check_stream(struct rng *rng, const struct random_trace *s, unsigned what)
{
    struct rng cuts = *rng;
    struct how how = {.what = whats[what], .threads = 1, .is_file = s->is_file};
    uint64_t tasks = 0, again = 0;
    run(s, &how, &one);
    for (how.threads = 2; how.threads <= 8; how.threads++) {
        how.segment = 1 + rng_wide(rng, 13);
        how.parts = how.threads % 2;
        how.cuts = how.threads % 3 ? NULL : &cuts;
        how.is_file = s->is_file || how.threads % 3 == 2;
        run(s, &how, &many);
        tasks += many.tasks;
        again += many.again;
        if (!same(&one, &many)) {
            printf("# what[%u], %u threads, tasks of %zu bytes\n", what, how.threads, how.segment);
            return 0;
        }
    }
    many.tasks = tasks;
    many.again = again;
    return 1;
}

static int begins_with(const struct log *whole, const struct log *begin)
{
    return begin->size <= whole->size && (!begin->size || !memcmp(whole->bytes, begin->bytes, begin->size));
}

/* Checks chains whose receivers end them while threads work: what came before equals that of one thread. */
static int check_ended(struct rng *rng, const struct random_trace *s, unsigned what)
{
    struct how how = {.what = whats[what], .threads = 1};
    int ok = 1;
    if (!how.what.records)
        return ok;
    run(s, &how, &one);
    for (how.threads = 2; how.threads <= 8 && ok; how.threads++) {
        how.segment = 1 + rng_wide(rng, 16);
        many.most = 1 + rng_below(rng, 3);
        run(s, &how, &many);
        /* Edges are logged at the end. */
        for (unsigned i = 0; i < IDS && ok && many.batches == many.most && !how.what.edges; i++)
            ok = begins_with(&one.ids[i], &many.ids[i]);
    }
    if (!ok)
        printf("# what[%u], %u threads, ended with batch %" PRIu64 "\n", what, how.threads - 1, many.most);
    many.most = 0;
    return ok;
}

/* Checks steps of streams that are decoded side by side, in slices of any size: they equal those of one
 * thread, in the same order of streams for any number of threads, even when the chain is ended early. */
static int check_beside(struct rng *rng, const struct random_trace *s)
{
    struct how how = {.what = whats[3], .threads = 1};
    struct rng cuts = *rng;
    static struct log order;
    int ok = 1;
    run(s, &how, &one);
    how.segment = 1 + rng_wide(rng, 13);
    for (how.stream_threads = 1; how.stream_threads <= 6 && ok; how.stream_threads++) {
        struct rng same_cuts = cuts;
        how.cuts = &same_cuts;
        run(s, &how, &many);
        ok = same(&one, &many);
        if (how.stream_threads == 1) {
            order.size = 0;
            add(&order, many.order.bytes, many.order.size);
        }
        ok = ok && same_log(&order, &many.order, "order of streams", 0);
        many.most = 1 + rng_below(rng, 3);
        how.cuts = NULL;
        run(s, &how, &many);
        many.most = 0;
    }
    if (!ok)
        printf("# side by side, %u threads, slices of %zu bytes\n", how.stream_threads - 1, how.segment);
    return ok;
}

static uint64_t tasks, again; /* of all seeds */

static int check(uint64_t seed)
{
    static struct random_trace s;
    struct rng rng = {seed};
    random_trace_fill(&rng, &s);
    const unsigned what = (unsigned)(seed % WHATS);
    const int ok = check_beside(&rng, &s) && check_stream(&rng, &s, what) && check_ended(&rng, &s, what);
    tasks += many.tasks;
    again += many.again;
    return ok;
}

/* Checks all buffers of a capture, each with all that is delivered, or with one in three of it in turn. */
static int check_capture(const struct ct_capture *capture)
{
    static struct random_trace s = {.is_file = 1};
    static unsigned turn;
    const unsigned each = test_number("CT_WHOLE", 0) ? 1 : 3;
    struct rng rng = {1};
    int ok = 1;
    for (size_t i = 0; i < capture->buffer_count && ok; i++) {
        s.buffer = capture->buffers[i];
        for (unsigned what = turn++ % each; what < WHATS && ok; what += each)
            ok = check_stream(&rng, &s, what);
    }
    return ok;
}

/* Checks that with one processor no threads are started: each would have to learn the program again. */
static int check_processors(void)
{
    static struct random_trace s;
    struct rng rng = {7};
    struct how how = {.what = whats[WHATS - 1], .threads = 1};
    cpu_set_t all, first;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&first);
    for (unsigned i = 0; i < CPU_SETSIZE && !CPU_COUNT(&first); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &first);
    random_trace_fill(&rng, &s);
    run(&s, &how, &one);
    how.threads = 4;
    sched_setaffinity(0, sizeof first, &first);
    run(&s, &how, &many);
    sched_setaffinity(0, sizeof all, &all);
    const int ok = same(&one, &many) && !many.tasks;
    return seeds_tell(ok, 3, "one processor has one thread");
}

/* Appends the trace to its file until the file is longer than the part that is mapped first. */
static void lengthen(struct random_trace *s)
{
    FILE *file = fopen(s->buffer.path, "r+b");
    s->is_file = file != NULL;
    for (size_t size = 0; file && size < LONG_FILE; size += s->size)
        if (fwrite(s->bytes, 1, s->size, file) != s->size)
            abort();
    if (!file || fclose(file) != 0)
        abort();
}

/* Checks packets of tasks that read their file in several pieces: the bytes stay valid until the task's
 * turn. */
static int check_long_files(void)
{
    static struct random_trace s;
    struct rng rng = {11};
    int ok = 1;
    do {
        random_trace_fill(&rng, &s);
    } while (s.buffer.framing != CT_FRAMING_NONE || s.sources->protocol != CT_PROTOCOL_ETM4 || s.size < 1000);
    lengthen(&s);
    for (int maps = 0; maps < 2 && ok; maps++) {
        struct how how = {.what = whats[0], .threads = 1, .is_file = 1, .maps = maps};
        run(&s, &how, &one);
        how.threads = 2;
        how.segment = LONG_FILE / 4 * 3;
        run(&s, &how, &many);
        ok = same(&one, &many) && many.tasks > 1;
    }
    return seeds_tell(ok, 4, "packets of long files have their bytes");
}

/* Checks counts of a long file, where a thread that is done takes part of the work of another one. That does
 * not happen in each run. */
static int check_split_tasks(void)
{
    static struct random_trace s;
    struct rng rng = {12};
    int ok = 1;
    unsigned split = 0, runs = 0;
    do {
        random_trace_fill(&rng, &s);
    } while (s.buffer.framing != CT_FRAMING_NONE || s.sources->protocol != CT_PROTOCOL_ETM4 || s.size < 1000);
    lengthen(&s);
    struct how how = {.what = whats[WHATS - 1], .threads = 1, .is_file = 1, .segment = 2000};
    run(&s, &how, &one);
    for (; ok && runs < 200 && (runs < 20 || !split); runs++) {
        how.threads = 2 + runs % 3;
        run(&s, &how, &many);
        ok = same(&one, &many);
        split += many.tasks > how.threads + 1u;
    }
    printf("# %u runs, in %u of them tasks were split\n", runs, split);
    return seeds_tell(ok && split, 5, "tasks that are split count what one thread counts");
}

/* Checks that a receiver of the steps of tasks may end the chain early. */
static int check_early_end(void)
{
    static struct random_trace s;
    struct rng rng = {13};
    int ok = 1;
    uint64_t batches = 0;
    for (unsigned i = 0; i < 40 && ok; i++) {
        random_trace_fill(&rng, &s);
        struct how how = {.what = whats[3], .threads = 1, .is_file = 1, .segment = 1000};
        run(&s, &how, &one);
        batches += one.batches;
        how.threads = 2 + i % 3;
        run(&s, &how, &many);
        ok = same(&one, &many);
        many.most = many.batches ? 1 + rng_below(&rng, (uint32_t)many.batches) : 0;
        if (ok && many.most)
            run(&s, &how, &many);
        ok = ok && (!many.most || many.batches == many.most);
        many.most = 0;
    }
    printf("# %" PRIu64 " batches\n", batches);
    return seeds_tell(ok && batches, 6, "the receiver of the steps of tasks may end the chain");
}

static void free_result(struct result *r)
{
    for (unsigned i = 0; i < IDS; i++)
        free(r->ids[i].bytes);
    free(r->marks.bytes);
    free(r->order.bytes);
}

static int check_corpus(const char *shared)
{
    unsigned count;
    const int ok = corpus_hold(shared, check_capture, &count);
    if (ok >= 0)
        printf("1..1\n%sok 1 - threads say what one says of %u captures\n", ok ? "" : "not ", count);
    return ok;
}

static int check_seeds(void)
{
    const struct seeds seeds = seeds_begin(6, test_part(120), 20000);
    int ok = seeds_hold(seeds, 1, check, 1, "threads say what one says");
    printf("# %" PRIu64 " tasks, %" PRIu64 " of them decoded again\n", tasks, again);
    /* Otherwise threads gained nothing. Some tasks must begin wrong, or the seams were not tested. */
    ok &= seeds_tell(seeds.cases < 100 || (again < tasks - tasks / 16 && again > 0), 2,
                     "some tasks begin right, and some do not");
    ok &= check_processors();
    ok &= check_long_files();
    ok &= check_split_tasks();
    ok &= check_early_end();
    return ok;
}

int main(int argc, char **argv)
{
    const int ok = argc > 1 ? check_corpus(argv[1]) : check_seeds();
    free_result(&one);
    free_result(&many);
    return ok ? 0 : 1;
}
