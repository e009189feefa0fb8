/* SPDX-License-Identifier: Apache-2.0 */
/* Counts edges with cycles where hops rest. Lists stretches (the atoms between two addresses) and cycle
 * counts straight from the scan, without making elements. */
#include "etm4/hops_own.h"

#include "coretap/steps.h"
#include "etm4/events_run.h"

#ifdef CT_HAVE_VECTORS

/* most events of a strip: fewer than may lie between two steps that wait for a count */
#define EVENTS_MOST (CT_STEP_WAIT_MARKS / 2)

/* Strips wait after one that ended before it had FEW bytes, because of something that the plain walk has to
 * take: for WAIT bytes the first time, and for twice as many each next time up to WAIT_MOST. */
#define FEW       (UINT64_C(4) << 10)
#define WAIT      (UINT64_C(4) << 10)
#define WAIT_MOST (UINT64_C(64) << 10)

/* Lists the cycle counts of the chunk at `data`, which is byte `at` of the strip. `packets`: the number of
 * atom packets before it. */
CT_VECTOR static void list_counts(struct ct_hops_strip *s, const struct ct_count_row *rows,
                                  const uint8_t *data, size_t at, uint32_t packets)
{
    uint16_t places[CT_SCAN_BYTES + CT_PLACES_BEYOND];
    uint32_t before[CT_SCAN_BLOCKS];
    uint32_t count = 0;
    uint32_t n = s->counts;
    for (unsigned b = 0; b < s->chunk.blocks; b++) {
        before[b] = packets;
        packets += ct_bits_set(s->chunk.masks[b].atoms);
        count += ct_list_places(places + count, s->chunk.masks[b].counts, b * CT_SCAN_BLOCK);
    }
    for (uint32_t k = 0; k < count; k++, n++) {
        const unsigned place = places[k];
        const unsigned b = place / CT_SCAN_BLOCK;
        const uint64_t atoms = ct_bits_low(s->chunk.masks[b].atoms, place % CT_SCAN_BLOCK);
        s->count_place[n] = (uint16_t)(at + place);
        s->cycles[n] = ct_cut_cycles(rows, data + place);
        s->count_at[n] = s->atoms.before[before[b] + ct_bits_set(atoms)];
    }
    s->counts = n;
}

/* Finds the first cycle count that an atom follows, or an address and then an atom. Sets *header to the first
 * byte of the last packet before that atom, and *behind to the atom. Returns false when there is none. */
CT_VECTOR static bool find_count(const struct ct_etm4_chunk *chunk, unsigned *header, unsigned *behind)
{
    bool counted = false;
    bool addressed = false;
    for (unsigned b = 0; b < chunk->blocks; b++) {
        const struct ct_etm4_masks *m = &chunk->masks[b];
        for (uint64_t left = m->packets; left; left &= left - 1) {
            const uint64_t packet = left & -left;
            *behind = b * CT_SCAN_BLOCK + ct_lowest_bit(left);
            if (counted && m->atoms & packet)
                return true;
            addressed = counted && !addressed && m->addresses & packet;
            counted = addressed || m->counts & packet;
            *header = *behind;
        }
    }
    return false;
}

/* Returns how many counts of the strip have an atom behind them. Others may not be certain yet. */
static uint32_t count_certain(const struct ct_hops_strip *s)
{
    uint32_t n = s->counts;
    while (n && s->count_at[n - 1] == s->atoms.atoms)
        n--;
    return n;
}

CT_VECTOR static unsigned count_addresses(const struct ct_etm4_chunk *chunk)
{
    unsigned count = 0;
    for (unsigned b = 0; b < chunk->blocks; b++)
        count += ct_bits_set(chunk->masks[b].addresses);
    return count;
}

static bool waits(const struct ct_hops_strip *s, const struct ct_work *work)
{
    return work->run->pos + work->at - s->since < s->wait;
}

/* Decodes trace to elements up to the first cycle count, and begins a strip. Returns false when strips cannot
 * begin here. */
static bool begin(struct ct_etm4_hops *h, struct ct_work *work)
{
    struct ct_hops_strip *s = &h->strip;
    unsigned entry = 0;
    unsigned header = 0;
    unsigned behind = 0;
    if (work->at >= work->run->size || waits(s, work) || !ct_etm4_hops_is_ready(h) ||
        !ct_etm4_fast_enter(h->bytes))
        return false;
    ct_etm4_strip_scan(h, work->run, work->at, &entry);
    if (count_addresses(&s->chunk) <= CT_STRIP_ADDRESSES_LEAST || !find_count(&s->chunk, &header, &behind) ||
        !ct_etm4_strip_reach(h, work, header, behind) ||
        !ct_fast_begin_timed_strip(h->fast, &s->list, &s->count_at, &s->cycles))
        return false;
    s->counts = 0;
    ct_atom_row_begin(&s->atoms, ct_etm4_fast_burst(h->bytes), s->list.atoms);
    return true;
}

/* The packets of a strip up to a place. */
struct passed {
    size_t atoms, addresses;
    uint32_t events; /* behind the last atom packet */
};

/* Counts the packets before byte `place` of the strip. */
CT_VECTOR static struct passed find_passed(const struct ct_hops_strip *s, size_t place)
{
    struct passed p = {0};
    for (unsigned b = 0; b * CT_SCAN_BLOCK < place; b++) {
        const size_t left = place - b * CT_SCAN_BLOCK;
        const uint64_t before = ct_mask64(left < CT_SCAN_BLOCK ? (unsigned)left : CT_SCAN_BLOCK);
        const uint64_t atoms = s->masks[b].atoms & before;
        const uint64_t behind = atoms ? ~ct_mask64(CT_SCAN_BLOCK - ct_clear_above(atoms)) : UINT64_MAX;
        p.atoms += ct_bits_set(atoms);
        p.addresses += ct_bits_set(s->masks[b].addresses & before);
        p.events = (atoms ? 0 : p.events) + ct_bits_set(s->masks[b].events & before & behind);
    }
    return p;
}

/* Ends the strip behind the last count that is counted. Bytes up to `at` of the run were scanned. */
static void end(struct ct_etm4_hops *h, struct ct_work *work, size_t at)
{
    struct ct_hops_strip *s = &h->strip;
    const size_t legs = ct_fast_timed_legs(h->fast);
    const uint8_t *data = work->run->data + work->at;
    const size_t place = legs ? s->count_place[legs - 1] : 0;
    const size_t done = legs ? place + ct_cut_count_size(data + place) : 0;
    const size_t scanned = at - work->at;
    if (scanned > done)
        h->hops.elements -= ct_etm4_fast_forget(h->bytes, data + done, scanned - done);
    if (legs) {
        const struct passed p = find_passed(s, place);
        const uint64_t *newest = s->past + 2 + p.addresses;
        const uint64_t address[3] = {newest[0], newest[-1], newest[-2]};
        ct_fast_end_timed_strip(h->fast, p.addresses, p.events);
        ct_etm4_strip_count_packets(h, p.addresses, p.atoms);
        ct_etm4_fast_leave(h->bytes, address);
    }
    ct_etm4_hops_pass(h, work, work->at + done, &s->others);
}

/* Decides whether strips wait after one of `bytes` bytes. `whole`: nothing that the plain walk
 * has to take ended it. */
static void judge(struct ct_hops_strip *s, const struct ct_work *work, size_t bytes, bool whole)
{
    if (whole || bytes >= FEW)
        s->wait = 0;
    else
        s->wait = !s->wait ? WAIT : s->wait < WAIT_MOST ? s->wait * 2 : WAIT_MOST;
    s->since = work->run->pos + work->at;
}

int ct_etm4_hops_timed_strips(struct ct_etm4_hops *h, struct ct_work *work)
{
    struct ct_hops_strip *s = &h->strip;
    const struct ct_etm4_event_tables *tables = ct_etm4_fast_tables(h->bytes);
    if (!begin(h, work))
        return h->hops.error ? h->hops.error : h->hops.blocks->error;
    const size_t from = work->at;
    size_t at = from;
    size_t done = 0;
    unsigned entry = 0;
    bool whole = true;
    bool more = true;
    while (more) {
        const uint32_t listed = s->count;
        const uint32_t packets = s->atoms.packets;
        const uint8_t *data = work->run->data + at;
        const size_t size = ct_etm4_strip_scan(h, work->run, at, &entry);
        ct_etm4_strip_list(s, tables, data);
        list_counts(s, tables->counts, data, at - from, packets);
        ct_etm4_cuts_others(&s->chunk, data, size, &s->others);
        at += size;
        whole = s->others.events <= EVENTS_MOST &&
                ct_fast_count_timed_strip(h->fast, &done, listed, s->count, count_certain(s));
        more = whole && s->chunk.blocks && entry != CT_SCAN_STOP && ct_etm4_strip_has_room(s);
    }
    if (whole)
        whole = ct_fast_count_timed_strip(h->fast, &done, s->count, s->count, count_certain(s));
    end(h, work, at);
    judge(s, work, work->at - from, whole);
    return h->hops.blocks->error;
}

#else

int ct_etm4_hops_timed_strips(struct ct_etm4_hops *h, struct ct_work *work)
{
    (void)h, (void)work;
    return CT_OK;
}

#endif
