/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the fast walk along the binary equals the plain one: same steps, marks and graph, and the same
 * counts by context, for any elements, however they are cut. CT_SEED sets the first seed, CT_COUNT the number
 * of streams, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain/stream.h"
#include "flow/fast.h"
#include "support/code_gen.h"
#include "support/damage.h"
#include "support/etm4_gen.h"
#include "support/seeds.h"
#include "support/v7_gen.h"
#include "coretap/decode.h"

enum {
    STREAM = 600,
    ROOM = STREAM * 28,
    CODE = 8192,
    BASE = 0x40000,
    ELEMS = 100000,
    STEPS = 400000,
    MARKS = 100000,
    MEMORIES = 3,
};

struct input {
    struct ct_source source;
    struct ct_memory *memories[MEMORIES]; /* with different code at the same addresses */
    unsigned switch_rate; /* elements between changes of the memory; 0: only the first memory is used */
    uint8_t bytes[ROOM];
    size_t size;
    struct ct_elem elems[ELEMS];
    size_t count;
};

/* Returns the number of the memory for an element. */
static uint32_t memory_at(const struct input *in, size_t elem)
{
    return in->switch_rate
               ? (uint32_t)(elem / in->switch_rate * UINT64_C(0x9e3779b97f4a7c15) >> 40) % MEMORIES
               : 0;
}

/* Returns how many elements from `done` on have the same memory, at most `most`. */
static size_t same_memory(const struct input *in, size_t done, size_t most)
{
    size_t n = 1;
    while (n < most && done + n < in->count && memory_at(in, done + n) == memory_at(in, done))
        n++;
    return n;
}

struct output {
    uint32_t edge[STEPS], cycles[STEPS];
    size_t count;
    struct ct_step_mark marks[MARKS];
    size_t mark_count;
    const struct ct_graph *graph;
    struct ct_edges *edges;
};

/* Makes ETMv4 or ETE trace that a trace unit might emit, or the same with damage. */
static int fill_etm4(struct rng *rng, struct input *in, enum ct_isa *isa)
{
    struct gen_region region = {.addr = BASE, .size = CODE};
    gen_source(rng, rng_chance(rng, 128) ? GEN_UNSPECULATED : GEN_DECODABLE, &in->source);
    int m = in->source.arch.profile == CT_PROFILE_M, sf = !m && rng_chance(rng, 160),
        thumb = m || (!sf && rng_below(rng, 2));
    region.is = (uint8_t)thumb;
    region.sf = (uint8_t)sf;
    *isa = sf ? CT_ISA_A64 : thumb ? CT_ISA_T32 : CT_ISA_A32;
    in->size = gen_trace(rng, &in->source, &region, 1, STREAM, in->bytes, ROOM);
    return in->size > 0;
}

static int fill_v7(struct rng *rng, struct input *in, enum ct_isa *isa)
{
    struct v7_place place = {.addr = BASE, .size = CODE, .thumb = (int)rng_below(rng, 2)};
    in->source = v7_gen_source(rng, rng_chance(rng, 180) ? CT_PROTOCOL_PTM : CT_PROTOCOL_ETM3);
    *isa = place.thumb ? CT_ISA_T32 : CT_ISA_A32;
    in->size = v7_gen(rng, &in->source, &place, STREAM, in->bytes);
    return 1;
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct input *in = user;
    (void)stream;
    for (size_t i = 0; i < batch->count && in->count < ELEMS; i++)
        in->elems[in->count++] = batch->elems[i];
    return 0;
}

/* Decodes the bytes to elements. */
static int resolve(struct input *in)
{
    static struct ct_batches batches;
    struct ct_stream_chain chain;
    struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
    struct ct_chain_sink sink = {.user = in, .elems = on_elems};
    struct ct_span span = {0};
    struct ct_run run = {.data = in->bytes, .size = in->size, .spans = &span, .span_count = 1};
    size_t used;
    int rc = ct_stream_chain_init(&chain, NULL, &in->source, 0x10, &options, false, NULL);
    if (!rc)
        rc = ct_stream_chain_run(&chain, &run, CT_BEHIND_END, CT_LEVEL_ELEMENT, &batches, &sink, &used);
    ct_stream_chain_deinit(&chain);
    return !rc;
}

/* Repeats the atoms of a stretch, for loops and calls that a random stream rarely makes. */
static void repeat(struct rng *rng, struct input *in)
{
    static struct ct_elem copy[64];
    for (unsigned times = rng_below(rng, 12); times && in->count > 80; times--) {
        size_t length = 1 + rng_below(rng, 12), at = rng_below(rng, (uint32_t)(in->count - length));
        unsigned copies = 1 + rng_below(rng, 6);
        if (in->count + copies * length > ELEMS)
            return;
        memcpy(copy, in->elems + at, length * sizeof *copy);
        memmove(in->elems + at + copies * length, in->elems + at, (in->count - at) * sizeof *copy);
        for (unsigned i = 0; i < copies; i++)
            memcpy(in->elems + at + i * length, copy, length * sizeof *copy);
        in->count += copies * length;
    }
    for (size_t i = 0; i < in->count; i++)
        if (in->elems[i].kind == CT_ELEM_ATOMS && rng_chance(rng, 30) &&
            !(in->elems[i].aux & CT_ATOMS_INSN)) {
            in->elems[i].n = (uint8_t)rng_below(rng, 33);
            in->elems[i].v = rng_next(rng);
            in->elems[i].v |= rng_next(rng);
            in->elems[i].v &= (UINT64_C(1) << in->elems[i].n) - 1;
        }
}

static int fill(struct rng *rng, struct input *in)
{
    static uint8_t code[(MEMORIES + 1) * CODE];
    enum ct_isa isa;
    in->size = in->count = 0;
    if (!(rng_chance(rng, 150) ? fill_etm4(rng, in, &isa) : fill_v7(rng, in, &isa)))
        return 0;
    if (rng_chance(rng, 60))
        in->size = damage(rng, in->bytes, in->size, ROOM);
    code_fill(rng, isa, code, CODE);
    in->switch_rate = rng_chance(rng, 128) ? 0 : 1 + rng_below(rng, 60);
    for (unsigned i = 0; i < MEMORIES; i++) {
        if (ct_memory_new(NULL, &in->memories[i]) ||
            ct_memory_add_bytes(in->memories[i], code + i * CODE, CODE, BASE, CT_SPACE_ANY))
            return 0;
        /* The next memory has different code in a part, or everywhere. */
        memcpy(code + (i + 1) * CODE, code + i * CODE, CODE);
        size_t at = rng_below(rng, CODE / 64) * 64;
        code_fill(rng, isa, code + (i + 1) * CODE + at, CODE - at);
    }
    if (!resolve(in))
        return 0;
    if (rng_chance(rng, 160))
        repeat(rng, in);
    return 1;
}

static void take(struct output *out, const struct ct_step_batch *batch)
{
    for (size_t i = 0; i < batch->mark_count && out->mark_count < MARKS; i++) {
        out->marks[out->mark_count] = batch->marks[i];
        out->marks[out->mark_count++].at += (uint32_t)out->count;
    }
    for (size_t i = 0; i < batch->count && out->count < STEPS; i++, out->count++) {
        out->edge[out->count] = batch->edge[i];
        out->cycles[out->count] = batch->cycles ? batch->cycles[i] : 0;
    }
    struct ct_step_batch counted = *batch;
    counted.cycles = NULL;
    ct_edges_add(out->edges, &counted);
}

static int run_plain(const struct input *in, struct ct_steps **steps, struct output *out)
{
    static struct ct_flow records[256];
    struct ct_walk_options options = {.size = sizeof options, .split_source_ranges = 1};
    struct ct_walk *walk = NULL;
    struct ct_step_batch batch;
    int rc = ct_steps_new(NULL, &in->source, steps);
    if (!rc)
        rc = ct_walk_new(NULL, &in->source, in->memories[0], &options, &walk);
    for (size_t done = 0; !rc && done < in->count;) {
        size_t count, size = same_memory(in, done, in->count - done);
        ct_walk_set_memory(walk, in->memories[memory_at(in, done)]);
        ct_steps_set_memory(*steps, memory_at(in, done));
        done += ct_walk_run(walk, in->elems + done, size, in->size, records, 256, &count);
        for (size_t at = 0, taken; !rc && at < count; at += taken) {
            rc = ct_steps_run(*steps, records + at, count - at, &taken, &batch);
            take(out, &batch);
        }
    }
    ct_walk_free(walk);
    if (rc)
        return 0;
    ct_steps_flush(*steps, &batch);
    take(out, &batch);
    out->graph = ct_steps_graph(*steps);
    return 1;
}

static int run_fast(const struct input *in, struct rng *rng, int counts, struct ct_fast **fast,
                    struct output *out)
{
    struct ct_fast_options options = {
        .size = sizeof options, .split_source_ranges = 1, .counts = counts ? out->edges : NULL};
    struct ct_step_batch batch;
    unsigned most = rng_chance(rng, 128) ? 8 : 5000;
    int rc = ct_fast_new(NULL, &in->source, in->memories[0], &options, fast);
    for (size_t done = 0; !rc && done < in->count;) {
        size_t size = same_memory(in, done, 1 + rng_below(rng, most)), taken;
        rc = ct_fast_set_memory(*fast, in->memories[memory_at(in, done)], memory_at(in, done));
        if (rc)
            break;
        if (rng_chance(rng, 64))
            ct_fast_tune(*fast, rng_below(rng, 1000));
        rc = ct_fast_run(*fast, in->elems + done, size, in->size, &taken, &batch);
        take(out, &batch);
        done += taken;
        if (!rc && rng_chance(rng, 4)) {
            rc = ct_fast_flush(*fast, &batch);
            take(out, &batch);
        }
    }
    if (rc || ct_fast_flush(*fast, &batch))
        return 0;
    take(out, &batch);
    out->graph = ct_fast_graph(*fast);
    return 1;
}

static void show(const struct ct_step_mark *m)
{
    printf("#   before step %" PRIu32 ": kind %u, element %u n %u aux %u v 0x%" PRIx64 ", value 0x%" PRIx64
           ", isa %u, n %u, offset %" PRIu64 "\n",
           m->at, m->kind, m->elem.kind, m->elem.n, m->elem.aux, m->elem.v, m->value, m->isa, m->n,
           m->offset);
}

static int same_marks(const struct output *a, const struct output *b)
{
    for (size_t i = 0; i < a->mark_count && i < b->mark_count; i++)
        if (memcmp(&a->marks[i], &b->marks[i], sizeof *a->marks) != 0) {
            printf("# mark %zu of %zu and %zu\n", i, a->mark_count, b->mark_count);
            show(&a->marks[i]);
            show(&b->marks[i]);
            return 0;
        }
    return a->mark_count == b->mark_count;
}

static int same_bytes(const char *what, const void *a, size_t a_count, const void *b, size_t b_count,
                      size_t size)
{
    const uint8_t *x = a, *y = b;
    size_t i = 0;
    while (i < a_count && i < b_count && !memcmp(x + i * size, y + i * size, size))
        i++;
    if (i == a_count && i == b_count)
        return 1;
    printf("# %s %zu of %zu and %zu\n", what, i, a_count, b_count);
    return 0;
}

static int same_graph(const struct ct_graph *a, const struct ct_graph *b)
{
    uint32_t m, n;
    const struct ct_node *nodes = ct_graph_nodes(a, &m), *others = ct_graph_nodes(b, &n);
    if (!same_bytes("node", nodes, m, others, n, sizeof *nodes))
        return 0;
    const struct ct_edge *edges = ct_graph_edges(a, &m), *other_edges = ct_graph_edges(b, &n);
    return same_bytes("edge", edges, m, other_edges, n, sizeof *edges);
}

static int same_counts(const struct output *a, const struct output *b)
{
    size_t m, n;
    uint32_t count;
    const struct ct_edge_context *x = ct_edges_contexts(a->edges, &m), *y = ct_edges_contexts(b->edges, &n);
    if (!same_bytes("context", x, m, y, n, sizeof *x))
        return 0;
    ct_graph_edges(a->graph, &count);
    for (size_t c = 0; c < m; c++)
        for (uint32_t i = 0; i < count; i++)
            if (ct_edges_get(a->edges, c, i).count != ct_edges_get(b->edges, c, i).count) {
                printf("# edge %" PRIu32 " in context %zu: %" PRIu64 " and %" PRIu64 "\n", i, c,
                       ct_edges_get(a->edges, c, i).count, ct_edges_get(b->edges, c, i).count);
                return 0;
            }
    return 1;
}

static int begin(struct output *out)
{
    out->count = out->mark_count = 0;
    return !ct_edges_new(NULL, NULL, &out->edges);
}

static uint64_t steps;

static int check(uint64_t seed)
{
    static struct input in;
    static struct output plain, fast, counts;
    struct rng rng = {seed};
    struct ct_steps *p = NULL;
    struct ct_fast *f = NULL, *g = NULL;
    if (!fill(&rng, &in) || !begin(&plain) || !begin(&fast) || !begin(&counts))
        return 0;
    int ok = run_plain(&in, &p, &plain) && run_fast(&in, &rng, 0, &f, &fast) &&
             run_fast(&in, &rng, 1, &g, &counts);
    ok = ok && same_bytes("step", plain.edge, plain.count, fast.edge, fast.count, sizeof *plain.edge) &&
         same_bytes("cycles", plain.cycles, plain.count, fast.cycles, fast.count, sizeof *plain.cycles) &&
         same_marks(&plain, &fast) && same_graph(plain.graph, fast.graph) &&
         same_graph(plain.graph, counts.graph) && same_counts(&plain, &fast) && same_counts(&plain, &counts);
    steps += plain.count;
    ct_edges_free(plain.edges);
    ct_edges_free(fast.edges);
    ct_edges_free(counts.edges);
    ct_steps_free(p);
    ct_fast_free(f);
    ct_fast_free(g);
    for (unsigned i = 0; i < MEMORIES; i++)
        ct_memory_free(in.memories[i]);
    return ok;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(1, 400, 100000);
    const int ok = seeds_hold(seeds, 1, check, 1, "the fast way says what the plain one says");
    printf("# %" PRIu64 " steps\n", steps);
    return ok ? 0 : 1;
}
