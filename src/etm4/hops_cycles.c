/* SPDX-License-Identifier: Apache-2.0 */
/* Counts edges with cycles: one hop for each cycle count. */
#include "etm4/hops_own.h"

#include <limits.h>

#include "base/bytes.h"
#include "etm4/vector.h"
#include "etm4/hop_find.h"

#ifdef CT_HAVE_VECTORS

/* most bytes before the first count */
#define FIRST_BYTES 64u

/* The hop that was made last. It may have to be undone, since later trace may change what became of its last
 * step. */
struct last_hop {
    uint32_t *count; /* counter of the hop; NULL: there is no hop */
    uint32_t state;  /* the state in which it began */
    size_t at;       /* first byte of the hop in the run */
};

#define NOT_HERE UINT_MAX

/* Returns the offset in the chunk behind a count or, when the kept bytes go on to `end`, behind the address
 * there. */
static unsigned place_behind(const struct ct_etm4_hops *h, const uint8_t *data,
                             const struct ct_cut_count *count, unsigned end)
{
    const uint8_t *packet = data + count->place;
    if (end > count->at)
        return ct_etm4_cuts_place(&h->cuts, end - 1) + 1;
    return count->place + ct_cut_count_size(packet);
}

/* Returns where the hop of a count ends, in kept bytes: behind the address that follows the count, if one
 * does. NOT_HERE: in another chunk. */
CT_VECTOR_INLINE unsigned end_of(const struct ct_etm4_cuts *c, const struct ct_cut_count *count)
{
    unsigned at = count->at;
    if (at >= c->count)
        return NOT_HERE;
    if (!(ct_cuts_bits(c->addresses, at) & 1))
        return at;
    uint64_t starts = ct_cuts_bits(c->starts, at + 1);
    unsigned end = at + 1 + ct_lowest_or_64(starts);
    return starts ? end : NOT_HERE;
}

/* A hop that is still to be counted, with cycles other than those of its own entry. */
struct other_hop {
    uint32_t record;
    uint32_t cycles;
};

CT_VECTOR_INLINE struct ct_hop_cycles *place_of(const struct ct_hops *h, const struct other_hop *hop)
{
    const uint64_t hash = (hop->record | (uint64_t)hop->cycles << 32) * CT_HOP_MIX;
    return &h->cycle_table[hash >> (64 - CT_CYCLES_SHIFT)];
}

CT_VECTOR_INLINE uint32_t *count_other(struct ct_hops *h, const struct other_hop *hop)
{
    struct ct_hop_cycles *other = place_of(h, hop);
    if (other->record != hop->record || other->cycles != hop->cycles) {
        ct_hops_spend(h, other->record, other->cycles, other->count);
        h->missed += CT_HOP_CYCLES;
        *other = (struct ct_hop_cycles){.record = hop->record, .cycles = hop->cycles};
    }
    other->count++;
    return &other->count;
}

/* Counts `count` hops together, since each look-up waits for memory. Returns the counter of the last one, or
 * NULL when there are none. */
CT_VECTOR static uint32_t *count_others(struct ct_hops *h, const struct other_hop *hops, unsigned count)
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
    uint32_t cycles; /* cycles of those that *count counts */
    uint32_t next;   /* link of the state that the hop leads to */
    const uint32_t *record;
};

/* Finds the hop of `size` bytes that is followed by a count of `cycles`, and makes it when it is new. Returns
 * false when there is none. */
CT_VECTOR_INLINE bool find_hop(struct ct_hops *h, uint32_t link, const uint8_t *data, unsigned size,
                               uint32_t cycles, struct found_hop *found)
{
    const uint64_t bytes = ct_bits_low(ct_load64(data), size * 8);
    const uint64_t key = ct_quick_key(bytes, link);
    const size_t at = ct_quick_place(bytes, link);
    struct ct_quick_hop *quick = ct_quick_at(h->quick, at);
    const size_t place = at / sizeof *quick;
    if (__builtin_expect(size > CT_HOP_QUICK || quick->key != key, 0)) {
        if (h->missed >= h->enough)
            return false;
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

/* Returns whether another count follows at the same place. It belongs to no step, and comes before the
 * address that seems to follow count i. */
CT_VECTOR_INLINE bool is_doubled(const struct ct_etm4_hops *h, unsigned i)
{
    return i + 1 < h->count && h->counts[i + 1].at == h->counts[i].at;
}

/* Follows the hops of the chunk that begins at `begin` of the run, and returns the state behind them. *done:
 * how many bytes of the chunk they have. */
CT_VECTOR static uint32_t hop_counts(struct ct_etm4_hops *h, const struct ct_run *run, size_t begin,
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
        if (end <= at || count->cycles == CT_CUT_NO_COUNT || is_doubled(h, i) ||
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

/* Scans the next chunk. Returns false when there is none. */
static bool next_chunk(struct ct_etm4_hops *h, const struct ct_work *work, unsigned *entry)
{
    const size_t left = work->run->size - work->at;
    *entry = 0;
    if (!left) /* an empty run may have no data pointer */
        return false;
    const uint8_t *data = work->run->data + work->at;
    size_t raw = ct_etm4_scan(&ct_etm4_fast_tables(h->bytes)->scan, data, left, entry, &h->chunk);
    if (h->chunk.blocks)
        ct_etm4_cuts_make(&h->cuts, &h->chunk, data, (unsigned)raw);
    return h->chunk.blocks;
}

/* Scans the next chunk and lists its counts. Returns false when it has none. */
static bool next_counts(struct ct_etm4_hops *h, const struct ct_work *work, unsigned *entry)
{
    if (!next_chunk(h, work, entry))
        return false;
    h->count = ct_etm4_cuts_counts(&h->cuts, &h->chunk, work->run->data + work->at,
                                   ct_etm4_fast_tables(h->bytes)->counts, h->counts);
    return h->count;
}

/* Decodes trace to elements up to the first count, which belongs to steps that the engine has already made.
 * An atom follows, so no element is held. Returns false when hops cannot begin here. */
CT_VECTOR static bool reach_count(struct ct_etm4_hops *h, struct ct_work *work)
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

/* Decodes up to the first count and returns the state of the engine there, or 0 when hops cannot begin in
 * it. */
static uint32_t enter_timed(struct ct_etm4_hops *h, struct ct_work *work)
{
    if (!reach_count(h, work) || !ct_fast_settle(h->fast))
        return 0;
    return ct_etm4_hops_state(h);
}

/* Undoes the last hop and hands back to the engine, in the state before it. */
static void leave_timed(struct ct_etm4_hops *h, struct ct_work *work, const struct last_hop *last)
{
    const struct ct_hop_state *s = &h->hops.states[last->state];
    const struct ct_fast_place place = {
        .last = s->last >> 2, .cur = s->cur, .exec = s->last & 1, .have_addr = s->last & 2};
    --*last->count;
    h->hops.elements -= ct_etm4_fast_forget(h->bytes, work->run->data + last->at, work->at - last->at);
    work->at = last->at;
    work->last_offset = ct_run_offset(work->run, work->run->pos + work->at - 1);
    ct_fast_resume(h->fast, &place, s->recent_addresses[0]);
    ct_etm4_fast_leave(h->bytes, s->recent_addresses);
}

int ct_etm4_hops_cycles(struct ct_etm4_hops *h, struct ct_work *work)
{
    struct last_hop last = {0};
    unsigned entry;
    unsigned done = 0;
    if (!ct_etm4_hops_is_ready(h) || !ct_etm4_fast_enter(h->bytes) || !next_counts(h, work, &entry))
        return CT_OK;
    uint32_t state = enter_timed(h, work);
    const uint32_t first = state;
    if (!state)
        return h->hops.error ? h->hops.error : h->hops.blocks->error;
    do {
        if (!next_counts(h, work, &entry))
            break;
        state = hop_counts(h, work->run, work->at, state, &last, &done);
        ct_etm4_cuts_others(&h->chunk, work->run->data + work->at, done, &h->others);
        ct_etm4_hops_pass(h, work, work->at + done, &h->others);
    } while (done && entry != CT_SCAN_STOP && !ct_etm4_hops_is_long(h));
    if (last.count) {
        ct_fast_leave_by(h->fast, h->hops.states[first].edge);
        leave_timed(h, work, &last);
    }
    return h->hops.error ? h->hops.error : h->hops.blocks->error;
}
#endif
