/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/events.h"

#include <string.h>

#include "analysis/events.h"
#include "base/bytes.h"
#include "etm4/events_run.h"

#ifdef CT_HAVE_GATHER
static void set_bits(struct ct_address_rows *rows, size_t at, const struct ct_etm4_row *row)
{
    const bool is = row->base & 1;
    const uint64_t take = row->take << 8; /* the first byte of `take` is the one behind the header */
    /* bit 7 of these headers is 1 and becomes bit 0 of the address */
    rows->take[at] = take | (is ? 0x80 : 0);
    rows->place[at] = ct_mask64((unsigned)__builtin_popcountll(take)) << row->shift | is;
    rows->top[at] = row->take & ~ct_mask64(56);
}
#elif defined(CT_HAVE_VECTORS)
static void set_bits(struct ct_address_rows *rows, size_t at, const struct ct_etm4_row *row)
{
    const bool is = row->base & 1;
    const uint64_t once = (row->take & ~UINT64_C(0xff)) | (uint8_t)(row->take << 1) | is;
    rows->once[at] = once;
    rows->twice[at] = is ? 0 : once & 0xffff;
}
#else
static void set_bits(struct ct_address_rows *rows, size_t at, const struct ct_etm4_row *row)
{
    (void)rows, (void)at, (void)row;
}
#endif

static void set_address(struct ct_address_rows *rows, size_t at, const struct ct_etm4_row *row)
{
    set_bits(rows, at, row);
    rows->keep[at] = row->source ? 0 : row->keep;
    rows->earlier[at] = row->source ? row->keep : 0;
    rows->back[at] = row->source ? -1 - row->source : 0;
}

/* Sets the row of an address for AVX-512. In IS0 the bits of the payload begin one bit higher than in IS1,
 * where the 1 below them becomes bit 0. */
static void set_wide(struct ct_wide_addresses *w, unsigned header, unsigned more,
                     const struct ct_etm4_row *row)
{
    const unsigned is = row->base & 1;
    const bool is_short = row->form == CT_BURST_SHORT;
    const bool is_match = row->form == CT_BURST_MATCH;
    const unsigned kind = is_match   ? CT_WIDE_MATCH + row->source
                          : is_short ? more * 2 + is
                                     : (row->take >> 32 ? 6 : 4) + is;
    const unsigned width = is_match ? 0 : is_short ? (is ? 8 : 9) + 8 * more : row->take >> 32 ? 64 : 32;
    w->rows[more][header & 63] = (uint8_t)kind;
    w->shifts[kind] =
        UINT64_C(0x3830282018000000) | (is_short ? 0x0f0000 : 0x100000) | (is ? 0x0800 : 0x073f);
    w->take[kind] = ct_mask64(width) & ~(is ? UINT64_C(0) : UINT64_C(3));
    w->keep[kind] = row->keep;
}

/* Sets the row of a header; `more` is bit 7 of its first byte of payload. */
static void set_row(struct ct_etm4_event_tables *t, const struct ct_etm4_burst *b, unsigned header,
                    unsigned more)
{
    const struct ct_etm4_row *row = &b->rows[header][more];
    const size_t at = CT_SCAN_ROW(header, more);
    if (row->form == CT_BURST_RARE)
        return;
    if (row->address) {
        set_address(&t->addresses, at, row);
        set_wide(&t->wide, header, more, row);
    } else if ((uint8_t)row->head == CT_ELEM_CYCLES) {
        t->counts[at] = (struct ct_count_row){.take = (uint32_t)row->take, .base = (uint32_t)row->base};
    }
}

void ct_etm4_event_tables_init(struct ct_etm4_event_tables *t, const struct ct_etm4_burst *b)
{
    *t = (struct ct_etm4_event_tables){.threshold = b->threshold};
    ct_etm4_scan_init(&t->scan, b);
    for (unsigned header = 0; header < 256; header++)
        for (unsigned more = 0; more < 2; more++)
            set_row(t, b, header, more);
}

#ifdef CT_HAVE_VECTORS

/* Adds up the cycle counts of a block: sums[i] is the sum of those before byte 2 i + 1, for an atom at byte 2
 * i or 2 i + 1. values[-1] can be read. Returns the sum of all counts. */
CT_VECTOR_INLINE uint64_t sum_counts(const uint8_t *values, uint64_t counts, uint32_t threshold,
                                     uint16_t *sums)
{
    const uint16_t less = (uint16_t)-threshold;
    ct_bytes carry = ct_bytes_all(0);
    for (unsigned at = 0; at < CT_SCAN_BLOCK; at += 32) {
        const ct_bytes here = ct_bytes_of_mask((uint32_t)(counts << 1 >> at));
        const ct_bytes sum = ct_pair_sums(ct_bytes_and(ct_bytes_load(values + at - 1), here));
        const ct_bytes number = ct_signed_pair_sums(here); /* minus the number of counts */
        ct_bytes_store(sums + at / 2, ct_words_running(ct_words_add(sum, number, less), &carry));
    }
    return ct_first_word(carry) + (counts >> 63) * (values[CT_SCAN_BLOCK - 1] + (uint64_t)threshold);
}

/* Does what sum_counts does, for cycle counts of any size. */
CT_VECTOR static uint64_t sum_large_counts(const struct ct_count_row *rows, const uint8_t *data,
                                           uint64_t counts, uint32_t *sums)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < CT_SCAN_BLOCK; i++) {
        if (counts >> i & 1)
            sum += ct_count_of(rows, data + i);
        if (i % 2 == 0)
            sums[i / 2] = sum;
    }
    return sum;
}

/* Returns the time of the atom at byte i, in cycles. */
CT_VECTOR_INLINE uint64_t cycle_at(const struct ct_events_block *block, unsigned i)
{
    return block->cycle + (block->large ? block->large_sums[i / 2] : block->sums[i / 2]);
}

/* Returns a mask of the bytes behind the last atom. */
CT_VECTOR_INLINE uint64_t behind_last(uint64_t atoms)
{
    return atoms ? ~(~UINT64_C(0) >> __builtin_clzll(atoms)) : ~UINT64_C(0);
}

/* Returns the number of events that wait for the first atom of block b. */
CT_VECTOR static size_t count_waiting(const struct ct_events_run *r, unsigned b)
{
    const struct ct_event_columns *c = r->burst->columns;
    const struct ct_etm4_masks *m = &r->chunk.masks[b];
    size_t count = ct_bits_set((m->addresses | m->events) & (m->atoms ^ (m->atoms - 1)));
    while (b-- > 0) {
        m = &r->chunk.masks[b];
        count += ct_bits_set((m->addresses | m->events) & behind_last(m->atoms));
        if (m->atoms)
            return count;
    }
    return count + (c->count - r->settled.branches) + (c->mark_count - r->settled.marks);
}

/* Returns whether more events wait than the event stream can hold, which then drops the oldest. */
CT_VECTOR_INLINE bool too_many_wait(struct ct_events_run *r, unsigned b)
{
    const uint64_t atoms = r->chunk.masks[b].atoms;
    const unsigned since = r->since;
    r->since = ct_clear_above(atoms);
    /* One byte makes one event at most, so few bytes need no exact count. Blocks without an atom counted
     * themselves what waits behind them. */
    return since + ct_lowest_or_64(atoms) > CT_EVENTS_WAITING && count_waiting(r, b) > CT_EVENTS_WAITING;
}

/* Prepares the blocks of the chunk at byte `at`: finds targets, the atoms that events wait for, and sums of
 * cycles. Ends the chunk before the first block in which too many events wait. */
CT_VECTOR static void prepare(struct ct_events_run *r, size_t at)
{
    const struct ct_etm4_event_tables *tables = r->burst->tables;
    const struct ct_event_columns *c = r->burst->columns;
    uint64_t cycle = r->burst->cycle;
    bool branched = r->burst->branched;
    size_t waiting = c->count - r->settled.branches;
    size_t addresses = 0;
    r->rare = 0;
    for (unsigned b = 0; b < r->chunk.blocks; b++) {
        const struct ct_etm4_masks *m = &r->chunk.masks[b];
        struct ct_events_block *block = &r->blocks[b];
        if (too_many_wait(r, b)) {
            r->chunk.blocks = b;
            break;
        }
        const unsigned here = ct_bits_set(m->addresses);
        bool carry = waiting != 0;
        block->cycle = cycle;
        block->waiting = waiting;
        block->before = addresses;
        block->starts = m->addresses & ~ct_find_targets(m, &branched);
        block->awaited = ct_find_awaited(m, &carry);
        block->large =
            !r->sums16 || m->odd || r->chunk.simd == CT_SIMD_AVX512; /* AVX-512 scans no `values` */
        block->paired = !block->large && ct_bits_set(block->awaited) + carry == here + waiting;
        if (block->large)
            cycle += sum_large_counts(tables->counts, r->data + at + b * CT_SCAN_BLOCK, m->counts,
                                      block->large_sums);
        else
            cycle +=
                sum_counts(r->chunk.values + b * CT_SCAN_BLOCK, m->counts, tables->threshold, block->sums);
        waiting = block->paired
                      ? carry
                      : ct_bits_set(m->addresses & behind_last(m->atoms)) + (m->atoms ? 0 : waiting);
        addresses += here;
        r->rare |= (unsigned)((m->events | block->starts) != 0) << b;
    }
    r->burst->cycle = cycle;
    r->burst->branched = branched;
    r->count = addresses;
}

/* Where to write the branches of a block. */
struct places {
    uint64_t *past;    /* addresses, with the instruction set in bit 0 */
    uint64_t *targets; /* addresses, without the instruction set */
    uint64_t *times;   /* times, from that of the first address that waits on */
};

/* Writes the addresses of a block, and the times of the atoms that they wait for. */
CT_VECTOR_INLINE void add_pairs(const struct ct_address_rows *rows, const uint8_t *data, uint64_t addresses,
                                const struct ct_events_block *block, struct places to)
{
    /* Between two atoms that are waited for lies an address, so a pair of bytes has one of them at most and
     * may stand for it. */
    const uint64_t even = UINT64_C(0x5555555555555555);
    const char *sums = (const char *)block->sums;
    const uint64_t cycle = block->cycle;
    uint64_t awaited = (block->awaited | block->awaited >> 1) & even;
    uint64_t last = to.past[-1];
    const unsigned more =
        ct_bits_set(addresses) > ct_bits_set(awaited) ? ct_bits_set(addresses) : ct_bits_set(awaited);
    const uint64_t *end = to.past + more;
    for (; to.past < end; to.past++, to.targets++, to.times++) {
        uint16_t sum;
        memcpy(&sum, sums + ct_lowest_or_64(awaited), sizeof sum);
        *to.times = cycle + sum;
        last = ct_address_of(rows, data + ct_lowest_or_64(addresses), to.past, last, false);
        *to.past = last;
        *to.targets = last & ~UINT64_C(1);
        addresses &= addresses - 1;
        awaited &= awaited - 1;
    }
}

/* Does what add_pairs does where several addresses may wait for one atom, or sums of cycles do not fit 16
 * bits. */
CT_VECTOR static void add_one_by_one(const struct ct_address_rows *rows, const uint8_t *data,
                                     const struct ct_etm4_masks *m, const struct ct_events_block *block,
                                     struct places to)
{
    uint64_t last = to.past[-1];
    for (size_t i = 0; i < block->waiting && m->atoms; i++)
        *to.times++ = cycle_at(block, ct_lowest_bit(m->atoms));
    for (uint64_t left = m->addresses; left; left &= left - 1) {
        const uint64_t atoms = m->atoms & ~ct_bits_below(ct_lowest_bit(left));
        last = ct_address_of(rows, data + ct_lowest_bit(left), to.past, last, true);
        *to.past++ = last;
        *to.targets++ = last & ~UINT64_C(1);
        if (atoms)
            *to.times++ = cycle_at(block, ct_lowest_bit(atoms));
    }
}

/* Writes the addresses of the chunk at byte `at`, with their times, as branches behind those in the
 * columns. */
CT_VECTOR static void add_branches(struct ct_events_run *r, size_t at)
{
    const struct ct_address_rows *rows = &r->burst->tables->addresses;
    struct ct_event_columns *c = r->burst->columns;
    const uint8_t *data = r->data + at;
    for (unsigned b = 0; b < r->chunk.blocks; b++, data += CT_SCAN_BLOCK) {
        const struct ct_etm4_masks *m = &r->chunk.masks[b];
        const struct ct_events_block *block = &r->blocks[b];
        const struct places to = {.past = r->past + 3 + block->before,
                                  .targets = c->targets + c->count + block->before,
                                  .times = c->cycles + c->count + block->before - block->waiting};
        if (__builtin_expect(block->paired, 1))
            add_pairs(rows, data, m->addresses, block, to);
        else
            add_one_by_one(rows, data, m, block, to);
    }
}

/* Moves *b and *i to the next atom of the chunk, from byte i of block b on. Returns false when there is
 * none. */
CT_VECTOR_INLINE bool find_atom(const struct ct_events_run *r, unsigned *b, unsigned *i)
{
    for (; *b < r->chunk.blocks; ++*b, *i = 0) {
        uint64_t atoms = r->chunk.masks[*b].atoms & ~ct_bits_below(*i);
        if (atoms) {
            *i = ct_lowest_bit(atoms);
            return true;
        }
    }
    return false;
}

/* Returns the time of the packet at byte i of block b, which is that of the next atom; 0 while that atom has
 * not come. */
CT_VECTOR_INLINE uint64_t cycle_behind(const struct ct_events_run *r, unsigned b, unsigned i)
{
    return find_atom(r, &b, &i) ? cycle_at(&r->blocks[b], i) : 0;
}

/* The gap in the columns that is left by addresses that are not targets: branches from index `from` on move
 * to index `to`. */
struct gap {
    size_t from;
    size_t to;
};

/* Moves the branches before index `end` into the gap, which then includes the one at `end`. */
static void close_gap(struct ct_event_columns *c, struct gap *gap, size_t end)
{
    const size_t count = end - gap->from;
    memmove(c->targets + gap->to, c->targets + gap->from, count * sizeof *c->targets);
    memmove(c->cycles + gap->to, c->cycles + gap->from, count * sizeof *c->cycles);
    gap->to += count;
    gap->from = end + 1;
}

/* Adds the marks of block b of the chunk at byte `at`: events, and addresses that are not targets. */
CT_VECTOR static void add_marks(struct ct_events_run *r, unsigned b, size_t at, struct gap *gap)
{
    struct ct_event_columns *c = r->burst->columns;
    const struct ct_etm4_masks *m = &r->chunk.masks[b];
    const struct ct_events_block *block = &r->blocks[b];
    for (uint64_t left = m->events | block->starts; left; left &= left - 1) {
        const unsigned i = ct_lowest_bit(left);
        const size_t place = c->count + block->before + ct_bits_set(m->addresses & ct_bits_below(i));
        const size_t before = place - (gap->from - gap->to);
        const bool start = block->starts >> i & 1;
        const uint8_t number = start ? 0 : r->data[at + b * CT_SCAN_BLOCK + i] & 15;
        /* written in place: a copy of a struct would wait for the stores to it */
        c->marks[c->mark_count++] =
            (struct ct_event_mark){.event = {.offset = r->pos + at + b * CT_SCAN_BLOCK + i,
                                             .cycle = cycle_behind(r, b, i),
                                             .value = start ? c->targets[place] : number,
                                             .type = start ? CT_EVENT_START : CT_EVENT_HARDWARE,
                                             .a = number},
                                   .before = before};
        if (start)
            close_gap(c, gap, place);
    }
}

/* Adds the marks of the chunk at byte `at`, and sets the time of the marks that waited for an atom. */
CT_VECTOR static void add_rare(struct ct_events_run *r, size_t at)
{
    struct ct_event_columns *c = r->burst->columns;
    const uint64_t cycle = cycle_behind(r, 0, 0);
    const size_t end = c->count + r->count;
    struct gap gap = {.from = c->count, .to = c->count};
    for (size_t i = r->settled.marks; i < c->mark_count; i++)
        c->marks[i].event.cycle = cycle;
    for (unsigned left = r->rare; left; left &= left - 1)
        add_marks(r, ct_lowest_bit(left), at, &gap);
    r->removed = gap.from - gap.to;
    if (r->removed)
        close_gap(c, &gap, end);
}

/* Saves the state at the last atom of the chunk at byte `at`, since nothing before that atom can change any
 * more. */
CT_VECTOR_INLINE void settle(struct ct_events_run *r, size_t at)
{
    const struct ct_event_columns *c = r->burst->columns;
    size_t branches = c->count;
    size_t marks = c->mark_count;
    uint64_t packets = r->packets;
    uint64_t addresses = r->addresses;
    for (unsigned b = r->chunk.blocks; b-- > 0;) {
        const struct ct_etm4_masks *m = &r->chunk.masks[b];
        const struct ct_events_block *block = &r->blocks[b];
        const uint64_t behind = behind_last(m->atoms);
        branches -= ct_bits_set(m->addresses & ~block->starts & behind);
        marks -= ct_bits_set((m->events | block->starts) & behind);
        packets -= ct_bits_set(m->packets & behind);
        addresses -= ct_bits_set(m->addresses & behind);
        if (!m->atoms)
            continue;
        const unsigned last = 63 - (unsigned)__builtin_clzll(m->atoms);
        r->settled.bytes = at + b * CT_SCAN_BLOCK + last + 1;
        r->settled.branches = branches;
        r->settled.marks = marks;
        r->settled.cycle = cycle_at(block, last);
        r->settled.packets = packets;
        r->settled.addresses = addresses;
        r->settled.branched = m->taken >> last & 1;
        ct_past_move(r->settled.past, r->past + 3 + block->before + ct_bits_set(m->addresses & ~behind));
        return;
    }
}

/* Adds the events of the chunk at byte `at`. Returns false when the burst ends in it. */
CT_VECTOR static bool add_events(struct ct_events_run *r, size_t at)
{
    struct ct_event_columns *c = r->burst->columns;
    const unsigned blocks = r->chunk.blocks;
    bool added = false;
#ifdef CT_HAVE_AVX512
    added = r->chunk.simd == CT_SIMD_AVX512 && ct_etm4_add_chunk_avx512(r, at);
#endif
    if (!added) {
        prepare(r, at);
        add_branches(r, at);
    }
    r->removed = 0;
    if (r->rare || c->mark_count > r->settled.marks)
        add_rare(r, at);
    c->count += r->count - r->removed;
    r->addresses += r->count;
    for (unsigned b = 0; b < r->chunk.blocks; b++)
        r->packets += ct_bits_set(r->chunk.masks[b].packets);
    settle(r, at);
    ct_past_move(r->past, r->past + 3 + r->count);
    return r->chunk.blocks == blocks;
}

CT_VECTOR size_t ct_etm4_burst_events(struct ct_etm4_event_burst *burst, struct ct_etm4_burst *plain,
                                      const uint8_t *data, size_t size, uint64_t pos)
{
    struct ct_event_columns *c = burst->columns;
    const uint32_t threshold = burst->tables->threshold;
    struct ct_events_run r;
    size_t at = 0;
    unsigned entry = 0;
    r.burst = burst;
    r.data = data;
    r.pos = pos;
    r.packets = r.addresses = 0;
    r.since = 0;
    /* a value has seven bits */
    const uint64_t most = CT_SCAN_BLOCK * (threshold + UINT64_C(0x7f));
    r.sums16 = most <= UINT16_MAX;
    r.most_odd = r.sums16 ? (unsigned)(UINT16_MAX - most) / (0x7f << 7) : 0;
    for (unsigned i = 0; i < 3; i++)
        r.past[i] = plain->address[2 - i];
    r.settled = (struct ct_events_settled){
        .branches = c->count, .marks = c->mark_count, .cycle = burst->cycle, .branched = burst->branched};
    memcpy(r.settled.past, r.past, sizeof r.settled.past);
    while (entry != CT_SCAN_STOP && ct_event_columns_have_room(c)) {
        const struct ct_etm4_scan_table *scan = &burst->tables->scan;
        const size_t bytes = scan->simd == CT_SIMD_AVX512
                                 ? ct_etm4_scan(scan, data + at, size - at, &entry, &r.chunk)
                                 : ct_etm4_scan_values(scan, data + at, size - at, &entry, &r.chunk);
        if (!r.chunk.blocks || !add_events(&r, at))
            break;
        at += bytes;
    }
    c->count = r.settled.branches;
    c->mark_count = r.settled.marks;
    burst->cycle = r.settled.cycle;
    burst->branched = r.settled.branched;
    burst->packets = r.settled.packets;
    burst->addresses = r.settled.addresses;
    for (unsigned i = 0; i < 3; i++)
        plain->address[i] = r.settled.past[2 - i];
    return r.settled.bytes;
}

#else

size_t ct_etm4_burst_events(struct ct_etm4_event_burst *burst, struct ct_etm4_burst *plain,
                            const uint8_t *data, size_t size, uint64_t pos)
{
    (void)burst, (void)plain, (void)data, (void)size, (void)pos;
    return 0;
}

#endif
