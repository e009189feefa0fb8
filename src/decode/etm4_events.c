#include "decode/etm4_events.h"

#include <string.h>

#include "analysis/events.h"
#include "base/bytes.h"

static void set_address(struct ct_address_rows *rows, size_t at, const struct ct_etm4_row *row)
{
    const bool is = row->base & 1;
    const uint64_t take = row->take << 8; /* x begins with the header */
    const unsigned width = (unsigned)__builtin_popcountll(take);
    /* Bit 7 of these headers is 1. */
    rows->take[at] = take | (is ? 0x80 : 0);
    rows->place[at] = ct_mask64(width) << row->shift | is;
    rows->keep[at] = row->source ? 0 : row->keep;
    rows->earlier[at] = row->source ? row->keep : 0;
    rows->top[at] = row->take & ~ct_mask64(56);
    rows->back[at] = row->source ? -1 - row->source : 0;
}

/* The row of a header whose first byte of payload has bit 7 set, or not. */
static void set_row(struct ct_etm4_event_tables *t, const struct ct_etm4_burst *b, unsigned header,
                    unsigned more)
{
    const struct ct_etm4_row *row = &b->rows[header][more];
    const size_t at = CT_SCAN_ROW(header, more);
    if (row->form == CT_BURST_RARE)
        return;
    if (row->address)
        set_address(&t->addresses, at, row);
    else if ((uint8_t)row->head == CT_ELEM_CYCLES)
        t->counts[at] = (struct ct_count_row){.take = (uint32_t)row->take, .base = (uint32_t)row->base};
}

void ct_etm4_event_tables_init(struct ct_etm4_event_tables *t, const struct ct_etm4_burst *b)
{
    *t = (struct ct_etm4_event_tables){.threshold = b->threshold};
    ct_etm4_scan_init(&t->scan, b);
    for (unsigned header = 0; header < 256; header++)
        for (unsigned more = 0; more < 2; more++)
            set_row(t, b, header, more);
}

#ifdef CT_HAVE_AVX2

/* The columns behind the last atom: nothing that comes changes what is before. */
struct settled {
    size_t bytes;
    size_t branches;
    size_t marks;
    uint64_t cycle;
    uint64_t packets;
    uint64_t addresses;
    bool branched;
    uint64_t past[3];
};

/* What becomes of a block of the chunk. */
struct block {
    uint64_t starts;  /* addresses that are no targets */
    uint64_t awaited; /* atoms that an address stands before, in this block or an earlier one */
    uint64_t cycle;   /* up to its beginning */
    size_t before;    /* addresses in the blocks of the chunk before it */
    size_t waiting;   /* addresses before it that wait for its first atom */
    bool paired;      /* each address has an atom of its own, and the sums are in `sums` */
    bool large;       /* the sums are in `large_sums` */
    uint16_t sums[CT_SCAN_BLOCK / 2]; /* of the counts up to each pair of bytes */
    uint32_t large_sums[CT_SCAN_BLOCK / 2];
};

/* A burst on its way. */
struct run {
    struct ct_etm4_event_burst *burst;
    const uint8_t *data;
    uint64_t pos;     /* of data[0] */
    uint64_t packets; /* in all chunks before … */
    uint64_t addresses;
    bool sums16;    /* the counts of a block add up to 16 bits, but for odd ones */
    unsigned since; /* bytes since the last atom */
    struct ct_etm4_chunk chunk;
    unsigned rare;  /* bits: blocks of the chunk that have marks */
    size_t count;   /* addresses of the chunk … */
    size_t removed; /* … and those of them that are no targets */
    struct block blocks[CT_SCAN_BLOCKS];
    /* The last three addresses, newest last, and those of the chunk in work. */
    uint64_t past[3 + CT_SCAN_BYTES + 1]; /* one may be written too many */
    struct settled settled;
};

CT_AVX2_INLINE unsigned bits(uint64_t mask)
{
    return (unsigned)__builtin_popcountll(mask);
}

/* Bits below bit i, i from 0 to 63. */
CT_AVX2_INLINE uint64_t below(unsigned i)
{
    return (UINT64_C(1) << i) - 1;
}

CT_AVX2_INLINE unsigned lowest(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask);
}

/* Bit i of the mask as byte i, 0 or ff. */
CT_AVX2_INLINE __m256i bytes_of(uint32_t mask)
{
    const __m256i places = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2,
                                            2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i own = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    __m256i v = _mm256_shuffle_epi8(_mm256_set1_epi32((int)mask), places);
    return _mm256_cmpeq_epi8(_mm256_and_si256(v, own), own);
}

/* Each of the eight numbers of a lane with those before it. */
CT_AVX2_INLINE __m256i add_up(__m256i v)
{
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 2));
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 4));
    return _mm256_add_epi16(v, _mm256_slli_si256(v, 8));
}

/* sums[i]: of the counts of a block before byte 2 i + 1; between two atoms there is one at least. `values` has a byte before
 * the block. Result: the sum of all. */
CT_AVX2_INLINE uint64_t sum_counts(const uint8_t *values, uint64_t counts, uint32_t threshold, uint16_t *sums)
{
    const __m256i last = _mm256_set1_epi16(0x0f0e);
    const __m256i one = _mm256_set1_epi8(1);
    const __m256i less = _mm256_set1_epi16((short)-threshold);
    __m256i carry = _mm256_setzero_si256();
    for (unsigned at = 0; at < CT_SCAN_BLOCK; at += 32) {
        __m256i here = bytes_of((uint32_t)(counts << 1 >> at));
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(values + at - 1));
        __m256i sum = _mm256_maddubs_epi16(_mm256_and_si256(v, here), one);
        __m256i number = _mm256_maddubs_epi16(one, here); /* negative */
        sum = add_up(_mm256_add_epi16(sum, _mm256_mullo_epi16(number, less)));
        __m256i lanes = _mm256_shuffle_epi8(sum, last);
        sum = _mm256_add_epi16(sum, _mm256_add_epi16(carry, _mm256_permute2x128_si256(lanes, lanes, 0x08)));
        _mm256_storeu_si256((__m256i *)(void *)(sums + at / 2), sum);
        carry = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(sum, 0xff), last);
    }
    return (uint16_t)_mm256_extract_epi16(carry, 0) +
           (counts >> 63) * (values[CT_SCAN_BLOCK - 1] + (uint64_t)threshold);
}

/* The same for counts of any size. */
CT_AVX2 static uint64_t sum_large_counts(const struct ct_count_row *rows, const uint8_t *data,
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

/* Up to the atom at byte i. */
CT_AVX2_INLINE uint64_t cycle_at(const struct block *block, unsigned i)
{
    return block->cycle + (block->large ? block->large_sums[i / 2] : block->sums[i / 2]);
}

/* Addresses that are targets: the last atom before them ended with an E, and no other address took it. A carry runs from
 * each such atom up to the next atom or address. */
CT_AVX2_INLINE uint64_t find_targets(const struct ct_etm4_masks *m, bool *branched)
{
    uint64_t others = ~(m->atoms | m->addresses);
    unsigned long long sum;
    bool carry = __builtin_uaddll_overflow(m->taken << 1 | *branched, others, &sum);
    *branched = carry | m->taken >> 63;
    return sum & m->addresses;
}

/* The atoms that addresses wait for: a carry runs from each address to the next atom. *carry: one waits, before the block
 * and behind it. */
CT_AVX2_INLINE uint64_t find_awaited(const struct ct_etm4_masks *m, bool *carry)
{
    unsigned long long sum;
    bool over = __builtin_uaddll_overflow(m->addresses, ~m->atoms, &sum);
    over |= __builtin_uaddll_overflow(sum, *carry, &sum);
    *carry = over;
    return sum & m->atoms;
}

/* Bytes behind the last atom. */
CT_AVX2_INLINE uint64_t behind_last(uint64_t atoms)
{
    return atoms ? ~(~UINT64_C(0) >> __builtin_clzll(atoms)) : ~UINT64_C(0);
}

/* How many events wait for the first atom of block b. */
CT_AVX2 static size_t count_waiting(const struct run *r, unsigned b)
{
    const struct ct_event_columns *c = r->burst->columns;
    const struct ct_etm4_masks *m = &r->chunk.masks[b];
    size_t count = bits((m->addresses | m->events) & (m->atoms ^ (m->atoms - 1)));
    while (b-- > 0) {
        m = &r->chunk.masks[b];
        count += bits((m->addresses | m->events) & behind_last(m->atoms));
        if (m->atoms)
            return count;
    }
    return count + (c->count - r->settled.branches) + (c->mark_count - r->settled.marks);
}

/* More would wait at once than the event stream holds, which lets the oldest go then. */
CT_AVX2_INLINE bool too_many_wait(struct run *r, unsigned b)
{
    const uint64_t atoms = r->chunk.masks[b].atoms;
    const unsigned since = r->since;
    r->since = (unsigned)_lzcnt_u64(atoms);
    /* A byte is one event at most. Behind a block without an atom all that waits was counted there. */
    return since + (unsigned)_tzcnt_u64(atoms) > CT_EVENTS_WAITING && count_waiting(r, b) > CT_EVENTS_WAITING;
}

/* Looks through the blocks of the chunk at `at`; fewer of them are left when too many events wait. */
CT_AVX2 static void prepare(struct run *r, size_t at)
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
        struct block *block = &r->blocks[b];
        if (too_many_wait(r, b)) {
            r->chunk.blocks = b;
            break;
        }
        const unsigned here = bits(m->addresses);
        bool carry = waiting != 0;
        block->cycle = cycle;
        block->waiting = waiting;
        block->before = addresses;
        block->starts = m->addresses & ~find_targets(m, &branched);
        block->awaited = find_awaited(m, &carry);
        block->large = !r->sums16 || m->odd;
        block->paired = !block->large && bits(block->awaited) + carry == here + waiting;
        if (block->large)
            cycle += sum_large_counts(tables->counts, r->data + at + b * CT_SCAN_BLOCK, m->counts,
                                      block->large_sums);
        else
            cycle +=
                sum_counts(r->chunk.values + b * CT_SCAN_BLOCK, m->counts, tables->threshold, block->sums);
        waiting =
            block->paired ? carry : bits(m->addresses & behind_last(m->atoms)) + (m->atoms ? 0 : waiting);
        addresses += here;
        r->rare |= (unsigned)((m->events | block->starts) != 0) << b;
    }
    r->burst->cycle = cycle;
    r->burst->branched = branched;
    r->count = addresses;
}

/* Where the branches of a block go. */
struct places {
    uint64_t *past;    /* addresses with their instruction sets … */
    uint64_t *targets; /* … and without */
    uint64_t *times;   /* cycles, of the first address that waits */
};

/* The addresses of a block, and the cycles of the atoms that were awaited. */
CT_AVX2_INLINE void add_pairs(const struct ct_address_rows *rows, const uint8_t *data, uint64_t addresses,
                              const struct block *block, struct places to)
{
    /* Two that are awaited have an address between them, so that each may go to the first byte of its pair. */
    const uint64_t even = UINT64_C(0x5555555555555555);
    const char *sums = (const char *)block->sums;
    const uint64_t cycle = block->cycle;
    uint64_t awaited = (block->awaited | block->awaited >> 1) & even;
    uint64_t last = to.past[-1];
    const unsigned more = bits(addresses) > bits(awaited) ? bits(addresses) : bits(awaited);
    const uint64_t *end = to.past + more;
    for (; to.past < end; to.past++, to.targets++, to.times++) {
        uint16_t sum;
        memcpy(&sum, sums + _tzcnt_u64(awaited), sizeof sum);
        *to.times = cycle + sum;
        last = ct_address_of(rows, data + _tzcnt_u64(addresses), to.past, last, false);
        *to.past = last;
        *to.targets = last & ~UINT64_C(1);
        addresses &= addresses - 1;
        awaited &= awaited - 1;
    }
}

/* The same where an atom may have several addresses, or none has its cycles in 16 bits. */
CT_AVX2 static void add_one_by_one(const struct ct_address_rows *rows, const uint8_t *data,
                                   const struct ct_etm4_masks *m, const struct block *block, struct places to)
{
    uint64_t last = to.past[-1];
    for (size_t i = 0; i < block->waiting && m->atoms; i++)
        *to.times++ = cycle_at(block, lowest(m->atoms));
    for (uint64_t left = m->addresses; left; left &= left - 1) {
        const uint64_t atoms = m->atoms & ~below(lowest(left));
        last = ct_address_of(rows, data + lowest(left), to.past, last, true);
        *to.past++ = last;
        *to.targets++ = last & ~UINT64_C(1);
        if (atoms)
            *to.times++ = cycle_at(block, lowest(atoms));
    }
}

/* The addresses of the chunk at `at` with their cycles, as branches behind those that are in the columns. */
CT_AVX2 static void add_branches(struct run *r, size_t at)
{
    const struct ct_address_rows *rows = &r->burst->tables->addresses;
    struct ct_event_columns *c = r->burst->columns;
    const uint8_t *data = r->data + at;
    for (unsigned b = 0; b < r->chunk.blocks; b++, data += CT_SCAN_BLOCK) {
        const struct ct_etm4_masks *m = &r->chunk.masks[b];
        const struct block *block = &r->blocks[b];
        const struct places to = {.past = r->past + 3 + block->before,
                                  .targets = c->targets + c->count + block->before,
                                  .times = c->cycles + c->count + block->before - block->waiting};
        if (__builtin_expect(block->paired, 1))
            add_pairs(rows, data, m->addresses, block, to);
        else
            add_one_by_one(rows, data, m, block, to);
    }
}

/* Where the next atom of the chunk is from byte i of block b on. False: there is none. */
CT_AVX2_INLINE bool find_atom(const struct run *r, unsigned *b, unsigned *i)
{
    for (; *b < r->chunk.blocks; ++*b, *i = 0) {
        uint64_t atoms = r->chunk.masks[*b].atoms & ~below(*i);
        if (atoms) {
            *i = lowest(atoms);
            return true;
        }
    }
    return false;
}

/* The cycles of what stands at byte i of block b, if its atom is there yet. */
CT_AVX2_INLINE uint64_t cycle_behind(const struct run *r, unsigned b, unsigned i)
{
    return find_atom(r, &b, &i) ? cycle_at(&r->blocks[b], i) : 0;
}

/* How far addresses that are no targets are taken out of the columns: up to `from`, which go to `to`. */
struct gap {
    size_t from;
    size_t to;
};

/* The branches up to `end` close the gap, and what is there is left out. */
static void close_gap(struct ct_event_columns *c, struct gap *gap, size_t end)
{
    const size_t count = end - gap->from;
    memmove(c->targets + gap->to, c->targets + gap->from, count * sizeof *c->targets);
    memmove(c->cycles + gap->to, c->cycles + gap->from, count * sizeof *c->cycles);
    gap->to += count;
    gap->from = end + 1;
}

/* Events, and addresses that are no targets, of block b of the chunk at `at`. */
CT_AVX2 static void add_marks(struct run *r, unsigned b, size_t at, struct gap *gap)
{
    struct ct_event_columns *c = r->burst->columns;
    const struct ct_etm4_masks *m = &r->chunk.masks[b];
    const struct block *block = &r->blocks[b];
    for (uint64_t left = m->events | block->starts; left; left &= left - 1) {
        const unsigned i = lowest(left);
        const size_t place = c->count + block->before + bits(m->addresses & below(i));
        struct ct_event event = {.offset = r->pos + at + b * CT_SCAN_BLOCK + i,
                                 .cycle = cycle_behind(r, b, i)};
        const size_t before = place - (gap->from - gap->to);
        if (block->starts >> i & 1) {
            event.type = CT_EVENT_START;
            event.value = c->targets[place];
            close_gap(c, gap, place);
        } else {
            event.type = CT_EVENT_HARDWARE;
            event.a = r->data[at + b * CT_SCAN_BLOCK + i] & 15;
            event.value = event.a;
        }
        c->marks[c->mark_count++] = (struct ct_event_mark){.event = event, .before = before};
    }
}

/* What the chunk at `at` has of marks, and cycles for those that wait. */
CT_AVX2 static void add_rare(struct run *r, size_t at)
{
    struct ct_event_columns *c = r->burst->columns;
    const uint64_t cycle = cycle_behind(r, 0, 0);
    const size_t end = c->count + r->count;
    struct gap gap = {.from = c->count, .to = c->count};
    for (size_t i = r->settled.marks; i < c->mark_count; i++)
        c->marks[i].event.cycle = cycle;
    for (unsigned left = r->rare; left; left &= left - 1)
        add_marks(r, lowest(left), at, &gap);
    r->removed = gap.from - gap.to;
    if (r->removed)
        close_gap(c, &gap, end);
}

/* The last atom of the chunk at `at`, which is in the columns, settles all before it. */
CT_AVX2_INLINE void settle(struct run *r, size_t at)
{
    const struct ct_event_columns *c = r->burst->columns;
    size_t branches = c->count;
    size_t marks = c->mark_count;
    uint64_t packets = r->packets;
    uint64_t addresses = r->addresses;
    for (unsigned b = r->chunk.blocks; b-- > 0;) {
        const struct ct_etm4_masks *m = &r->chunk.masks[b];
        const struct block *block = &r->blocks[b];
        const uint64_t behind = behind_last(m->atoms);
        branches -= bits(m->addresses & ~block->starts & behind);
        marks -= bits((m->events | block->starts) & behind);
        packets -= bits(m->packets & behind);
        addresses -= bits(m->addresses & behind);
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
        ct_past_move(r->settled.past, r->past + 3 + block->before + bits(m->addresses & ~behind));
        return;
    }
}

/* The chunk at `at`. False: the burst ends in it. */
CT_AVX2 static bool add_events(struct run *r, size_t at)
{
    struct ct_event_columns *c = r->burst->columns;
    const unsigned blocks = r->chunk.blocks;
    prepare(r, at);
    add_branches(r, at);
    r->removed = 0;
    if (r->rare || c->mark_count > r->settled.marks)
        add_rare(r, at);
    c->count += r->count - r->removed;
    r->addresses += r->count;
    for (unsigned b = 0; b < r->chunk.blocks; b++)
        r->packets += bits(r->chunk.masks[b].packets);
    settle(r, at);
    ct_past_move(r->past, r->past + 3 + r->count);
    return r->chunk.blocks == blocks;
}

CT_AVX2 size_t ct_etm4_burst_events(struct ct_etm4_event_burst *burst, struct ct_etm4_burst *plain,
                                    const uint8_t *data, size_t size, uint64_t pos)
{
    struct ct_event_columns *c = burst->columns;
    const uint32_t threshold = burst->tables->threshold;
    struct run r;
    size_t at = 0;
    unsigned entry = 0;
    r.burst = burst;
    r.data = data;
    r.pos = pos;
    r.packets = r.addresses = 0;
    r.since = 0;
    /* Values have seven bits. */
    r.sums16 = CT_SCAN_BLOCK * (threshold + 0x7f) <= UINT16_MAX;
    for (unsigned i = 0; i < 3; i++)
        r.past[i] = plain->address[2 - i];
    r.settled = (struct settled){
        .branches = c->count, .marks = c->mark_count, .cycle = burst->cycle, .branched = burst->branched};
    memcpy(r.settled.past, r.past, sizeof r.settled.past);
    while (entry != CT_SCAN_STOP && ct_event_columns_have_room(c)) {
        size_t bytes = ct_etm4_scan_values(&burst->tables->scan, data + at, size - at, &entry, &r.chunk);
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
