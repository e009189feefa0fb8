/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/scan.h"

#include "etm4/avx2.h"
#include "etm4/scan_avx512.h"

/* upper four bits of the headers of addresses, cycle counts and events */
#define ROW_ADDRESS 9
#define ROW_EVENT   7
#define ROW_COUNT   1 /* format 3: the header is the whole packet */
#define ROW_COUNTS  2 /* the other formats of counts are below this row */

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

/* Returns true for atom packets that end with an E. */
static bool ends_taken(const struct ct_etm4_burst *b, unsigned header)
{
    const struct ct_etm4_row *row = b->rows[header];
    const unsigned natoms = row->head >> 8 & 0xff;
    return header >= 0xc0 && row->base >> (natoms - 1) & 1;
}

/* Sets the look-up of atoms that end with an E. Rows d and f have both kinds, rows c and e one each. */
static void set_taken(struct ct_etm4_scan_table *t, const struct ct_etm4_burst *b)
{
    static const uint8_t bits[16] = {[0xc] = 1, [0xd] = 2, [0xe] = 4, [0xf] = 8};
    for (unsigned h = 0xc0; h < 0x100; h++) {
        t->taken_row[h >> 4] = bits[h >> 4];
        if (ends_taken(b, h))
            t->taken_low[h & 15] |= bits[h >> 4];
    }
}

/* Returns a bit for each mask that a packet is in, in the order of the masks. */
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

#ifdef CT_HAVE_AVX2

/* For each byte of a lane of 16: the byte behind the lane that packets from there lead to, and the packets on
 * the way. */
struct ways {
    uint8_t next[CT_SCAN_BLOCK];
    uint16_t places[CT_SCAN_BLOCK];
};

/* Returns a table in both lanes. */
CT_AVX2_INLINE __m256i both(const uint8_t table[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

CT_AVX2_INLINE __m256i load(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

CT_AVX2_INLINE void store(void *to, __m256i v)
{
    _mm256_storeu_si256((__m256i *)to, v);
}

CT_AVX2_INLINE __m256i is(__m256i v, char value)
{
    return _mm256_cmpeq_epi8(v, _mm256_set1_epi8(value));
}

CT_AVX2_INLINE uint64_t mask_of(__m256i v)
{
    return (uint32_t)_mm256_movemask_epi8(v);
}

/* Returns the length of a packet that would begin at each of the 32 bytes at `data`, with CT_SCAN_STOP. *odd:
 * bit 7 is set for packets with CT_SCAN_ODD. */
CT_AVX2_INLINE __m256i lengths(const struct ct_etm4_scan_table *t, const uint8_t *data, __m256i low,
                               __m256i high, __m256i *odd)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i one = _mm256_set1_epi8(1);
    __m256i v = _mm256_shuffle_epi8(both(t->rows), high);
    v = _mm256_or_si256(v, _mm256_and_si256(_mm256_shuffle_epi8(both(t->mixed[0]), low), is(high, 0)));
    v = _mm256_or_si256(v,
                        _mm256_and_si256(_mm256_shuffle_epi8(both(t->mixed[1]), low), is(high, ROW_EVENT)));
    v = _mm256_or_si256(v,
                        _mm256_and_si256(_mm256_shuffle_epi8(both(t->mixed[2]), low), is(high, ROW_ADDRESS)));
    __m256i first = _mm256_cmpgt_epi8(zero, load(data + 1));
    __m256i second = _mm256_cmpgt_epi8(zero, load(data + 2));
    __m256i more = _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_and_si256(first, one));
    __m256i limit = _mm256_and_si256(_mm256_and_si256(v, _mm256_set1_epi8(CT_SCAN_LIMIT)), first);
    __m256i stop = _mm256_and_si256(limit, second);
    __m256i size = _mm256_add_epi8(_mm256_and_si256(v, _mm256_set1_epi8(CT_SCAN_STOP | 15)), more);
    *odd = _mm256_or_si256(v, _mm256_slli_epi16(limit, 2));    /* CT_SCAN_LIMIT times four is CT_SCAN_ODD */
    return _mm256_or_si256(size, _mm256_add_epi8(stop, stop)); /* and times two is CT_SCAN_STOP */
}

/* Returns the cycle count that would begin at each byte: bits of the byte behind, or the lower two bits of
 * the header. */
CT_AVX2_INLINE __m256i values(const struct ct_etm4_scan_table *t, const uint8_t *data, __m256i bytes,
                              __m256i low, __m256i high)
{
    __m256i behind = _mm256_and_si256(
        load(data + 1), _mm256_and_si256(_mm256_shuffle_epi8(both(t->count), low), is(high, 0)));
    __m256i here = _mm256_and_si256(_mm256_and_si256(bytes, _mm256_set1_epi8(3)), is(high, ROW_COUNT));
    return _mm256_or_si256(behind, here);
}

/* Extends one step to sixteen, for each byte of a lane. */
CT_AVX2_INLINE void find_ways(__m256i size, unsigned at, struct ways *ways)
{
    const __m256i places = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3,
                                            4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m256i low_bits = _mm256_setr_epi64x((long long)UINT64_C(0x8040201008040201), 0,
                                                (long long)UINT64_C(0x8040201008040201), 0);
    const __m256i inside = _mm256_set1_epi8(0x70);
    __m256i next = _mm256_add_epi8(size, places);
    __m256i low = low_bits;
    __m256i high = _mm256_slli_si256(low_bits, 8);
    for (int i = 0; i < 4; i++) {
        /* Bytes behind the lane have bit 7 set, for which a shuffle gives 0. */
        __m256i index = _mm256_add_epi8(next, inside);
        low = _mm256_or_si256(low, _mm256_shuffle_epi8(low, index));
        high = _mm256_or_si256(high, _mm256_shuffle_epi8(high, index));
        next = _mm256_max_epu8(next, _mm256_shuffle_epi8(next, index));
    }
    store(ways->next + at, next);
    __m256i front = _mm256_unpacklo_epi8(low, high);
    __m256i back = _mm256_unpackhi_epi8(low, high);
    store(ways->places + at, _mm256_permute2x128_si256(front, back, 0x20));
    store(ways->places + at + 16, _mm256_permute2x128_si256(front, back, 0x31));
}

/* Follows the way from byte *entry on. Result: the packets on it; *stop: the last one is not for bursts. */
CT_AVX2_INLINE uint64_t walk(const struct ways *ways, unsigned *entry, bool *stop)
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

/* Makes the masks of 32 bytes as if a packet began at each. `values` is NULL when they are not wanted. */
CT_AVX2_INLINE void scan_half(const struct ct_etm4_scan_table *t, const uint8_t *data, unsigned at,
                              struct ways *ways, struct ct_etm4_masks *m, uint8_t *counted)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    __m256i bytes = load(data + at);
    __m256i low = _mm256_and_si256(bytes, nibble);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
    __m256i odd;
    __m256i size = lengths(t, data + at, low, high, &odd);
    find_ways(size, at, ways);
    if (counted)
        store(counted + at, values(t, data + at, bytes, low, high));
    __m256i taken = _mm256_and_si256(_mm256_shuffle_epi8(both(t->taken_row), high),
                                     _mm256_shuffle_epi8(both(t->taken_low), low));
    m->atoms |= mask_of(_mm256_and_si256(bytes, _mm256_add_epi8(bytes, bytes))) << at; /* bits 7 and 6 */
    m->taken |= (uint64_t)(uint32_t)~mask_of(is(taken, 0)) << at;
    m->addresses |= mask_of(is(high, ROW_ADDRESS)) << at;
    m->events |= mask_of(is(high, ROW_EVENT)) << at;
    m->counts |= mask_of(_mm256_cmpgt_epi8(_mm256_set1_epi8(ROW_COUNTS), high)) << at;
    m->odd |= mask_of(odd) << at;
}

CT_AVX2_INLINE size_t scan(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                           unsigned *entry, struct ct_etm4_chunk *chunk, bool values_too)
{
    struct ways ways;
    size_t at = 0;
    bool stop = false;
    unsigned n = 0;
    while (n < CT_SCAN_BLOCKS && at + CT_SCAN_BLOCK + CT_ETM4_BURST_AHEAD <= size && !stop) {
        struct ct_etm4_masks m = {0};
        uint8_t *counted = values_too ? chunk->values + at : NULL;
        scan_half(table, data + at, 0, &ways, &m, counted);
        scan_half(table, data + at, 32, &ways, &m, counted);
        m.packets = walk(&ways, entry, &stop);
        if (stop) {
            unsigned last = 63 - (unsigned)__builtin_clzll(m.packets);
            m.packets ^= UINT64_C(1) << last;
            at += last;
            *entry = CT_SCAN_STOP;
        } else {
            at += CT_SCAN_BLOCK;
        }
        m.atoms &= m.packets;
        m.taken &= m.packets;
        m.addresses &= m.packets;
        m.events &= m.packets;
        m.counts &= m.packets;
        m.odd &= m.packets;
        chunk->masks[n++] = m;
    }
    chunk->simd = CT_SIMD_AVX2;
    chunk->blocks = n;
    return at;
}

CT_AVX2 static size_t scan_avx2(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                                unsigned *entry, struct ct_etm4_chunk *chunk)
{
    return scan(table, data, size, entry, chunk, false);
}

size_t ct_etm4_scan(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size, unsigned *entry,
                    struct ct_etm4_chunk *chunk)
{
    return table->simd == CT_SIMD_AVX512 ? ct_etm4_scan_avx512(table, data, size, entry, chunk)
                                         : scan_avx2(table, data, size, entry, chunk);
}

CT_AVX2 size_t ct_etm4_scan_values(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
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
