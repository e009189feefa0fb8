#include "decode/etm4_events.h"

#include <string.h>

#include "analysis/events.h"
#include "base/bytes.h"

/* The row of a header whose packet has an odd length, or an even one. */
static void set_row(struct ct_etm4_event_tables *t, const struct ct_etm4_burst *b, unsigned header,
                    unsigned odd)
{
    /* Addresses and counts in one byte of payload are two bytes long, and of two are three. */
    const struct ct_etm4_row *row = &b->rows[header][odd];
    unsigned at = CT_SCAN_ROW(header, odd);
    uint8_t kind = (uint8_t)row->head;
    if (row->form == CT_BURST_RARE)
        return;
    if (row->address) {
        t->addresses[at] = (struct ct_address_row){.take = row->take,
                                                   .keep = row->keep,
                                                   .is = row->base,
                                                   .shift = row->shift,
                                                   .back = row->source + 1};
    } else if (kind == CT_ELEM_CYCLES) {
        t->counts[at] = (struct ct_count_row){.take = (uint32_t)row->take, .base = (uint32_t)row->base};
    }
}

void ct_etm4_event_tables_init(struct ct_etm4_event_tables *t, const struct ct_etm4_burst *b)
{
    *t = (struct ct_etm4_event_tables){.addresses = {{0}}};
    ct_etm4_scan_init(&t->scan, b);
    for (unsigned header = 0; header < 256; header++)
        for (unsigned odd = 0; odd < 2; odd++)
            set_row(t, b, header, odd);
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
    /* The addresses were these where decoding was at `from`, the block of the atom. */
    size_t from;
    uint64_t past[3];
};

/* A burst on its way. */
struct run {
    struct ct_etm4_event_burst *burst;
    const uint8_t *data;
    uint64_t pos;     /* of data[0] */
    uint64_t packets; /* in all blocks before … */
    uint64_t addresses;
    /* The last three addresses, newest last, and those of the block in work. */
    uint64_t past[3 + CT_SCAN_BLOCK];
    struct ct_etm4_chunk chunk;
    uint64_t cycles[CT_SCAN_BYTES + 1]; /* up to each count of the chunk, and before the first */
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

/* The sum of cycles up to each count. */
CT_AVX2 static void add_cycles(struct run *r, const uint8_t *data)
{
    const struct ct_count_row *rows = r->burst->tables->counts;
    uint64_t cycle = r->burst->cycle;
    uint64_t *out = r->cycles;
    *out++ = cycle;
    for (unsigned b = 0; b < r->chunk.blocks; b++) {
        const uint8_t *payload = data + b * CT_SCAN_BLOCK + 1;
        const uint8_t *row = r->chunk.rows + b * CT_SCAN_BLOCK;
        for (uint64_t left = r->chunk.masks[b].counts; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctzll(left);
            const struct ct_count_row *how = &rows[row[i]];
            uint32_t x;
            memcpy(&x, payload + i, sizeof x);
            cycle += (uint64_t)_pext_u32(x, how->take) + how->base;
            *out++ = cycle;
        }
    }
    r->burst->cycle = cycle;
}

/* The cycles of what stands at byte i: those of the last count before the next atom. */
CT_AVX2_INLINE uint64_t cycle_at(const struct ct_etm4_masks *m, const uint64_t *cycles, unsigned i)
{
    uint64_t atoms = m->atoms & ~UINT64_C(0) << i;
    return cycles[bits(m->counts & (atoms ^ (atoms - 1)))];
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

/* All addresses of a block, as branches. */
CT_AVX2_INLINE void add_branches(struct run *r, const struct ct_etm4_masks *m, const uint8_t *data,
                                 const uint8_t *row, const uint64_t *cycles)
{
    struct ct_event_columns *c = r->burst->columns;
    const struct ct_address_row *rows = r->burst->tables->addresses;
    uint64_t *targets = c->targets + c->count;
    uint64_t *times = c->cycles + c->count;
    uint64_t *past = r->past + 3;
    for (uint64_t left = m->addresses; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        *past = ct_address_of(&rows[row[i]], data + i + 1, past);
        *targets++ = *past++ & ~UINT64_C(1);
        *times++ = cycle_at(m, cycles, i);
    }
    ct_past_move(r->past, past);
}

/* Events, and addresses that are no targets, which go from the columns to the marks; `first` is where the addresses of
 * the block begin there. */
CT_AVX2 static void add_marks(struct run *r, const struct ct_etm4_masks *m, uint64_t starts, size_t at,
                              const uint64_t *cycles, size_t first)
{
    struct ct_event_columns *c = r->burst->columns;
    for (uint64_t left = m->events | starts; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        struct ct_event event = {.offset = r->pos + at + i, .cycle = cycle_at(m, cycles, i)};
        if (starts >> i & 1) {
            event.type = CT_EVENT_START;
            event.value = c->targets[first + bits(m->addresses & below(i))];
        } else {
            event.type = CT_EVENT_HARDWARE;
            event.a = r->data[at + i] & 15;
            event.value = event.a;
        }
        c->marks[c->mark_count++] =
            (struct ct_event_mark){.event = event, .before = first + bits(m->addresses & ~starts & below(i))};
    }
    size_t to = first;
    size_t from = first;
    for (uint64_t left = m->addresses; starts && left; left &= left - 1, from++) {
        c->targets[to] = c->targets[from];
        c->cycles[to] = c->cycles[from];
        to += !(starts & left & -left);
    }
    c->count -= bits(starts);
}

/* What waited for the next atom has its cycles now. */
CT_AVX2_INLINE void settle(struct run *r, uint64_t cycle)
{
    struct ct_event_columns *c = r->burst->columns;
    for (size_t i = r->settled.branches; i < c->count; i++)
        c->cycles[i] = cycle;
    for (size_t i = r->settled.marks; i < c->mark_count; i++)
        c->marks[i].event.cycle = cycle;
}

/* The last atom of the block at `at` settles all before it. */
CT_AVX2_INLINE void note_last_atom(struct run *r, const struct ct_etm4_masks *m, uint64_t starts, size_t at,
                                   const uint64_t *cycles)
{
    const struct ct_event_columns *c = r->burst->columns;
    unsigned last = 63 - (unsigned)__builtin_clzll(m->atoms);
    r->settled.bytes = at + last + 1;
    r->settled.branches = c->count + bits(m->addresses & ~starts & below(last));
    r->settled.marks = c->mark_count + bits((m->events | starts) & below(last));
    r->settled.cycle = cycles[bits(m->counts & below(last))];
    r->settled.packets = r->packets + bits(m->packets & below(last)) + 1;
    r->settled.addresses = r->addresses + bits(m->addresses & below(last));
    r->settled.branched = m->taken >> last & 1;
    r->settled.from = at + (unsigned)__builtin_ctzll(m->packets);
    memcpy(r->settled.past, r->past, sizeof r->settled.past);
}

/* More would wait at once than the event stream holds, which lets the oldest go then. */
CT_AVX2_INLINE bool too_many_wait(const struct run *r, const struct ct_etm4_masks *m)
{
    const struct ct_event_columns *c = r->burst->columns;
    size_t wait = c->count - r->settled.branches + c->mark_count - r->settled.marks;
    uint64_t first = m->atoms ^ (m->atoms - 1);
    return wait + bits((m->addresses | m->events) & first) > CT_EVENTS_WAITING;
}

/* The blocks of the chunk at `at`. False: the burst ends here. */
CT_AVX2 static bool add_events(struct run *r, size_t at)
{
    struct ct_event_columns *c = r->burst->columns;
    const uint64_t *cycles = r->cycles;
    for (unsigned b = 0; b < r->chunk.blocks; b++, at += CT_SCAN_BLOCK) {
        const struct ct_etm4_masks *m = &r->chunk.masks[b];
        if (too_many_wait(r, m))
            return false;
        uint64_t starts = m->addresses & ~find_targets(m, &r->burst->branched);
        if (m->atoms) {
            settle(r, cycles[bits(m->counts & (m->atoms ^ (m->atoms - 1)))]);
            note_last_atom(r, m, starts, at, cycles);
        }
        size_t first = c->count;
        add_branches(r, m, r->data + at, r->chunk.rows + b * CT_SCAN_BLOCK, cycles);
        c->count += bits(m->addresses);
        if (m->events | starts)
            add_marks(r, m, starts, at, cycles, first);
        r->packets += bits(m->packets);
        r->addresses += bits(m->addresses);
        cycles += bits(m->counts);
    }
    return true;
}

/* The addresses behind the last atom: decoded once more from the beginning of its block. */
static void rewind_addresses(const struct run *r, struct ct_etm4_burst *plain)
{
    struct ct_elem elems[CT_SCAN_BLOCK];
    size_t count;
    if (!r->settled.bytes)
        return;
    for (unsigned i = 0; i < 3; i++)
        plain->address[i] = r->settled.past[2 - i];
    ct_etm4_burst_elems(plain, r->data + r->settled.from,
                        r->settled.bytes - r->settled.from + CT_ETM4_BURST_AHEAD, 0, elems, CT_SCAN_BLOCK,
                        &count);
    memset(plain->packets, 0, sizeof plain->packets); /* they are counted already */
}

size_t ct_etm4_burst_events(struct ct_etm4_event_burst *burst, struct ct_etm4_burst *plain,
                            const uint8_t *data, size_t size, uint64_t pos)
{
    struct ct_event_columns *c = burst->columns;
    struct run r;
    size_t at = 0;
    unsigned entry = 0;
    r.burst = burst;
    r.data = data;
    r.pos = pos;
    r.packets = r.addresses = 0;
    for (unsigned i = 0; i < 3; i++)
        r.past[i] = plain->address[2 - i];
    r.settled = (struct settled){
        .branches = c->count, .marks = c->mark_count, .cycle = burst->cycle, .branched = burst->branched};
    while (entry != CT_SCAN_STOP && ct_event_columns_have_room(c)) {
        size_t bytes = ct_etm4_scan(&burst->tables->scan, data + at, size - at, &entry, &r.chunk);
        if (!r.chunk.blocks)
            break;
        add_cycles(&r, data + at);
        if (!add_events(&r, at))
            break;
        at += bytes;
    }
    c->count = r.settled.branches;
    c->mark_count = r.settled.marks;
    burst->cycle = r.settled.cycle;
    burst->branched = r.settled.branched;
    burst->packets = r.settled.packets;
    burst->addresses = r.settled.addresses;
    rewind_addresses(&r, plain);
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
