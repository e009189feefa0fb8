/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the parts of a capture add up to the result of decoding it at once, or are reported not to:
 * counts and cycles of edges by context, totals of streams, watchpoints, losses; for streams with and without
 * frames, of one buffer and of several, damaged and sound, in at most six parts. CT_SEED sets the first seed,
 * CT_COUNT the number of captures, CT_LONG=1 the long tier. With an argument, checks the snapshots in that
 * folder. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/corpus.h"
#include "support/output.h"
#include "support/part.h"
#include "support/random_trace.h"
#include "support/require.h"
#include "support/seeds.h"
#include "coretap/counts.h"
#include "coretap/decode.h"
#include "coretap/session.h"
#include "coretap/shard.h"

enum {
    SHARDS_MOST = 6,
    BUFFERS_MOST = 3,
    KEY = 160,
    KINDS = 4,       /* of analyses */
    CODE = 0x400000, /* address of the code of random traces … */
    CODE_SIZE = 4096,
    CODE_STEP = 36, /* … and the distance of watched addresses in it */
};

/* ---- an analysis of edges ---- */

/* Sums of an edge in a context. */
struct item {
    char key[KEY];
    uint64_t sums[4]; /* count, number of timed steps, sum of cycles, sum of their squares */
    uint32_t min, max;
};

struct edge_sums {
    struct ct_analysis analysis; /* must be the first member */
    struct item *items;
    size_t count, room;
};

static int add_item(struct edge_sums *e, const struct item *item)
{
    if (e->count == e->room) {
        e->room = 2 * e->room + 64;
        e->items = realloc(e->items, e->room * sizeof *e->items);
        if (!e->items)
            abort();
    }
    e->items[e->count++] = *item;
    return CT_OK;
}

static int take_edges(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    uint32_t nodes, edges;
    size_t contexts;
    const struct ct_node *node = ct_graph_nodes(batch->graph, &nodes);
    const struct ct_edge *edge = ct_graph_edges(batch->graph, &edges);
    const struct ct_edge_context *context = ct_edges_contexts(batch->edges, &contexts);
    for (size_t c = 0; c < contexts; c++)
        for (uint32_t i = 0; i < context[c].edges && i < edges; i++) {
            const struct ct_edge_stats stats = ct_edges_get(batch->edges, c, i);
            const struct ct_node *n = &node[edge[i].from];
            struct item item = {.sums = {stats.count, stats.timed, stats.sum, stats.square_lo},
                                .min = stats.min,
                                .max = stats.max};
            snprintf(item.key, sizeof item.key, "%" PRIx64 "-%" PRIx64 "-%x-%" PRIx64 "-%x-%x-%x-%x-%x",
                     n->start, n->end, n->n, edge[i].next, edge[i].kind, edge[i].exec, context[c].ctxt,
                     context[c].vmid, context[c].el_sec * 256u + context[c].known);
            if (stats.count)
                add_item((struct edge_sums *)analysis, &item);
        }
    return CT_OK;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct item *)a)->key, ((const struct item *)b)->key);
}

/* Adds up the items with the same key. */
static void settle(struct edge_sums *e)
{
    size_t n = 0;
    if (e->count)
        qsort(e->items, e->count, sizeof *e->items, by_key);
    for (size_t i = 0; i < e->count; i++) {
        struct item *last = n ? &e->items[n - 1] : NULL;
        const struct item *item = &e->items[i];
        if (!last || by_key(last, item)) {
            e->items[n++] = *item;
            continue;
        }
        for (unsigned k = 0; k < 4; k++)
            last->sums[k] += item->sums[k];
        if (item->sums[1] && (item->min < last->min || last->sums[1] == item->sums[1]))
            last->min = item->min;
        last->max = item->max > last->max ? item->max : last->max;
    }
    e->count = n;
}

static int save_edges(struct ct_analysis *analysis, struct ct_save *to)
{
    struct edge_sums *e = (struct edge_sums *)analysis;
    int rc = CT_OK;
    settle(e);
    for (size_t i = 0; i < e->count; i++) {
        const struct item *item = &e->items[i];
        rc = ct_save_line(to, "edge %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u", item->key,
                          item->sums[0], item->sums[1], item->sums[2], item->sums[3], item->min, item->max);
    }
    return rc;
}

static int load_edges(struct ct_analysis *analysis, struct ct_load *from)
{
    while (ct_load_line(from)) {
        struct item item = {.key = ""};
        uint64_t n[6];
        for (size_t i = 0; i < 6; i++)
            if (!ct_load_number(from, i + 2, 10, &n[i]))
                return ct_load_bad(from, "an edge has six numbers");
        memcpy(item.key, from->words[1].text, from->words[1].size);
        memcpy(item.sums, n, sizeof item.sums);
        item.min = (uint32_t)n[4];
        item.max = (uint32_t)n[5];
        add_item((struct edge_sums *)analysis, &item);
    }
    return CT_OK;
}

static int merge_edges(struct ct_analysis *into, struct ct_analysis *other)
{
    const struct edge_sums *from = (const struct edge_sums *)other;
    for (size_t i = 0; i < from->count; i++)
        add_item((struct edge_sums *)into, &from->items[i]);
    return CT_OK;
}

static void free_edges(struct ct_analysis *analysis)
{
    free(((struct edge_sums *)analysis)->items);
    free(analysis);
}

static int part_edges(const struct ct_analysis *whole, struct ct_analysis **part);

#define EDGE_KIND(edge_inputs)                                                                               \
    {                                                                                                        \
        .size = sizeof(struct ct_analysis_kind), .name = "edges", .writer = "this test", .version = 1,       \
        .inputs = (edge_inputs), .part = part_edges, .take = take_edges, .merge = merge_edges,               \
        .save = save_edges, .load = load_edges, .free = free_edges                                           \
    }

static const struct ct_analysis_kind count_kind = EDGE_KIND(CT_INPUT_COUNTS);
static const struct ct_analysis_kind cycle_kind = EDGE_KIND(CT_INPUT_CYCLES);

static struct ct_analysis *new_edges(const struct ct_analysis_kind *kind)
{
    struct edge_sums *e = calloc(1, sizeof *e);
    if (!e)
        abort();
    e->analysis.kind = kind;
    return &e->analysis;
}

static int part_edges(const struct ct_analysis *whole, struct ct_analysis **part)
{
    *part = new_edges(whole->kind);
    return CT_OK;
}

/* ---- runs ---- */

/* Creates an analysis that watches some addresses and everything that is no step. */
static struct ct_analysis *new_watch(void)
{
    static const char *const marks[] = {"exception", "exception-return", "context",
                                        "gap",       "overflow",         "no-access"};
    struct ct_counts *counts;
    if (ct_watch_counts_new(NULL, &counts))
        abort();
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (ct_watch_counts_add(counts, marks[i]))
            abort();
    for (unsigned i = 0; i < CODE_SIZE; i += CODE_STEP) {
        char place[16];
        snprintf(place, sizeof place, "0x%x", CODE + i);
        if (ct_watch_counts_add(counts, place))
            abort();
    }
    return ct_counts_analysis(counts);
}

/* Creates an empty analysis of one of the kinds. */
static struct ct_analysis *new_analysis(unsigned what)
{
    struct ct_counts *counts;
    if (what == 1 || what == 2)
        return new_edges(what == 1 ? &count_kind : &cycle_kind);
    if (what == 3)
        return new_watch();
    if (ct_total_counts_new(NULL, &counts))
        abort();
    return ct_counts_analysis(counts);
}

/* Decodes a capture, or with `shard` a part of it. Returns the saved result. */
static struct output run(const struct ct_capture *capture, unsigned what, struct ct_shard *shard)
{
    const struct ct_session_options options = {.size = sizeof options, .shard = shard};
    struct ct_analysis *analysis = new_analysis(what);
    struct ct_session *session;
    struct output text = {0};
    if (ct_session_new(NULL, &options, &session) || ct_session_add(session, analysis) ||
        ct_session_run(session, capture, capture->buffers, capture->buffer_count))
        abort();
    if (shard ? ct_shard_save(shard, analysis, output_append, &text)
              : ct_analysis_save(analysis, output_append, &text))
        abort();
    ct_session_free(session);
    ct_analysis_free(analysis);
    return text;
}

/* Results over all captures. */
static struct tally {
    uint64_t joined, refused;
    uint64_t seams[KINDS]; /* streams that continue in the next part, of captures that added up */
} tally;

/* Returns how many streams continue in a part. */
static uint64_t count_seams(const struct output *part)
{
    uint64_t count = 0;
    for (const char *at = part->text; (at = strstr(at, "\nfrom ")); at++)
        count++;
    return count;
}

/* Decodes a capture in parts and adds them up. Returns 0 when the result differs from the whole. */
static int check_count(const struct ct_capture *capture, unsigned what, uint32_t count,
                       const struct output *whole)
{
    struct ct_analysis *sum = new_analysis(what);
    struct ct_shard *all;
    struct output text = {0};
    uint64_t seams = 0;
    int rc = ct_shard_new(NULL, 0, count, &all);
    for (uint32_t i = 1; i <= count && !rc; i++) {
        struct ct_shard *shard;
        if (ct_shard_new(NULL, i, count, &shard))
            abort();
        struct output part = run(capture, what, shard);
        rc = ct_shard_load(all, sum, "part", part.text, part.size);
        seams += count_seams(&part);
        output_free(&part);
        ct_shard_free(shard);
    }
    rc = rc ? rc : ct_shard_end(all, sum);
    if (!rc)
        ct_analysis_save(sum, output_append, &text);
    const int same = rc || output_same(&text, whole);
    tally.joined += !rc;
    tally.seams[what] += rc ? 0 : seams;
    tally.refused += rc == CT_ERR_NOT_FOUND;
    if (!same)
        printf("# what %u, %u parts:\n%.*s# and in one:\n%.*s", what, count, (int)text.size, text.text,
               (int)whole->size, whole->text);
    output_free(&text);
    ct_shard_free(all);
    ct_analysis_free(sum);
    REQUIRE(same && (!rc || rc == CT_ERR_NOT_FOUND));
    return 1;
}

static int check_capture(const struct ct_capture *capture, struct rng *rng)
{
    int ok = 1;
    for (unsigned what = 0; what < KINDS && ok; what++) {
        struct output whole = run(capture, what, NULL);
        for (unsigned i = 0; i < 4 && ok; i++)
            ok = check_count(capture, what, 1 + rng_below(rng, SHARDS_MOST), &whole);
        output_free(&whole);
    }
    return ok;
}

static int check(uint64_t seed)
{
    static struct random_trace trace;
    struct ct_buffer buffers[BUFFERS_MOST];
    struct rng rng = {seed};
    random_trace_fill(&rng, &trace);
    const struct ct_capture capture = {.path = "random",
                                       .kind = "raw",
                                       .buffers = buffers,
                                       .buffer_count = 1 + rng_below(&rng, BUFFERS_MOST)};
    for (size_t i = 0; i < BUFFERS_MOST; i++)
        buffers[i] = trace.buffer;
    return check_capture(&capture, &rng);
}

static int check_snapshot(const struct ct_capture *capture)
{
    static struct rng rng = {1};
    return check_capture(capture, &rng);
}

static int check_corpus(const char *shared)
{
    unsigned count;
    int ok = corpus_hold(shared, check_snapshot, &count);
    if (ok < 0)
        return 1;
    ok = ok && tally.joined > 0;
    printf("1..1\n%sok 1 - the parts of captures add up # %" PRIu64 " times, and not %" PRIu64 " times\n",
           ok ? "" : "not ", tally.joined, tally.refused);
    return ok;
}

static int check_seeds(void)
{
    static const struct seeds fault = {.first = 3001, .cases = 1}; /* a seed that once found a fault */
    const char *what = "parts add up to the whole, or it is said that they do not";
    const struct seeds seeds = seeds_begin(3, test_part(100), 20000);
    int ok = seeds_hold(seeds, 1, check, 1, what);
    ok &= seeds_hold(fault, 1, check, 2, what);
    /* most captures of each kind must add up, and some must not: otherwise one of both cases is not tested */
    uint64_t seams = UINT64_MAX;
    for (unsigned i = 0; i < KINDS; i++)
        seams = tally.seams[i] < seams ? tally.seams[i] : seams;
    printf("# %" PRIu64 " captures in parts added up, at %" PRIu64
           " seams of each analysis and more, %" PRIu64 " did not\n",
           tally.joined, seams, tally.refused);
    return ok & seeds_tell(seeds.cases < 100 ||
                               (tally.joined > tally.refused && tally.refused > 0 && seams > seeds.cases / 2),
                           3, "most captures add up, and some do not");
}

int main(int argc, char **argv)
{
    return (argc > 1 ? check_corpus(argv[1]) : check_seeds()) ? 0 : 1;
}
