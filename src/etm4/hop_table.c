/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/hop_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/table_memory.h"
#include "flow/edge_table.h"
#include "flow/step_builder.h"

#define FIRST_STATES  1024u
#define FIRST_RECORDS (UINT32_C(1) << 16)

/* most states, and most words of records; beyond either, the tables are cleared */
#define STATES_MAX  (UINT32_C(1) << 20)
#define RECORDS_MAX (UINT32_C(1) << 23)

/* most atoms of a hop (an atom packet has 24), and most words of its record */
#define ATOMS_MAX  (CT_HOP_BYTES * 24)
#define RECORD_MAX (2 * ATOMS_MAX + HEAD_WORDS)

/* Indices into a record: the number of steps that the hop counts, their instructions and taken branches,
 * their context, the state that the hop leads to, its bytes, and how often it was counted. Behind HEAD_WORDS
 * come the numbers of the edges and, with cycles, the instructions of each step. Without cycles, a hop counts
 * the steps whose edges it settles: the one before its first step, and all of its own but the last. With
 * cycles it counts its own steps; the edge of the last one is known to the state that the hop leads to. */
enum {
    STEPS,
    INSNS,
    BRANCHES,
    CONTEXT,
    NEXT,
    BYTES,
    SIZE = BYTES + CT_HOP_BYTES / 4,
    HIT_COUNT,
    HEAD_WORDS = HIT_COUNT + 2
};

static void empty_quick(struct ct_hops *h)
{
    for (size_t i = 0; i < (size_t)1 << CT_QUICK_SHIFT; i++)
        h->quick[i] = (struct ct_quick_hop){.key = CT_HOP_EMPTY};
}

void ct_hops_init(struct ct_hops *h, struct ct_ctx *ctx, struct ct_fast *fast, struct ct_etm4_burst *burst)
{
    *h = (struct ct_hops){.ctx = ctx,
                          .blocks = ct_fast_blocks(fast),
                          .edges = ct_fast_edges(fast),
                          .sums = ct_fast_own_sums(fast),
                          .burst = burst,
                          .reader = *burst,
                          .timed = ct_fast_counts_cycles(fast),
                          .enough = UINT64_MAX,
                          .state_count = 1,
                          .record_size = 1};
}

static void free_tables(struct ct_hops *h)
{
    free(h->quick);
    free(h->quick_records);
    free(h->quick_cycles);
    free(h->wide);
    free(h->wide_records);
    free(h->cycle_table);
    free(h->heads);
    if (h->states)
        ct_array_free(h->states, h->state_cap, sizeof *h->states);
    if (h->records)
        ct_array_free(h->records, h->record_cap, sizeof *h->records);
}

int ct_hops_have_tables(struct ct_hops *h)
{
    if (h->quick)
        return CT_OK;
    struct ct_hops t = *h;
    t.state_cap = FIRST_STATES;
    t.record_cap = FIRST_RECORDS;
    t.quick = ct_table_memory((size_t)1 << CT_QUICK_SHIFT, sizeof *t.quick);
    t.quick_records = ct_table_memory((size_t)1 << CT_QUICK_SHIFT, sizeof *t.quick_records);
    t.wide = ct_table_memory((size_t)1 << CT_WIDE_SHIFT, sizeof *t.wide);
    t.wide_records = ct_table_memory((size_t)1 << CT_WIDE_SHIFT, sizeof *t.wide_records);
    if (t.timed)
        t.quick_cycles = ct_table_memory((size_t)1 << CT_QUICK_SHIFT, sizeof *t.quick_cycles);
    if (t.timed)
        t.cycle_table = ct_table_memory((size_t)1 << CT_CYCLES_SHIFT, sizeof *t.cycle_table);
    t.states = ct_array_grow(NULL, 0, FIRST_STATES, sizeof *t.states);
    t.heads = calloc(FIRST_STATES * 2, sizeof *t.heads);
    t.records = ct_array_grow(NULL, 0, FIRST_RECORDS, sizeof *t.records);
    if (t.quick && t.quick_records && t.wide && t.wide_records &&
        ((t.cycle_table && t.quick_cycles) || !t.timed) && t.states && t.heads && t.records) {
        *h = t;
        empty_quick(h);
        return CT_OK;
    }
    free_tables(&t);
    return ct_fail_nomem(h->ctx, "hops");
}

void ct_hops_deinit(struct ct_hops *h)
{
    free_tables(h);
    *h = (struct ct_hops){0};
}

/* ---- states ---- */

static uint32_t *head_of(const struct ct_hops *h, const uint64_t recent_addresses[3], uint32_t last)
{
    uint64_t x = last;
    for (int i = 0; i < 3; i++) {
        x = (x ^ recent_addresses[i]) * UINT64_C(0x9e3779b97f4a7c15);
        x ^= x >> 29;
    }
    return &h->heads[x & (h->state_cap * 2 - 1)];
}

static bool grow_states(struct ct_hops *h)
{
    uint32_t cap = h->state_cap * 2;
    uint32_t *heads = ct_table_memory((size_t)cap * 2, sizeof *heads);
    struct ct_hop_state *states = heads ? ct_array_grow(h->states, h->state_cap, cap, sizeof *states) : NULL;
    if (!states) {
        free(heads);
        h->error = ct_fail_nomem(h->ctx, "hops");
        return false;
    }
    free(h->heads);
    h->states = states;
    h->heads = heads;
    h->state_cap = cap;
    for (uint32_t i = 1; i < h->state_count; i++) {
        uint32_t *head = head_of(h, states[i].recent_addresses, states[i].last);
        states[i].next_same = *head;
        *head = i;
    }
    return true;
}

uint32_t ct_hops_state(struct ct_hops *h, const uint64_t recent_addresses[3], uint32_t last, uint32_t cur)
{
    for (uint32_t i = *head_of(h, recent_addresses, last); i; i = h->states[i].next_same) {
        const struct ct_hop_state *s = &h->states[i];
        if (s->last == last && s->recent_addresses[0] == recent_addresses[0] &&
            s->recent_addresses[1] == recent_addresses[1] && s->recent_addresses[2] == recent_addresses[2])
            return i;
    }
    if (h->state_count == h->state_cap && !grow_states(h))
        return 0;
    uint32_t *head = head_of(h, recent_addresses, last);
    uint32_t number = h->state_count++;
    h->states[number] = (struct ct_hop_state){
        .recent_addresses = {recent_addresses[0], recent_addresses[1], recent_addresses[2]},
        .last = last,
        .cur = cur,
        .next_same = *head,
        .edge = CT_NO_NUMBER};
    return *head = number;
}

/* ---- making hops ---- */

/* A hop while it is made. */
struct trip {
    uint32_t block; /* block of the last step */
    unsigned exec;
    uint32_t cur;
    bool have_addr;
    uint8_t isa;
    uint64_t addr;
    unsigned steps;
    uint32_t edges;
    uint32_t first_edge; /* edge of the step before the first one */
    uint32_t *record;
    uint32_t *insns; /* number of instructions of each step */
};

static bool is_indirect(const struct ct_blocks *b, const struct trip *t)
{
    return t->exec && b->blocks[t->block].flags & CT_BLOCK_INDIRECT;
}

/* Makes the reader read packets as in 64-bit state or as in 32-bit state. The current state of decoder and
 * walk may differ, since a context may have come meanwhile, and must not matter when a hop is made again to
 * be undone. */
static void read_as(struct ct_hops *h, bool sf)
{
    if (h->reader.sf != sf)
        ct_etm4_burst_set_sf(&h->reader, sf);
}

/* Returns the instruction set at an address whose bit 0 is `is`, in the state in which packets are read. */
static uint8_t isa_of(const struct ct_hops *h, unsigned is)
{
    return h->reader.sf ? CT_ISA_A64 : is ? CT_ISA_T32 : CT_ISA_A32;
}

/* Returns the pair of an indirect branch and its target, or NULL when there is none, or when it is new and
 * nothing new may be made. */
static struct ct_branch_target *pair_of(struct ct_hops *h, const struct trip *t)
{
    struct ct_blocks *b = h->blocks;
    struct ct_branch_target *pair = NULL;
    if (t->have_addr)
        pair = h->known_only ? ct_blocks_known_pair(b, t->block, t->addr, t->isa)
                             : ct_blocks_pair(b, t->block, t->addr, t->isa);
    return pair && pair->next ? pair : NULL;
}

/* Moves from the last step to the next block, and sets *edge to the number of the edge between. Returns false
 * when a hop cannot do that. */
static bool turn(struct ct_hops *h, struct trip *t, unsigned executed, uint32_t *edge)
{
    struct ct_blocks *b = h->blocks;
    if (is_indirect(b, t)) {
        struct ct_branch_target *pair = pair_of(h, t);
        if (!pair || ct_block_contradicts(&b->blocks[pair->next], executed))
            return false;
        t->cur = pair->next;
        *edge = ct_pair_edge(b, pair);
    } else {
        const struct ct_block *cur = &b->blocks[t->cur];
        if (!t->cur || ct_block_contradicts(cur, executed) ||
            (t->have_addr && (cur->addr != t->addr || cur->isa != t->isa)))
            return false;
        if (h->known_only && b->blocks[t->block].edge[t->exec] == CT_NO_NUMBER)
            return false;
        *edge = ct_block_edge(b, t->block, t->exec);
    }
    t->have_addr = false;
    return true;
}

/* Adds the last step, which ran t->block, to the steps that the hop counts. */
static void add_step(const struct ct_hops *h, struct trip *t)
{
    const struct ct_block *block = &h->blocks->blocks[t->block];
    uint32_t *r = t->record;
    if (h->timed)
        t->insns[r[STEPS]] = block->n;
    r[STEPS]++;
    r[INSNS] += block->n;
    r[BRANCHES] += t->exec && block->flags & CT_BLOCK_BRANCH;
}

/* Returns whether such a step of the block was made before, so that making it again meets nothing new. */
static bool is_known(const struct ct_blocks *b, uint32_t number, unsigned executed)
{
    const struct ct_block *block = &b->blocks[number];
    return block->node != CT_NO_NUMBER &&
           (block->next[executed] || (executed && block->flags & CT_BLOCK_INDIRECT));
}

/* Executes the current block. Returns false when a hop cannot do that. */
static bool execute(struct ct_hops *h, struct trip *t, unsigned executed)
{
    struct ct_blocks *b = h->blocks;
    if (h->known_only && !is_known(b, t->cur, executed))
        return false;
    ct_block_node(b, t->cur);
    t->block = t->cur;
    t->exec = executed;
    if (h->timed)
        add_step(h, t);
    t->cur = is_indirect(b, t) ? 0 : ct_blocks_link(b, t->block, executed);
    return !b->error && (t->cur || is_indirect(b, t));
}

static bool step(struct ct_hops *h, struct trip *t, unsigned executed)
{
    uint32_t edge;
    if (!turn(h, t, executed, &edge))
        return false;
    if (!t->steps++)
        t->first_edge = edge;
    if (!h->timed)
        add_step(h, t);
    if (!h->timed || t->steps > 1)
        t->record[HEAD_WORDS + t->edges++] = edge;
    return execute(h, t, executed);
}

static bool follow(struct ct_hops *h, struct trip *t, const struct ct_elem *elem)
{
    if (elem->kind == CT_ELEM_ADDRESS) {
        if (t->have_addr)
            return false; /* two addresses in a row: the elements decide whether both are the same */
        t->addr = elem->v;
        t->isa = isa_of(h, elem->n);
        t->have_addr = true;
        return true;
    }
    for (unsigned i = 0; i < elem->n; i++)
        if (!step(h, t, elem->v >> i & 1))
            return false;
    return true;
}

/* Decodes the packets of a hop to elements and returns their number. */
static size_t read_packets(struct ct_hops *h, const void *bytes, unsigned size, uint8_t *data,
                           struct ct_elem *elems)
{
    size_t count;
    memset(data, 0, CT_HOP_BYTES + CT_ETM4_BURST_AHEAD);
    memcpy(data, bytes, CT_HOP_BYTES);
    ct_etm4_burst_elems(&h->reader, data, size + CT_ETM4_BURST_AHEAD, 0, elems, CT_HOP_BYTES, &count);
    return count;
}

static uint64_t two_words(const uint32_t *words)
{
    uint64_t two;
    memcpy(&two, words, sizeof two);
    return two;
}

/* Returns the statistics of an edge that was taken `times` times, in `cycles` each. */
static struct ct_edge_stats stats_of(uint32_t cycles, uint64_t times)
{
    __extension__ typedef unsigned __int128 wide;
    const uint32_t x = cycles & CT_STEP_CYCLES;
    const wide square = (wide)((uint64_t)x * x) * times;
    return (struct ct_edge_stats){.count = times,
                                  .timed = times,
                                  .sum = times * x,
                                  .square_lo = (uint64_t)square,
                                  .square_hi = (uint64_t)(square >> 64),
                                  .min = x,
                                  .max = x};
}

static void spend_cycles(struct ct_hops *h, const uint32_t *r, uint32_t cycles, uint64_t times)
{
    const uint32_t steps = r[STEPS];
    const uint32_t *edges = r + HEAD_WORDS;
    const uint32_t *insns = edges + steps - 1;
    uint32_t parts[ATOMS_MAX];
    ct_step_split(parts, insns, steps, r[INSNS], cycles);
    for (uint32_t i = 0; i < steps && !h->error; i++) {
        const struct ct_edge_stats stats = stats_of(parts[i], times);
        const uint32_t edge = i + 1 < steps ? edges[i] : h->states[r[NEXT]].edge;
        h->error = ct_edges_add_at(h->edges, r[CONTEXT], edge, &stats);
    }
}

/* Adds to the sums what the steps of a hop count besides their edges. */
static void spend_sums(struct ct_hops *h, const uint32_t *r, uint64_t times)
{
    uint8_t data[CT_HOP_BYTES + CT_ETM4_BURST_AHEAD];
    struct ct_elem elems[CT_HOP_BYTES];
    struct ct_flow_sums *sums = h->sums;
    sums->ranges += times * r[STEPS];
    sums->instructions += times * r[INSNS];
    sums->branches += times * r[BRANCHES];
    size_t count = read_packets(h, r + BYTES, r[SIZE], data, elems);
    for (size_t i = 0; i < count; i++)
        h->burst->packets[data[elems[i].pos]] += times;
    h->elements += times * count;
}

static void spend_counts(struct ct_hops *h, const uint32_t *r, uint64_t times)
{
    const struct ct_edge_stats stats = {.count = times};
    for (uint32_t i = 0; i < r[STEPS] && !h->error; i++)
        h->error = ct_edges_add_at(h->edges, r[CONTEXT], r[HEAD_WORDS + i], &stats);
}

void ct_hops_spend(struct ct_hops *h, uint32_t record, uint32_t cycles, uint64_t times)
{
    uint32_t *r = &h->records[record];
    if (!times)
        return;
    if (h->timed) {
        spend_cycles(h, r, cycles, times);
        spend_sums(h, r, times);
        return;
    }
    times += two_words(r + HIT_COUNT);
    memcpy(r + HIT_COUNT, &times, sizeof times);
}

/* Adds the counts of all records to the edges; used without cycles. */
static void spend_records(struct ct_hops *h)
{
    const uint64_t none = 0;
    for (uint32_t at = 1; at < h->record_size && !h->error; at += HEAD_WORDS + h->records[at + STEPS]) {
        uint32_t *r = &h->records[at];
        const uint64_t times = two_words(r + HIT_COUNT);
        if (!times)
            continue;
        spend_counts(h, r, times);
        spend_sums(h, r, times);
        memcpy(r + HIT_COUNT, &none, sizeof none);
    }
}

static bool have_room(struct ct_hops *h)
{
    if (h->record_size + RECORD_MAX <= h->record_cap)
        return true;
    uint32_t *records = ct_array_grow(h->records, h->record_cap, h->record_cap * 2, sizeof *records);
    if (!records) {
        h->error = ct_fail_nomem(h->ctx, "hops");
        return false;
    }
    h->records = records;
    h->record_cap *= 2;
    return true;
}

/* Completes the record of a hop that was made, and returns its place. */
static uint32_t finish(struct ct_hops *h, const struct ct_hop *hop, const struct trip *t, unsigned size)
{
    uint32_t *r = t->record;
    uint32_t used = HEAD_WORDS + t->edges;
    r[NEXT] = hop->next;
    memcpy(r + BYTES, &hop->bytes, sizeof hop->bytes);
    r[SIZE] = size;
    if (h->timed) {
        memcpy(r + used, t->insns, r[STEPS] * sizeof *r);
        used += r[STEPS];
    }
    h->record_size += used;
    return h->record_size - used;
}

static uint32_t make(struct ct_hops *h, struct ct_hop *hop, unsigned size)
{
    uint8_t data[CT_HOP_BYTES + CT_ETM4_BURST_AHEAD];
    struct ct_elem elems[CT_HOP_BYTES];
    uint32_t insns[ATOMS_MAX];
    const bool no_blocks = !h->known_only && ct_blocks_are_full(h->blocks);
    if (ct_hops_are_full(h) || no_blocks || !have_room(h))
        return 0;
    const struct ct_hop_state *from = &h->states[hop->state];
    read_as(h, h->blocks->blocks[from->last >> 2].isa == CT_ISA_A64);
    struct trip t = {.block = from->last >> 2,
                     .exec = from->last & 1,
                     .cur = from->cur,
                     .have_addr = from->last & 2,
                     .addr = from->recent_addresses[0] & ~UINT64_C(1),
                     .isa = isa_of(h, from->recent_addresses[0] & 1),
                     .record = h->records + h->record_size,
                     .insns = insns};
    if (h->timed && !t.cur && !t.have_addr)
        return 0;
    memset(t.record, 0, HEAD_WORDS * sizeof *t.record);
    t.record[CONTEXT] = h->blocks->domains[h->blocks->blocks[t.block].domain].context;
    memcpy(h->reader.address, from->recent_addresses, sizeof from->recent_addresses);
    size_t count = read_packets(h, &hop->bytes, size, data, elems);
    for (size_t i = 0; i < count; i++)
        if (!follow(h, &t, &elems[i]))
            return 0;
    if (!t.steps)
        return 0;
    uint32_t last = t.block << 2 | (t.have_addr ? 2 : 0) | t.exec;
    hop->next = ct_hops_state(h, h->reader.address, last, t.cur);
    h->states[hop->state].edge = t.first_edge;
    return hop->next ? finish(h, hop, &t, size) : 0;
}

/* Makes the first step, which has no step before it. Returns false when its block is not known. */
static bool begin(struct ct_hops *h, struct trip *t, uint16_t domain, unsigned executed)
{
    t->cur = t->have_addr ? ct_blocks_find(h->blocks, t->addr, t->isa, domain) : 0;
    t->have_addr = false;
    return t->cur && execute(h, t, executed);
}

/* Follows elements whose first atoms have no step before them. Returns false when a hop cannot do that. */
static bool land(struct ct_hops *h, struct trip *t, uint16_t domain, struct ct_elem *elems, size_t count)
{
    size_t i = 0;
    for (; i < count && elems[i].kind != CT_ELEM_ATOMS; i++) {
        t->have_addr = false;
        follow(h, t, &elems[i]);
    }
    if (i == count || !begin(h, t, domain, elems[i].v & 1))
        return false;
    elems[i].v >>= 1;
    elems[i].n--;
    while (i < count && follow(h, t, &elems[i]))
        i++;
    return i == count;
}

uint32_t ct_hops_land(struct ct_hops *h, const uint64_t recent_addresses[3], uint16_t domain,
                      const struct ct_hop_bytes *bytes, unsigned size)
{
    uint8_t data[CT_HOP_BYTES + CT_ETM4_BURST_AHEAD];
    struct ct_elem elems[CT_HOP_BYTES];
    uint32_t insns[ATOMS_MAX];
    if (ct_hops_are_full(h) || !have_room(h))
        return 0;
    read_as(h, h->burst->sf);
    struct trip t = {.have_addr = true,
                     .addr = recent_addresses[0] & ~UINT64_C(1),
                     .isa = isa_of(h, recent_addresses[0] & 1),
                     .record = h->records + h->record_size,
                     .insns = insns};
    memset(t.record, 0, HEAD_WORDS * sizeof *t.record);
    memcpy(h->reader.address, recent_addresses, sizeof h->reader.address);
    size_t count = read_packets(h, bytes, size, data, elems);
    h->known_only = true;
    const bool landed = land(h, &t, domain, elems, count);
    h->known_only = false;
    uint32_t last = t.block << 2 | (t.have_addr ? 2 : 0) | t.exec;
    return landed ? ct_hops_state(h, h->reader.address, last, t.cur) : 0;
}

static void spend_quick(struct ct_hops *h, size_t place)
{
    ct_hops_spend(h, h->quick_records[place], h->timed ? h->quick_cycles[place] : 0, h->quick[place].count);
    h->quick[place].count = 0;
}

struct ct_quick_hop *ct_hops_put_quick(struct ct_hops *h, size_t place, uint64_t key, uint32_t next,
                                       uint32_t record, uint32_t cycles)
{
    spend_quick(h, place);
    h->missed++;
    h->quick[place] = (struct ct_quick_hop){.key = key, .next = ct_hop_link(next)};
    h->quick_records[place] = record;
    if (h->timed)
        h->quick_cycles[place] = cycles;
    return &h->quick[place];
}

static void spend_wide(struct ct_hops *h, size_t place)
{
    struct ct_hop *hop = &h->wide[place];
    ct_hops_spend(h, h->wide_records[place], hop->cycles, hop->count);
    hop->count = 0;
}

struct ct_hop *ct_hops_make_wide(struct ct_hops *h, size_t place, struct ct_hop hop, unsigned size)
{
    uint32_t record = make(h, &hop, size);
    h->missed += CT_HOP_MADE;
    if (!record)
        return NULL;
    spend_wide(h, place);
    h->wide[place] = hop;
    h->wide_records[place] = record;
    return &h->wide[place];
}

int ct_hops_sync(struct ct_hops *h)
{
    if (!h->quick)
        return h->error;
    const size_t all = (size_t)1 << CT_WIDE_SHIFT;
    const size_t wide = h->timed ? all : ct_places_count(&h->counted, all);
    for (size_t i = 0; i < (size_t)1 << CT_QUICK_SHIFT; i++)
        if (h->quick[i].count)
            spend_quick(h, i);
    for (size_t i = 0; i < wide; i++) {
        const size_t place = h->timed ? i : ct_places_at(&h->counted, i);
        if (h->wide[place].count)
            spend_wide(h, place);
    }
    h->counted.count = 0;
    for (size_t i = 0; h->timed && i < (size_t)1 << CT_CYCLES_SHIFT; i++) {
        ct_hops_spend(h, h->cycle_table[i].record, h->cycle_table[i].cycles, h->cycle_table[i].count);
        h->cycle_table[i] = (struct ct_hop_cycles){0};
    }
    if (!h->timed)
        spend_records(h);
    return h->error;
}

int ct_hops_clear(struct ct_hops *h)
{
    ct_hops_sync(h);
    empty_quick(h);
    memset(h->wide, 0, sizeof *h->wide << CT_WIDE_SHIFT);
    memset(h->heads, 0, (size_t)h->state_cap * 2 * sizeof *h->heads);
    h->state_count = 1;
    h->record_size = 1;
    return h->error;
}

bool ct_hops_are_full(const struct ct_hops *h)
{
    return h->state_count >= STATES_MAX || h->record_size + RECORD_MAX >= RECORDS_MAX;
}
