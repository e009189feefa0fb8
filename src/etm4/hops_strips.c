/* SPDX-License-Identifier: Apache-2.0 */
/* Edge counts where hops rest: stretches (the atoms between two addresses) are listed straight from the scan,
 * by the bytes of their packets, and no elements are made. */
#include "etm4/hops_own.h"

#include <string.h>

#include "etm4/avx512.h"
#include "etm4/events_run.h"

#ifdef CT_HAVE_VECTORS

/* Fewer addresses in a chunk are not worth the beginning. */
#define LEAST 4u

/* With cycle counts, the most packets of atoms for each address. */
#define ATOMS_MOST 2u

/* Gives each header of an atom packet its atoms. */
static void make_headers(struct ct_hops_strip *s, const struct ct_etm4_burst *burst)
{
    for (unsigned h = 0; h < 256; h++) {
        const struct ct_etm4_row *row = burst->rows[h];
        const bool atoms = (row->head & 0xff) == CT_ELEM_ATOMS && row->form == CT_BURST_PLAIN;
        s->headers[h].bits = atoms ? (uint32_t)row->base : 0;
        s->headers[h].count = atoms ? (uint8_t)(row->head >> 8) : 0;
    }
    s->have_headers = true;
}

/* Lists the addresses of a block, whose first byte is `at` of the run. */
CT_VECTOR_INLINE void list_block(struct ct_hops_strip *s, const struct ct_address_rows *rows,
                                 const struct ct_etm4_masks *m, const uint8_t *data, uint32_t at, bool wide)
{
    uint32_t n = s->count;
    uint64_t *past = s->past + 3 + n;
    uint64_t last = past[-1];
    for (uint64_t left = m->addresses; left; left &= left - 1) {
        const unsigned i = ct_lowest_bit(left);
        const uint64_t before = m->atoms & ct_bits_below(i);
        last = ct_address_of(rows, data + i, past, last, wide);
        *past++ = last;
        n++;
        s->list.addr[n] = last & ~UINT64_C(1);
        s->list.at[n] = s->bytes + ct_bits_set(before);
        s->place[n] = at + i;
        s->ends[n] = before ? at + 64 - ct_clear_above(before) : s->behind;
    }
    s->count = n;
    s->behind = m->atoms ? at + 64 - ct_clear_above(m->atoms) : s->behind;
}

/* Puts the packets of atoms of a block behind those before. */
CT_VECTOR_INLINE void keep_atoms(struct ct_hops_strip *s, const uint8_t *data, uint64_t atoms)
{
    uint8_t *to = s->list.bytes + s->bytes;
    for (unsigned i = 0; i < CT_SCAN_BLOCK; i += 8, atoms >>= 8)
        to += ct_bytes_keep(to, data + i, (uint8_t)atoms);
    s->bytes = (uint32_t)(to - s->list.bytes);
}

#ifdef CT_HAVE_AVX512
CT_AVX512_INLINE void keep_atoms_avx512(struct ct_hops_strip *s, const uint8_t *data, uint64_t atoms)
{
    /* storing with compression would be slow on Zen 4 */
    _mm512_storeu_si512(s->list.bytes + s->bytes, _mm512_maskz_compress_epi8(atoms, ct_load_zmm(data)));
    s->bytes += (unsigned)__builtin_popcountll(atoms);
}

CT_AVX512 static void list_avx512(struct ct_hops_strip *s, const struct ct_address_rows *rows,
                                  const uint8_t *data, uint32_t at)
{
    for (unsigned b = 0; b < s->chunk.blocks; b++, data += CT_SCAN_BLOCK, at += CT_SCAN_BLOCK) {
        const struct ct_etm4_masks *m = &s->chunk.masks[b];
        if (m->odd)
            list_block(s, rows, m, data, at, true);
        else
            list_block(s, rows, m, data, at, false);
        keep_atoms_avx512(s, data, m->atoms);
    }
}
#endif

CT_VECTOR static void list_plain(struct ct_hops_strip *s, const struct ct_address_rows *rows,
                                 const uint8_t *data, uint32_t at)
{
    for (unsigned b = 0; b < s->chunk.blocks; b++, data += CT_SCAN_BLOCK, at += CT_SCAN_BLOCK) {
        const struct ct_etm4_masks *m = &s->chunk.masks[b];
        list_block(s, rows, m, data, at, true);
        keep_atoms(s, data, m->atoms);
    }
}

/* Lists the addresses and atoms of the chunk, which begins at byte `at` of the run. */
static void list(struct ct_hops_strip *s, const struct ct_address_rows *rows, const uint8_t *data,
                 uint32_t at)
{
#ifdef CT_HAVE_AVX512
    if (s->chunk.simd == CT_SIMD_AVX512) {
        list_avx512(s, rows, data, at);
        return;
    }
#endif
    list_plain(s, rows, data, at);
}

/* Scans the chunk at byte `at` of the run, whose first packet begins at *entry. Result: the bytes of it. */
static size_t scan(struct ct_etm4_hops *h, const struct ct_run *run, size_t at, unsigned *entry)
{
    return ct_etm4_scan(&ct_etm4_fast_tables(h->bytes)->scan, run->data + at, run->size - at, entry,
                        &h->strip.chunk);
}

/* What a chunk has. */
struct lead {
    unsigned header; /* where its first address begins … */
    unsigned behind; /* … and the packet behind that */
    unsigned addresses, counts;
    unsigned atoms; /* packets of atoms behind the first address */
};

/* Finds the first address of the chunk, and how many packets of each kind there are. */
CT_VECTOR static struct lead find_lead(const struct ct_etm4_chunk *chunk)
{
    struct lead l = {0};
    for (unsigned b = 0; b < chunk->blocks; b++) {
        const struct ct_etm4_masks *m = &chunk->masks[b];
        uint64_t packets = m->packets;
        if (!l.addresses && m->addresses) {
            l.header = b * CT_SCAN_BLOCK + ct_lowest_bit(m->addresses);
            packets &= ~(m->addresses ^ (m->addresses - 1));
        }
        l.addresses += ct_bits_set(m->addresses);
        l.atoms += l.addresses ? ct_bits_set(m->atoms & packets) : 0;
        l.counts += ct_bits_set(m->counts);
        if (l.addresses && !l.behind && packets)
            l.behind = b * CT_SCAN_BLOCK + ct_lowest_bit(packets);
    }
    return l;
}

/* Tells whether the bytes of packets tell stretches. Cycle counts cut rows of atoms into packets, now here
 * and now there, so that what execution does again has other packets. */
static bool are_alike(const struct lead *l)
{
    return !l->counts || l->atoms <= l->addresses * ATOMS_MOST;
}

/* Decodes trace up to the first address, and begins. An atom follows, so no element of it is held. Returns
 * false when strips cannot begin here. */
static bool begin(struct ct_etm4_hops *h, struct ct_work *work)
{
    struct ct_elem elems[CT_FAST_TAIL + CT_SCAN_BYTES];
    struct ct_hops_strip *s = &h->strip;
    const struct ct_etm4_burst *burst = ct_etm4_fast_burst(h->bytes);
    struct ct_step_batch batch;
    size_t taken;
    unsigned entry = 0;
    if (s->unlike || work->at >= work->run->size || !ct_fast_wants_strips(h->fast) ||
        !ct_etm4_hops_is_ready(h) || !ct_fast_is_open(h->fast) || !ct_etm4_fast_enter(h->bytes))
        return false;
    scan(h, work->run, work->at, &entry);
    const struct lead lead = find_lead(&s->chunk);
    if (lead.addresses <= LEAST || !lead.atoms)
        return false;
    if (!s->have_headers) {
        s->unlike = !are_alike(&lead);
        make_headers(s, burst);
    }
    if (s->unlike)
        return false;
    size_t count = ct_etm4_fast_release(h->bytes, elems);
    count += ct_etm4_fast_read(h->bytes, work->run->data + work->at, lead.header + 1, elems + count);
    h->hops.elements += count;
    work->at += lead.behind;
    work->last_offset = ct_run_offset(work->run, work->run->pos + work->at - 1);
    h->hops.error = ct_fast_run(h->fast, elems, count, 0, &taken, &batch);
    s->count = s->bytes = 0;
    for (unsigned i = 0; i < 3; i++)
        s->past[i] = burst->address[2 - i];
    return !h->hops.error && ct_fast_begin_strip(h->fast, s->headers, &s->list);
}

/* Ends the strip behind the last atom of stretch `done` - 1, of which the address behind is left to the
 * elements. Bytes up to `at` of the run were scanned. */
static void end(struct ct_etm4_hops *h, struct ct_work *work, size_t at, size_t done)
{
    struct ct_hops_strip *s = &h->strip;
    const uint8_t *data = work->run->data;
    const size_t to = done ? s->ends[done] : work->at;
    uint64_t *packets = ct_etm4_fast_burst(h->bytes)->packets;
    for (size_t i = 1; i < done; i++)
        packets[data[s->place[i]]]++;
    ct_fast_end_strip(h->fast, done);
    if (at > to)
        h->hops.elements -= ct_etm4_fast_forget(h->bytes, data + to, at - to);
    if (done) {
        const uint64_t address[3] = {s->past[done + 1], s->past[done], s->past[done - 1]};
        ct_etm4_fast_leave(h->bytes, address);
        h->hops.elements += done - 1 + s->list.at[done];
    }
    ct_etm4_hops_pass(h, work, to, &s->others);
}

int ct_etm4_hops_strips(struct ct_etm4_hops *h, struct ct_work *work)
{
    struct ct_hops_strip *s = &h->strip;
    if (!begin(h, work))
        return h->hops.error;
    size_t at = work->at;
    size_t done = 0;
    uint32_t listed = 0;
    unsigned entry = 0;
    bool more = true;
    s->behind = (uint32_t)at;
    while (more && done == listed) {
        listed = s->count;
        const size_t size = scan(h, work->run, at, &entry);
        list(s, &ct_etm4_fast_tables(h->bytes)->addresses, work->run->data + at, (uint32_t)at);
        ct_etm4_cuts_others(&s->chunk, work->run->data + at, size, &s->others);
        done = ct_fast_count_strip(h->fast, done, listed, s->count);
        at += size;
        more = s->chunk.blocks && entry != CT_SCAN_STOP && s->count + CT_SCAN_BYTES < CT_STRIP_PLACES - 2 &&
               s->bytes + CT_SCAN_BYTES < CT_STRIP_BYTES - CT_SCAN_BLOCK;
    }
    if (done == listed)
        done = ct_fast_count_strip(h->fast, done, s->count, s->count);
    end(h, work, at, done);
    return h->hops.blocks->error;
}

#else

int ct_etm4_hops_strips(struct ct_etm4_hops *h, struct ct_work *work)
{
    (void)h, (void)work;
    return CT_OK;
}

#endif
