/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that loops counted by the effects of each edge of the program graph equal those counted along the
 * control flow graph, one edge after the other. Runs random paths through random code, with exceptions and
 * other threads between that need not match. */
#include <string.h>

#include "analysis/transfer.h"
#include "analysis/wcet.h"
#include "coretap/learn.h"
#include "support/require.h"
#include "support/seeds.h"
#include "unit/elf_build.h"

enum {
    WORDS = 64, /* number of words of code */
    SIZE = 16,  /* words of a function */
    STEPS = 1500,
    MARKS = 256,
    MOST_CALLS = 16,
};

#define TEXT  UINT64_C(0x400000)
#define NOP   0xd503201f
#define BR    0xd61f0020
#define BLR   0xd63f0020
#define RET   0xd65f03c0
#define ERET  0xd69f03e0
#define BCOND 0x54000000
#define B     0x14000000
#define BL    0x94000000

struct world {
    struct rng rng;
    uint32_t code[WORDS];
    struct ct_ctx *ctx;
    struct ct_cfg *cfg;
    struct ct_graph *graph;
    struct ct_wcet *fast, *plain;
    uint32_t edges[STEPS];
    struct ct_step_mark marks[MARKS];
    uint32_t mark_count;
    uint32_t pc; /* program counter, in words */
    uint32_t callers[MOST_CALLS];
    uint32_t depth;
    uint32_t threads; /* above 3: only changes of thread come between steps */
};

/* ---- random code and random runs ---- */

static uint32_t any_function(struct rng *rng)
{
    return SIZE * rng_below(rng, WORDS / SIZE);
}

static uint32_t branch(uint32_t opcode, uint32_t from, uint32_t to)
{
    const uint32_t words = to - from;
    return opcode == BCOND ? BCOND | (words & 0x7ffff) << 5 : opcode | (words & 0x3ffffff);
}

static uint32_t make_word(struct rng *rng, uint32_t at)
{
    const uint32_t nearby = at / SIZE * SIZE + rng_below(rng, SIZE);
    const uint32_t die = rng_below(rng, 100);
    if (at % SIZE == SIZE - 1)
        return RET;
    return die < 45   ? NOP
           : die < 72 ? branch(BCOND, at, nearby)
           : die < 84 ? branch(BL, at, any_function(rng))
           : die < 87 ? branch(B, at, nearby)
           : die < 89 ? branch(B, at, any_function(rng))
           : die < 93 ? RET
           : die < 96 ? BLR
           : die < 98 ? BR
                      : ERET;
}

/* Returns where the instruction at the program counter leads when it is taken as a branch. */
static uint32_t lead(struct world *w, const struct ct_insn *insn)
{
    const uint32_t function = w->pc / SIZE * SIZE;
    if (insn->sub == CT_INSN_SUB_LINK && w->depth < MOST_CALLS)
        w->callers[w->depth++] = w->pc + 1;
    if (insn->type == CT_INSN_BR)
        return (uint32_t)((insn->target - TEXT) / 4);
    if (insn->sub == CT_INSN_SUB_LINK)
        return any_function(&w->rng);
    if (w->depth && rng_chance(&w->rng, 230))
        return w->callers[--w->depth];
    return rng_chance(&w->rng, 128) ? any_function(&w->rng) : function + rng_below(&w->rng, SIZE);
}

/* Makes the step from the program counter to the next branch. */
static int make_step(struct world *w, uint32_t *number)
{
    static const struct ct_arch arch;
    struct ct_insn insn;
    const uint32_t start = w->pc;
    for (;; w->pc++) {
        ct_insn_decode_a64(w->code[w->pc], TEXT + 4 * (uint64_t)w->pc, &arch, &insn);
        if (insn.type != CT_INSN_OTHER)
            break;
    }
    const struct ct_node node = {.start = TEXT + 4 * (uint64_t)start,
                                 .last = TEXT + 4 * (uint64_t)w->pc,
                                 .end = TEXT + 4 * (uint64_t)w->pc + 4,
                                 .n = w->pc - start + 1,
                                 .type = insn.type,
                                 .sub = insn.sub,
                                 .cond = insn.cond,
                                 .flags = rng_chance(&w->rng, 1) ? CT_NODE_NOPATH : 0,
                                 .last_size = 4};
    struct ct_edge edge = {.exec = !insn.cond || rng_chance(&w->rng, 140), .kind = CT_EDGE_NEXT};
    w->pc = edge.exec ? lead(w, &insn) : w->pc + 1;
    edge.next = TEXT + 4 * (uint64_t)w->pc;
    if (rng_chance(&w->rng, 4))
        edge.kind = CT_EDGE_INTERRUPTED;
    else if (rng_chance(&w->rng, 2))
        edge.kind = CT_EDGE_OPEN, edge.next = 0;
    REQUIRE(ct_graph_node(w->graph, &node, &edge.from) == CT_OK);
    return ct_graph_edge(w->graph, &edge, number) == CT_OK;
}

static struct ct_step_mark make_mark(struct world *w, uint32_t at)
{
    static const uint8_t kinds[] = {CT_ELEM_CONTEXT,   CT_ELEM_TRACE_ON,  CT_ELEM_EXCEPTION,
                                    CT_ELEM_EXCEPTION, CT_ELEM_EXCEPTION, CT_ELEM_RETURN,
                                    CT_ELEM_CYCLES,    CT_ELEM_GAP,       CT_ELEM_EVENT};
    struct ct_step_mark mark = {.at = at, .kind = CT_MARK_ELEM};
    mark.elem.kind = w->threads > 3 ? CT_ELEM_CONTEXT : kinds[rng_below(&w->rng, sizeof kinds)];
    mark.elem.n = (uint8_t)rng_below(&w->rng, 4);
    mark.elem.v = rng_below(&w->rng, w->threads);
    if (mark.elem.kind == CT_ELEM_CONTEXT)
        mark.elem.aux = CT_CONTEXT_CTXT;
    if (mark.elem.kind == CT_ELEM_EXCEPTION) {
        mark.elem.n = CT_EXCEPTION_HAS_RET;
        mark.elem.v = TEXT + 4 * (uint64_t)(rng_chance(&w->rng, 128) ? w->pc : rng_below(&w->rng, WORDS));
        w->pc = any_function(&w->rng);
    }
    return mark;
}

static int make_steps(struct world *w)
{
    const uint32_t often = rng_below(&w->rng, 40);
    w->threads = rng_chance(&w->rng, 230) ? 3 : 2 * CT_WCET_THREADS;
    for (uint32_t i = 0; i < STEPS; i++) {
        while (w->mark_count < MARKS && rng_chance(&w->rng, often))
            w->marks[w->mark_count++] = make_mark(w, i);
        REQUIRE(make_step(w, &w->edges[i]));
    }
    return ct_cfg_learn(w->ctx, w->cfg, w->graph, 0) == CT_OK;
}

/* ---- plain counting: one edge of the control flow graph after the other ---- */

static void count_up(uint64_t *sum, uint64_t *stamp, uint64_t now, uint64_t *most)
{
    *sum = *stamp == now ? *sum + 1 : 1;
    *stamp = now;
    *most = *sum > *most ? *sum : *most;
}

static void count_run(struct ct_wcet *p, const struct ct_cfg_edge *edge, uint32_t from)
{
    struct ct_wcet_counts *c = p->at->counts;
    if (edge->kind == CT_CFG_CALLED && c->runs && c->caller == edge->from)
        c->runs = false;
    if (edge->to != p->entry_block || (edge->kind != CT_CFG_CALL && edge->kind != CT_CFG_TAIL))
        return;
    if (p->recursive[p->entry] && from != CT_CFG_NONE && p->piece[from] == p->piece[p->entry])
        return;
    p->no_runs |= edge->kind == CT_CFG_TAIL;
    c->runs = true;
    c->caller = edge->from;
    c->run++;
}

static void count_depth(struct ct_wcet *p, const struct ct_cfg_edge *edge, uint32_t from, uint32_t to)
{
    struct ct_wcet_counts *c = p->at->counts;
    if ((edge->kind != CT_CFG_CALL && edge->kind != CT_CFG_TAIL) || to == CT_CFG_NONE || !p->recursive[to])
        return;
    const uint32_t piece = p->piece[to];
    if (!p->at->shares && (from == CT_CFG_NONE || p->piece[from] != piece))
        c->calls[piece]++;
    count_up(&c->depths[to], &c->depth_stamps[to], c->calls[piece], &p->depth_most[to]);
    if (c->runs)
        count_up(&c->run_calls[to], &c->run_call_stamps[to], c->run, &p->run_calls_most[to]);
}

static void count_nest(struct ct_wcet *p, uint32_t loop, const struct ct_cfg_loop *loops)
{
    struct ct_wcet_counts *c = p->at->counts;
    uint32_t nest = p->nest_first[loop];
    for (uint32_t a = loops[loop].parent; a != CT_CFG_NONE; a = loops[a].parent, nest++)
        count_up(&c->sums[nest], &c->stamps[nest], c->entries[a], &p->nest_most[nest]);
    if (c->runs)
        count_up(&c->run_sums[loop], &c->run_stamps[loop], c->run, &p->run_most[loop]);
}

/* Counts a round of a loop in a recursion, for the last call from outside of the recursion. */
static void count_deep_round(struct ct_wcet *p, uint32_t loop, uint32_t piece)
{
    struct ct_wcet_counts *c = p->at->counts;
    count_up(&c->rounds[loop], &c->entries[loop], c->calls[piece], &p->loops[loop].observed);
    if (c->runs)
        count_up(&c->run_sums[loop], &c->run_stamps[loop], c->run, &p->run_most[loop]);
}

static void traverse(struct ct_wcet *p, uint32_t number)
{
    size_t count;
    const struct ct_cfg_edge *edge = &ct_cfg_edges(p->cfg, &count)[number];
    const struct ct_cfg_block *blocks = ct_cfg_blocks(p->cfg, &count);
    const struct ct_cfg_loop *loops = ct_cfg_loops(p->cfg, &count);
    struct ct_wcet_counts *c = p->at->counts;
    if (edge->to == CT_CFG_NONE)
        return;
    const uint32_t innermost = blocks[edge->to].loop;
    const bool deep = innermost != CT_CFG_NONE && p->recursive[loops[innermost].function];
    count_run(p, edge, blocks[edge->from].function);
    count_depth(p, edge, blocks[edge->from].function, blocks[edge->to].function);
    for (uint32_t l = blocks[edge->to].loop; l != CT_CFG_NONE; l = loops[l].parent) {
        if (ct_wcet_enters(p, edge, l) && !p->recursive[loops[l].function] && !p->at->shares) {
            c->rounds[l] = 0;
            c->entries[l]++;
        }
        if (l == innermost && blocks[edge->to].head && !deep)
            c->rounds[l]++;
        if (c->rounds[l] > p->loops[l].observed)
            p->loops[l].observed = c->rounds[l];
    }
    if (innermost == CT_CFG_NONE || !blocks[edge->to].head)
        return;
    if (deep)
        count_deep_round(p, innermost, p->piece[loops[innermost].function]);
    else
        count_nest(p, innermost, loops);
}

static void traverse_called(struct ct_wcet *p, uint64_t next)
{
    size_t count;
    const struct ct_cfg_block *blocks = ct_cfg_blocks(p->cfg, &count);
    const struct ct_cfg_edge *edges = ct_cfg_edges(p->cfg, &count);
    const uint32_t block = ct_cfg_block_at(p->cfg, next);
    if (block == CT_CFG_NONE || blocks[block].start != next)
        return;
    uint32_t e = blocks[block].first_in;
    while (e != CT_CFG_NONE && edges[e].kind != CT_CFG_CALLED)
        e = edges[e].next_in;
    if (e != CT_CFG_NONE)
        traverse(p, e);
}

static void go_along(struct ct_wcet *p, const struct ct_node *node, const struct ct_edge *edge)
{
    size_t count;
    const struct ct_cfg_block *blocks = ct_cfg_blocks(p->cfg, &count);
    const struct ct_cfg_edge *edges = ct_cfg_edges(p->cfg, &count);
    for (uint64_t at = node->start; !(node->flags & CT_NODE_NOPATH) && at < node->end;) {
        const uint32_t block = ct_cfg_block_at(p->cfg, at);
        if (block == CT_CFG_NONE || blocks[block].end > node->end)
            return;
        at = blocks[block].end;
        const uint64_t next = at < node->end ? at : edge->kind == CT_EDGE_OPEN ? 0 : edge->next;
        const uint32_t e = ct_cfg_edge_between(p->cfg, blocks[block].last, next);
        if (e == CT_CFG_NONE)
            continue;
        traverse(p, e);
        if (next && edges[e].target != next)
            traverse_called(p, next);
    }
}

static int take_step(struct ct_wcet *p, const struct ct_node *node, const struct ct_edge *edge)
{
    const enum ct_transfer transfer = ct_transfer_of(node, edge);
    if (p->at->arrives)
        REQUIRE(ct_wcet_step_begins(p, node->start) == CT_OK);
    go_along(p, node, edge);
    p->at->next = edge->next;
    if (edge->kind != CT_EDGE_NEXT || (transfer != CT_TRANSFER_ERET && transfer != CT_TRANSFER_JUMP))
        return 1;
    return ct_wcet_step_leaves(p, transfer == CT_TRANSFER_ERET ? CT_WCET_ERET : CT_WCET_JUMPS, edge->next) ==
           CT_OK;
}

static int count_plainly(struct world *w)
{
    uint32_t count;
    const struct ct_step_batch none = {.graph = w->graph};
    const struct ct_edge *edges = ct_graph_edges(w->graph, &count);
    const struct ct_node *nodes = ct_graph_nodes(w->graph, &count);
    uint32_t mark = 0;
    REQUIRE(ct_wcet_count_loops(w->plain, 0, &none) == CT_OK);
    for (uint32_t i = 0; i < STEPS; i++) {
        for (; mark < w->mark_count && w->marks[mark].at == i; mark++)
            REQUIRE(ct_wcet_on_mark(w->plain, &w->marks[mark]) == CT_OK);
        const struct ct_edge *edge = &edges[w->edges[i]];
        REQUIRE(take_step(w->plain, &nodes[edge->from], edge));
    }
    return 1;
}

/* ---- comparison ---- */

static int count_fast(struct world *w)
{
    uint32_t mark = 0;
    for (uint32_t i = 0; i < STEPS;) {
        const uint32_t left = STEPS - i;
        const uint32_t count = 1 + rng_below(&w->rng, left < 400 ? left : 400);
        static struct ct_step_mark marks[MARKS];
        struct ct_step_batch batch = {
            .graph = w->graph, .edge = w->edges + i, .marks = marks, .count = count};
        for (; mark < w->mark_count && w->marks[mark].at < i + count; mark++) {
            marks[batch.mark_count] = w->marks[mark];
            marks[batch.mark_count++].at -= i;
        }
        REQUIRE(ct_wcet_count_loops(w->fast, 0, &batch) == CT_OK);
        i += count;
    }
    return 1;
}

static int same(const struct world *w)
{
    const struct ct_wcet *a = w->fast, *b = w->plain;
    size_t functions;
    ct_cfg_functions(w->cfg, &functions);
    REQUIRE(a->loop_count == b->loop_count && a->no_runs == b->no_runs);
    for (size_t l = 0; l < a->loop_count; l++)
        REQUIRE(a->loops[l].observed == b->loops[l].observed);
    REQUIRE(!memcmp(a->run_most, b->run_most, a->loop_count * sizeof *a->run_most));
    REQUIRE(!memcmp(a->nest_most, b->nest_most, a->nest_first[a->loop_count] * sizeof *a->nest_most));
    REQUIRE(!memcmp(a->depth_most, b->depth_most, functions * sizeof *a->depth_most));
    REQUIRE(!memcmp(a->run_calls_most, b->run_calls_most, functions * sizeof *a->run_calls_most));
    return 1;
}

static int make(struct world *w)
{
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    static const char *const names[] = {"main", "work", "leaf", "more"};
    struct test_symbol symbols[WORDS / SIZE];
    for (uint32_t i = 0; i < WORDS / SIZE; i++)
        symbols[i] = (struct test_symbol){.name = names[i],
                                          .value = TEXT + (uint64_t)i * SIZE * 4,
                                          .size = SIZE * 4,
                                          .type = STT_FUNC,
                                          .bind = STB_GLOBAL,
                                          .section = 1};
    for (uint32_t i = 0; i < WORDS; i++)
        w->code[i] = make_word(&w->rng, i);
    elf64_build(file, symbols, WORDS / SIZE);
    memcpy(file + ELF_TEXT, w->code, sizeof w->code);
    ((Elf64_Ehdr *)file)->e_entry = TEXT;
    w->ctx = ct_ctx_new();
    REQUIRE(ct_cfg_load_bytes(w->ctx, "test", file, sizeof file, NULL, &w->cfg) == CT_OK);
    REQUIRE(ct_graph_new(w->ctx, &w->graph) == CT_OK && make_steps(w));
    const uint32_t entry = ct_cfg_function_at(w->cfg, TEXT + 4 * (uint64_t)any_function(&w->rng));
    struct ct_wcet **both[] = {&w->fast, &w->plain};
    for (int i = 0; i < 2; i++) {
        REQUIRE(ct_wcet_new(w->ctx, w->cfg, NULL, both[i]) == CT_OK);
        ct_wcet_tell_runs_of(*both[i], entry);
    }
    return 1;
}

static int check(uint64_t seed)
{
    struct world w = {.rng = {seed}};
    const int ok = make(&w) && count_fast(&w) && count_plainly(&w) && same(&w);
    ct_wcet_free(w.fast);
    ct_wcet_free(w.plain);
    ct_graph_free(w.graph);
    ct_cfg_free(w.cfg);
    ct_ctx_free(w.ctx);
    return ok;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(1, 300, 30000);
    const int ok =
        seeds_hold(seeds, 1, check, 1, "loops are counted as edge after edge of the control flow graph");
    return ok ? 0 : 1;
}
