/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a sieve keeps what a plain reading of the whole history keeps, however the history is cut into
 * batches. Windows that meet, and contexts and levels together, have each step once. CT_SEED sets the first
 * seed, CT_COUNT the number of histories, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/filter.h"
#include "support/require.h"
#include "support/rng.h"

enum {
    NODES = 24,
    ITEMS = 300,
    BASE = 0x10000,
    CONTEXTS = 3,
};

/* ---- a history ---- */

/* A step or a mark. */
struct item {
    bool is_mark;
    uint32_t edge, cycles;
    struct ct_step_mark mark;
};

struct history {
    struct ct_graph *graph;
    uint32_t edges[NODES];
    uint32_t insns[NODES]; /* number of instructions of each edge's node */
    struct item items[ITEMS];
};

static struct ct_elem random_elem(struct rng *rng, uint64_t *ticks)
{
    static const uint8_t kinds[] = {CT_ELEM_CONTEXT,   CT_ELEM_CONTEXT, CT_ELEM_TIMESTAMP, CT_ELEM_CYCLES,
                                    CT_ELEM_EXCEPTION, CT_ELEM_RETURN,  CT_ELEM_GAP,       CT_ELEM_TRACE_ON};
    struct ct_elem elem = {.kind = kinds[rng_below(rng, sizeof kinds)]};
    switch (elem.kind) {
    case CT_ELEM_CONTEXT:
        elem.v = rng_below(rng, CONTEXTS);
        elem.n = (uint8_t)rng_below(rng, 2);
        elem.aux = CT_CONTEXT_CTXT | CT_CONTEXT_EL;
        if (rng_chance(rng, 20))
            elem.aux = (uint16_t)rng_below(rng, 16);
        break;
    case CT_ELEM_TIMESTAMP: /* timestamps may go back after a gap */
        *ticks += rng_below(rng, 30);
        elem.v = rng_chance(rng, 20) ? *ticks / 2 : *ticks;
        break;
    case CT_ELEM_CYCLES:
        elem.v = rng_below(rng, 20);
        elem.aux = rng_chance(rng, 40);
        break;
    case CT_ELEM_TRACE_ON:
        elem.n = (uint8_t)rng_below(rng, 3);
        break;
    default:
        break;
    }
    return elem;
}

static int make_history(struct history *h, struct rng *rng)
{
    uint64_t ticks = 1000;
    REQUIRE(ct_graph_new(NULL, &h->graph) == CT_OK);
    for (uint32_t i = 0; i < NODES; i++) {
        const uint64_t start = BASE + i * 16;
        const struct ct_node node = {.start = start,
                                     .last = start + 12,
                                     .end = start + 16,
                                     .n = 1 + rng_below(rng, 9),
                                     .last_size = 4,
                                     .isa = CT_ISA_A64};
        uint32_t number;
        REQUIRE(ct_graph_node(h->graph, &node, &number) == CT_OK);
        const struct ct_edge edge = {.next = BASE + rng_below(rng, NODES) * 16, .from = number, .exec = 1};
        REQUIRE(ct_graph_edge(h->graph, &edge, &h->edges[i]) == CT_OK);
        h->insns[h->edges[i]] = node.n;
    }
    for (size_t i = 0; i < ITEMS; i++) {
        struct item *item = &h->items[i];
        *item = (struct item){.is_mark = rng_chance(rng, 80),
                              .edge = h->edges[rng_below(rng, NODES)],
                              .cycles = rng_chance(rng, 30) ? CT_STEP_NO_CYCLES : rng_below(rng, 9)};
        item->mark.offset = i;
        if (item->is_mark)
            item->mark.elem = random_elem(rng, &ticks);
        if (item->is_mark && rng_chance(rng, 10))
            item->mark = (struct ct_step_mark){.offset = i, .kind = CT_MARK_NO_ACCESS, .value = i};
    }
    return 1;
}

static bool is_elem(const struct item *item, enum ct_elem_kind kind)
{
    return item->is_mark && item->mark.kind == CT_MARK_ELEM && item->mark.elem.kind == kind;
}

static uint64_t cycles_of(const struct item *item)
{
    if (item->is_mark)
        return is_elem(item, CT_ELEM_CYCLES) && !item->mark.elem.aux ? item->mark.elem.v : 0;
    return item->cycles == CT_STEP_NO_CYCLES ? 0 : item->cycles;
}

/* ---- plain reading ---- */

/* Returns the position of a stream when an item began, with the timestamp of the item itself. */
static uint64_t position(const struct history *h, size_t item, uint8_t kind)
{
    uint64_t at = 0;
    for (size_t i = 0; i <= item; i++) {
        const struct item *it = &h->items[i];
        if (kind == CT_POINT_TICKS && is_elem(it, CT_ELEM_TIMESTAMP) && it->mark.elem.v > at)
            at = it->mark.elem.v;
        if (i < item && kind == CT_POINT_CYCLES)
            at += cycles_of(it);
        if (i < item && kind == CT_POINT_INSTRUCTIONS && !it->is_mark)
            at += h->insns[it->edge];
    }
    return at;
}

/* Returns whether a step has the address of a place, a hexadecimal number. */
static bool comes_to(const struct history *h, size_t item, const char *place)
{
    uint32_t count;
    const struct ct_edge *edges = ct_graph_edges(h->graph, &count);
    const struct ct_node *nodes = ct_graph_nodes(h->graph, &count);
    const struct ct_node *node = &nodes[edges[h->items[item].edge].from];
    const uint64_t addr = strtoull(place, NULL, 16);
    return !h->items[item].is_mark && node->start <= addr && addr < node->end;
}

/* Returns the first item at or after the point. For a place without a number, visits before `since` do not
 * count. */
static size_t reach(const struct history *h, const struct ct_filter_point *point, size_t since)
{
    uint32_t times = 0;
    size_t i = 0;
    for (; i < ITEMS; i++) {
        if (point->kind != CT_POINT_PLACE && position(h, i, point->kind) >= point->value)
            break;
        if (point->kind == CT_POINT_PLACE && comes_to(h, i, point->place) &&
            (point->times ? ++times == point->times : i >= since))
            break;
    }
    return i;
}

static bool is_listed(const uint32_t *list, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return false;
}

/* Returns whether the last context up to and including an item is one that the filter wants. */
static bool is_wanted(const struct history *h, const struct ct_filter *f, size_t item)
{
    struct ct_elem context = {0};
    for (size_t i = 0; i <= item; i++)
        if (is_elem(&h->items[i], CT_ELEM_CONTEXT))
            context = h->items[i].mark.elem;
    const bool has = context.aux & CT_CONTEXT_CTXT;
    return (!f->context_count || (has && is_listed(f->contexts, f->context_count, context.v))) &&
           (!f->levels || (context.aux & CT_CONTEXT_EL && f->levels >> context.n & 1));
}

struct output {
    struct item items[ITEMS * 5];
    size_t count;
};

static void put(struct output *out, bool is_mark, const struct item *item)
{
    out->items[out->count] = *item;
    out->items[out->count++].is_mark = is_mark;
}

/* Writes what replaces the items from `begin` to `end`, which were all left out. */
static void put_left_out(const struct history *h, size_t begin, size_t end, struct output *out)
{
    struct item cycles = {.mark.elem = {.kind = CT_ELEM_CYCLES, .n = CT_CYCLES_LEFT_OUT}};
    struct item on = {.mark.elem = {.kind = CT_ELEM_TRACE_ON, .n = CT_TRACE_ON_FILTER}};
    const struct item *context = NULL;
    const struct item *timestamp = NULL;
    bool any = false;
    for (size_t i = begin; i < end; i++) {
        const struct item *it = &h->items[i];
        cycles.mark.elem.v += cycles_of(it);
        context = is_elem(it, CT_ELEM_CONTEXT) ? it : context;
        timestamp = is_elem(it, CT_ELEM_TIMESTAMP) ? it : timestamp;
        any |=
            !is_elem(it, CT_ELEM_CONTEXT) && !is_elem(it, CT_ELEM_TIMESTAMP) && !is_elem(it, CT_ELEM_CYCLES);
        if (is_elem(it, CT_ELEM_GAP) || (it->is_mark && it->mark.kind == CT_MARK_NO_ACCESS) ||
            (is_elem(it, CT_ELEM_TRACE_ON) && it->mark.elem.n != CT_TRACE_ON_FILTER))
            on.mark.elem.n = CT_TRACE_ON_DEBUG;
    }
    if (cycles.mark.elem.v)
        put(out, true, &cycles);
    if (any)
        put(out, true, &on);
    if (context)
        put(out, true, context);
    if (timestamp)
        put(out, true, timestamp);
}

static void read_plainly(const struct history *h, const struct ct_filter *f, struct output *out)
{
    const size_t begin = f->from.kind ? reach(h, &f->from, 0) : 0;
    const size_t end = f->to.kind ? reach(h, &f->to, f->from.kind ? begin + 1 : 0) : ITEMS;
    size_t pending = 0; /* the first item that was left out */
    out->count = 0;
    for (size_t i = 0; i < ITEMS; i++) {
        const struct item *it = &h->items[i];
        const bool is_state = is_elem(it, CT_ELEM_CONTEXT) || is_elem(it, CT_ELEM_TIMESTAMP);
        if (i < begin || i >= end || !is_wanted(h, f, i) || (is_state && pending < i))
            continue;
        put_left_out(h, pending, i, out);
        put(out, it->is_mark, it);
        pending = i + 1;
    }
}

/* ---- the sieve ---- */

static void take(const struct ct_step_batch *batch, struct output *out)
{
    size_t mark = 0;
    for (size_t i = 0; i <= batch->count; i++) {
        for (; mark < batch->mark_count && batch->marks[mark].at == i; mark++)
            put(out, true, &(struct item){.mark = batch->marks[mark]});
        if (i < batch->count)
            put(out, false, &(struct item){.edge = batch->edge[i], .cycles = batch->cycles[i]});
    }
}

/* Makes a batch of the next items, at most `most`. Returns their number. */
static size_t cut(const struct history *h, size_t done, size_t most, struct ct_step_batch *batch)
{
    static uint32_t edges[ITEMS], cycles[ITEMS];
    static struct ct_step_mark marks[ITEMS];
    *batch = (struct ct_step_batch){.graph = h->graph, .edge = edges, .cycles = cycles, .marks = marks};
    size_t i = done;
    for (; i < ITEMS && i < done + most; i++) {
        if (h->items[i].is_mark) {
            marks[batch->mark_count] = h->items[i].mark;
            marks[batch->mark_count++].at = (uint32_t)batch->count;
        } else {
            edges[batch->count] = h->items[i].edge;
            cycles[batch->count++] = h->items[i].cycles;
        }
    }
    return i - done;
}

/* Runs a sieve on batches of at most `most` items, or on one batch if it is 0. */
static int sift(const struct history *h, const struct ct_filter *f, struct rng *rng, uint32_t most,
                struct output *out)
{
    const struct ct_source source = {.protocol = CT_PROTOCOL_ETM4};
    const struct ct_sieve_options options = {.size = sizeof options, .filter = f, .source = &source};
    struct ct_sieve *sieve;
    REQUIRE(ct_sieve_new(NULL, &options, &sieve) == CT_OK);
    out->count = 0;
    for (size_t done = 0; done < ITEMS;) {
        struct ct_step_batch batch;
        struct ct_step_batch kept;
        done += cut(h, done, most ? 1 + rng_below(rng, most) : ITEMS, &batch);
        REQUIRE(ct_sieve_run(sieve, &batch, &kept) == CT_OK);
        take(&kept, out);
    }
    const struct ct_sieve_seen *seen = ct_sieve_seen_of(sieve);
    uint64_t steps = 0;
    for (size_t i = 0; i < out->count; i++)
        steps += !out->items[i].is_mark;
    REQUIRE(seen->kept == steps);
    REQUIRE(seen->cycles == position(h, ITEMS - 1, CT_POINT_CYCLES) + cycles_of(&h->items[ITEMS - 1]));
    ct_sieve_free(sieve);
    return 1;
}

static bool same(const struct item *a, const struct item *b)
{
    const struct ct_elem *x = &a->mark.elem;
    const struct ct_elem *y = &b->mark.elem;
    if (a->is_mark != b->is_mark)
        return false;
    if (!a->is_mark)
        return a->edge == b->edge && a->cycles == b->cycles;
    return a->mark.kind == b->mark.kind && a->mark.value == b->mark.value && x->kind == y->kind &&
           x->n == y->n && x->aux == y->aux && x->v == y->v;
}

static int compare(const struct output *a, const struct output *b)
{
    REQUIRE(a->count == b->count);
    for (size_t i = 0; i < a->count; i++)
        REQUIRE(same(&a->items[i], &b->items[i]));
    return 1;
}

/* ---- cases ---- */

static struct ct_filter_point random_point(struct rng *rng)
{
    static const char *const places[] = {"0x10010", "0x10044", "0x10168"};
    struct ct_filter_point point = {0};
    switch (rng_below(rng, 6)) {
    case 0:
        point = (struct ct_filter_point){.kind = CT_POINT_TICKS, .value = 1000 + rng_below(rng, 400)};
        break;
    case 1:
        point = (struct ct_filter_point){.kind = CT_POINT_CYCLES, .value = rng_below(rng, 900)};
        break;
    case 2:
        point = (struct ct_filter_point){.kind = CT_POINT_INSTRUCTIONS, .value = rng_below(rng, 1200)};
        break;
    case 3:
    case 4:
        point = (struct ct_filter_point){
            .kind = CT_POINT_PLACE, .place = places[rng_below(rng, 3)], .times = rng_below(rng, 6)};
        break;
    default:
        break;
    }
    return point;
}

static const uint32_t all_contexts[CONTEXTS] = {0, 1, 2};

static struct ct_filter random_filter(struct rng *rng)
{
    struct ct_filter f = {.size = sizeof f};
    if (rng_below(rng, 2)) {
        const uint32_t first = rng_below(rng, CONTEXTS);
        f.contexts = all_contexts + first;
        f.context_count = 1 + rng_below(rng, CONTEXTS - first);
    }
    f.levels = rng_below(rng, 2) ? (uint8_t)(1 + rng_below(rng, 3)) : 0;
    f.from = random_point(rng);
    f.to = random_point(rng);
    if (f.from.kind == CT_POINT_PLACE && rng_chance(rng, 60)) /* from a place to the same place */
        f.to = (struct ct_filter_point){.kind = CT_POINT_PLACE, .place = f.from.place};
    return f;
}

static struct output plain, whole, pieces;

static int is_what_plain_reading_says(const struct history *h, struct rng *rng)
{
    const struct ct_filter f = random_filter(rng);
    read_plainly(h, &f, &plain);
    return sift(h, &f, rng, 0, &whole) && compare(&plain, &whole) && sift(h, &f, rng, 9, &pieces) &&
           compare(&whole, &pieces);
}

/* Counts how often each edge was taken, and adds that to `counts`. */
static void count_edges(const struct output *out, uint64_t *counts)
{
    for (size_t i = 0; i < out->count; i++)
        counts[out->items[i].is_mark ? 0 : out->items[i].edge + 1] += !out->items[i].is_mark;
}

/* Checks that two windows with a common point are the whole, and so are one context and all others, if all
 * are known. */
static int adds_up(const struct history *h, struct rng *rng)
{
    uint64_t all[NODES + 1] = {0};
    uint64_t sum[NODES + 1] = {0};
    struct ct_filter none = {.size = sizeof none};
    struct ct_filter before = none;
    struct ct_filter after = none;
    before.to = after.from = random_point(rng);
    REQUIRE(sift(h, &none, rng, 50, &whole));
    count_edges(&whole, all);
    REQUIRE(sift(h, &before, rng, 9, &pieces));
    count_edges(&pieces, sum);
    if (before.to.kind) {
        REQUIRE(sift(h, &after, rng, 9, &pieces));
        count_edges(&pieces, sum);
    }
    REQUIRE(memcmp(all, sum, sizeof all) == 0);
    return 1;
}

int main(void)
{
    const uint64_t seed = test_number("CT_SEED", 1);
    const uint64_t cases = test_count(300, 20000);
    static struct history h;
    uint64_t done = 0;
    for (; done < cases; done++) {
        struct rng rng = {.state = seed + done};
        const int fine = make_history(&h, &rng) && is_what_plain_reading_says(&h, &rng) && adds_up(&h, &rng);
        ct_graph_free(h.graph);
        if (!fine)
            break;
    }
    printf("1..1\n%sok 1 - what a sieve keeps, seeds %" PRIu64 " to %" PRIu64 "\n",
           done < cases ? "not " : "", seed, done < cases ? seed + done : seed + cases - 1);
    return done < cases;
}
