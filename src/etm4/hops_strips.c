/* SPDX-License-Identifier: Apache-2.0 */
/* Counts edges where hops rest, and where there is a return stack. Lists stretches (the atoms between two
 * addresses) straight from the scan, without making elements. */
#include "etm4/hops_own.h"

#include "etm4/addresses_avx512.h"
#include "etm4/events_run.h"

#ifdef CT_HAVE_VECTORS

/* atom packets for each address of trace with cycle counts; more are many */
#define ATOMS_MANY 2u

/* most atoms of a usual atom packet */
#define ATOMS_USUAL 5u

/* Lists the headers of addresses, and those of the usual atom packets. */
static void make_headers(struct ct_hops_strip *s, const struct ct_etm4_burst *burst)
{
    for (unsigned h = 0; h < 256; h++)
        if (burst->rows[h]->form != CT_BURST_RARE && burst->rows[h]->address)
            s->address_headers[s->address_kinds++] = (uint8_t)h;
    for (unsigned h = CT_ATOM_HEADER; h < CT_ATOM_HEADER + CT_ATOM_HEADERS; h++)
        if ((uint8_t)(burst->rows[h]->head >> 8) <= ATOMS_USUAL)
            s->atom_headers[s->atom_kinds++] = (uint8_t)h;
}

/* Lists the addresses of a block, and for each the number of atom packets before it. */
CT_VECTOR_INLINE void list_block(struct ct_hops_strip *s, const struct ct_address_rows *rows,
                                 const struct ct_etm4_masks *m, const uint8_t *data, bool wide)
{
    uint32_t n = s->count;
    uint64_t *past = s->past + 3 + n;
    uint64_t last = past[-1];
    for (uint64_t left = m->addresses; left; left &= left - 1) {
        const unsigned i = ct_lowest_bit(left);
        last = ct_address_of(rows, data + i, past, last, wide);
        *past++ = last;
        s->headers[++n] = data[i];
        s->list.addr[n] = last & ~UINT64_C(1);
        s->list.at[n] = s->atoms.packets + ct_bits_set(m->atoms & ct_bits_below(i));
    }
    s->count = n;
}

/* Appends the headers of the atom packets of a block to those of the blocks before. */
CT_VECTOR_INLINE void keep_atoms(struct ct_hops_strip *s, const uint8_t *data, uint64_t atoms)
{
    uint8_t *to = s->atoms.headers + s->atoms.packets;
    for (unsigned i = 0; i < CT_SCAN_BLOCK; i += 8, atoms >>= 8)
        to += ct_bytes_keep(to, data + i, (uint8_t)atoms);
    s->atoms.packets = (uint32_t)(to - s->atoms.headers);
}

CT_VECTOR static void list_plain(struct ct_hops_strip *s, const struct ct_etm4_event_tables *tables,
                                 const uint8_t *data)
{
    for (unsigned b = 0; b < s->chunk.blocks; b++, data += CT_SCAN_BLOCK) {
        const struct ct_etm4_masks *m = &s->chunk.masks[b];
        list_block(s, &tables->addresses, m, data, true);
        keep_atoms(s, data, m->atoms);
    }
}

#ifdef CT_HAVE_AVX512

/* Writes, for each address of a block, the number of atom packets before it. */
CT_AVX512_INLINE void store_ranks(uint32_t *to, const struct ct_etm4_masks *m, uint32_t packets, __m512i all)
{
    const __m512i before = _mm512_set1_epi32((int)packets);
    /* The address at place p among addresses and atoms, number k of the addresses, has p - k atoms before
     * it. */
    const __mmask64 places = _pext_u64(m->addresses, m->addresses | m->atoms);
    const __m512i ranks = _mm512_sub_epi8(_mm512_maskz_compress_epi8(places, all), all);
    const __m128i first = _mm512_castsi512_si128(ranks);
    const __m128i second = _mm512_extracti32x4_epi32(ranks, 1);
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(first), before));
    _mm512_storeu_si512(to + 16, _mm512_add_epi32(_mm512_cvtepu8_epi32(second), before));
    if (__builtin_expect(ct_bits_set(m->addresses) > 32, 0)) {
        const __m128i third = _mm512_extracti32x4_epi32(ranks, 2);
        const __m128i fourth = _mm512_extracti32x4_epi32(ranks, 3);
        _mm512_storeu_si512(to + 32, _mm512_add_epi32(_mm512_cvtepu8_epi32(third), before));
        _mm512_storeu_si512(to + 48, _mm512_add_epi32(_mm512_cvtepu8_epi32(fourth), before));
    }
}

CT_AVX512 static void list_avx512(struct ct_hops_strip *s, const struct ct_etm4_event_tables *tables,
                                  const uint8_t *data)
{
    const struct ct_address_tables address_tables = ct_load_address_tables(&tables->wide);
    const __m512i all = address_tables.places;
    uint64_t *const past = s->past + 3 + s->count;
    uint32_t n = 0;
    for (unsigned b = 0; b < s->chunk.blocks; b++, data += CT_SCAN_BLOCK) {
        const struct ct_etm4_masks *m = &s->chunk.masks[b];
        const __m512i bytes = ct_load_zmm(data);
        store_ranks(s->list.at + s->count + n + 1, m, s->atoms.packets, all);
        /* storing with compression would be slow on Zen 4 */
        _mm512_storeu_si512(s->atoms.headers + s->atoms.packets, _mm512_maskz_compress_epi8(m->atoms, bytes));
        _mm512_storeu_si512(s->headers + s->count + n + 1, _mm512_maskz_compress_epi8(m->addresses, bytes));
        s->atoms.packets += ct_bits_set(m->atoms);
        n += ct_list_payloads(&address_tables, data, m->addresses, past + n, s->rows + n);
    }
    ct_resolve_addresses(&tables->wide, past, s->rows, n, s->list.addr + s->count + 1);
    s->count += n;
}
#endif

CT_VECTOR void ct_etm4_strip_list(struct ct_hops_strip *s, const struct ct_etm4_event_tables *tables,
                                  const uint8_t *data)
{
    uint32_t n = s->count + 1;
    for (unsigned b = 0; b < s->chunk.blocks; b++, s->blocks++) {
        s->masks[s->blocks].atoms = s->chunk.masks[b].atoms;
        s->masks[s->blocks].addresses = s->chunk.masks[b].addresses;
        s->masks[s->blocks].events = s->chunk.masks[b].events;
    }
#ifdef CT_HAVE_AVX512
    if (s->chunk.simd == CT_SIMD_AVX512)
        list_avx512(s, tables, data);
    else
#endif
        list_plain(s, tables, data);
    ct_atom_row_join(&s->atoms, s->chunk.simd);
    for (; n <= s->count; n++)
        s->list.at[n] = s->atoms.before[s->list.at[n]];
}

size_t ct_etm4_strip_scan(struct ct_etm4_hops *h, const struct ct_run *run, size_t at, unsigned *entry)
{
    return ct_etm4_scan(&ct_etm4_fast_tables(h->bytes)->scan, run->data + at, run->size - at, entry,
                        &h->strip.chunk);
}

/* The first address of a chunk, and its packets by kind. */
struct lead {
    unsigned header; /* first byte of the first address packet */
    unsigned behind; /* first byte of the packet behind the first address */
    unsigned addresses, counts;
    unsigned atoms; /* number of atom packets behind the first address */
};

/* Finds the first address of the chunk, and counts the packets of each kind. */
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

/* Returns whether cycle counts cut the atoms into many packets. There is one hop for each of these packets
 * but one stretch for each address, so hops may be slower although few of them are new. */
static bool is_cut(const struct lead *l)
{
    return l->counts && l->atoms > l->addresses * ATOMS_MANY;
}

bool ct_etm4_strip_reach(struct ct_etm4_hops *h, struct ct_work *work, unsigned header, unsigned behind)
{
    struct ct_elem elems[CT_FAST_TAIL + CT_SCAN_BYTES];
    struct ct_hops_strip *s = &h->strip;
    const struct ct_etm4_burst *burst = ct_etm4_fast_burst(h->bytes);
    struct ct_step_batch batch;
    size_t taken;
    if (!s->address_kinds)
        make_headers(s, burst);
    size_t count = ct_etm4_fast_release(h->bytes, elems);
    count += ct_etm4_fast_read(h->bytes, work->run->data + work->at, header + 1, elems + count);
    h->hops.elements += count;
    work->at += behind;
    work->last_offset = ct_run_offset(work->run, work->run->pos + work->at - 1);
    h->hops.error = ct_fast_run(h->fast, elems, count, 0, &taken, &batch);
    s->count = s->blocks = 0;
    for (unsigned i = 0; i < 3; i++)
        s->past[i] = burst->address[2 - i];
    return !h->hops.error;
}

/* Decodes trace to elements up to the first address, and begins a strip. Returns false when strips cannot
 * begin here. */
static bool begin(struct ct_etm4_hops *h, struct ct_work *work)
{
    struct ct_hops_strip *s = &h->strip;
    unsigned entry = 0;
    if (work->at >= work->run->size || !ct_fast_wants_strips(h->fast) || !ct_etm4_hops_is_ready(h) ||
        !ct_fast_is_open(h->fast) || !ct_etm4_fast_enter(h->bytes))
        return false;
    ct_etm4_strip_scan(h, work->run, work->at, &entry);
    const struct lead lead = find_lead(&s->chunk);
    if (lead.addresses <= CT_STRIP_ADDRESSES_LEAST || !lead.atoms)
        return false;
    if (!s->address_kinds)
        h->worth.paced = is_cut(&lead);
    if (!ct_etm4_strip_reach(h, work, lead.header, lead.behind) || !ct_fast_begin_strip(h->fast, &s->list))
        return false;
    ct_atom_row_begin(&s->atoms, ct_etm4_fast_burst(h->bytes), s->list.atoms);
    return true;
}

/* Returns where the strip ends, right behind the last atom before address number `done`, in bytes from its
 * begin. *packets: the number of atom packets up to there. */
CT_VECTOR static size_t find_end(const struct ct_hops_strip *s, size_t done, size_t *packets)
{
    size_t last = 0;
    size_t atoms = 0;
    unsigned b = 0;
    for (;; b++) {
        const unsigned addresses = ct_bits_set(s->masks[b].addresses);
        if (done <= addresses)
            break;
        done -= addresses;
        last = s->masks[b].atoms ? b : last;
        atoms += ct_bits_set(s->masks[b].atoms);
    }
    const unsigned place = ct_bit_select(s->masks[b].addresses, (unsigned)done - 1);
    const uint64_t before = s->masks[b].atoms & ct_bits_below(place);
    *packets = atoms + ct_bits_set(before);
    if (before)
        return (size_t)(b + 1) * CT_SCAN_BLOCK - ct_clear_above(before);
    return (last + 1) * CT_SCAN_BLOCK - ct_clear_above(s->masks[last].atoms);
}

#ifdef CT_HAVE_AVX512

/* Counts packets by their headers: compares 64 of them at a time with each of `headers`, and counts all
 * others one by one. */
CT_AVX512 static void count_headers(const uint8_t *bytes, size_t size, const uint8_t *headers, unsigned kinds,
                                    uint64_t packets[256])
{
    for (size_t i = 0; i < size; i += CT_SCAN_BLOCK) {
        const __m512i block = ct_load_zmm(bytes + i);
        const size_t left = size - i;
        const __mmask64 there = ct_mask64(left < CT_SCAN_BLOCK ? (unsigned)left : CT_SCAN_BLOCK);
        uint64_t others = there;
        for (unsigned k = 0; k < kinds; k++) {
            const __mmask64 same =
                _mm512_mask_cmpeq_epi8_mask(there, block, _mm512_set1_epi8((char)headers[k]));
            packets[headers[k]] += ct_bits_set(same);
            others &= ~same;
        }
        for (; others; others &= others - 1)
            packets[bytes[i + ct_lowest_bit(others)]]++;
    }
}

#endif

/* Counts `size` packets by their headers, which are `bytes`. `headers` are the usual ones. */
static void count_packets(enum ct_simd simd, const uint8_t *bytes, size_t size, const uint8_t *headers,
                          unsigned kinds, uint64_t packets[256])
{
#ifdef CT_HAVE_AVX512
    if (simd == CT_SIMD_AVX512) {
        count_headers(bytes, size, headers, kinds, packets);
        return;
    }
#endif
    (void)simd, (void)headers, (void)kinds;
    for (size_t i = 0; i < size; i++)
        packets[bytes[i]]++;
}

void ct_etm4_strip_count_packets(struct ct_etm4_hops *h, size_t addresses, size_t atoms)
{
    const struct ct_hops_strip *s = &h->strip;
    uint64_t *packets = ct_etm4_fast_burst(h->bytes)->packets;
    count_packets(s->chunk.simd, s->headers + 1, addresses, s->address_headers, s->address_kinds, packets);
    count_packets(s->chunk.simd, s->atoms.headers, atoms, s->atom_headers, s->atom_kinds, packets);
    h->hops.elements += addresses + atoms;
}

/* Ends the strip behind the last atom of stretch `done` - 1; the address behind that atom is left to the
 * elements. Bytes up to `at` of the run were scanned. */
static void end(struct ct_etm4_hops *h, struct ct_work *work, size_t at, size_t done)
{
    struct ct_hops_strip *s = &h->strip;
    const uint8_t *data = work->run->data;
    size_t atoms = 0;
    size_t to = work->at;
    done = ct_fast_end_strip(h->fast, done);
    if (done) {
        to += find_end(s, done, &atoms);
        ct_etm4_strip_count_packets(h, done - 1, atoms);
    }
    if (at > to)
        h->hops.elements -= ct_etm4_fast_forget(h->bytes, data + to, at - to);
    if (done) {
        const uint64_t address[3] = {s->past[done + 1], s->past[done], s->past[done - 1]};
        ct_etm4_fast_leave(h->bytes, address);
    }
    ct_etm4_hops_pass(h, work, to, &s->others);
}

bool ct_etm4_strip_has_room(const struct ct_hops_strip *s)
{
    return s->blocks + CT_SCAN_BLOCKS <= CT_STRIP_BLOCKS &&
           s->count + CT_SCAN_BYTES + CT_STRIP_BEYOND < CT_STRIP_PLACES &&
           s->atoms.packets + CT_SCAN_BYTES <= CT_ATOM_PACKETS &&
           s->atoms.atoms + CT_SCAN_BYTES * CT_ATOMS_OF_PACKET < CT_STRIP_ATOMS;
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
    while (more && done == listed) {
        listed = s->count;
        const size_t size = ct_etm4_strip_scan(h, work->run, at, &entry);
        ct_etm4_strip_list(s, ct_etm4_fast_tables(h->bytes), work->run->data + at);
        ct_etm4_cuts_others(&s->chunk, work->run->data + at, size, &s->others);
        done = ct_fast_count_strip(h->fast, done, listed, s->count);
        at += size;
        more = s->chunk.blocks && entry != CT_SCAN_STOP && ct_etm4_strip_has_room(s);
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
