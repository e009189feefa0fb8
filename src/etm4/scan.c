/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/scan.h"

#include "etm4/vector.h"
#include "etm4/scan_avx512.h"

/* upper four bits of the headers of addresses, cycle counts and events */
#define ROW_ADDRESS 9
#define ROW_EVENT   7
#define ROW_COUNT   1  /* format 3: the header is the whole packet */
#define ROW_COUNTS  2  /* the other formats of cycle counts are in the rows below this one */
#define ROW_ATOMS   12 /* atoms are in this row and those above */

static const uint8_t mixed_rows[3] = {0, ROW_EVENT, ROW_ADDRESS};

static uint8_t length(const struct ct_etm4_burst *b, unsigned header)
{
    const struct ct_etm4_row *row = b->rows[header];
    const bool count = (uint8_t)row->head == CT_ELEM_CYCLES;
    switch (row->form) {
    case CT_BURST_PLAIN:
        return count && header >> 4 != ROW_COUNT ? 1 | CT_SCAN_ODD : 1;
    case CT_BURST_MATCH:
        return 1;
    case CT_BURST_SHORT:
        return 2 | CT_SCAN_MORE;
    case CT_BURST_LONG:
        return row->take >> 32 ? 9 | CT_SCAN_ODD : 5;
    case CT_BURST_COUNT:
        return 2 | CT_SCAN_MORE | CT_SCAN_LIMIT;
    case CT_BURST_COUNT4:
        return 2;
    default:
        return CT_SCAN_STOP;
    }
}

/* Returns whether the header is that of an atom packet that ends with an E. */
static bool ends_taken(const struct ct_etm4_burst *b, unsigned header)
{
    const struct ct_etm4_row *row = b->rows[header];
    const unsigned natoms = row->head >> 8 & 0xff;
    return header >= 0xc0 && row->base >> (natoms - 1) & 1;
}

/* Sets the tables that find atoms that end with an E. Rows d and f have both kinds of atoms, rows c and e one
 * each. */
static void set_taken(struct ct_etm4_scan_table *t, const struct ct_etm4_burst *b)
{
    static const uint8_t bits[16] = {[0xc] = 1, [0xd] = 2, [0xe] = 4, [0xf] = 8};
    for (unsigned h = 0xc0; h < 0x100; h++) {
        t->taken_row[h >> 4] = bits[h >> 4];
        if (ends_taken(b, h))
            t->taken_low[h & 15] |= bits[h >> 4];
    }
}

/* Returns one bit for each mask that has the packet, in the order of the masks. */
static uint8_t kinds(const struct ct_etm4_burst *b, unsigned header)
{
    const bool bits[] = {[0] = true,
                         [1] = header >= 0xc0,
                         [2] = header >> 4 == ROW_ADDRESS,
                         [3] = header >> 4 < ROW_COUNTS,
                         [4] = header >> 4 == ROW_EVENT,
                         [5] = ends_taken(b, header),
                         [6] = length(b, header) & CT_SCAN_ODD};
    unsigned all = 0;
    for (unsigned i = 0; i < sizeof bits; i++)
        all |= (unsigned)bits[i] << i;
    return (uint8_t)all;
}

void ct_etm4_scan_init(struct ct_etm4_scan_table *t, const struct ct_etm4_burst *b)
{
    *t = (struct ct_etm4_scan_table){.rows = {0}};
    for (unsigned h = 0; h < 256; h += 16)
        t->rows[h >> 4] = length(b, h);
    for (unsigned i = 0; i < 3; i++) {
        t->rows[mixed_rows[i]] = 0;
        for (unsigned low = 0; low < 16; low++)
            t->mixed[i][low] = length(b, (unsigned)mixed_rows[i] << 4 | low);
    }
    for (unsigned low = 0; low < 16; low++)
        if (b->rows[low]->form == CT_BURST_COUNT || b->rows[low]->form == CT_BURST_COUNT4)
            t->count[low] = (uint8_t)b->rows[low]->take;
    set_taken(t, b);
    t->simd = ct_simd();
    for (unsigned h = 0; h < 256; h++) {
        t->lengths[h] = length(b, h);
        t->kinds[h] = kinds(b, h);
    }
}

#ifdef CT_HAVE_VECTORS

/* For each byte of a lane of 16 bytes, assuming that a packet begins there: the byte behind the lane that
 * this packet and those after it lead to, and a mask of these packets. */
struct ways {
    uint8_t next[CT_SCAN_BLOCK];
    uint16_t places[CT_SCAN_BLOCK];
};

CT_VECTOR_INLINE ct_bytes is(ct_bytes v, uint8_t value)
{
    return ct_bytes_equal(v, ct_bytes_all(value));
}

/* Returns the entries of a table at the lower four bits of each header in row `row`; 0 for other headers. */
CT_VECTOR_INLINE ct_bytes for_row(const uint8_t table[16], ct_bytes low, ct_bytes high, uint8_t row)
{
    return ct_bytes_and(ct_bytes_pick(ct_bytes_both(table), low), is(high, row));
}

/* Returns the length of a packet that would begin at each of the 32 bytes at `data`, and CT_SCAN_STOP. *odd:
 * bit 7 is set for packets with CT_SCAN_ODD. */
CT_VECTOR_INLINE ct_bytes lengths(const struct ct_etm4_scan_table *t, const uint8_t *data, ct_bytes low,
                                  ct_bytes high, ct_bytes *odd)
{
    ct_bytes v = ct_bytes_pick(ct_bytes_both(t->rows), high);
    for (unsigned i = 0; i < 3; i++)
        v = ct_bytes_or(v, for_row(t->mixed[i], low, high, mixed_rows[i]));
    const ct_bytes first = ct_bytes_top(ct_bytes_load(data + 1));
    const ct_bytes second = ct_bytes_top(ct_bytes_load(data + 2));
    const ct_bytes more = ct_bytes_and(ct_bytes_upper(v), ct_bytes_and(first, ct_bytes_all(1)));
    const ct_bytes limit = ct_bytes_and(ct_bytes_and(v, ct_bytes_all(CT_SCAN_LIMIT)), first);
    const ct_bytes stop = ct_bytes_and(limit, second);
    const ct_bytes size = ct_bytes_add(ct_bytes_and(v, ct_bytes_all(CT_SCAN_STOP | 15)), more);
    const ct_bytes twice = ct_bytes_add(limit, limit);
    *odd = ct_bytes_or(v, ct_bytes_add(twice, twice));  /* CT_SCAN_LIMIT times four is CT_SCAN_ODD */
    return ct_bytes_or(size, ct_bytes_add(stop, stop)); /* and times two is CT_SCAN_STOP */
}

/* Returns the cycle count that would begin at each byte: bits of the next byte, or the lower two bits of the
 * header. */
CT_VECTOR_INLINE ct_bytes values(const struct ct_etm4_scan_table *t, const uint8_t *data, ct_bytes bytes,
                                 ct_bytes low, ct_bytes high)
{
    const ct_bytes behind = ct_bytes_and(ct_bytes_load(data + 1), for_row(t->count, low, high, 0));
    const ct_bytes here = ct_bytes_and(ct_bytes_and(bytes, ct_bytes_all(3)), is(high, ROW_COUNT));
    return ct_bytes_or(behind, here);
}

/* Extends one step, from a packet to the next, to sixteen steps, for each byte of a lane. */
CT_VECTOR_INLINE void find_ways(ct_bytes size, unsigned at, struct ways *ways)
{
    static const uint8_t places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static const uint8_t bits[3 * 8] = {[8] = 1, 2, 4, 8, 16, 32, 64, 128};
    ct_bytes next = ct_bytes_add(size, ct_bytes_both(places));
    ct_bytes low = ct_bytes_both(bits + 8);
    ct_bytes high = ct_bytes_both(bits);
    for (int i = 0; i < 4; i++) {
        low = ct_bytes_or(low, ct_bytes_pick_inside(low, next));
        high = ct_bytes_or(high, ct_bytes_pick_inside(high, next));
        next = ct_bytes_follow(next);
    }
    ct_bytes_store(ways->next + at, next);
    ct_bytes_store_pairs(ways->places + at, low, high);
}

/* Follows the packets from byte *entry on, and returns the mask of these packets. *stop: a burst does not
 * decode the last one. */
CT_VECTOR_INLINE uint64_t walk(const struct ways *ways, unsigned *entry, bool *stop)
{
    uint64_t packets = 0;
    unsigned at = *entry;
    for (unsigned lane = 0; lane < CT_SCAN_BLOCK; lane += 16) {
        packets |= (uint64_t)ways->places[lane + at] << lane;
        unsigned next = ways->next[lane + at];
        if (next >= CT_SCAN_STOP) {
            *stop = true;
            return packets;
        }
        at = next - 16;
    }
    *entry = at;
    *stop = false;
    return packets;
}

/* Masks of half a block, as if a packet began at each byte. */
struct kinds {
    ct_marks atoms;
    ct_marks addresses;
    ct_marks counts;
    ct_marks events;
    ct_marks taken;
    ct_marks odd;
};

/* Reads 32 bytes as if a packet began at each. `counted` is NULL when the values of cycle counts are not
 * wanted. */
CT_VECTOR_INLINE void scan_half(const struct ct_etm4_scan_table *t, const uint8_t *data, unsigned at,
                                struct ways *ways, struct kinds *k, uint8_t *counted)
{
    const ct_bytes bytes = ct_bytes_load(data + at);
    const ct_bytes low = ct_bytes_and(bytes, ct_bytes_all(15));
    const ct_bytes high = ct_bytes_upper(bytes);
    ct_bytes odd;
    find_ways(lengths(t, data + at, low, high, &odd), at, ways);
    if (counted)
        ct_bytes_store(counted + at, values(t, data + at, bytes, low, high));
    k->atoms = ct_marks_of(ct_bytes_less(ct_bytes_all(ROW_ATOMS - 1), high));
    k->addresses = ct_marks_of(is(high, ROW_ADDRESS));
    k->counts = ct_marks_of(ct_bytes_less(high, ct_bytes_all(ROW_COUNTS)));
    k->events = ct_marks_of(is(high, ROW_EVENT));
    k->taken = ct_marks_where_both(ct_bytes_pick(ct_bytes_both(t->taken_row), high),
                                   ct_bytes_pick(ct_bytes_both(t->taken_low), low));
    k->odd = ct_marks_of_top(odd);
}

/* Makes the masks of a block from those of its halves and the packets that are there. */
CT_VECTOR_INLINE void make_masks(struct ct_etm4_masks *m, const struct kinds k[2], uint64_t packets)
{
    m->packets = packets;
    m->atoms = ct_marks_mask(k[0].atoms, k[1].atoms) & packets;
    m->addresses = ct_marks_mask(k[0].addresses, k[1].addresses) & packets;
    m->counts = ct_marks_mask(k[0].counts, k[1].counts) & packets;
    m->events = ct_marks_mask(k[0].events, k[1].events) & packets;
    m->taken = ct_marks_mask(k[0].taken, k[1].taken) & packets;
    m->odd = ct_marks_mask(k[0].odd, k[1].odd) & packets;
}

CT_VECTOR_INLINE size_t scan(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                             unsigned *entry, struct ct_etm4_chunk *chunk, bool values_too)
{
    struct ways ways;
    size_t at = 0;
    bool stop = false;
    unsigned n = 0;
    while (n < CT_SCAN_BLOCKS && at + CT_SCAN_BLOCK + CT_ETM4_BURST_AHEAD <= size && !stop) {
        uint8_t *counted = values_too ? chunk->values + at : NULL;
        struct kinds kinds[2];
        scan_half(table, data + at, 0, &ways, &kinds[0], counted);
        scan_half(table, data + at, 32, &ways, &kinds[1], counted);
        uint64_t packets = walk(&ways, entry, &stop);
        if (stop) {
            unsigned last = 63 - (unsigned)__builtin_clzll(packets);
            packets ^= UINT64_C(1) << last;
            at += last;
            *entry = CT_SCAN_STOP;
        } else {
            at += CT_SCAN_BLOCK;
        }
        make_masks(&chunk->masks[n++], kinds, packets);
    }
    chunk->simd = CT_VECTORS;
    chunk->blocks = n;
    return at;
}

CT_VECTOR static size_t scan_here(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                                  unsigned *entry, struct ct_etm4_chunk *chunk)
{
    return scan(table, data, size, entry, chunk, false);
}

size_t ct_etm4_scan(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size, unsigned *entry,
                    struct ct_etm4_chunk *chunk)
{
#ifdef CT_HAVE_AVX512
    if (table->simd == CT_SIMD_AVX512)
        return ct_etm4_scan_avx512(table, data, size, entry, chunk);
#endif
    return scan_here(table, data, size, entry, chunk);
}

CT_VECTOR size_t ct_etm4_scan_values(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                                     unsigned *entry, struct ct_etm4_chunk *chunk)
{
    return scan(table, data, size, entry, chunk, true);
}

#else

size_t ct_etm4_scan(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size, unsigned *entry,
                    struct ct_etm4_chunk *chunk)
{
    (void)table, (void)data, (void)size, (void)entry;
    chunk->blocks = 0;
    return 0;
}

size_t ct_etm4_scan_values(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                           unsigned *entry, struct ct_etm4_chunk *chunk)
{
    return ct_etm4_scan(table, data, size, entry, chunk);
}

#endif
