#include "decode/etm4_hops.h"

#include <limits.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "decode/avx2.h"
#include "decode/etm4_ahead.h"
#include "decode/etm4_lane.h"
#include "decode/hop_find.h"
#include "flow/edge_table.h"

struct ct_etm4_hops {
    struct ct_etm4_fast *bytes;
    struct ct_fast *fast;
    uint32_t generation; /* of the blocks */
    struct ct_hops hops;
    struct ct_memo tail; /* stands for the run of the last step */
    uint64_t passed;     /* bytes since the edges got what was counted */
    /* Without cycles. */
    struct ct_ahead ways[CT_LANES];
    uint8_t order[CT_LANES]; /* of the ways: the one here, those ahead as the trace goes, others */
    unsigned ahead;          /* how many are */
    struct ct_ahead_search search;
    size_t asked_at; /* where the run was the last time */
    /* With cycles. */
    struct ct_etm4_chunk chunk;
    struct ct_etm4_cuts cuts;
    struct ct_cut_others others;
    unsigned count;
    struct ct_cut_count counts[CT_SCAN_BYTES];
};

int ct_etm4_hops_new(struct ct_ctx *ctx, struct ct_etm4_fast *bytes, struct ct_fast *fast,
                     struct ct_etm4_hops **out)
{
    *out = NULL;
    if (!ct_etm4_fast_scans(bytes) || fast->walk->stack.enabled || !fast->edges ||
        (!fast->runs && !fast->builder.counts))
        return CT_OK;
    struct ct_etm4_hops *h = calloc(1, sizeof *h);
    if (!h)
        return ct_fail_nomem(ctx, "hops");
    h->bytes = bytes;
    h->fast = fast;
    for (unsigned i = 0; i < CT_LANES; i++)
        h->order[i] = (uint8_t)i;
    int rc = ct_hops_init(&h->hops, ctx, fast, ct_etm4_fast_burst(bytes), !fast->runs);
    if (rc) {
        free(h);
        return rc;
    }
    *out = h;
    return CT_OK;
}

void ct_etm4_hops_free(struct ct_etm4_hops *h)
{
    if (h)
        ct_hops_deinit(&h->hops);
    free(h);
}

#ifdef CT_HAVE_AVX2

/* Bytes before the first count, at most. */
#define FIRST_BYTES 64u

/* The engine is between two steps that blocks are known of. */
static bool is_ready(const struct ct_fast *f)
{
    return f->quick && !f->walk->atoms_done && !ct_fast_is_lost(f);
}

/* The way here, or the n-th ahead. */
static struct ct_ahead *way(struct ct_etm4_hops *h, unsigned n)
{
    return &h->ways[h->order[n]];
}

/* Way n is no more; those behind it come nearer. */
static void remove_way(struct ct_etm4_hops *h, unsigned n)
{
    const uint8_t free = h->order[n];
    for (; n + 1 < CT_LANES; n++)
        h->order[n] = h->order[n + 1];
    h->order[n] = free;
    h->ahead--;
}

/* The program may be forgotten soon, and numbers of blocks with it. */
static bool is_much(const struct ct_blocks *b)
{
    return b->count > CT_BLOCKS_MAX / 2 || b->pair_count > CT_BLOCKS_MAX / 2 ||
           b->domain_count > CT_DOMAINS_MAX / 2;
}

static void undo_next(struct ct_etm4_hops *h)
{
    ct_ahead_undo(way(h, 1), &h->search);
    remove_way(h, 1);
}

static void undo_ahead(struct ct_etm4_hops *h)
{
    while (h->ahead)
        undo_next(h);
}

/* The number of the state of engine and decoder; 0: hops cannot begin there. */
static uint32_t state_of(struct ct_etm4_hops *h)
{
    const struct ct_etm4_burst *burst = ct_etm4_fast_burst(h->bytes);
    const uint64_t *past = burst->address;
    struct ct_fast *f = h->fast;
    struct ct_hops *hops = &h->hops;
    if (ct_hops_are_full(hops) || h->generation != f->blocks.generation) {
        undo_ahead(h);
        hops->error = ct_hops_clear(hops);
    }
    h->generation = f->blocks.generation;
    if (hops->how.sf != burst->sf)
        hops->how = *burst;
    uint32_t last = f->last << 2 | (f->have_addr ? 2 : 0) | f->last_exec;
    return ct_hops_state(hops, past, last, f->cur);
}

/* The engine is where it was before. */
static void stay(struct ct_fast *f)
{
    if (!ct_fast_is_indirect(f))
        f->blocks.blocks[f->last].count[f->last_exec]++;
}

/* The state of the engine, whose last step does not count any more; 0: not one for hops. */
static uint32_t enter(struct ct_etm4_hops *h)
{
    struct ct_fast *f = h->fast;
    struct ct_hops *hops = &h->hops;
    struct ct_elem tail[CT_FAST_TAIL];
    struct ct_step_batch batch;
    size_t taken;
    size_t count = ct_etm4_fast_release(h->bytes, tail);
    hops->elements += count;
    if (count)
        hops->error = ct_fast_run(f, tail, count, 0, &taken, &batch);
    if (hops->error || !is_ready(f))
        return 0;
    uint32_t state = state_of(h);
    if (state && !ct_fast_is_indirect(f))
        f->blocks.blocks[f->last].count[f->last_exec]--;
    return state;
}

static void leave(struct ct_etm4_hops *h, uint32_t state)
{
    const struct ct_hop_state *s = &h->hops.states[state];
    struct ct_fast *f = h->fast;
    f->last = s->last >> 2;
    f->last_exec = s->last & 1;
    f->cur = s->cur;
    f->have_addr = false;
    f->marks = 0;
    h->tail = (struct ct_memo){.last = f->last, .flags = f->last_exec ? CT_MEMO_EXEC : 0};
    f->tail = &h->tail;
    if (ct_fast_is_indirect(f))
        h->tail.flags |= CT_MEMO_INDIRECT;
    stay(f);
    ct_etm4_fast_leave(h->bytes, s->past);
}

/* Counters have 32 bits, and no hop is shorter than a byte. */
static bool is_long(const struct ct_etm4_hops *h)
{
    return h->passed >> 31;
}

/* The packets between two places of the run, of which others are atoms and addresses, are done. */
static void pass(struct ct_etm4_hops *h, struct ct_work *work, size_t to, struct ct_cut_others *others)
{
    h->hops.elements += ct_etm4_cuts_tell(others, ct_etm4_fast_burst(h->bytes)->packets);
    h->passed += to - work->at;
    work->at = to;
    work->last_offset = ct_run_offset(work->run, work->run->pos + to - 1);
}

/* As far as hops go, with those ahead side by side. True: there was one. */
static bool follow(struct ct_etm4_hops *h)
{
    struct ct_lane *here = &way(h, 0)->lane;
    const size_t begin = here->at;
    bool more = true;
    while (more) {
        struct ct_lane *lanes[CT_LANES] = {here};
        unsigned count = 1;
        for (unsigned i = 1; i <= h->ahead; i++)
            if (!way(h, i)->ended)
                lanes[count++] = &way(h, i)->lane;
        ct_lanes_follow(lanes, count);
        for (unsigned i = 1; i <= h->ahead; i++)
            if (!way(h, i)->ended)
                ct_ahead_step(way(h, i));
        more = ct_lane_step(here);
    }
    ct_lane_pass(here);
    return here->at > begin;
}

/* Where the next way ahead began. True: what it did is so, and it is the way here. */
static bool meet(struct ct_etm4_hops *h, const struct ct_work *work)
{
    const uint32_t state = enter(h);
    if (state && h->ahead && state == way(h, 1)->first) {
        ct_ahead_keep(way(h, 1), &h->search, work->run);
        remove_way(h, 0);
        return true;
    }
    if (h->ahead)
        undo_next(h);
    if (state)
        stay(h->fast);
    return false;
}

/* A way begins here. False: none does. */
static bool begin(struct ct_etm4_hops *h, const struct ct_work *work)
{
    struct ct_lane *lane = &way(h, 0)->lane;
    lane->run = work->run;
    lane->at = work->at;
    lane->stuck = false;
    if (!ct_lane_scan(lane))
        return false;
    const uint32_t state = enter(h);
    lane->link = ct_hop_link(state);
    return state;
}

static void look_ahead(struct ct_etm4_hops *h, const struct ct_work *work)
{
    if (is_much(&h->fast->blocks))
        return;
    while (h->ahead < CT_LANES - 1 && ct_ahead_begin(way(h, h->ahead + 1), &h->search, h->bytes, work->run,
                                                     way(h, h->ahead)->lane.at, h->fast->domain))
        h->ahead++;
}

/* From work->at on, where the next way ahead began or before it. */
static void run_ways(struct ct_etm4_hops *h, struct ct_work *work)
{
    const bool there = h->ahead && work->at == way(h, 1)->begin;
    if (!is_ready(h->fast) || !h->fast->open || !ct_etm4_fast_enter(h->bytes)) {
        if (there)
            undo_next(h);
        return;
    }
    if (there ? !meet(h, work) : !begin(h, work))
        return;
    look_ahead(h, work);
    if (follow(h) || there) {
        struct ct_lane *lane = &way(h, 0)->lane;
        pass(h, work, lane->at, &lane->others);
        leave(h, ct_hop_linked(lane->link));
    } else {
        stay(h->fast);
    }
}

static int run_counts(struct ct_etm4_hops *h, struct ct_work *work)
{
    for (unsigned i = 0; i < CT_LANES; i++) {
        h->ways[i].lane.hops = &h->hops;
        h->ways[i].lane.table = &ct_etm4_fast_tables(h->bytes)->scan;
    }
    if (is_much(&h->fast->blocks))
        undo_ahead(h);
    /* Bytes that cannot be read up to where the way ahead began, or go on behind that: it began inside of a packet. */
    while (h->ahead && (work->at > way(h, 1)->begin || work->at == h->asked_at)) {
        undo_next(h);
        h->asked_at = SIZE_MAX;
    }
    h->asked_at = work->at;
    run_ways(h, work);
    work->until = h->ahead ? way(h, 1)->begin : 0;
    return h->hops.error ? h->hops.error : h->fast->blocks.error;
}

/* ---- with cycles ---- */

/* The last hop that was made, for it to be taken back: what comes may change what became of its last step. */
struct last_hop {
    uint32_t *count; /* NULL: there is none */
    uint32_t state;  /* where it began … */
    size_t at;       /* … in the run */
};

#define NOT_HERE UINT_MAX

/* The place of the chunk behind a count and, when the cuts go on to `end`, behind the address there. */
static unsigned place_behind(const struct ct_etm4_hops *h, const uint8_t *data,
                             const struct ct_cut_count *count, unsigned end)
{
    const uint8_t *packet = data + count->place;
    if (end > count->at)
        return ct_etm4_cuts_place(&h->cuts, end - 1) + 1;
    if (*packet & 0x10)
        return count->place + 1u;
    return count->place + 2u + (*packet & 2 && packet[1] & 0x80);
}

/* Where the hop ends that a count is for: behind the address that follows it, if one does; or NOT_HERE. */
CT_AVX2_INLINE unsigned end_of(const struct ct_etm4_cuts *c, const struct ct_cut_count *count)
{
    unsigned at = count->at;
    if (at >= c->count)
        return NOT_HERE;
    if (!(ct_cuts_bits(c->addresses, at) & 1))
        return at;
    uint64_t starts = ct_cuts_bits(c->starts, at + 1);
    unsigned end = at + 1 + (unsigned)_tzcnt_u64(starts);
    return starts ? end : NOT_HERE;
}

/* A hop with other cycles than it has itself, that is still to be counted. */
struct other_hop {
    uint32_t record;
    uint32_t cycles;
};

CT_AVX2_INLINE struct ct_hop_cycles *place_of(const struct ct_hops *h, const struct other_hop *hop)
{
    const uint64_t hash = (hop->record | (uint64_t)hop->cycles << 32) * CT_HOP_MIX;
    return &h->others[hash >> (64 - CT_CYCLES_SHIFT)];
}

CT_AVX2_INLINE uint32_t *count_other(struct ct_hops *h, const struct other_hop *hop)
{
    struct ct_hop_cycles *other = place_of(h, hop);
    if (other->record != hop->record || other->cycles != hop->cycles) {
        ct_hops_spend(h, other->record, other->cycles, other->count);
        *other = (struct ct_hop_cycles){.record = hop->record, .cycles = hop->cycles};
    }
    other->count++;
    return &other->count;
}

/* All of them, at once, as each waits for memory. Result: the counter of the last one. */
CT_AVX2 static uint32_t *count_others(struct ct_hops *h, const struct other_hop *hops, unsigned count)
{
    uint32_t *counter = NULL;
    for (unsigned i = 0; i < count; i++)
        __builtin_prefetch(place_of(h, &hops[i]), 1);
    for (unsigned i = 0; i < count; i++)
        counter = count_other(h, &hops[i]);
    return counter;
}

/* A hop that was looked up. */
struct found_hop {
    uint32_t *count;
    uint32_t cycles; /* that are counted there */
    uint32_t next;   /* link */
    const uint32_t *record;
};

/* The hop of `size` bytes with a count behind. False: there is none. */
CT_AVX2_INLINE bool find_hop(struct ct_hops *h, uint32_t link, const uint8_t *data, unsigned size,
                             uint32_t cycles, struct found_hop *found)
{
    const uint64_t bytes = _bzhi_u64(ct_load64(data), size * 8);
    const uint64_t key = ct_quick_key(bytes, link);
    const size_t at = ct_quick_place(bytes, link);
    struct ct_quick_hop *quick = ct_quick_at(h->quick, at);
    const size_t place = at / sizeof *quick;
    if (__builtin_expect(size > CT_HOP_QUICK || quick->key != key, 0)) {
        size_t wide;
        struct ct_hop *hop = ct_hops_wide(h, ct_hop_linked(link), data, size, cycles, &wide);
        if (!hop)
            return false;
        if (size > CT_HOP_QUICK) {
            *found =
                (struct found_hop){&hop->count, hop->cycles, ct_hop_link(hop->next), &h->wide_records[wide]};
            return true;
        }
        quick = ct_hops_put_quick(h, place, key, hop->next, h->wide_records[wide], cycles);
    }
    *found = (struct found_hop){&quick->count, h->quick_cycles[place], quick->next, &h->quick_records[place]};
    return true;
}

/* All hops of the chunk that begins at `at` of the run. *done: its bytes that are done. Result: the state. */
CT_AVX2 static uint32_t hop_counts(struct ct_etm4_hops *h, const struct ct_run *run, size_t begin,
                                   uint32_t state, struct last_hop *last, unsigned *done)
{
    const struct ct_etm4_cuts *c = &h->cuts;
    struct other_hop others[CT_SCAN_BYTES];
    unsigned other_count = 0;
    struct found_hop hop = {.next = ct_hop_link(state)};
    uint32_t *counter = NULL;
    uint32_t from = hop.next;
    unsigned at = 0;
    unsigned i;
    for (i = 0; i < h->count; i++) {
        const struct ct_cut_count *count = &h->counts[i];
        unsigned end = end_of(c, count);
        const uint32_t link = hop.next;
        if (end <= at || count->cycles == CT_CUT_NO_COUNT ||
            !find_hop(&h->hops, link, c->bytes + at, end - at, count->cycles, &hop))
            break;
        counter = hop.count;
        if (hop.cycles != count->cycles) {
            others[other_count++] = (struct other_hop){*hop.record, count->cycles};
            counter = NULL;
        } else {
            ++*hop.count;
        }
        from = link;
        at = end;
    }
    state = ct_hop_linked(hop.next);
    *done = 0;
    if (!i)
        return state;
    uint32_t *other = count_others(&h->hops, others, other_count);
    if (!counter)
        counter = other;
    const uint8_t *data = run->data + begin;
    *last = (struct last_hop){.count = counter, .state = ct_hop_linked(from), .at = begin};
    if (i > 1)
        last->at += place_behind(h, data, &h->counts[i - 2], end_of(c, &h->counts[i - 2]));
    *done = place_behind(h, data, &h->counts[i - 1], at);
    return state;
}

/* The next chunk. False: there is none. */
static bool next_chunk(struct ct_etm4_hops *h, const struct ct_work *work, unsigned *entry)
{
    const size_t left = work->run->size - work->at;
    *entry = 0;
    if (!left) /* then there may be no data */
        return false;
    const uint8_t *data = work->run->data + work->at;
    size_t raw = ct_etm4_scan(&ct_etm4_fast_tables(h->bytes)->scan, data, left, entry, &h->chunk);
    if (h->chunk.blocks)
        ct_etm4_cuts_make(&h->cuts, &h->chunk, data, (unsigned)raw);
    return h->chunk.blocks;
}

/* The next chunk and its counts. */
static bool next_counts(struct ct_etm4_hops *h, const struct ct_work *work, unsigned *entry)
{
    if (!next_chunk(h, work, entry))
        return false;
    h->count = ct_etm4_cuts_counts(&h->cuts, &h->chunk, work->run->data + work->at,
                                   ct_etm4_fast_tables(h->bytes)->counts, h->counts);
    return h->count;
}

/* Trace up to the first count, which is for steps that the engine took already. An atom follows, so nothing of it is held.
 * False: not now. */
CT_AVX2 static bool reach_count(struct ct_etm4_hops *h, struct ct_work *work)
{
    struct ct_elem elems[CT_FAST_TAIL + FIRST_BYTES];
    struct ct_step_batch batch;
    const uint8_t *data = work->run->data + work->at;
    unsigned end = end_of(&h->cuts, &h->counts[0]);
    size_t taken;
    if (end == NOT_HERE || h->counts[0].cycles == CT_CUT_NO_COUNT || !ct_cuts_bits(h->cuts.atoms, end))
        return false;
    unsigned done = place_behind(h, data, &h->counts[0], end);
    if (done > FIRST_BYTES)
        return false;
    size_t count = ct_etm4_fast_release(h->bytes, elems);
    count += ct_etm4_fast_read(h->bytes, data, done, elems + count);
    h->hops.elements += count;
    work->at += done;
    work->last_offset = ct_run_offset(work->run, work->run->pos + work->at - 1);
    h->hops.error = ct_fast_run(h->fast, elems, count, 0, &taken, &batch);
    return !h->hops.error;
}

/* All but the last step is in the table, and blocks are those of its context. False: not now. */
static bool settle_context(struct ct_fast *f)
{
    struct ct_step_builder *b = &f->builder;
    struct ct_blocks *blocks = &f->blocks;
    blocks->error = ct_fast_absorb(f);
    ct_step_drop_given(b);
    for (size_t i = 0; i < b->mark_count; i++)
        if (b->marks[i].kind == CT_MARK_ELEM && b->marks[i].elem.kind == CT_ELEM_CONTEXT)
            return false;
    if (!blocks->error && (f->domain_stale || blocks->domains[f->domain].context == CT_NO_NUMBER))
        blocks->error = ct_fast_enter_context(f);
    if (blocks->error)
        return false;
    const struct ct_block last = blocks->blocks[f->last];
    if (last.domain == f->domain)
        return true;
    uint32_t number = ct_blocks_at(blocks, last.addr, last.isa, f->domain);
    bool indirect = ct_fast_is_indirect(f);
    uint32_t cur = number && !indirect ? ct_blocks_link(blocks, number, f->last_exec) : 0;
    if (!number || (!cur && !indirect))
        return false;
    f->last = number;
    f->cur = cur;
    return true;
}

/* The state of the engine behind a count; 0: not one for hops. */
static uint32_t enter_timed(struct ct_etm4_hops *h, struct ct_work *work)
{
    struct ct_fast *f = h->fast;
    const struct ct_step_builder *b = &f->builder;
    if (!reach_count(h, work) || !is_ready(f) || !b->pending || b->waiting || b->timestamp_held ||
        !(f->have_addr || f->cur) || !settle_context(f))
        return 0;
    return state_of(h);
}

/* The engine goes on behind the last hop but one. */
static void leave_timed(struct ct_etm4_hops *h, struct ct_work *work, const struct last_hop *last)
{
    const struct ct_hop_state *s = &h->hops.states[last->state];
    struct ct_fast *f = h->fast;
    const struct ct_block *cur = &f->blocks.blocks[s->cur];
    --*last->count;
    h->hops.elements -= ct_etm4_fast_forget(h->bytes, work->run->data + last->at, work->at - last->at);
    work->at = last->at;
    work->last_offset = ct_run_offset(work->run, work->run->pos + work->at - 1);
    f->last = s->last >> 2;
    f->last_exec = s->last & 1;
    f->have_addr = f->quick = false;
    f->walk->placed = true;
    if (s->last & 2)
        ct_walk_go_to(f->walk, s->past[0] & ~UINT64_C(1), ct_walk_isa(f->walk, s->past[0] & 1));
    else
        ct_walk_go_to(f->walk, cur->addr, cur->isa);
    ct_etm4_fast_leave(h->bytes, s->past);
}

static int run_timed(struct ct_etm4_hops *h, struct ct_work *work)
{
    struct ct_step_builder *b = &h->fast->builder;
    struct last_hop last = {0};
    unsigned entry;
    unsigned done = 0;
    if (!is_ready(h->fast) || !ct_etm4_fast_enter(h->bytes) || !next_counts(h, work, &entry))
        return CT_OK;
    uint32_t state = enter_timed(h, work);
    const uint32_t first = state;
    if (!state)
        return h->hops.error ? h->hops.error : h->fast->blocks.error;
    do {
        if (!next_counts(h, work, &entry))
            break;
        state = hop_counts(h, work->run, work->at, state, &last, &done);
        ct_etm4_cuts_others(&h->chunk, work->run->data + work->at, done, &h->others);
        pass(h, work, work->at + done, &h->others);
    } while (done && entry != CT_SCAN_STOP && !is_long(h));
    if (last.count) {
        b->edge[b->count - 1] = h->hops.states[first].edge;
        b->pending = false;
        leave_timed(h, work, &last);
    }
    return h->hops.error ? h->hops.error : h->fast->blocks.error;
}

int ct_etm4_hops_run(struct ct_etm4_hops *h, struct ct_work *work)
{
    if (is_long(h)) {
        h->passed = 0;
        h->hops.error = ct_hops_sync(&h->hops);
    }
    return h->hops.timed ? run_timed(h, work) : run_counts(h, work);
}

#else

int ct_etm4_hops_run(struct ct_etm4_hops *h, struct ct_work *work)
{
    (void)h, (void)work;
    return CT_OK;
}

#endif

int ct_etm4_hops_sync(struct ct_etm4_hops *h, struct ct_stream_stats *stats)
{
    int rc = ct_hops_sync(&h->hops);
    stats->elements += h->hops.elements;
    h->hops.elements = 0;
    ct_etm4_fast_count_packets(h->bytes, stats);
    return rc;
}
