/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that stacks and timing, which cache what they found at an edge, equal plain ones that look up
 * everything and add up each step. Runs random paths through four functions, with calls, returns, jumps and
 * exceptions that need not match, and marks between them. */
#include <string.h>

#include "analysis/stacks.h"
#include "analysis/timing.h"
#include "support/require.h"
#include "support/seeds.h"
#include "unit/four_functions.h"

enum {
    STEPS = 300,
    MARKS = 64,
    BATCHES = 12,
    STREAMS = 2,
    SIZE = 0x20, /* of a function, in bytes */
    MOST_CALLS = 16,
};

#define EXC_RETURN 0xfffffffdu /* of the M profile, in an exception that preempted another one */

/* A stream, and two instances of each analysis of it: [0] caches, [1] is plain. */
struct stream {
    struct ct_graph *graph;
    struct ct_timing *timing[2];
    uint64_t at;
    uint64_t callers[MOST_CALLS];
    size_t depth;
};

static struct ct_program_place program; /* of all streams */

struct world {
    struct rng rng;
    struct ct_stacks *stacks[2];
    struct stream streams[STREAMS];
    bool counts; /* cycles are counted */
};

static uint64_t function_of(uint64_t addr)
{
    return addr & ~(uint64_t)(SIZE - 1);
}

static uint64_t somewhere(struct rng *rng, uint64_t function)
{
    return function + 4 * (uint64_t)rng_below(rng, SIZE / 4);
}

static uint64_t any_function(struct rng *rng)
{
    return TEXT + SIZE * (uint64_t)rng_below(rng, 5); /* the last address is in no function */
}

/* Chooses how a node ends. Returns the address of the next one. */
static uint64_t choose(struct rng *rng, struct stream *s, struct ct_node *node)
{
    const uint32_t die = rng_below(rng, 100);
    if (die < 45) { /* the next instruction, or a branch */
        node->type = die < 25 ? CT_INSN_OTHER : CT_INSN_BR;
        return die < 25 ? node->end : somewhere(rng, function_of(node->start));
    }
    if (die < 65) {
        node->type = die < 60 ? CT_INSN_BR : CT_INSN_IBR;
        node->sub = CT_INSN_SUB_LINK;
        if (s->depth < MOST_CALLS)
            s->callers[s->depth++] = node->end;
        return rng_chance(rng, 240) ? any_function(rng) : somewhere(rng, any_function(rng));
    }
    node->type = CT_INSN_IBR;
    if (die < 90) {
        node->sub = die < 88 ? CT_INSN_SUB_RET : CT_INSN_SUB_ERET;
        return s->depth && rng_chance(rng, 240) ? s->callers[--s->depth] : somewhere(rng, any_function(rng));
    }
    if (die < 95) /* a jump that returns, or a longjmp */
        return s->depth && rng_chance(rng, 128) ? s->callers[--s->depth] : somewhere(rng, any_function(rng));
    node->type = die < 98 ? CT_INSN_BR : CT_INSN_IBR; /* a tail call */
    return any_function(rng);
}

static int make_step(struct rng *rng, struct stream *s, uint32_t *number)
{
    struct ct_node node = {.start = s->at, .n = 1 + rng_below(rng, 2), .last_size = 4};
    node.last = s->at + 4 * (uint64_t)(node.n - 1);
    node.end = node.last + 4;
    struct ct_edge edge = {.exec = !rng_chance(rng, 16)};
    const uint64_t next = choose(rng, s, &node);
    edge.next = edge.exec ? next : node.end;
    node.flags = rng_chance(rng, 2) ? CT_NODE_NOPATH : 0;
    if (rng_chance(rng, 6))
        edge.kind = CT_EDGE_INTERRUPTED;
    else if (rng_chance(rng, 3))
        edge.kind = CT_EDGE_OPEN;
    s->at = edge.next;
    if (edge.kind == CT_EDGE_OPEN)
        edge.next = 0;
    if (edge.kind == CT_EDGE_INTERRUPTED && rng_chance(rng, 128))
        s->at = TEXT + 3 * SIZE;
    if (ct_graph_node(s->graph, &node, &edge.from) != CT_OK)
        return CT_ERR_NOMEM;
    return ct_graph_edge(s->graph, &edge, number);
}

static uint32_t make_cycles(struct rng *rng)
{
    if (rng_chance(rng, 40))
        return CT_STEP_NO_CYCLES;
    const uint32_t cycles = rng_chance(rng, 250) ? rng_below(rng, 12) : (uint32_t)rng_wide(rng, 30);
    const bool shared = rng_chance(rng, 100);
    return cycles | (shared ? CT_STEP_SHARED : 0) | (shared && rng_chance(rng, 80) ? CT_STEP_ENDS : 0);
}

static struct ct_step_mark make_mark(struct rng *rng, uint32_t at)
{
    static const uint8_t kinds[] = {CT_ELEM_CONTEXT, CT_ELEM_TRACE_ON, CT_ELEM_EXCEPTION, CT_ELEM_RETURN,
                                    CT_ELEM_CYCLES,  CT_ELEM_GAP,      CT_ELEM_CONTEXT,   CT_ELEM_EVENT};
    struct ct_step_mark mark = {.at = at, .kind = CT_MARK_ELEM};
    mark.elem.kind = kinds[rng_below(rng, sizeof kinds)];
    mark.elem.n = (uint8_t)rng_below(rng, 4);
    mark.elem.v = rng_below(rng, 3);
    if (mark.elem.kind == CT_ELEM_CONTEXT)
        mark.elem.aux = CT_CONTEXT_CTXT;
    if (mark.elem.kind == CT_ELEM_EXCEPTION) {
        mark.elem.n = CT_EXCEPTION_HAS_RET;
        mark.elem.v = rng_chance(rng, 32) ? EXC_RETURN : somewhere(rng, any_function(rng));
    }
    return mark;
}

static int same_slices(struct ct_stacks *const stacks[2])
{
    size_t counts[2];
    const struct ct_stack_slice *a = ct_stacks_slices(stacks[0], &counts[0]);
    const struct ct_stack_slice *b = ct_stacks_slices(stacks[1], &counts[1]);
    REQUIRE(counts[0] == counts[1] && (!counts[0] || memcmp(a, b, counts[0] * sizeof *a) == 0));
    return 1;
}

static int take_batch(struct world *w, uint32_t lane)
{
    static uint32_t edges[STEPS], cycles[STEPS];
    static struct ct_step_mark marks[MARKS];
    struct stream *s = &w->streams[lane];
    const uint32_t count = rng_below(&w->rng, STEPS);
    const uint32_t often = rng_below(&w->rng, 20);
    struct ct_step_batch batch = {.graph = s->graph, .edge = edges, .marks = marks, .count = count};
    for (uint32_t i = 0; i <= count; i++) {
        while (batch.mark_count < MARKS && rng_chance(&w->rng, often))
            marks[batch.mark_count++] = make_mark(&w->rng, i);
        REQUIRE(i == count || make_step(&w->rng, s, &edges[i]) == CT_OK);
        if (i < count)
            cycles[i] = make_cycles(&w->rng);
    }
    batch.cycles = w->counts ? cycles : NULL;
    for (int i = 0; i < 2; i++)
        REQUIRE(ct_stacks_add(w->stacks[i], lane, &batch) == CT_OK &&
                ct_timing_add(s->timing[i], &batch) == CT_OK);
    return same_slices(w->stacks);
}

static int same_stacks(struct ct_stacks *const stacks[2])
{
    size_t counts[2];
    REQUIRE(ct_stacks_finish(stacks[0]) == CT_OK && ct_stacks_finish(stacks[1]) == CT_OK);
    REQUIRE(ct_stacks_renewed(stacks[0]) == ct_stacks_renewed(stacks[1]));
    const struct ct_stack_place *places = ct_stacks_places(stacks[0], &counts[0]);
    const struct ct_stack_place *others = ct_stacks_places(stacks[1], &counts[1]);
    REQUIRE(counts[0] == counts[1] && (!counts[0] || !memcmp(places, others, counts[0] * sizeof *places)));
    const struct ct_stack_call *calls = ct_stacks_calls(stacks[0], &counts[0]);
    const struct ct_stack_call *more = ct_stacks_calls(stacks[1], &counts[1]);
    REQUIRE(counts[0] == counts[1] && (!counts[0] || !memcmp(calls, more, counts[0] * sizeof *calls)));
    return same_slices(stacks);
}

static int same_dist(const struct ct_dist *a, const struct ct_dist *b)
{
    REQUIRE(a->count == b->count && a->sum == b->sum && a->min == b->min && a->max == b->max);
    REQUIRE(a->square_lo == b->square_lo && a->square_hi == b->square_hi);
    REQUIRE(!a->histogram == !b->histogram);
    for (uint32_t i = 0; i < a->buckets || i < b->buckets; i++)
        REQUIRE((i < a->buckets ? a->histogram[i] : 0) == (i < b->buckets ? b->histogram[i] : 0));
    return 1;
}

static int same_edges(struct ct_timing *const timing[2])
{
    size_t counts[2];
    const struct ct_timing_edge *a = ct_timing_edges(timing[0], &counts[0]);
    const struct ct_timing_edge *b = ct_timing_edges(timing[1], &counts[1]);
    REQUIRE(counts[0] == counts[1]);
    for (size_t i = 0; i < counts[0]; i++)
        REQUIRE(a[i].count == b[i].count && a[i].shared == b[i].shared &&
                same_dist(&a[i].cycles, &b[i].cycles));
    return 1;
}

static int same_functions(struct ct_timing *const timing[2])
{
    size_t counts[2];
    const struct ct_timing_function *a = ct_timing_functions(timing[0], &counts[0]);
    const struct ct_timing_function *b = ct_timing_functions(timing[1], &counts[1]);
    REQUIRE(counts[0] == counts[1]);
    for (size_t i = 0; i < counts[0]; i++) {
        REQUIRE(a[i].cycles == b[i].cycles && a[i].steps == b[i].steps);
        REQUIRE(a[i].runs == b[i].runs && a[i].cut == b[i].cut);
        REQUIRE(same_dist(&a[i].inclusive, &b[i].inclusive) && same_dist(&a[i].self, &b[i].self));
        REQUIRE(same_dist(&a[i].recursive, &b[i].recursive) && same_dist(&a[i].preempted, &b[i].preempted));
    }
    return 1;
}

static int same_timing(struct ct_timing *const timing[2])
{
    const struct ct_timing_totals a = ct_timing_totals_of(timing[0]);
    const struct ct_timing_totals b = ct_timing_totals_of(timing[1]);
    REQUIRE(memcmp(&a, &b, sizeof a) == 0);
    return same_edges(timing) && same_functions(timing);
}

static int run(struct world *w)
{
    int ok = 1;
    for (int i = 0; ok && i < BATCHES; i++) {
        const uint32_t lane = rng_below(&w->rng, STREAMS);
        ok = take_batch(w, lane);
        if (ok && rng_chance(&w->rng, 64)) /* results are read while the run goes on */
            ok = same_timing(w->streams[lane].timing);
    }
    for (int i = 0; ok && i < STREAMS; i++)
        ok = same_timing(w->streams[i].timing);
    return ok && same_stacks(w->stacks);
}

static int make(struct world *w)
{
    const bool histograms = rng_chance(&w->rng, 200);
    w->counts = rng_chance(&w->rng, 220);
    for (int i = 0; i < 2; i++) {
        const struct ct_stack_options options = {
            .size = sizeof options, .programs = &program, .program_count = 1, .slices = 1};
        REQUIRE(ct_stacks_new(NULL, &options, &w->stacks[i]) == CT_OK);
        w->stacks[i]->plain = i;
    }
    for (int k = 0; k < STREAMS; k++) {
        struct stream *s = &w->streams[k];
        s->at = MAIN;
        REQUIRE(ct_graph_new(NULL, &s->graph) == CT_OK);
        for (int i = 0; i < 2; i++) {
            const struct ct_timing_options options = {.size = sizeof options,
                                                      .programs = &program,
                                                      .program_count = 1,
                                                      .no_histograms = !histograms};
            REQUIRE(ct_timing_new(NULL, &options, &s->timing[i]) == CT_OK);
            s->timing[i]->plain = i;
        }
    }
    return 1;
}

static int check(uint64_t seed)
{
    struct world w = {.rng = {seed}};
    const int ok = make(&w) && run(&w);
    for (int i = 0; i < 2; i++)
        ct_stacks_free(w.stacks[i]);
    for (int k = 0; k < STREAMS; k++) {
        for (int i = 0; i < 2; i++)
            ct_timing_free(w.streams[k].timing[i]);
        ct_graph_free(w.streams[k].graph);
    }
    return ok;
}

int main(void)
{
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    const struct seeds seeds = seeds_begin(1, 400, 40000);
    struct ct_symbols *symbols;
    elf64_build(file, four_functions, 4);
    if (ct_symbols_load_bytes(NULL, "test", file, sizeof file, 0, &symbols))
        return 1;
    program.symbols = symbols;
    const int ok = seeds_hold(seeds, 1, check, 1, "what is remembered at edges changes no stack and no time");
    ct_symbols_free(symbols);
    return ok ? 0 : 1;
}
