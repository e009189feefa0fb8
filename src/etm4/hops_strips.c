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

/* Adds a header, of those with bit 7 set, to a set. */
static void add_header(struct ct_header_set *set, unsigned header)
{
    set->headers[set->count++] = (uint8_t)header;
    set->rows[header >> 4] = (uint8_t)(1u << (header >> 4 & 7));
    set->columns[header & 15] |= set->rows[header >> 4];
}

/* Lists the headers of addresses, and those of the usual atom packets. */
static void make_headers(struct ct_hops_strip *s, const struct ct_etm4_burst *burst)
{
    for (unsigned h = 0x80; h < CT_ATOM_HEADER; h++)
        if (burst->rows[h]->form != CT_BURST_RARE && burst->rows[h]->address)
            add_header(&s->address_headers, h);
    for (unsigned h = CT_ATOM_HEADER; h < CT_ATOM_HEADER + CT_ATOM_HEADERS; h++)
        if ((uint8_t)(burst->rows[h]->head >> 8) <= ATOMS_USUAL)
            add_header(&s->atom_headers, h);
}

/* Lists the addresses of the chunk at `data`, and for each the number of atoms before it. `places` are their
 * first bytes, and `packets` the numbers of atom packets before each block. The number of rounds is that of
 * the chunk and not of each block, because the processor mispredicts the end of a short loop. */
CT_VECTOR_INLINE void list_addresses(struct ct_hops_strip *s, const struct ct_address_rows *rows,
                                     const uint8_t *data, const uint16_t *places, uint32_t count,
                                     const uint32_t *packets)
{
    uint64_t *past = s->past + 3 + s->count;
    uint64_t last = past[-1];
    uint32_t n = s->count;
    for (uint32_t k = 0; k < count; k++) {
        const unsigned place = places[k];
        const unsigned b = place / CT_SCAN_BLOCK;
        const uint64_t atoms = ct_bits_low(s->chunk.masks[b].atoms, place % CT_SCAN_BLOCK);
        last = ct_address_of(rows, data + place, past, last, true);
        *past++ = last;
        s->headers[++n] = data[place];
        s->list.addr[n] = last & ~UINT64_C(1);
        s->list.at[n] = s->atoms.before[packets[b] + ct_bits_set(atoms)];
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
    uint16_t places[CT_SCAN_BYTES + CT_PLACES_BEYOND];
    uint32_t packets[CT_SCAN_BLOCKS];
    uint32_t count = 0;
    for (unsigned b = 0; b < s->chunk.blocks; b++) {
        packets[b] = s->atoms.packets;
        count += ct_list_places(places + count, s->chunk.masks[b].addresses, b * CT_SCAN_BLOCK);
        keep_atoms(s, data + b * CT_SCAN_BLOCK, s->chunk.masks[b].atoms);
    }
    ct_atom_row_join(&s->atoms, s->chunk.simd);
    list_addresses(s, &tables->addresses, data, places, count, packets);
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
    ct_atom_row_join(&s->atoms, s->chunk.simd);
    for (uint32_t end = s->count + n; s->count < end;) {
        s->count++;
        s->list.at[s->count] = s->atoms.before[s->list.at[s->count]];
    }
}
#endif

CT_VECTOR void ct_etm4_strip_list(struct ct_hops_strip *s, const struct ct_etm4_event_tables *tables,
                                  const uint8_t *data)
{
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
    if (!s->address_headers.count)
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
    if (!s->address_headers.count)
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

/* number of headers that are counted at a time */
#define HEADERS_AT_ONCE 8u

/* most packets that ct_bytes_sub can count: 255 in each byte */
#define COUNTED_MOST (255u * 32)

_Static_assert(CT_ATOM_PACKETS <= COUNTED_MOST && CT_STRIP_PLACES <= COUNTED_MOST,
               "packets of a strip are counted in bytes");

/* Returns 32 headers from number `from` on; 0 in place of those from `size` on. */
CT_VECTOR_INLINE ct_bytes load_headers(const uint8_t *bytes, size_t from, size_t size)
{
    const ct_bytes v = ct_bytes_load(bytes + from);
    return size - from < 32 ? ct_bytes_and(v, ct_bytes_of_mask((uint32_t)ct_mask64((unsigned)(size - from))))
                            : v;
}

/* Counts the packets whose headers are not in the set. */
CT_VECTOR static void count_other_headers(const uint8_t *bytes, size_t size, const struct ct_header_set *set,
                                          uint64_t packets[256])
{
    const ct_bytes zero = ct_bytes_all(0);
    for (size_t i = 0; i < size; i += 32) {
        const ct_bytes v = load_headers(bytes, i, size);
        const ct_bytes row = ct_bytes_pick(ct_bytes_both(set->rows), ct_bytes_upper(v));
        const ct_bytes column = ct_bytes_pick(ct_bytes_both(set->columns), ct_bytes_and(v, ct_bytes_all(15)));
        const ct_bytes other = ct_bytes_and(ct_bytes_equal(ct_bytes_and(row, column), zero), ct_bytes_top(v));
        for (uint64_t left = ct_marks_mask(ct_marks_of(other), ct_marks_of(zero)); left; left &= left - 1)
            packets[bytes[i + ct_lowest_bit(left)]]++;
    }
}

/* Counts packets by their headers: compares 32 of them at a time with eight of the set, and counts all others
 * one by one. */
CT_VECTOR static void count_headers(const uint8_t *bytes, size_t size, const struct ct_header_set *set,
                                    uint64_t packets[256])
{
    size_t others = size;
    for (unsigned k = 0; k < set->count; k += HEADERS_AT_ONCE) {
        ct_bytes counts[HEADERS_AT_ONCE], headers[HEADERS_AT_ONCE];
        for (unsigned j = 0; j < HEADERS_AT_ONCE; j++) {
            headers[j] = ct_bytes_all(set->headers[k + j]);
            counts[j] = ct_bytes_all(0);
        }
        for (size_t i = 0; i < size; i += 32) {
            const ct_bytes v = load_headers(bytes, i, size);
            for (unsigned j = 0; j < HEADERS_AT_ONCE; j++)
                counts[j] = ct_bytes_sub(counts[j], ct_bytes_equal(v, headers[j]));
        }
        for (unsigned j = 0; j < HEADERS_AT_ONCE && k + j < set->count; j++) {
            const uint32_t count = ct_bytes_total(counts[j]);
            packets[set->headers[k + j]] += count;
            others -= count;
        }
    }
    if (others)
        count_other_headers(bytes, size, set, packets);
}

#ifdef CT_HAVE_AVX512

/* Does the same, with 64 packets and one header at a time. */
CT_AVX512 static void count_headers_avx512(const uint8_t *bytes, size_t size, const struct ct_header_set *set,
                                           uint64_t packets[256])
{
    for (size_t i = 0; i < size; i += CT_SCAN_BLOCK) {
        const __m512i block = ct_load_zmm(bytes + i);
        const size_t left = size - i;
        const __mmask64 there = ct_mask64(left < CT_SCAN_BLOCK ? (unsigned)left : CT_SCAN_BLOCK);
        uint64_t others = there;
        for (unsigned k = 0; k < set->count; k++) {
            const __mmask64 same =
                _mm512_mask_cmpeq_epi8_mask(there, block, _mm512_set1_epi8((char)set->headers[k]));
            packets[set->headers[k]] += ct_bits_set(same);
            others &= ~same;
        }
        for (; others; others &= others - 1)
            packets[bytes[i + ct_lowest_bit(others)]]++;
    }
}

#endif

/* Counts `size` packets by their headers, which are `bytes`. `set` has the usual ones. */
static void count_packets(enum ct_simd simd, const uint8_t *bytes, size_t size,
                          const struct ct_header_set *set, uint64_t packets[256])
{
#ifdef CT_HAVE_AVX512
    if (simd == CT_SIMD_AVX512) {
        count_headers_avx512(bytes, size, set, packets);
        return;
    }
#endif
    (void)simd;
    count_headers(bytes, size, set, packets);
}

void ct_etm4_strip_count_packets(struct ct_etm4_hops *h, size_t addresses, size_t atoms)
{
    const struct ct_hops_strip *s = &h->strip;
    uint64_t *packets = ct_etm4_fast_burst(h->bytes)->packets;
    count_packets(s->chunk.simd, s->headers + 1, addresses, &s->address_headers, packets);
    count_packets(s->chunk.simd, s->atoms.headers, atoms, &s->atom_headers, packets);
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
