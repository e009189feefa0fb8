#include "decode/etm4_hops.h"

#include <limits.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "decode/avx2.h"
#include "decode/etm4_cuts.h"
#include "decode/hops.h"
#include "flow/edge_table.h"

struct ct_etm4_hops {
    struct ct_etm4_fast *bytes;
    struct ct_fast *fast;
    uint32_t generation; /* of the blocks */
    struct ct_hops hops;
    struct ct_memo tail; /* stands for the run of the last step */
    uint64_t passed;     /* bytes since the edges got what was counted */
    struct ct_etm4_chunk chunk;
    struct ct_etm4_cuts cuts;
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

#define MIX UINT64_C(0x9e3779b97f4a7c15)

/* The bits of a mask from `at` on: 57 of them. */
CT_AVX2_INLINE uint64_t bits_from(const uint64_t *mask, unsigned at)
{
    return ct_load64((const uint8_t *)mask + (at >> 3)) >> (at & 7);
}

/* The hop of `size` bytes; with cycles it is made for these. NULL: there is none. */
CT_AVX2_INLINE struct ct_hop *wide_hop(struct ct_hops *h, uint32_t state, const uint8_t *data, unsigned size,
                                       uint32_t cycles, size_t *place)
{
    uint64_t bytes = _bzhi_u64(ct_load64(data), size * 8); /* keeps all from 64 on */
    uint64_t tail = _bzhi_u64(ct_load64(data + 8), size > 8 ? size * 8 - 64 : 0);
    uint64_t hash = (bytes ^ tail * UINT64_C(0xc2b2ae3d27d4eb4f)) * MIX >> (64 - CT_WIDE_SHIFT);
    *place = hash ^ (state & ((1u << CT_WIDE_SHIFT) - 1));
    struct ct_hop *hop = &h->wide[*place];
    if (__builtin_expect(hop->bytes == bytes && hop->tail == tail && hop->state == state, 1))
        return hop;
    return ct_hops_make_wide(
        h, *place, (struct ct_hop){.bytes = bytes, .tail = tail, .state = state, .cycles = cycles}, size);
}

/* One atom packet after the other up to `end`, at least one. Result: the state; *from < end when there is no hop. */
CT_AVX2 static uint32_t hop_wide(struct ct_etm4_hops *h, uint32_t state, unsigned *from, unsigned end)
{
    unsigned at = *from;
    while (at < end) {
        size_t place;
        unsigned size = (unsigned)_tzcnt_u64(bits_from(h->cuts.atoms, at)) + 1;
        struct ct_hop *hop =
            size <= CT_HOP_BYTES ? wide_hop(&h->hops, state, h->cuts.bytes + at, size, 0, &place) : NULL;
        if (!hop)
            break;
        hop->count++;
        state = hop->next;
        at += size;
    }
    *from = at;
    return state;
}

/* A quick hop, of the hops that its packets make; they end at the bits of `ends`. NULL: there is none. */
CT_AVX2 static struct ct_quick_hop *join(struct ct_hops *h, size_t place, uint64_t key, uint64_t ends,
                                         const uint8_t *data)
{
    uint32_t records[CT_HOP_QUICK] = {0};
    uint32_t state = (uint32_t)(key >> 40);
    unsigned at = 0;
    for (unsigned n = 0; ends; ends &= ends - 1, n++) {
        size_t wide;
        unsigned end = (unsigned)_tzcnt_u64(ends) + 1;
        const struct ct_hop *hop = wide_hop(h, state, data + at, end - at, 0, &wide);
        if (!hop)
            return NULL;
        records[n] = h->wide_records[wide];
        state = hop->next;
        at = end;
    }
    return ct_hops_put_quick(h, place, key, state, records);
}

/* What is not in its place goes one packet at a time, until it is asked for again. False: it has to. */
static bool is_wanted(struct ct_hops *h, size_t place, uint64_t key)
{
    struct ct_hop_parts *parts = &h->parts[place];
    uint16_t hash = (uint16_t)(key * MIX >> 33);
    bool again = parts->rival == hash;
    parts->rival = hash;
    return again && ++parts->again * 4u >= h->quick[place].count;
}

/* From byte *from of the cuts on. Result: the state that it came to. Where hops end does not depend on states, nor does one
 * look-up wait for another but by the state. */
CT_AVX2 static uint32_t hop_on(struct ct_etm4_hops *h, uint32_t state, unsigned *from)
{
    const struct ct_etm4_cuts *c = &h->cuts;
    struct ct_quick_hop *const quick = h->hops.quick;
    const unsigned count = c->count;
    unsigned at = *from;
    unsigned limit = 0; /* up to here the bits below say what is at `at` and behind */
    uint64_t atoms = 0;
    uint64_t addresses = 0; /* that begin behind each byte */
    while (at + CT_HOP_BYTES <= count) {
        if (at >= limit) {
            atoms = bits_from(c->atoms, at);
            addresses = bits_from(c->addresses, at + 1);
            limit = at + 57 - CT_HOP_QUICK;
        }
        uint64_t ends = atoms & ((1u << CT_HOP_QUICK) - 1);
        uint64_t best = ends & addresses;
        unsigned size = 64 - (unsigned)_lzcnt_u64(best ? best : ends);
        uint64_t bytes = _bzhi_u64(ct_load64(c->bytes + at), size * 8);
        size_t place = bytes * MIX >> (64 - CT_QUICK_SHIFT) ^ (state & ((1u << CT_QUICK_SHIFT) - 1));
        struct ct_quick_hop *hop = &quick[place];
        uint64_t key = bytes | (uint64_t)state << 40;
        if (__builtin_expect(hop->key != key || !size, 0)) {
            hop = size && is_wanted(&h->hops, place, key)
                      ? join(&h->hops, place, key, ends & ((1u << size) - 1), c->bytes + at)
                      : NULL;
            if (!hop) {
                unsigned end = at + (size ? size : 1);
                state = hop_wide(h, state, &at, end);
                if (at < end)
                    break;
                limit = 0;
                continue;
            }
        }
        hop->count++;
        state = hop->next;
        at += size;
        atoms >>= size;
        addresses >>= size;
    }
    *from = at;
    return state;
}

/* The engine is between two steps that blocks are known of. */
static bool is_ready(const struct ct_fast *f)
{
    return f->quick && !f->walk->atoms_done && !ct_fast_is_lost(f);
}

/* The number of the state of engine and decoder; 0: hops cannot begin there. */
static uint32_t state_of(struct ct_etm4_hops *h)
{
    const struct ct_etm4_burst *burst = ct_etm4_fast_burst(h->bytes);
    const uint64_t *past = burst->address;
    struct ct_fast *f = h->fast;
    struct ct_hops *hops = &h->hops;
    if (ct_hops_are_full(hops) || h->generation != f->blocks.generation)
        hops->error = ct_hops_clear(hops);
    h->generation = f->blocks.generation;
    if (hops->how.sf != burst->sf)
        hops->how = *burst;
    uint32_t last = f->last << 2 | (f->have_addr ? 2 : 0) | f->last_exec;
    return ct_hops_state(hops, past, last, f->cur);
}

/* The state of the engine; 0: not one for hops. */
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
    else
        f->blocks.blocks[f->last].count[f->last_exec]++;
    ct_etm4_fast_leave(h->bytes, s->past);
}

/* Counters have 32 bits, and no hop is shorter than a byte. */
static bool is_long(const struct ct_etm4_hops *h)
{
    return h->passed >> 31;
}

/* The first `done` bytes of the chunk are done. */
static void pass(struct ct_etm4_hops *h, struct ct_work *work, unsigned done)
{
    struct ct_etm4_burst *burst = ct_etm4_fast_burst(h->bytes);
    const uint8_t *data = work->run->data + work->at;
    h->hops.elements += ct_etm4_cuts_others(&h->chunk, data, done, burst->packets);
    work->at += done;
    work->last_offset = ct_run_offset(work->run, work->run->pos + work->at - 1);
    h->passed += done;
}

/* The next chunk. False: there is none. */
static bool next_chunk(struct ct_etm4_hops *h, const struct ct_work *work, unsigned *entry)
{
    const uint8_t *data = work->run->data + work->at;
    *entry = 0;
    size_t raw = ct_etm4_scan(&ct_etm4_fast_tables(h->bytes)->scan, data, work->run->size - work->at, entry,
                              &h->chunk);
    if (h->chunk.blocks)
        ct_etm4_cuts_make(&h->cuts, &h->chunk, data, (unsigned)raw);
    return h->chunk.blocks;
}

static int run_counts(struct ct_etm4_hops *h, struct ct_work *work)
{
    unsigned entry;
    unsigned from;
    if (!is_ready(h->fast) || !h->fast->open || !ct_etm4_fast_enter(h->bytes) ||
        !next_chunk(h, work, &entry) || !h->cuts.atoms[0])
        return CT_OK;
    uint32_t state = enter(h);
    bool moved = false;
    if (!state)
        return h->hops.error;
    do {
        from = 0;
        state = hop_on(h, state, &from);
        if (!from)
            break;
        pass(h, work, ct_etm4_cuts_place(&h->cuts, from - 1) + 1);
        moved = true;
    } while (entry != CT_SCAN_STOP && !is_long(h) && next_chunk(h, work, &entry));
    if (moved)
        leave(h, state);
    else if (!ct_fast_is_indirect(h->fast))
        h->fast->blocks.blocks[h->fast->last].count[h->fast->last_exec]++;
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
    if (!(bits_from(c->addresses, at) & 1))
        return at;
    uint64_t starts = bits_from(c->starts, at + 1);
    unsigned end = at + 1 + (unsigned)_tzcnt_u64(starts);
    return starts ? end : NOT_HERE;
}

/* The counter of a hop with other cycles than it has itself. */
CT_AVX2_INLINE uint32_t *count_other(struct ct_hops *h, uint32_t record, uint32_t cycles)
{
    uint64_t hash = (record | (uint64_t)cycles << 32) * MIX;
    struct ct_hop_cycles *other = &h->others[hash >> (64 - CT_CYCLES_SHIFT)];
    if (other->record != record || other->cycles != cycles) {
        ct_hops_spend(h, other->record, other->cycles, other->count);
        *other = (struct ct_hop_cycles){.record = record, .cycles = cycles};
    }
    return &other->count;
}

/* All hops of the chunk that begins at `at` of the run. *done: its bytes that are done. Result: the state. */
CT_AVX2 static uint32_t hop_counts(struct ct_etm4_hops *h, const struct ct_run *run, size_t begin,
                                   uint32_t state, struct last_hop *last, unsigned *done)
{
    const struct ct_etm4_cuts *c = &h->cuts;
    uint32_t *counter = NULL;
    uint32_t from = state;
    size_t place;
    unsigned at = 0;
    unsigned i;
    for (i = 0; i < h->count; i++) {
        const struct ct_cut_count *count = &h->counts[i];
        unsigned end = end_of(c, count);
        if (end <= at || end - at > CT_HOP_BYTES || count->cycles == CT_CUT_NO_COUNT)
            break;
        struct ct_hop *hop = wide_hop(&h->hops, state, c->bytes + at, end - at, count->cycles, &place);
        if (!hop)
            break;
        counter = &hop->count;
        if (hop->cycles != count->cycles)
            counter = count_other(&h->hops, h->hops.wide_records[place], count->cycles);
        ++*counter;
        from = state;
        state = hop->next;
        at = end;
    }
    *done = 0;
    if (!i)
        return state;
    const uint8_t *data = run->data + begin;
    *last = (struct last_hop){.count = counter, .state = from, .at = begin};
    if (i > 1)
        last->at += place_behind(h, data, &h->counts[i - 2], end_of(c, &h->counts[i - 2]));
    *done = place_behind(h, data, &h->counts[i - 1], at);
    return state;
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
    if (end == NOT_HERE || h->counts[0].cycles == CT_CUT_NO_COUNT || !bits_from(h->cuts.atoms, end))
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
        pass(h, work, done);
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
